package interaction

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// digest names exactly what a person decides on: SHA-256 over the canonical JSON (RFC 8785) of the kind, the form and the tool call.
// The input goes in as a string of its raw text, so that numbers too large for a float stay what they are; ids of a single call
// are left out, so that asking the same again has the same digest.
func (h Head) digest() string {
	b := append(make([]byte, 0, 1024), `{"interaction_kind":`...)
	b = appendString(b, string(h.Kind))
	b = append(b, `,"request":`...)
	b = h.Request.appendJSON(b)
	if h.ToolCall != nil {
		b = append(b, `,"tool_call":{"input":`...)
		b = appendString(b, string(h.ToolCall.Input))
		b = append(b, `,"name":`...)
		b = append(appendString(b, h.ToolCall.Name), '}')
	}
	sum := sha256.Sum256(append(b, '}'))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// appendString writes s as RFC 8785 wants a string: only what must be escaped is, and in the shortest way. encoding/json escapes
// more (U+2028, and < > & unless told not to), and its encoder cannot append.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		b = appendEscape(b, c)
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	const short = "\b\f\n\r\t\"\\"
	const name = "bfnrt\"\\"
	for i := range len(short) {
		if short[i] == c {
			return append(b, '\\', name[i])
		}
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
