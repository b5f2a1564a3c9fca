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
const maxMark = 28

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
	return appendShortMark(out, c)
}

// appendShortMark fills in a copy, which is three times faster than putting a
// mark together.
func appendShortMark(out []byte, c rune) []byte {
	out = append(out, "⟨U+0000⟩"...)
	digits := out[len(out)-7:]
	digits[0], digits[1] = upperHex[c>>12&15], upperHex[c>>8&15]
	digits[2], digits[3] = upperHex[c>>4&15], upperHex[c&15]
	return out
}

func appendByteMark(out []byte, b byte) []byte {
	out = append(out, `⟨\x00⟩`...)
	digits := out[len(out)-5:]
	digits[0], digits[1] = upperHex[b>>4], upperHex[b&15]
	return out
}

func appendWideMark(out []byte, c rune) []byte {
	if c > 0xFFFFF {
		out = append(out, "⟨U+100000⟩"...)
	} else {
		out = append(out, "⟨U+00000⟩"...)
	}
	digits := out[len(out)-8:]
	digits[0] = upperHex[c>>16&15]
	digits[1], digits[2] = upperHex[c>>12&15], upperHex[c>>8&15]
	digits[3], digits[4] = upperHex[c>>4&15], upperHex[c&15]
	return out
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

// sizeOf is how many bytes c takes in the source.
func sizeOf(c rune) int {
	if c < 0 {
		return 1
	}
	return utf8.RuneLen(c)
}
