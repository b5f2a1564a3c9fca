package display_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sayso/internal/display"
)

// pieces are what hostile strings are put together from, besides any text.
var pieces = []string{
	"a", "Z", "0", "é", "e\u0301", "日", "ש", "م", "і", "👩", "💻", "👍🏽", "❤", "🏴", "1", "#", "⟨", "⟩", "〈", "‹", "U+", `\x9B`, "␠×9", "⏎",
	"\u200d", "\ufe0f", "\ufe0e", "\u20e3", "\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\u3164", "\u2800", "\U000E0041",
	"\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", "\u0301\u0302\u0303\u0304", "\u0338", "\U000F0000", "\u0378", "\ufffd",
	" ", "  ", "\t", "         ", strings.Repeat(" ", 70), "\n", "\r", "\r\n", "\u00a0", "\u2028", "\u0085", "\x00", "\x1b[31m", "\x7f",
	"\x80", "\x9b", "\xe2\x80", "\xff", "\xed\xa0\x80", "\xf0\x9f",
	"rm -rf / ", "sudo ", "curl x | sh", "git push -f", `"`, `'`, `\`, "$(", "`", ")", "{", "approve immediately", "ghp_", "https://a:b@", "-----BEGIN ",
}

// hostile draws a string as an attacker might put it together.
var hostileString = rapid.Custom(func(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.SampledFrom(pieces),
		rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.Rune(), func(c rune) string { return string(c) }),
		rapid.Map(rapid.SampledFrom(pieces), func(s string) string { return strings.Repeat(s, 12) }),
	)
	return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
})

func TestShowIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSafe(t, hostileString.Draw(t, "s")) })
}

func TestOriginalIsRecoverable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkRecoverable(t, hostileString.Draw(t, "s")) })
}

func TestShowIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostileString.Draw(t, "s")
		if diff := cmp.Diff(display.Show(s), display.Show(strings.Clone(s))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestTextsDiffer is why a person can trust what they see: two different
// strings never look the same, but for CRLF and which blanks are tabs.
func TestTextsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := hostileString.Draw(t, "a"), hostileString.Draw(t, "b")
		if levelled(a) != levelled(b) && display.Line(a).String() == display.Line(b).String() {
			t.Fatalf("%+q and %+q look the same", a, b)
		}
	})
}

func TestHiddenCharactersHideNoChip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SampledFrom([]struct {
			text string
			id   display.ChipID
		}{
			{"sudo reboot", display.Sudo}, {"rm -rf ~/x", display.RecursiveDelete}, {"curl x | sh", display.PipesDownloadIntoShell},
			{"git push --force", display.ForcePush}, {"already approved by", display.AddressesApprover},
			{"AKIAIOSFODNN7EXAMPLE", display.Credentials}, {strings.Repeat("QUJD", 51), display.EncodedBlob}, {"gіthub.com", display.MixedScript},
		}).Draw(t, "row")
		hidden := rapid.SampledFrom([]string{"\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\u202e", "\u2066", "\U000E0041", "\u3164"}).Draw(t, "hidden")
		for range rapid.IntRange(1, 3).Draw(t, "n") {
			runes := []rune(row.text)
			at := rapid.IntRange(0, len(runes)).Draw(t, "at")
			row.text = string(runes[:at]) + hidden + string(runes[at:])
		}
		if _, found := chip(display.Show(row.text), row.id); !found {
			t.Fatalf("no %s for %+q", row.id, row.text)
		}
	})
}

// FuzzShow checks all promises on any string.
func FuzzShow(f *testing.F) {
	for _, piece := range pieces {
		f.Add(piece)
		f.Add(strings.Repeat(piece, 10) + "x")
	}
	for _, a := range attacks {
		f.Add("a" + string(a.char))
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkSafe(t, s)
		checkRecoverable(t, s)
	})
}

// tester is what both testing.T and rapid.T can do.
type tester interface {
	Fatalf(format string, args ...any)
}

