package display

import "strings"

// keyShape is how the keys of one kind are written: a prefix, and at least so
// many characters after it.
type keyShape struct {
	prefix string
	rest   int
	of     string
}

// keyShapes by the first byte of their prefix.
var keyShapes = shapesByByte([]keyShape{
	{"AKIA", 16, "AWS"}, {"ASIA", 16, "AWS"}, {"AIza", 30, "Google"}, {"AGE-SECRET-KEY-1", 30, "age"},
	{"ghp_", 20, "GitHub"}, {"gho_", 20, "GitHub"}, {"ghu_", 20, "GitHub"}, {"ghs_", 20, "GitHub"},
	{"ghr_", 20, "GitHub"}, {"github_pat_", 20, "GitHub"}, {"glpat-", 16, "GitLab"},
	{"sk-", 20, "API"}, {"sk_live_", 16, "Stripe"}, {"sk_test_", 16, "Stripe"}, {"rk_live_", 16, "Stripe"},
	{"sayso_op_", 20, "Sayso"}, {"sayso_agt_", 20, "Sayso"}, {"shpat_", 20, "Shopify"},
	{"xoxb-", 10, "Slack"}, {"xoxp-", 10, "Slack"}, {"xoxa-", 10, "Slack"}, {"xoxr-", 10, "Slack"},
	{"xoxs-", 10, "Slack"}, {"xoxe-", 10, "Slack"}, {"xapp-", 10, "Slack"},
	{"npm_", 30, "npm"}, {"pypi-", 30, "PyPI"}, {"hf_", 30, "Hugging Face"}, {"dop_v1_", 30, "DigitalOcean"},
	{"eyJ", 13, "JWT"},
})

func shapesByByte(shapes []keyShape) (byByte [256][]keyShape) {
	for _, s := range shapes {
		byByte[s.prefix[0]] = append(byByte[s.prefix[0]], s)
	}
	return byByte
}

// lookForKeys looks for keys in the token text[start:end], which may hold
// something before the key, as in token=ghp_….
func (f *findings) lookForKeys(text string, start, end int) {
	if f.has(Credentials) {
		return
	}
	for i := start; i+minToken <= end; i = wordAfter(text, i) {
		if keyShapes[text[i]] != nil {
			f.lookForKey(text[i:], i > start && isWordByte(text[i-1]))
		}
	}
}

// wordAfter is where the run of letters and digits at text[i:] is over, and
// what separates it from the next.
func wordAfter(text string, i int) int {
	for i < len(text) && isLetterOrDigit[text[i]] {
		i++
	}
	return i + 1
}

// lookForKey looks for a key at the start of s. In the middle of a word that
// goes on with dashes or underscores only those of AWS are unmistakable.
func (f *findings) lookForKey(s string, inWord bool) {
	shapes := keyShapes[s[0]]
	for i := range shapes {
		shape := &shapes[i]
		if s[1] == shape.prefix[1] && (!inWord || shape.of == "AWS") && shape.fits(s) {
			f.addCredential(shape.of, shape.prefix)
		}
	}
}

// addCredential adds the chip about a credential, of which it shows only the
// start: chips are sent to places where credentials must not go.
func (f *findings) addCredential(of, start string) {
	f.add(Credentials, "contains a credential ("+of+")", start+"…")
}

func (k *keyShape) fits(s string) bool {
	if !strings.HasPrefix(s, k.prefix) {
		return false
	}
	rest := s[len(k.prefix):]
	if k.of == "AWS" { // asked in the middle of words too, which are not to be measured each time
		return len(rest) >= k.rest && isUpperOrDigits(rest[:k.rest])
	}
	size := wordSize(rest)
	switch {
	case size < k.rest:
		return false
	case k.of == "JWT":
		return rest[size:] != "" && rest[size] == '.' && wordSize(rest[size+1:]) >= k.rest
	case k.of == "API":
		return strings.ContainsAny(rest[:size], digitsAndUpper) // not-a-slug
	}
	return true
}

const digitsAndUpper = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

func isUpperOrDigits(s string) bool { return strings.Trim(s, digitsAndUpper) == "" }

var isLetterOrDigit = func() (is [256]bool) {
	for b := range 256 {
		is[b] = isAlphanumeric(byte(b))
	}
	return is
}()

func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

func isWordByte(b byte) bool { return isAlphanumeric(b) || b == '_' || b == '-' }

// wordSize is how many word characters s starts with.
func wordSize(s string) (n int) {
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n
}

// lookAtCredentials looks for credentials that are told by what stands around
// them.
func (f *findings) lookAtCredentials(text string, clues clue) {
	if clues.any(keyClue) {
		f.lookForPrivateKey(text)
	}
	if clues.any(urlClue) && clues.any(atClue) {
		f.lookForPasswords(text)
	}
	if clues.any(authClue) {
		f.lookForAuthorization(text)
	}
}

func (f *findings) lookForPrivateKey(text string) {
	const begin = "-----BEGIN "
	for _, rest, ok := strings.Cut(text, begin); ok; _, rest, ok = strings.Cut(rest, begin) {
		kind, _, _ := strings.Cut(rest[:min(len(rest), 40)], "-----")
		if strings.Contains(kind, "PRIVATE KEY") {
			f.addCredential("private key", begin+kind)
			return
		}
	}
}

// lookForPasswords looks for https://user:password@host.
func (f *findings) lookForPasswords(text string) {
	for _, rest, ok := strings.Cut(text, "://"); ok; _, rest, ok = strings.Cut(rest, "://") {
		if user, found := userWithPassword(rest); found {
			f.addCredential("password in a URL", user+":")
			return
		}
	}
}

// userWithPassword is the user of the authority at the start of s, if a
// password is given that is not a placeholder.
func userWithPassword(s string) (user string, found bool) {
	s = s[:authoritySize(s)]
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return "", false
	}
	user, password, _ := strings.Cut(s[:at], ":")
	return user, isSecret(password)
}

func authoritySize(s string) int {
	if end := strings.IndexAny(s, "/?# \t\n\"'`<>|\\"); end >= 0 {
		return end
	}
	return len(s)
}

// isSecret tells a secret from nothing, a variable or a placeholder.
func isSecret(s string) bool {
	return s != "" && strings.IndexByte("$%{<[*", s[0]) < 0 && !strings.HasPrefix(s, "…")
}

// lookForAuthorization looks for a header or its like: Authorization: Bearer
// and a token.
func (f *findings) lookForAuthorization(text string) {
	for _, word := range []string{"uthorization", "AUTHORIZATION"} {
		for _, rest, ok := strings.Cut(text, word); ok; _, rest, ok = strings.Cut(rest, word) {
			if scheme, found := authorization(rest[:min(len(rest), 64)]); found {
				f.addCredential("Authorization", "Authorization: "+scheme+" ")
				return
			}
		}
	}
}

// minSecret is how long a token after Authorization is at least.
const minSecret = 8

func authorization(s string) (scheme string, found bool) {
	s = strings.TrimLeft(s, "\"': =\\")
	scheme, s, _ = strings.Cut(s, " ")
	switch strings.ToLower(scheme) {
	case "bearer", "basic", "token", "apikey", "digest":
		s = strings.TrimLeft(s, "\"' \\")
		return scheme, isSecret(s) && wordSize(strings.NewReplacer(".", "", "~", "", "+", "", "/", "", "=", "").Replace(s)) >= minSecret
	}
	return "", false
}
