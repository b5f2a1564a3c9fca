package display

import (
	"strconv"
	"unicode/utf8"
)

// The signs that marks are made of. No text contains markOpen except as part
// of a mark, and no line contains newlineMark except for a newline.
const (
	markOpen    = '⟨'
	markClose   = '⟩'
	blankSign   = '␠'
	newlineMark = '⏎'
)

// maxMark is how many bytes a mark takes at most.
const maxMark = 32

const upperHex = "0123456789ABCDEF"

// appendMark appends ⟨U+202E⟩ for the code point c, or ⟨\x9B⟩ if c stands for
// a byte that is not part of any UTF-8.
func appendMark(out []byte, c rune) []byte {
	switch {
	case c < 0:
		return appendByteMark(out, byteOf(c))
	case c > 0xFFFF:
		return appendWideMark(out, c)
	}
	mark := [...]byte{0xE2, 0x9F, 0xA8, 'U', '+',
		upperHex[c>>12&15], upperHex[c>>8&15], upperHex[c>>4&15], upperHex[c&15], 0xE2, 0x9F, 0xA9}
	return append(out, mark[:]...)
}

func appendByteMark(out []byte, b byte) []byte {
	mark := [...]byte{0xE2, 0x9F, 0xA8, '\\', 'x', upperHex[b>>4], upperHex[b&15], 0xE2, 0x9F, 0xA9}
	return append(out, mark[:]...)
}

func appendWideMark(out []byte, c rune) []byte {
	out = append(out, "⟨U+"...)
	if c > 0xFFFFF {
		out = append(out, '1')
	}
	for shift := 16; shift >= 0; shift -= 4 {
		out = append(out, upperHex[c>>shift&15])
	}
	return utf8.AppendRune(out, markClose)
}

// appendBlankMark appends ⟨␠×400⟩ for a run of n blanks.
func appendBlankMark(out []byte, n int) []byte {
	out = append(out, "⟨␠×"...)
	out = strconv.AppendInt(out, int64(n), 10)
	return utf8.AppendRune(out, markClose)
}

// invalidByte stands for a byte that is not part of any UTF-8, where a code
// point is asked for.
func invalidByte(b byte) rune { return -1 - rune(b) }

func byteOf(c rune) byte { return byte(-1 - c) }