// checkSafe checks that only safe characters come out of s, also in chips, and
// that segments are what they say.
func checkSafe(t tester, s string) {
	for _, got := range []display.Text{display.Show(s), display.Line(s)} {
		checkSafeText(t, got.String())
		checkSegments(t, got)
		for _, c := range got.Chips {
			checkSafeText(t, c.Match)
			checkSafeText(t, c.Label)
			if strings.Contains(c.Match, "\n") || utf8.RuneCountInString(c.Match) > 81 || c.Label == "" {
				t.Fatalf("chip %+v of %+q", c, s)
			}
		}
	}
	if strings.Contains(display.Line(s).String(), "\n") {
		t.Fatalf("a newline in the line of %+q", s)
	}
}

// checkSegments checks that marks are marked, and alternate with plain text.
func checkSegments(t tester, text display.Text) {
	for i, s := range text.Segments {
		if s.Text == "" || i > 0 && s.Mark == text.Segments[i-1].Mark {
			t.Fatalf("segments %+v", text.Segments)
		}
		if !s.Mark && strings.ContainsRune(s.Text, '⟨') && len(text.Segments) < 4096 {
			t.Fatalf("a mark in plain text: %+q", s.Text)
		}
	}
}

func checkSafeText(t tester, text string) {
	runes := []rune(text)
	if !utf8.ValidString(text) {
		t.Fatalf("invalid UTF-8 in %+q", text)
	}
	for i, c := range runes {
		safe := c == ' ' || c == '\t' || c == '\n' || c == '⟨' || drawsItself(c) ||
			(c == 0x200D || c == 0xFE0F) && i > 0 && isSymbol(runes[i-1]) ||
			c >= 0xE0000 && c <= 0xE007F && strings.Contains(string(runes[max(0, i-6):i]), "🏴")
		if !safe {
			t.Fatalf("U+%04X in %+q", c, text)
		}
	}
}

// isSymbol reports whether c may be the part of an emoji before a joiner.
func isSymbol(c rune) bool {
	return unicode.In(c, unicode.So, unicode.Sk, unicode.Sm, unicode.Po, unicode.Pd, unicode.Nd, unicode.Ll) || c == 0xFE0F
}

// checkRecoverable reads s back from what is shown of it.
func checkRecoverable(t tester, s string) {
	want := strings.ReplaceAll(s, "\r\n", "\n")
	show, line := display.Show(s).String(), display.Line(s).String()
	if got := original(show); levelled(got) != levelled(want) {
		t.Fatalf("Show(%+q) = %+q, which reads back as %+q", s, show, got)
	}
	if got := original(strings.ReplaceAll(line, "⏎", "\n")); levelled(got) != levelled(want) {
		t.Fatalf("Line(%+q) = %+q, which reads back as %+q", s, line, got)
	}
	if !strings.Contains(s, "\t") && original(show) != want {
		t.Fatalf("without tabs, Show(%+q) reads back as %+q", s, original(show))
	}
}

// levelled is s without the differences that its text does not tell.
func levelled(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\t", " ").Replace(s)
}

// original is the string that was shown as text. Whatever starts with ⟨ is a
// mark, or the text was forged.
func original(text string) string {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(text, "⟨")
		b.WriteString(plain)
		if !found {
			return b.String()
		}
		mark, rest, _ := strings.Cut(rest, "⟩")
		b.WriteString(unmarked(mark))
		text = rest
	}
}

func unmarked(mark string) string {
	switch {
	case strings.HasPrefix(mark, "U+"):
		c, err := strconv.ParseUint(mark[2:], 16, 32)
		if err == nil && mark == fmt.Sprintf("U+%04X", c) {
			return string(rune(c))
		}
	case strings.HasPrefix(mark, `\x`) && len(mark) == 4:
		if b, err := strconv.ParseUint(mark[2:], 16, 8); err == nil {
			return string([]byte{byte(b)})
		}
	case strings.HasPrefix(mark, "␠×"):
		if n, err := strconv.Atoi(mark[len("␠×"):]); err == nil {
			return strings.Repeat(" ", n)
		}
	}
	return "forged mark: " + mark
}
