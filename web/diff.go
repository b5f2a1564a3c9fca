package web

import (
	"encoding/json"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

const (
	diffCells = 1 << 21 // of the table of the longest common part; where it would be larger, all of the middle counts as changed
	around    = 3       // unchanged lines shown on each side of a change
)

// inputDiff is what changed from one input to another, line by line. Both are written the same way, so that only what they say differs.
func inputDiff(was, is json.RawMessage) []views.DiffLine {
	return diff(inputLines(was), inputLines(is))
}

// inputLines are an input's lines as it is edited; a line break in a string begins another, or a script of 200 lines would be one.
func inputLines(input json.RawMessage) []string {
	return breakStrings(interaction.ToolCall{Input: input}.Editable())
}

// breakStrings cuts JSON into lines: at its newlines, and after each \n in a string. Nothing is left out.
func breakStrings(s string) (lines []string) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			lines = append(lines, s[start:i])
			start = i + 1
		case '\\':
			i++
			if i < len(s) && s[i] == 'n' && i+1 < len(s) && s[i+1] != '"' {
				lines = append(lines, s[start:i+1])
				start = i + 1
			}
		}
	}
	return append(lines, s[start:])
}

func diff(was, is []string) []views.DiffLine {
	head := common(len(was), len(is), func(n int) bool { return was[n] == is[n] })
	was, is, same := was[head:], is[head:], was[:head]
	tail := common(len(was), len(is), func(n int) bool { return was[len(was)-1-n] == is[len(is)-1-n] })
	after := was[len(was)-tail:]
	d := differ{was: was[:len(was)-tail], is: is[:len(is)-tail]}
	d.same(same)
	d.middle()
	d.same(after)
	return d.drawn()
}

// common is for how many n from 0 on equal holds.
func common(a, b int, equal func(int) bool) int {
	n := 0
	for n < a && n < b && equal(n) {
		n++
	}
	return n
}

type differ struct {
	was, is []string
	lines   []diffLine
}

type diffLine struct {
	op   views.DiffOp
	text string
}

func (d *differ) add(op views.DiffOp, lines ...string) {
	for _, line := range lines {
		d.lines = append(d.lines, diffLine{op, line})
	}
}

func (d *differ) same(lines []string) { d.add(views.DiffSame, lines...) }

// middle compares what is neither the common beginning nor the common end.
func (d *differ) middle() {
	rows, columns := len(d.was)+1, len(d.is)+1
	if rows*columns > diffCells {
		d.add(views.DiffOut, d.was...)
		d.add(views.DiffIn, d.is...)
		return
	}
	longest := make([]int32, rows*columns) // common part of what begins at row and column
	for w := len(d.was) - 1; w >= 0; w-- {
		for i := len(d.is) - 1; i >= 0; i-- {
			if d.was[w] == d.is[i] {
				longest[w*columns+i] = longest[(w+1)*columns+i+1] + 1
			} else {
				longest[w*columns+i] = max(longest[(w+1)*columns+i], longest[w*columns+i+1])
			}
		}
	}
	w, i := 0, 0
	for w < len(d.was) && i < len(d.is) {
		switch {
		case d.was[w] == d.is[i]:
			d.same(d.was[w : w+1])
			w, i = w+1, i+1
		case longest[(w+1)*columns+i] >= longest[w*columns+i+1]:
			d.add(views.DiffOut, d.was[w])
			w++
		default:
			d.add(views.DiffIn, d.is[i])
			i++
		}
	}
	d.add(views.DiffOut, d.was[w:]...)
	d.add(views.DiffIn, d.is[i:]...)
}

// drawn leaves out long runs of unchanged lines, and says how many.
func (d *differ) drawn() (out []views.DiffLine) {
	near := make([]bool, len(d.lines))
	for n, line := range d.lines {
		if line.op == views.DiffSame {
			continue
		}
		for m := max(0, n-around); m <= min(len(near)-1, n+around); m++ {
			near[m] = true
		}
	}
	skipped := 0
	for n, line := range d.lines {
		if !near[n] {
			skipped++
			continue
		}
		out = appendSkipped(out, skipped)
		skipped = 0
		out = append(out, views.DiffLine{Op: line.op, Text: display.Show(line.text)})
	}
	return appendSkipped(out, skipped)
}

func appendSkipped(out []views.DiffLine, n int) []views.DiffLine {
	if n == 0 {
		return out
	}
	return append(out, views.DiffLine{Op: views.DiffSkip, Skipped: n})
}
