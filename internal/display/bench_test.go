package display_test

import (
	"html"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/internal/display"
)

// limit is how many times longer than html.EscapeString showing may take.
const limit = 40

// bound are 200 KB each of what an agent may make up; they keep to the limit.
var bound = map[string]string{
	"invisible":   fill("\u200b"),
	"control":     fill("\x01"),
	"spaces":      fill(" "),
	"newlines":    fill("\n"),
	"base64":      fill("QUJDb0RlMTIz"),
	"letters":     fill("a"),
	"rm":          fill("rm "),
	"rm options":  fill("rm -rf x "),
	"rm lines":    fill("rm -rf x;\n"),
	"kanji":       fill("日本語"),
	"zalgo":       fill("\u0301"),
	"markup":      fill("<img src=x onerror=\"alert('\u202e')\">"),
	"all at once": fill("\"sudo rm -rf ~/\u202egnp.elif\" && curl x | sh; git push -f \x1b[2K already approved by                    \u200b me\n"),
}

// slow are what costs most to judge by the byte: each goes through a slow path
// and stops short of finding anything. They are here to be watched, and to be
// linear.
var slow = map[string]string{
	"invisible mixed":   fill("\u200b\u202e\u00ad\U000E0041"),
	"invisible between": fill("a\u200b"),
	"control mixed":     fill("\x01\x02"),
	"control between":   fill("a\x01"),
	"escapes":           fill("\x1b[31m"),
	"escape parameters": fill("\x1b[;"),
	"invalid":           fill("\x9b\xff"),
	"blank runs":        fill("x         "),
	"cyrillic":          fill("аб"),
	"greek words":       fill("Δt kΩ "),
	"twin hosts":        fill("аа-"),
	"emoji":             fill("👩‍💻"),
	"joiners":           fill("\u200d👩"),
	"flags":             fill("🏴\U000E0067\U000E0062"),
	"accents":           fill("e\u0301"),
	"brackets":          fill("⟨U+202E⟩"),
	"curl":              fill("curl x ( "),
	"open":              fill("$(sh -c ("),
	"ticks":             fill("sh -c ` curl "),
	"braces":            fill("rm -r ${"),
	"quoted rm":         fill(`r\m -r `),
	"quotes":            fill(`"'rm'" -r \`),
	"long word":         "-r /x; rm " + fill(`r"m`),
	"parents":           "rm -r x" + fill("/../x"),
	"push":              fill("git push origin +1 "),
	"sudo":              fill("apt sudo x "),
	"approve":           fill("approve "),
	"approve this":      fill("approve this that "),
	"almost keys":       fill("sk-sk-sk-sk-sk-sk/"),
	"aws":               fill("AKIA-AKIA_"),
	"jwt":               fill("eyJaaaaaaaaaaaaaaa-eyJ."),
	"rulers":            fill(strings.Repeat("-/", 35) + "\n"),
	"slugs":             fill(strings.Repeat("abc-", 20) + "\n"),
	"passwords":         fill("http://a:@"),
	"one password":      "http://" + fill("a:") + "@",
	"private keys":      fill("-----BEGIN "),
	"authorization":     fill("authorization: "),
	"mixture":           fill("rm -rf ./x\u202e; curl x \x1b[2K| tee; approve                     it"),
}

func fill(s string) string { return strings.Repeat(s, 200_000/len(s)) }

// BenchmarkShow200KB reports how many times longer showing takes than
// html.EscapeString of the same value.
func BenchmarkShow200KB(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		b.Run(name, func(b *testing.B) {
			if r := benchmark(b, bound[name]); r > limit {
				b.Errorf("%.1f times html.EscapeString, the limit is %d", r, limit)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(slow)) {
		b.Run("slow "+name, func(b *testing.B) { benchmark(b, slow[name]) })
	}
}

func benchmark(b *testing.B, s string) float64 {
	for b.Loop() {
		display.Show(s)
	}
	r := ratio(s)
	b.ReportMetric(r, "x")
	return r
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

// BenchmarkGrowth reports how much longer a value takes than sixteen times a sixteenth of it: about 1 in linear time, 16 in quadratic.
func BenchmarkGrowth(b *testing.B) {
	for _, values := range []map[string]string{bound, slow} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					display.Show(values[name])
				}
				if g := growth(values[name]); g > 5 {
					b.Errorf("it grows %.1f times too fast", g)
				}
			})
		}
	}
}

func growth(whole string) float64 {
	part := whole[:len(whole)/16]
	short, long := time.Hour, time.Hour
	for range 4 {
		short = min(short, timed(1, func() { display.Show(part) }))
		long = min(long, timed(1, func() { display.Show(whole) }))
	}
	return float64(long) / float64(16*short)
}
