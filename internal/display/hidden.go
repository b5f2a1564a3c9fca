package display

import "fmt"

// tally counts what was replaced by marks, for the chip about it.
type tally struct {
	invisible  int    // characters that cannot be seen
	misleading int    // characters that can be seen for what they are not
	marks      []byte // the first different marks, separated by spaces
	kinds      int
}

const maxTallied = 6

func (t *tally) note(mark []byte, c rune, n int) {
	if misleads(c) {
		t.misleading += n
	} else {
		t.invisible += n
	}
	if t.kinds < maxTallied {
		t.list(mark)
	}
}

func misleads(c rune) bool { return points().watched.has(c) || points().stacking.has(c) }
