package display

import "strings"

// sheet is the text that a rendering writes. Marks are put together in a small
// buffer before they go into the text: values of hostile length come out up to
// twelve times as long, and should not be copied twice.
type sheet struct {
	text   strings.Builder
	buffer [1024]byte
	used   int
	read   int // how much of the source led to this text
	source int // how long that is
}

func (s *sheet) len() int { return s.text.Len() + s.used }

// string is the text; nothing may be written after it was asked for.
func (s *sheet) string() string {
	s.settle()
	return s.text.String()
}

func (s *sheet) plain(text string) {
	if s.used+len(text) > len(s.buffer) {
		s.settle()
		s.room(len(text))
		s.text.WriteString(text)
		return
	}
	s.used += copy(s.buffer[s.used:], text)
}

// marks writes the marks of chars, which are not more than fit in the buffer.
func (s *sheet) marks(chars []rune) {
	if s.used+maxMark*len(chars) > len(s.buffer) {
		s.settle()
	}
	out := s.buffer[:s.used]
	for _, c := range chars {
		if uint32(c) <= 0xFFFF {
			out = appendShortMark(out, c)
		} else {
			out = appendMark(out, c)
		}
	}
	s.used = len(out)
}

// repeated writes the mark of c, n times, in steps that double.
func (s *sheet) repeated(c rune, n int) {
	s.settle()
	start := s.text.Len()
	s.marks([]rune{c})
	need := (n - 1) * s.used
	s.settle()
	s.room(need)
	for need > 0 {
		again := s.text.String()[start:]
		again = again[:min(need, len(again))]
		s.text.WriteString(again)
		need -= len(again)
	}
}

// blanks writes the mark of n blanks.
func (s *sheet) blanks(n int) {
	if s.used+maxMark > len(s.buffer) {
		s.settle()
	}
	s.used = len(appendBlankMark(s.buffer[:s.used], n))
}

// settle moves what is in the buffer to the text.
func (s *sheet) settle() {
	s.room(s.used)
	s.text.Write(s.buffer[:s.used])
	s.used = 0
}

// room makes room for n bytes, and for as much more as the rest of the source
// will need if it is like what was read so far.
func (s *sheet) room(n int) {
	have := s.text.Cap() - s.text.Len()
	if have >= n {
		return
	}
	rest := float64(s.source-s.read) / float64(s.read+1)
	s.text.Grow(n + int(float64(s.len())*min(rest, 16)) + (s.source-s.read)/8)
}
