package display

import (
	"regexp"
	"strings"
)

// redacted stands where a credential stood that has no beginning worth telling.
const redacted = "[redacted]"

// Redact is text without the credentials in it, for logs and for places that
// others keep. It knows those that the chip about credentials knows, and beside
// them whatever stands behind a name such as password. It rather takes too much
// than too little: what it gives is for reading, never for use.
func Redact(text string) string {
	if strings.Contains(text, "-----BEGIN ") {
		text = privateKeys.ReplaceAllString(text, redacted)
	}
	text = withoutKeys(withoutPasswords(text))
	if mayName(text) {
		for _, named := range namedSecrets {
			text = named.ReplaceAllString(text, "${1}"+redacted)
		}
	}
	return text
}

// mayName says whether a value may stand behind its name in text. Most that is
// logged is a word or a route, such as /projects/:project, and is told as it is.
func mayName(text string) bool {
	for i := range len(text) {
		switch text[i] {
		case '=', ' ', '"', '\'', '\n', '\t':
			return true
		case ':':
			if i == 0 || text[i-1] != '/' {
				return true
			}
		}
	}
	return false
}

// privateKeys go to their end, or to that of the text when they were cut.
var privateKeys = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)`)

// namedSecrets are values that are told by the name before them.
var namedSecrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(\b(?:proxy-)?authorization["']*\s*[:=]\s*["'\[]*(?:(?:bearer|basic|token|apikey|digest|negotiate)\s+)?)[^\s"'\]]+`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}`),
	regexp.MustCompile(`(?i)(\b(?:set-)?cookie["']*\s*[:=]\s*["'\[]*)[^"'\]\r\n]+`),
	regexp.MustCompile(`(?i)((?:passwo?r?d|passwd|passphrase|secret|secret_?access_?key|token|api[_-]?key|account_?key|shared_?access_?key|private_?key|` +
		`credential|code_verifier|x-amz-signature)["']*\s*[:=]\s*["']*)[^\s"'&,;}]+`),
	regexp.MustCompile(`(?i)([?&;\s](?:code|state|nonce|sig|signature|session)=)[^\s"'&,;}]+`),
}

// withoutPasswords leaves the passwords of URLs out.
func withoutPasswords(text string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "://")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		out.WriteString("://")
		user, found := userWithPassword(rest)
		if found {
			out.WriteString(user + ":" + redacted)
			rest = rest[strings.LastIndexByte(rest[:authoritySize(rest)], '@'):]
		}
		text = rest
	}
}

// withoutKeys leaves keys of a known form out, but for their prefix.
func withoutKeys(text string) string {
	var out strings.Builder
	told := 0
	for i := 0; i < len(text); i++ {
		if keyShapes[text[i]] == nil || i > 0 && isLetterOrDigit[text[i-1]] {
			continue
		}
		if shape := keyAt(text[i:]); shape != nil {
			out.WriteString(text[told:i] + shape.prefix + "…")
			told = i + len(shape.prefix) + tokenSize(text[i+len(shape.prefix):])
			i = told - 1
		}
	}
	return out.String() + text[told:]
}

// keyAt is the form of the key at the start of s; nil if there is none.
func keyAt(s string) *keyShape {
	shapes := keyShapes[s[0]]
	for n := range shapes {
		if shapes[n].fits(s) {
			return &shapes[n]
		}
	}
	return nil
}

// tokenSize is how much of s belongs to a token: words with dots between them.
func tokenSize(s string) int {
	n := wordSize(s)
	for n+1 < len(s) && s[n] == '.' && isWordByte(s[n+1]) {
		n += 1 + wordSize(s[n+1:])
	}
	return n
}
