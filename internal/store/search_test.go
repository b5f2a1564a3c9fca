//go:build sqlite_fts5

package store

import (
	"strings"
	"testing"

	"sayso/internal/interaction"
)

// searching is a past whose words can be searched for. These tests are part of a build with full-text search only; make and CI make one.
func searching(t testing.TB) *past {
	p := newPast(t)
	p.everything()
	return p
}

func TestSearch(t *testing.T) {
	p := searching(t)
	for words, want := range map[string]string{
		"zebra":                "canceled",
		"ZEBRA":                "canceled",
		"giraffe":              "canceled", // the message that superseded it
		"walrus make":          "open",     // in any order
		"walrus zebra":         "",
		"ubung":                "allowed",
		"once":                 "allowed", // the note
		"friday":               "denied",  // the reason
		"small":                "answered",
		"postgres":             "answered", // an option
		"git.push":             "policy",   // the pattern of a decision
		"12345678901234567":    "policy",   // the beginning of a number in a tool's input
		"wal":                  "open",     // the beginning of the last word
		"wal make":             "",         // no other
		"wal ":                 "",         // it was typed to its end
		"wa":                   "",         // too short for a beginning
		"-rf":                  "denied",
		"rm -rf":               "denied",
		"deny":                 "", // not the form that every permission has
		"Working directory":    "",
		"Permission requested": "open denied allowed expired canceled",
	} {
		if got := outcomes(p.list(interaction.AuditFilter{Words: words}, interaction.AuditPage{})); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// TestSearchOfAnything checks that no text is an error, or means anything but its words.
func TestSearchOfAnything(t *testing.T) {
	p := searching(t)
	for _, words := range []string{
		`"`, `""`, `"zebra`, `zebra"`, `*`, `*zebra`, `zebra*`, `(`, `)`, `(zebra`, `^zebra`, `text:zebra`, `text : zebra`, `{text}: zebra`, `-zebra`, `- zebra`,
		`NOT zebra`, `zebra NOT make`, `zebra AND`, `AND`, `OR`, `NEAR(zebra make, 2)`, `NEAR`, `zebra + make`, `zebra OR walrus`, `' OR 1=1 --`, `;`, `\`, `%`, `_`,
		"\x00", "ze\x00bra", "\xff\xfe", "zebra\xff", "🦓", "́", "\u200b", "\u202ezebra", "़", strings.Repeat("a", 1<<16), strings.Repeat("zebra ", 5000),
		strings.Repeat(`"`, 999), "\ue000", "ﬁ", "٣", "𞤀",
	} {
		for _, f := range []interaction.AuditFilter{{Words: words}, {Words: words, Outcome: interaction.OutcomeOpen}} {
			f.Project = p.project.ID
			if _, err := p.Store.Audit(t.Context(), f, interaction.AuditPage{Limit: 50}); err != nil {
				t.Errorf("%.40q: %v", words, err)
			}
		}
		if _, err := p.Interactions(t.Context(), interaction.Filter{Project: p.project.ID, Words: words, Page: interaction.Page{Limit: 50}}); err != nil {
			t.Errorf("%.40q: %v", words, err)
		}
	}
	for words, want := range map[string]string{"zebra OR walrus": "", "zebra NOT make": "", "text:zebra": "", `"zebra`: "canceled", "zebra*": "canceled", "(zebra)": "canceled", "^zebra": "canceled"} {
		if got := outcomes(p.list(interaction.AuditFilter{Words: words}, interaction.AuditPage{})); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	p := searching(f)
	for _, words := range []string{"zebra", `"`, "NEAR(a b)", "a\x00b", "\xff"} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		if _, err := p.Store.Audit(t.Context(), interaction.AuditFilter{Project: p.project.ID, Words: words}, interaction.AuditPage{Limit: 5}); err != nil {
			t.Error(err)
		}
	})
}

// TestSearchInteractions goes through the pages of the list of interactions that have a word, in both directions.
func TestSearchInteractions(t *testing.T) {
	p := searching(t)
	p.list(interaction.AuditFilter{}, interaction.AuditPage{})
	for newest, want := range map[bool][]interaction.Outcome{
		false: {interaction.OutcomeCanceled, interaction.OutcomeExpired, interaction.OutcomeAllowed, interaction.OutcomeOpen},
		true:  {interaction.OutcomeOpen, interaction.OutcomeAllowed, interaction.OutcomeExpired, interaction.OutcomeCanceled},
	} {
		f := interaction.Filter{Project: p.project.ID, Words: "make", Page: interaction.Page{Limit: 1, Newest: newest}}
		for n, o := range want {
			list, err := p.Interactions(t.Context(), f)
			must(t, err)
			if more := len(list) > 1; len(list) == 0 || list[0].ID != p.ids[o] || more != (n < 3) {
				t.Fatalf("newest first %v, %d: %+v, want %s", newest, n, list, o)
			}
			f.After = &interaction.Cursor{At: list[0].CreatedAt, ID: list[0].ID}
		}
	}
	list, err := p.Interactions(t.Context(), interaction.Filter{Project: p.project.ID, Words: "make", State: interaction.Canceled, Page: interaction.Page{Limit: 9}})
	if err != nil || len(list) != 2 {
		t.Errorf("canceled ones: %d, %v", len(list), err)
	}
}
