package display

import "strings"

// bare collects what a string says to a program or to a quick reader, without
// its hidden characters. Chips are drawn from it, so that su⟨U+200B⟩do is sudo.
type bare struct {
	text strings.Builder
	from int // where the part of the source starts that is not collected yet
}

// gap is what a run of hidden characters amounts to.
type gap struct {
	space  byte // the ASCII white space that they act like, or 0
	escape bool // the last one starts a terminal escape
}

func (g *gap) widen(c rune, k kind) {
	switch {
	case k == hiddenBreak:
		g.space = '\n'
	case k == hiddenBlank && g.space == 0:
		g.space = ' '
	}
	g.escape = c == '\x1b' || c == 0x9B
}

// skip collects src up to hidden, and leaves that out.
func (b *bare) skip(src string, hidden span, g gap) {
	b.collect(src, hidden.start)
	b.from = hidden.end
	if g.escape {
		b.from += escapeSize(src[hidden.end:])
	}
	if g.space != 0 {
		b.text.WriteByte(g.space)
	}
}

func (b *bare) collect(src string, to int) {
	if to > b.from {
		if b.text.Cap() == 0 {
			b.text.Grow(len(src))
		}
		b.text.WriteString(src[b.from:to])
	}
}

// of is src without what was skipped: src itself if nothing was.
func (b *bare) of(src string) string {
	if b.from == 0 {
		return src
	}
	b.collect(src, len(src))
	return b.text.String()
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
