package display

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSegments bounds what a page has to lay out. A value with more changes
// between plain text and marks than this comes out in full, but what is beyond
// is one segment, without highlighting.
const maxSegments = 4096

// rendering is one walk over a string. Plain text is only copied when a mark
// makes it necessary: a string without marks is its own rendering.
type rendering struct {
	src     string // with CRLF already made a newline
	oneLine bool
	points  *codePoints

	from  int // where the plain text starts that is not in out yet
	out   []byte
	edges []edge
	stack stack

	tally   tally
	padding padding
	bare    bare
	foreign bool // holds letters that can pass for Latin ones
}

// edge is where a segment of rendering.out ends.
type edge struct {
	end  int
	mark bool
}

// walk renders s.
func (r *rendering) walk(s string, oneLine bool) {
	r.src = strings.ReplaceAll(s, "\r\n", "\n")
	r.oneLine = oneLine
	for i := skipPlain(r.src, 0); i < len(r.src); i = skipPlain(r.src, i) {
		i = r.judge(i)
	}
	if r.from > 0 {
		r.flush(len(r.src))
	}
}

// judge looks at what stands at i, where skipPlain could not go on by itself,
// and returns where to go on.
func (r *rendering) judge(i int) int {
	src := r.src
	for stop := min(i+8, len(src)); i < stop; {
		switch c := src[i]; {
		case c >= utf8.RuneSelf:
			return r.judgeWide(i)
		case c > ' ' && c < 0x7F, c == '\n' && !r.oneLine:
			i++
		case c == ' ' && i+1 < len(src) && src[i+1] > ' ':
			i++ // between two words
		case isBlank(c):
			i = r.blankRun(i)
		case c == '\n':
			i = r.foldNewline(i)
		default:
			i = r.hide(i, 1, rune(c))
		}
	}
	return i
}

func (r *rendering) foldNewline(i int) int {
	r.flush(i)
	r.out = utf8.AppendRune(r.out, newlineMark)
	r.mark(i + 1)
	return i + 1
}

// judgeWide goes over the characters outside ASCII that stand at i.
func (r *rendering) judgeWide(i int) int {
	src, points := r.src, r.table()
	for i < len(src) && src[i] >= utf8.RuneSelf {
		c, size := utf8.DecodeRuneInString(src[i:])
		switch {
		case size == 1:
			return r.hide(i, 1, invalidByte(src[i]))
		case points.plain.has(c):
			i += size
		case points.foreign.has(c):
			r.foreign = true
			i += size
		case r.shows(i, size, c):
			i += r.shownSize(i, size, c)
		default:
			return r.hide(i, size, c)
		}
	}
	return i
}

func (r *rendering) table() *codePoints {
	if r.points == nil {
		r.points = points()
	}
	return r.points
}

// shows decides about a character that is not plain wherever it stands.
func (r *rendering) shows(i, size int, c rune) bool {
	switch {
	case r.points.stacking.has(c):
		return r.stack.holds(r, i, size)
	case r.points.watched.has(c):
		return !r.forges(i, size, c)
	case c == emojiStyle:
		return styles(r.src, i)
	case c == joiner:
		return joins(r.src, i)
	}
	return false
}

// shownSize is how much may be shown along with c, which may be shown.
func (r *rendering) shownSize(i, size int, c rune) int {
	if c == blackFlag {
		return flagSize(r.src[i:])
	}
	return size
}

// forges reports whether the watched c could be taken for a sign of ours.
func (r *rendering) forges(i, size int, c rune) bool {
	switch c {
	case markOpen:
		return true
	case newlineMark:
		return r.oneLine
	case blackFlag:
		return false
	}
	return opensForgery(r.src[i+size:])
}

// opensForgery reports whether s, after a bracket that looks like ours, reads
// like the rest of a mark.
func opensForgery(s string) bool {
	return strings.HasPrefix(s, "U+") || strings.HasPrefix(s, `\x`) || strings.HasPrefix(s, string(blankSign))
}

// stack counts combining marks in a row. More than maxStack of them climb over
// the lines around, and one without a base would climb on a mark of ours or on
// whatever the page shows before the text.
type stack struct{ end, height int }

const maxStack = 8

func (k *stack) holds(r *rendering, i, size int) bool {
	if k.end != i {
		k.height = 0
	}
	k.end = i + size
	k.height++
	based := i > r.from && r.src[i-1] != '\n' && r.src[i-1] != '\t'
	return based && k.height <= maxStack
}

