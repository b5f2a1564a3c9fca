package display

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
