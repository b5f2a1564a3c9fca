package interaction

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestAppendString checks strings against the rules and the examples of RFC 8785.
func TestAppendString(t *testing.T) {
	for given, want := range map[string]string{
		"":                                `""`,
		"\u20ac$\u000f\nA'B\"\\\\\"/":     `"€$\u000f\nA'B\"\\\\\"/"`, // section 3.2.2
		"\b\t\n\f\r":                      `"\b\t\n\f\r"`,
		"\x00\x01\x0b\x1f":                `"\u0000\u0001\u000b\u001f"`,
		"\x7f\u0080\u2028\u2029\ufeff":    "\"\x7f\u0080\u2028\u2029\ufeff\"",
		"<script>&'/":                     `"<script>&'/"`,
		"ö\U0001f600\ufb33דּ\u05d3\u05bc": "\"ö\U0001f600\ufb33דּ\u05d3\u05bc\"", // from 3.2.3; neither composed nor taken apart
		"a\xffb":                          "\"a\ufffdb\"",                        // never stored: bodies are UTF-8
	} {
		if got := string(appendString(nil, given)); got != want {
			t.Errorf("%q: %s, want %s", given, got, want)
		}
	}
}

// TestAppendStringIsCanonical checks any string against another program's canonical JSON.
func TestAppendStringIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		want, err := jsontext.AppendQuote(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		canonical := jsontext.Value(want)
		if err := canonical.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		got := appendString([]byte("before"), s)
		if string(got) != "before"+string(canonical) {
			t.Fatalf("%s, want %s", got, canonical)
		}
		var back string
		if err := json.Unmarshal(got[len("before"):], &back); err != nil || back != s {
			t.Fatalf("read back %q, %v", back, err)
		}
	})
}

// FuzzAppendString checks that what is written is a JSON string, whatever the bytes.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\"\\", "\xff\xfe", "\xed\xa0\x80", "🙂"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || utf8.ValidString(s) && back != s {
			t.Errorf("%q: %s reads as %q, %v", s, got, back, err)
		}
	})
}