// hide shows the character c at i as a mark, and so those after it that cannot
// be shown either. It returns where they end. A hostile value may be made of
// nothing else, so this loop keeps what it changes at hand.
func (r *rendering) hide(i, size int, c rune) int {
	r.flush(i)
	out, start := r.out, i
	var gap gap
	for hidden := true; hidden; c, size, hidden = r.hiddenAt(i) {
		out = r.room(out, maxMark)
		mark := len(out)
		out = appendMark(out, c)
		n := 1
		if next := i + size; next < len(r.src) && r.src[next] == r.src[i] {
			out, n = r.repeat(out, mark, i, size)
		}
		r.tally.note(c, n, r.misleads(c))
		gap.widen(c)
		i += n * size
		r.from = i
	}
	r.out = out
	r.mark(i)
	r.bare.skip(r.src, span{start, i}, gap)
	return i
}

// hiddenAt is the character at i, and whether it has to be hidden.
func (r *rendering) hiddenAt(i int) (c rune, size int, hidden bool) {
	if i == len(r.src) {
		return 0, 0, false
	}
	if b := r.src[i]; b < utf8.RuneSelf {
		return rune(b), 1, isControl(b)
	}
	return r.wideAt(i)
}

func (r *rendering) wideAt(i int) (c rune, size int, hidden bool) {
	c, size = utf8.DecodeRuneInString(r.src[i:])
	if size == 1 {
		return invalidByte(r.src[i]), 1, true
	}
	points := r.table()
	return c, size, !points.plain.has(c) && !points.foreign.has(c) && !r.shows(i, size, c)
}

func isControl(b byte) bool { return b < ' ' && b != '\t' && b != '\n' || b == 0x7F }

// repeat shows the repetitions of the character at i, whose mark is out[mark:],
// and returns how many there are with the first. They need no look at their
// neighbours: what is hidden after anything is hidden after itself.
func (r *rendering) repeat(out []byte, mark, i, size int) ([]byte, int) {
	n := repetitions(r.src[i:], size)
	need := (n - 1) * (len(out) - mark)
	out = r.room(out, need)
	for need > 0 {
		again := out[mark : mark+min(need, len(out)-mark)]
		out = append(out, again...)
		need -= len(again)
	}
	return out, n
}

// room makes room in out for n bytes, and for as much more as the rest of the
// source will need if it is like what was walked so far.
func (r *rendering) room(out []byte, n int) []byte {
	if cap(out)-len(out) >= n {
		return out
	}
	rest := float64(len(r.src)-r.from) / float64(r.from+1)
	return slices.Grow(out, n+int(float64(len(out))*min(rest, 16)))
}

// misleads reports whether c, which is hidden, could be seen for something
// that it is not, rather than not be seen.
func (r *rendering) misleads(c rune) bool {
	return c >= utf8.RuneSelf && (r.points.watched.has(c) || r.points.stacking.has(c))
}

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

// flush copies the plain text before i to out.
func (r *rendering) flush(i int) {
	if r.out == nil {
		r.out = make([]byte, 0, 2*len(r.src)+maxMark)
	}
	if i > r.from {
		r.out = append(r.room(r.out, i-r.from), r.src[r.from:i]...)
		r.segment(false)
	}
}

// mark makes what was written last a mark, for what ends at i.
func (r *rendering) mark(i int) {
	r.segment(true)
	r.from = i
}

// segment ends a segment at the end of out, or extends the last one.
func (r *rendering) segment(mark bool) {
	n := len(r.edges)
	if n > 0 && (n == maxSegments || r.edges[n-1].mark == mark) {
		r.edges[n-1].end = len(r.out)
		return
	}
	r.edges = append(r.edges, edge{len(r.out), mark && n < maxSegments-1})
}

func (r *rendering) segments() []Segment {
	if r.src == "" {
		return nil
	}
	if r.edges == nil {
		return []Segment{{Text: r.src}}
	}
	return cut(string(r.out), r.edges)
}

func cut(text string, edges []edge) []Segment {
	segments := make([]Segment, len(edges))
	from := 0
	for i, e := range edges {
		segments[i] = Segment{Text: text[from:e.end], Mark: e.mark}
		from = e.end
	}
	return segments
}

// skipPlain goes over text that needs no look: eight printable ASCII
// characters at a time, as long as no two blanks stand side by side.
func skipPlain(s string, i int) int {
	for i+8 <= len(s) {
		w := load(s, i)
		if !isPrintable(w) {
			return i
		}
		blanks := equal(w, ' ')
		if blanks&(blanks>>8) != 0 {
			return i
		}
		i += 8 - int(blanks>>63) // a blank at the end is looked at with what follows
	}
	return i
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// load reads the eight bytes at s[i:], the first one lowest.
func load(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// isPrintable reports whether all bytes of w are ASCII from space to tilde.
func isPrintable(w uint64) bool {
	belowSpace := (w - ' '*everyByte) & ^w
	return (w|belowSpace)&highBits == 0 && equal(w, 0x7F) == 0
}

// equal sets the high bit of each byte of w, all ASCII, that is c.
func equal(w uint64, c byte) uint64 {
	return ^((w ^ uint64(c)*everyByte) + 0x7F*everyByte) & highBits
}
