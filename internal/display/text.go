package display

import "strings"

// Text is a string as a person may see it, and what they should be warned of.
// Its segments joined are what is seen.
type Text struct {
	Segments []Segment
	Chips    []Chip
}

// Segment is a piece of a [Text]. Mark says that Text stands for something
// that cannot be seen, such as ⟨U+202E⟩, ⟨␠×400⟩, ⟨\x9B⟩ or, on one line, ⏎;
// it is for styling only: whether something is a mark can also be told from
// the text, because no other text contains ⟨.
type Segment struct {
	Text string
	Mark bool
}

// Show makes s safe and honest to show in a place that keeps newlines, such as
// a command or a context value.
func Show(s string) Text {
	return show(s, false)
}

// Line is [Show] for one-line places, such as titles, labels and names:
// newlines become ⏎.
func Line(s string) Text {
	return show(s, true)
}

func show(s string, oneLine bool) Text {
	var r rendering
	r.walk(s, oneLine)
	return Text{Segments: r.segments(), Chips: r.chips()}
}

// String is the text that a person sees, as the CLI prints it.
func (t Text) String() string {
	if len(t.Segments) == 1 {
		return t.Segments[0].Text
	}
	var b strings.Builder
	b.Grow(t.size())
	for _, s := range t.Segments {
		b.WriteString(s.Text)
	}
	return b.String()
}

func (t Text) size() (n int) {
	for _, s := range t.Segments {
		n += len(s.Text)
	}
	return n
}
