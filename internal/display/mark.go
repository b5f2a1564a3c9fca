package display

import "strconv"

// The signs that marks are made of. No text contains markOpen except as part
// of a mark, and no line contains newlineMark except for a newline.
const (
	markOpen    = '⟨'
	markClose   = '⟩'
	blankSign   = '␠'
	newlineMark = '⏎'
)

const upperHex = "0123456789ABCDEF"

// appendMark appends ⟨U+202E⟩ for the code point c.
func appendMark(out []byte, c rune) []byte {
	if c > 0xFFFF {
		return appendWideMark(out, c)
	}
	m := [...]byte{0xE2, 0x9F, 0xA8, 'U', '+',
		upperHex[c>>12&15], upperHex[c>>8&15], upperHex[c>>4&15], upperHex[c&15], 0xE2, 0x9F, 0xA9}
	return append(out, m[:]...)
}

func appendWideMark(out []byte, c rune) []byte {
	out = append(out, "⟨U+"...)
	if c > 0xFFFFF {
		out = append(out, '1')
	}
	for shift := 16; shift >= 0; shift -= 4 {
		out = append(out, upperHex[c>>shift&15])
	}
	return append(out, "⟩"...)
}

// appendByteMark appends ⟨\x9B⟩ for a byte that is not part of any UTF-8.
func appendByteMark(out []byte, b byte) []byte {
	m := [...]byte{0xE2, 0x9F, 0xA8, '\\', 'x', upperHex[b>>4], upperHex[b&15], 0xE2, 0x9F, 0xA9}
	return append(out, m[:]...)
}

// appendBlankMark appends ⟨␠×400⟩ for a run of n blanks.
func appendBlankMark(out []byte, n int) []byte {
	out = append(out, "⟨␠×"...)
	out = strconv.AppendInt(out, int64(n), 10)
	return append(out, "⟩"...)
}

// appendAgain appends out[from:] n more times, in steps that double, because
// hostile values repeat one character hundreds of thousands of times.
func appendAgain(out []byte, from, n int) []byte {
	size := len(out) - from
	for need := n * size; need > 0; {
		step := min(need, len(out)-from)
		out = append(out, out[from:from+step]...)
		need -= step
	}
	return out
}
