package display

// How many blanks in a row are left alone: inside a line, and before it.
const (
	maxBlanks      = 8
	maxIndentation = 64
)

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// blanksEnd is where the run of blanks at s[i:] ends.
func blanksEnd(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

// blankRun judges the run of blanks at i and returns its end. Blanks at a
// line's end are always shown: they cannot be seen at all. Elsewhere a run is
// shown when it is long enough to push what follows out of sight.
func (r *rendering) blankRun(i int) int {
	end := blanksEnd(r.src, i)
	if n := end - i; r.lineEndsAt(end) || n > r.blanksAllowedAt(i) {
		r.hideBlanks(i, n)
	}
	return end
}

func (r *rendering) lineEndsAt(i int) bool {
	return i == len(r.src) || r.src[i] == '\n'
}

func (r *rendering) blanksAllowedAt(i int) int {
	if i == 0 || r.src[i-1] == '\n' {
		return maxIndentation
	}
	return maxBlanks
}

func (r *rendering) hideBlanks(i, n int) {
	r.flush(i)
	r.sheet.blanks(n)
	r.mark(i + n)
	r.padding.note(n)
}

// padding is what the chip about white space says: the length of the longest
// run that was shortened.
type padding int

func (p *padding) note(n int) {
	if n > maxBlanks {
		*p = max(*p, padding(n))
	}
}
