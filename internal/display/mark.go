package display

import (
	"strconv"
	"strings"
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

// writeMark writes ⟨U+202E⟩ for the code point c, or ⟨\x9B⟩ if c stands for
// a byte that is not part of any UTF-8.
func writeMark(out *strings.Builder, c rune) {
	switch {
	case c < 0:
		writeByteMark(out, byteOf(c))
	case c > 0xFFFF:
		writeWideMark(out, c)
	default:
		mark := [...]byte{0xE2, 0x9F, 0xA8, 'U', '+',
			upperHex[c>>12&15], upperHex[c>>8&15], upperHex[c>>4&15], upperHex[c&15], 0xE2, 0x9F, 0xA9}
		out.Write(mark[:])
	}
}

func writeByteMark(out *strings.Builder, b byte) {
	mark := [...]byte{0xE2, 0x9F, 0xA8, '\\', 'x', upperHex[b>>4], upperHex[b&15], 0xE2, 0x9F, 0xA9}
	out.Write(mark[:])
}

func writeWideMark(out *strings.Builder, c rune) {
	out.WriteString("⟨U+")
	if c > 0xFFFFF {
		out.WriteByte('1')
	}
	for shift := 16; shift >= 0; shift -= 4 {
		out.WriteByte(upperHex[c>>shift&15])
	}
	out.WriteRune(markClose)
}

// writeBlankMark writes ⟨␠×400⟩ for a run of n blanks.
func writeBlankMark(out *strings.Builder, n int) {
	out.WriteString("⟨␠×")
	out.WriteString(strconv.Itoa(n))
	out.WriteRune(markClose)
}

func blankMark(n int) string {
	var b strings.Builder
	writeBlankMark(&b, n)
	return b.String()
}

// invalidByte stands for a byte that is not part of any UTF-8, where a code
// point is asked for.
func invalidByte(b byte) rune { return -1 - rune(b) }

func byteOf(c rune) byte { return byte(-1 - c) }
