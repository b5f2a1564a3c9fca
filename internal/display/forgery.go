package display

import "strings"

// forges reports whether the watched c could be taken for a sign of ours.
func (r *rendering) forges(i, size int, c rune) bool {
	switch c {
	case markOpen:
		return true
	case newlineMark:
		return r.oneLine
	case blackFlag:
		return false
	}
	return opensForgery(r.src[i+size:])
}

// opensForgery reports whether s, after a bracket that looks like ours, reads
// like the rest of a mark.
func opensForgery(s string) bool {
	return strings.HasPrefix(s, "U+") || strings.HasPrefix(s, `\x`) || strings.HasPrefix(s, string(blankSign))
}
