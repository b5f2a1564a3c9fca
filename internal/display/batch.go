package display

// hide shows the characters from i on that have to be hidden as marks, and
// returns where they end. A hostile value may be made of nothing else, so they
// are taken in batches, of which each step is a short loop.
func (r *rendering) hide(i int) int {
	r.flush(i)
	start := i
	r.batch.gap = gap{}
	for more := true; more; {
		i, more = r.gather(i)
		r.sheet.marks(r.batch.chars[:r.batch.size])
		r.tally.note(&r.batch)
		if more {
			i = r.hideAgain(i)
		}
	}
	r.mark(i)
	r.bare.skip(r.src, span{start, i}, r.batch.gap)
	return i
}

// batch is some hidden characters in a row.
type batch struct {
	chars      [32]rune
	size       int
	misleading int // how many could be seen, for what they are not
	gap        gap // what all since the start of the row amount to
}

// gather reads hidden characters from i on into the batch. It returns where
// they end, and whether there may be more.
func (r *rendering) gather(i int) (end int, more bool) {
	src, table, b := r.src, r.kinds(), &r.batch
	b.size, b.misleading = 0, 0
	for b.size < len(b.chars) && i < len(src) {
		c, size := decode(src, i)
		k := table.of(c)
		if k < hidden {
			r.from = i
			if r.shows(i, size, c, k) {
				return i, false
			}
			if isMisleading(k) {
				b.misleading++
			}
		}
		b.gap.widen(c, k)
		b.chars[b.size] = c
		b.size++
		i += size
	}
	r.from, r.sheet.read = i, i
	return i, i < len(src)
}

// hideAgain hides the last character of the batch as often as it comes again
// at i, and returns where that ends. Repetitions need no look at their
// neighbours: what is hidden after anything is hidden after itself.
func (r *rendering) hideAgain(i int) int {
	last := r.batch.chars[r.batch.size-1]
	size := sizeOf(last)
	n := repetitions(r.src[i-size:], size) - 1
	if n > 0 {
		r.sheet.repeated(last, n)
		r.tally.count(n, isMisleading(r.kinds().of(last)))
	}
	return i + n*size
}

func isMisleading(k kind) bool { return k == stacking || k == watched }

// repetitions counts how often the character of the given size that s starts
// with comes in a row. It compares ever longer stretches, then shorter ones.
func repetitions(s string, size int) int {
	end, step := size, size
	for end+step <= len(s) && s[:step] == s[end:end+step] {
		end += step
		step = end
	}
	for ; step >= size; step = step / size / 2 * size {
		for end+step <= len(s) && s[:step] == s[end:end+step] {
			end += step
		}
	}
	return end / size
}
