package policy

import "strings"

// Match says whether the whole subject is what the pattern describes: * is any run of characters, also an empty one and one of several lines,
// and everything else stands for itself.
//
// It looks for each piece between two stars once, as far left as it can be, which leaves the most to the pieces after it: nothing is tried
// twice, and the time grows with the subject and no faster.
func Match(pattern, subject string) bool {
	start, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == subject
	}
	subject, found := strings.CutPrefix(subject, start)
	for found {
		var piece string
		if piece, rest, star = strings.Cut(rest, "*"); !star {
			return strings.HasSuffix(subject, piece)
		}
		_, subject, found = strings.Cut(subject, piece)
	}
	return false
}

// matching is the first of the patterns that the subject matches.
func matching(patterns []string, subject string) (pattern string, ok bool) {
	for _, p := range patterns {
		if Match(p, subject) {
			return p, true
		}
	}
	return "", false
}
