package display

import (
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
	table   *kindTable

	from  int // where the plain text starts that is not on the sheet yet
	sheet sheet
	edges []edge
	stack stack

	batch   batch
	tally   tally
	padding padding
	bare    bare
	foreign bool // holds letters that can pass for Latin ones
}

// edge is where a segment of the sheet ends.
type edge struct {
	end  int
	mark bool
}

// walk renders s.
func (r *rendering) walk(s string, oneLine bool) {
	r.src = strings.ReplaceAll(s, "\r\n", "\n")
	r.oneLine = oneLine
	r.sheet.source = len(r.src)
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
			i = r.hide(i)
		}
	}
	return i
}

func (r *rendering) foldNewline(i int) int {
	r.flush(i)
	r.sheet.plain(string(newlineMark))
	r.mark(i + 1)
	return i + 1
}

// judgeWide goes over the characters outside ASCII that stand at i.
func (r *rendering) judgeWide(i int) int {
	src, table := r.src, r.kinds()
	for i < len(src) && src[i] >= utf8.RuneSelf {
		c, size := decode(src, i)
		switch k := table.of(c); {
		case k == plain:
			i += size
		case k == foreign:
			r.foreign = true
			i += size
		case r.shows(i, size, c, k):
			i += r.shownSize(i, size, c)
		default:
			return r.hide(i)
		}
	}
	return i
}

func (r *rendering) kinds() *kindTable {
	if r.table == nil {
		r.table = kinds()
	}
	return r.table
}

// shows decides about a character that is not shown wherever it stands.
func (r *rendering) shows(i, size int, c rune, k kind) bool {
	switch k {
	case stacking:
		return r.stack.holds(r, i, size)
	case watched:
		return !r.forges(i, size, c)
	case inEmoji:
		return c == emojiStyle && styles(r.src, i) || c == joiner && joins(r.src, i)
	}
	return k < stacking
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

// flush writes the plain text before i.
func (r *rendering) flush(i int) {
	if i > r.from {
		r.sheet.read = r.from
		r.sheet.plain(r.src[r.from:i])
		r.segment(false)
	}
}

// mark makes what was written last a mark, for what ends at i.
func (r *rendering) mark(i int) {
	r.segment(true)
	r.from = i
}

// segment ends a segment where the sheet ends, or extends the last one.
func (r *rendering) segment(mark bool) {
	n := len(r.edges)
	if n > 0 && (n == maxSegments || r.edges[n-1].mark == mark) {
		r.edges[n-1].end = r.sheet.len()
		return
	}
	r.edges = append(r.edges, edge{r.sheet.len(), mark && n < maxSegments-1})
}

func (r *rendering) segments() []Segment {
	if r.src == "" {
		return nil
	}
	if r.edges == nil {
		return []Segment{{Text: r.src}}
	}
	return cut(r.sheet.string(), r.edges)
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
