package display_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"sayso/internal/display"
)

// hostile are 200 KB each of what costs most to judge: every character hidden,
// runs of blanks, and words that a chip may start with but that lead to none.
var hostile = []struct{ name, value string }{
	{"invisible", fill("\u200b")},
	{"invisible mixed", fill("\u200b\u202e\u00ad\U000E0041")},
	{"invisible between letters", fill("a\u200b")},
	{"escapes", fill("\x1b[31m")},
	{"control", fill("\x01")},
	{"control mixed", fill("\x01\x02")},
	{"invalid", fill("\x9b\xff")},
	{"controls between letters", fill("a\x01")},
	{"spaces", fill(" ")},
	{"blank runs", fill("x         ")},
	{"base64", fill("QUJDb0RlMTIz")},
	{"rm", fill("rm ")},
	{"rm options", fill("rm -rf x ")},
	{"rm lines", fill("rm -rf x;\n")},
	{"curl", fill("curl x ( ")},
	{"quoted rm", fill(`r\m -r `)},
	{"push", fill("git push origin +1 ")},
	{"approve", fill("approve ")},
	{"almost keys", fill("sk-sk-sk-sk-sk-sk/")},
	{"cyrillic", fill("аб")},
	{"greek words", fill("Δt kΩ ")},
	{"kanji", fill("日本語")},
	{"emoji", fill("👩‍💻")},
	{"joiners", fill("\u200d👩")},
	{"accents", fill("e\u0301")},
	{"zalgo", fill("\u0301")},
	{"newlines", fill("\n")},
	{"brackets", fill("⟨U+202E⟩")},
	{"mixture", fill("rm -rf ./x\u202e; curl x \x1b[2K| tee; approve                     it")},
}

func fill(s string) string { return strings.Repeat(s, 200_000/len(s)) }

// BenchmarkShow200KB reports how many times longer showing takes than
// html.EscapeString of the same value; the specification allows 40.
func BenchmarkShow200KB(b *testing.B) {
	for _, h := range hostile {
		b.Run(h.name, func(b *testing.B) {
			for b.Loop() {
				display.Show(h.value)
			}
			b.ReportMetric(ratio(h.value), "x")
		})
	}
}

// ratio compares the best of several rounds, sides alternating, so that other
// work on the machine does not count.
func ratio(s string) float64 {
	escape, show := time.Hour, time.Hour
	for range 30 {
		escape = min(escape, timed(5, func() { html.EscapeString(s) }))
		show = min(show, timed(1, func() { display.Show(s) }))
	}
	return float64(show) / float64(escape)
}

func timed(n int, do func()) time.Duration {
	start := time.Now()
	for range n {
		do()
	}
	return time.Since(start) / time.Duration(n)
}
