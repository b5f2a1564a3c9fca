package display

import "strings"

// bare collects what a string says to a program or to a quick reader, without
// its hidden characters: once with nothing in their place, as when they split
// a word, and once with a blank, as when they stand for one.
type bare struct {
	joined, spaced strings.Builder
	from           int // where the part of the source starts that is not collected yet
}

// gap is what a run of hidden characters amounts to.
type gap struct {
	space  byte // the ASCII white space that they stand for, or 0
	escape bool // the last one starts a terminal escape
}

func (g *gap) widen(c rune) {
	g.escape = c == '\x1b' || c == 0x9B
	if space := spaceOf(c); g.space != '\n' && space != 0 {
		g.space = space
	}
}

// spaceOf is the ASCII white space that the hidden character c is like, or 0.
func spaceOf(c rune) byte {
	switch {
	case '\v' <= c && c <= '\r', c == 0x85, c == 0x2028, c == 0x2029:
		return '\n'
	case c < 0xA0:
		return 0
	case c == 0xA0, 0x2000 <= c && c <= 0x200A, c == 0x202F, c == 0x205F, c == 0x3000, c == 0x1680:
		return ' '
	}
	return 0
}

// skip collects src up to hidden, and leaves that out.
func (b *bare) skip(src string, hidden span, g gap) {
	b.collect(src, hidden.start)
	b.from = hidden.end
	if g.escape {
		b.from += escapeSize(src[hidden.end:])
	}
	if g.space != 0 {
		b.joined.WriteByte(g.space)
		b.spaced.WriteByte(g.space)
	} else {
		b.spaced.WriteByte(' ')
	}
}

func (b *bare) collect(src string, to int) {
	if b.joined.Cap() == 0 {
		b.joined.Grow(len(src))
		b.spaced.Grow(len(src))
	}
	if to > b.from {
		b.joined.WriteString(src[b.from:to])
		b.spaced.WriteString(src[b.from:to])
	}
}

// texts are the forms of src that chips are drawn from: src itself if nothing
// is hidden in it.
func (b *bare) texts(src string) []string {
	if b.from == 0 {
		return []string{src}
	}
	b.collect(src, len(src))
	return []string{b.joined.String(), b.spaced.String()}
}

// escapeSize is the length of the rest of a terminal escape such as "[2K" at
// the start of s: a terminal draws nothing for it.
func escapeSize(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case '@' <= c && c <= '~':
			return i + 1
		case c < ' ' || c > '?':
			return 0
		}
	}
	return 0
}
