package views_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"sayso/internal/display"
	"sayso/views"
)

func html(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShownAddsNothingToTheText(t *testing.T) {
	got := html(t, views.Shown(display.Show("a <b> &\n\tc\u200B\u200Bd")))
	want := `<bdi dir="ltr" hx-ignore>a &lt;b&gt; &amp;` + "\n\t" + `c<span class="mark" title="Shown by its code, because it cannot be seen or misleads">⟨U+200B⟩⟨U+200B⟩</span>d</bdi>`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

var now = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

func permission() views.Card {
	return views.Card{ID: "int_a", Version: 3, Kind: views.PermissionKind, State: views.Open, PostURL: "/post", Digest: "sha256:d", CreatedAt: now, Now: now, Title: display.Line("Permission requested for Bash")}
}

func TestPermissionForms(t *testing.T) {
	got := html(t, views.CardView(permission()))
	forms := strings.Split(got, "<form")[1:]
	if len(forms) != 3 {
		t.Fatalf("%d forms, want Allow, Deny, and Allow with a note", len(forms))
	}
	deny := forms[1][:strings.Index(forms[1], "</form>")]
	if strings.Count(deny, "<button") != 1 || !strings.Contains(deny, "Deny") || strings.Contains(deny, "Allow") {
		t.Errorf("the form of the reason must have Deny as its only button: %s", deny)
	}
	for i, want := range []string{`name="q0" value="0"`, `name="q0" value="1"`, `name="q0" value="0"`} {
		if !strings.Contains(forms[i], want) || !strings.Contains(forms[i], `name="digest" value="sha256:d"`) {
			t.Errorf("form %d lacks %s or the digest", i, want)
		}
	}
}

func TestNoFormWhereNothingCanBeAnswered(t *testing.T) {
	readOnly, ended := permission(), permission()
	readOnly.ReadOnly = true
	ended.State, ended.End = views.Resolved, &views.End{Word: views.Allowed, At: now}
	for _, card := range []views.Card{readOnly, ended} {
		if strings.Contains(html(t, views.CardView(card)), "<form") {
			t.Errorf("a form on a card that is %s, read-only %v", card.State, card.ReadOnly)
		}
	}
}

func TestAllowSaysThatNotAllIsShown(t *testing.T) {
	card := permission()
	card.Context = []views.ContextItem{{Label: display.Line("Command"), Hidden: 1, Lines: 9000, FullURL: "/full"}}
	got := html(t, views.CardView(card))
	for _, want := range []string{"Allow (not all shown)", `href="/full"`, "Show all 9000 lines"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q", want)
		}
	}
}

func TestLateAnswerSaysSo(t *testing.T) {
	for _, c := range []struct {
		since time.Duration
		late  bool
	}{{29 * time.Second, false}, {30 * time.Second, true}} {
		card := permission()
		card.State, card.End = views.Resolved, &views.End{Word: views.Allowed, At: now.Add(-c.since)}
		shown := !strings.Contains(html(t, views.CardView(card)), `delivery-late" hidden`)
		if shown != c.late {
			t.Errorf("after %v: said to be late %v, want %v", c.since, shown, c.late)
		}
	}
}

func TestLosingTheRace(t *testing.T) {
	card := permission()
	card.State, card.Lost, card.Typed = views.Resolved, true, []string{"mine"}
	card.End = &views.End{Word: views.Denied, By: display.Line("Dana"), At: now.Add(-3 * time.Second), Reason: display.Show("not now")}
	got := html(t, views.CardView(card))
	for _, want := range []string{"Dana</bdi> denied this <time", "3 s ago</time>", "not now", "mine", "<details class=\"ended\" open"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q", want)
		}
	}
}
