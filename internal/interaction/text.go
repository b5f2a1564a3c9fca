package interaction

import (
	"strings"
	"unicode/utf8"
)

// length counts Unicode code points, as every limit of the contract does unless it names bytes.
func length(s string) int { return utf8.RuneCountInString(s) }

func hasNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }

// clip shortens s for an error message.
func clip(s string) string {
	const most = 60
	if length(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// line is s trimmed: 1 to most characters, no NUL. field names it in the error.
func line(field, s string, most int) (string, error) {
	if hasNUL(s) {
		return "", Errorf(ValidationFailed, "%s: the NUL character is not allowed", field)
	}
	t := strings.TrimSpace(s)
	if t == "" {
		return "", Errorf(ValidationFailed, "%s: must not be blank; 1 to %d characters are allowed", field, most)
	}
	if n := length(t); n > most {
		return "", tooLong(field, n, most)
	}
	return t, nil
}

// Line is a text of one field, trimmed: 1 to most characters, no NUL. Anything else is ValidationFailed, and names the field.
func Line(field, s string, most int) (string, error) { return line(field, s, most) }

// verbatim says what is wrong with a text that is kept as it came: it is not blank, and counts with the blanks around it. "" is the
// field left out.
func verbatim(field, s string, most int) error {
	_, err := optionalLine(field, s, most)
	if n := length(s); err == nil && n > most {
		return tooLong(field, n, most)
	}
	return err
}

func tooLong(field string, n, most int) error {
	return Errorf(ValidationFailed, "%s: %d characters are too many; 1 to %d are allowed", field, n, most)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
