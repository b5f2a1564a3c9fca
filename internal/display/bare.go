package display

// bare collects what a string says to a program or to a quick reader, without
// its hidden characters: once with nothing in their place, as when they split
// a word, and once with a blank, as when they stand for one.
type bare struct {
	joined, spaced []byte
	from           int // where the part of the source starts that is not collected yet
}

// skip collects src up to i and leaves out src[i:end], which is made of c.
func (b *bare) skip(src string, i, end int, c rune) {
	b.collect(src, i)
	b.from = end
	if c == '\x1b' || c == 0x9B {
		b.from += escapeSize(src[end:])
	}
	gap := gapOf(c)
	if gap != 0 {
		b.joined = append(b.joined, gap)
	}
	if gap == 0 {
		gap = ' '
	}
	b.spaced = append(b.spaced, gap)
}

func (b *bare) collect(src string, to int) {
	if b.joined == nil {
		b.joined = make([]byte, 0, len(src))
		b.spaced = make([]byte, 0, len(src))
	}
	if to > b.from {
		b.joined = append(b.joined, src[b.from:to]...)
		b.spaced = append(b.spaced, src[b.from:to]...)
	}
}

// texts are the forms of src that chips are drawn from: src itself if nothing
// is hidden in it.
func (b *bare) texts(src string) []string {
	if b.joined == nil {
		return []string{src}
	}
	b.collect(src, len(src))
	return []string{string(b.joined), string(b.spaced)}
}

// gapOf is the ASCII white space that the hidden character c amounts to, or 0.
func gapOf(c rune) byte {
	switch c {
	case '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return '\n'
	case 0xA0, 0x1680, 0x202F, 0x205F, 0x3000:
		return ' '
	}
	if 0x2000 <= c && c <= 0x200A {
		return ' '
	}
	return 0
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
