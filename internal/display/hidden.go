package display

import "fmt"

// tally counts what was hidden behind marks, for the chip about it.
type tally struct {
	invisible  int // cannot be seen
	misleading int // can be seen, for something that it is not
	seen       [maxTallied]rune
	kinds      int
	sieve      uint64 // of those seen; now and then one more is taken for seen
}

// maxTallied is how many different characters the chip names.
const maxTallied = 6

// note counts the characters of a batch.
func (t *tally) note(b *batch) {
	t.misleading += b.misleading
	t.invisible += b.size - b.misleading
	for _, c := range b.chars[:b.size] {
		if bit := uint64(1) << (c & 63); t.sieve&bit == 0 && t.kinds < maxTallied {
			t.sieve |= bit
			t.seen[t.kinds] = c
			t.kinds++
		}
	}
}

func (t *tally) count(n int, misleading bool) {
	if misleading {
		t.misleading += n
	} else {
		t.invisible += n
	}
}

func (t *tally) label() string {
	switch {
	case t.misleading == 0:
		return counted(t.invisible, "invisible character")
	case t.invisible == 0:
		return counted(t.misleading, "misleading character")
	}
	return counted(t.invisible+t.misleading, "invisible or misleading character")
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// match lists the different characters as the marks that stand for them.
func (t *tally) match() string {
	var out []byte
	for i, c := range t.seen[:t.kinds] {
		if i > 0 {
			out = append(out, ' ')
		}
		out = appendMark(out, c)
	}
	return string(out)
}
