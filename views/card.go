package views

import (
	"strconv"
	"time"

	"sayso/internal/display"
)

// pickUpLimit is how long an answer may wait for its agent before the card says so.
const pickUpLimit = 30 * time.Second

func (c Card) titleID() string { return c.ID + "-title" }

// longTitle says that the title is set like text, so that it leaves room for the evidence on a phone.
func (c Card) longTitle() bool { return len(c.Title.String()) > 120 }

// titleTabIndex makes the title focusable by script; a long one, which scrolls on a phone, by the keyboard too.
func (c Card) titleTabIndex() string {
	if c.longTitle() {
		return "0"
	}
	return "-1"
}

func (c Card) kindWord() string {
	if c.Kind == QuestionKind {
		return "Question"
	}
	return "Permission"
}

// final says that nothing about the card can change any more, so that a page need not ask for it again.
func (c Card) final() bool {
	return c.State == Canceled || c.State == Resolved && !c.Delivery.ReportedAt.IsZero()
}

// noInput says that a tool is to run without being told anything, which is a fact to show and not a gap in the page.
func (c Card) noInput() bool {
	return c.Kind == PermissionKind && len(c.Context) == 0 && c.MoreItems == 0
}

// unseen says that part of the evidence is left out of this page.
func (c Card) unseen() bool {
	if c.MoreItems > 0 {
		return true
	}
	for _, item := range c.Context {
		if item.Hidden > 0 {
			return true
		}
	}
	return false
}

// outcome is how it ended in a few words, for the announcement: "Denied by Dana".
func (c Card) outcome() string {
	if c.End == nil {
		return ""
	}
	if blank(c.End.By) {
		return c.End.Word.Title()
	}
	return c.End.Word.Title() + " by " + c.End.By.String()
}

// class is the look of the card in its state.
func (c Card) class() string {
	if c.End == nil {
		return "card card-open"
	}
	return "card card-ended card-" + string(c.End.Word)
}

// gist is what the collapsed line tells beside the title: why it was denied, what was answered, or what ran.
func (c Card) gist() display.Text {
	switch {
	case c.End == nil:
		return display.Text{}
	case !blank(c.End.Reason):
		return c.End.Reason
	case !blank(c.End.Instead):
		return firstLine(c.End.Instead)
	case len(c.End.Answers) > 0:
		return join(c.End.Answers[0].Chosen)
	case len(c.Context) > 0:
		return firstLine(c.Context[0].Value)
	}
	return display.Text{}
}

// gistRuns says that the gist is something that may run, and is set like it.
func (c Card) gistRuns() bool {
	if c.End == nil || !blank(c.End.Reason) || len(c.End.Answers) > 0 {
		return false
	}
	return !blank(c.End.Instead) || len(c.Context) > 0 && c.Context[0].Mono
}

// endedWord is how it ended. What was allowed in another form than asked for must not look like a plain yes.
func (c Card) endedWord() string {
	if !blank(c.End.Instead) {
		return c.End.Word.Title() + ", changed"
	}
	return c.End.Word.Title()
}

// late says that the answer has waited too long for its agent; lateIn is when it will have.
func (c Card) late() bool            { return c.Now.Sub(c.End.At) >= pickUpLimit }
func (c Card) lateIn() time.Duration { return pickUpLimit - c.Now.Sub(c.End.At) }

func (c Card) pickedUp() bool { return !c.Delivery.PickedUpAt.IsZero() }
func (c Card) reported() bool { return !c.Delivery.ReportedAt.IsZero() }
func (c Card) failed() bool   { return c.Delivery.Outcome == "failed" }

// deliveryWord is how far the answer got, for the collapsed line.
func (c Card) deliveryWord() string {
	switch {
	case c.reported() && c.failed():
		return "Reported failed"
	case c.reported():
		return "Reported done"
	case c.pickedUp():
		return "Picked up"
	}
	return "Recorded"
}

// Title is the word at the beginning of a line.
func (w EndWord) Title() string {
	switch w {
	case Allowed:
		return "Allowed"
	case Denied:
		return "Denied"
	case Answered:
		return "Answered"
	case Expired:
		return "Expired"
	}
	return "Canceled"
}

// happened is the word as it is told of somebody: "Dana denied this", "this expired".
func (w EndWord) happened(by display.Text) string {
	did := map[EndWord]string{Allowed: "allowed", Denied: "denied", Answered: "answered", CanceledEnd: "canceled", Expired: "expired"}[w]
	switch {
	case w == Expired:
		return "This expired"
	case blank(by):
		return "This was " + did
	}
	return did + " this"
}

// where is the channel of an answer, as the end of a sentence.
func (e End) where() string {
	switch e.Channel {
	case "":
		return ""
	case "dashboard":
		return "in the dashboard"
	case "api":
		return "over the API"
	case "cli":
		return "on the command line"
	case "embed":
		return "in an embedded page"
	}
	return "through " + e.Channel
}

func firstLine(text display.Text) display.Text {
	const limit = 120 // runes; the line is cut by the style sheet much earlier
	var line display.Text
	room := limit
	for _, segment := range text.Segments {
		head, whole := head(segment.Text, room)
		line.Segments = append(line.Segments, display.Segment{Text: head, Mark: segment.Mark})
		room -= len([]rune(head))
		if !whole {
			break
		}
	}
	return line
}

// head is what comes before the first newline, at most n runes, and whether that is all.
func head(s string, n int) (string, bool) {
	for i, r := range s {
		if n == 0 || r == '\n' {
			return s[:i] + "…", false
		}
		n--
	}
	return s, true
}

// detailsAfter is the option that the field for details follows: the last one that allows text, or -1.
func (q Question) detailsAfter() int {
	for i := len(q.Options) - 1; i >= 0; i-- {
		if q.Options[i].AllowsText {
			return i
		}
	}
	return -1
}

func (q Question) inputType() string {
	if q.Multiple {
		return "checkbox"
	}
	return "radio"
}

func fieldName(n int) string { return "q" + strconv.Itoa(n) }

// ownPrompt says that the prompt adds something to the card's title. A single question is often titled with its own prompt.
func (c Card) ownPrompt(q Question) bool {
	return len(c.Questions) > 1 || q.Prompt.String() != c.Title.String()
}

// opened says that something under More was filled in.
func (d Draft) opened() bool { return d.Note != "" || d.Input != "" || d.Remember || d.Session }

// edited is the input in its field.
func (c Card) edited() string {
	if c.Draft.Input != "" {
		return c.Draft.Input
	}
	return c.With.Input
}

// reviewID is the id of a part of the review.
func (c Card) reviewID(part string) string { return c.ID + "-review" + part }
