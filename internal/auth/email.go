package auth

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/internal/interaction"
)

// emailMost is how many bytes of an address can be delivered to: the path of RFC 5321 is 256 with its brackets.
const emailMost = 254

// Email is an address as accounts are found by it: without blanks around it, in lower case, since hardly any mail system tells Dana@ from dana@
// and people do not either. One that is none is ValidationFailed.
func Email(typed string) (string, error) {
	s := strings.ToLower(strings.TrimSpace(typed))
	bad := interaction.Errorf(interaction.ValidationFailed, "email: that is not an address; one looks like dana@example.com")
	if s == "" || len(s) > emailMost || !utf8.ValidString(s) || strings.ContainsFunc(s, unprintable) {
		return "", bad
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Address != s || parsed.Name != "" {
		return "", bad
	}
	return s, nil
}

// unprintable characters could make one address look like another.
func unprintable(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }
