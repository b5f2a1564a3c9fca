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

// walk goes over s once and writes it to the sheet.
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
