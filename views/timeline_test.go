package views

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"sayso/internal/display"
)

// Every way in which a call can stand has its own word and its own look.
func TestCallStatesDiffer(t *testing.T) {
	calls := []Call{{State: CallAwaitingPermission}, {State: CallReady}, {State: CallWaiting}}
	for _, outcome := range []string{"succeeded", "failed", "denied", "canceled"} {
		calls = append(calls, Call{State: CallCompleted, Outcome: outcome})
	}
	words, icons, looks := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range calls {
		words[c.word()], icons[c.icon()], looks[c.look()] = true, true, true
	}
	if len(words) != len(calls) || len(icons) != len(calls) || len(looks) != len(calls) {
		t.Errorf("%d states have %d words, %d icons and %d looks", len(calls), len(words), len(icons), len(looks))
	}
}

func TestWhoseMarkdownIsRead(t *testing.T) {
	const text = "**x**\n[a](javascript:b)"
	said := rendered(t, EntryView(Entry{Message: &Message{From: display.Line("Dana"), Text: []string{text}}}))
	if !strings.Contains(said, text) {
		t.Errorf("a person's words are not as written: %s", said)
	}
	for _, block := range []Block{{Text: text}, {Reasoning: text}} {
		got := rendered(t, EntryView(Entry{Output: &Output{Blocks: []Block{block}}}))
		if !strings.Contains(got, "<strong>x</strong>") || strings.Contains(got, "<a ") {
			t.Errorf("an agent's words are drawn as %s", got)
		}
	}
}

func TestComposerSaysWhatItEnds(t *testing.T) {
	for _, c := range []struct {
		composer Composer
		want     []string
	}{
		{Composer{}, []string{"No request is open.", "No message is waiting."}},
		{Composer{Open: 1, Waiting: 3}, []string{"Cancels 1 open request.", "Ends 3 waiting messages."}},
	} {
		if got := []string{c.composer.cancels(), c.composer.ends()}; strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("it says %q, want %q", got, c.want)
		}
	}
}

// A person who may only look, and a move that makes no sense, have no button.
func TestWaitingMoves(t *testing.T) {
	input := WaitingInput{ID: "inp_a", First: true, CancelURL: "/c", FrontURL: "/f", UpURL: "/u", DownURL: "/d", PromoteURL: "/p", DemoteURL: "/q"}
	html := rendered(t, WaitingView(Waiting{CanWrite: true, Inputs: []WaitingInput{input}}))
	for url, want := range map[string]bool{"/c": true, "/f": false, "/u": false, "/d": true, "/p": true, "/q": false} {
		if got := strings.Contains(html, `action="`+url+`"`); got != want {
			t.Errorf("a form for %s is there: %v, want %v", url, got, want)
		}
	}
	if looked := rendered(t, WaitingView(Waiting{Inputs: []WaitingInput{input}})); strings.Contains(looked, "<form") {
		t.Error("who may only look has a form")
	}
}

// A page of older entries takes no new ones: they would stand where they do not belong.
func TestOlderPageTakesNoNewEntries(t *testing.T) {
	c := Conversation{Timeline: []Entry{{Sequence: 7, Divider: &Divider{Word: "Stopped"}}}}
	if got := rendered(t, ConversationPage(c)); !strings.Contains(got, `data-last="7"`) {
		t.Error("the newest page does not say up to where it goes")
	}
	c.NewestURL = "/newest"
	if got := rendered(t, ConversationPage(c)); strings.Contains(got, "data-last") {
		t.Error("an older page asks for what is newer")
	}
}

func rendered(t *testing.T, component templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := component.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
