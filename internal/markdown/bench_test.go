package markdown_test

import (
	"strings"
	"testing"
)

// hostile are texts of 200 KB that a careless reader of Markdown is slow on.
func hostile() map[string]string {
	const size = 200 << 10
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var steps strings.Builder
	for n := 0; steps.Len() < size; n++ {
		steps.WriteString(strings.Repeat("  ", n%200) + "- x\n")
	}
	var ticks strings.Builder
	for n := 1; ticks.Len() < size; n++ {
		ticks.WriteString(strings.Repeat("`", n) + " ")
	}
	return map[string]string{
		"prose":               fill("The tests pass. *Nothing* else changed, see `main.go` and [docs](https://example.com/x).\n\n"),
		"one line":            fill("a"),
		"stars":               fill("*a **b "),
		"stars by paragraph":  fill(strings.Repeat("*a **b_c ", 32) + "\n\n"),
		"brackets":            fill("["),
		"brackets, paragraph": fill(strings.Repeat("[", 149) + "a" + strings.Repeat("](", 75) + "\n\n"),
		"images":              fill("![a](b"),
		"links":               fill(strings.Repeat("[a](https://e.example/ ", 60) + "\n\n"),
		"ticks":               ticks.String(),
		"ticks by paragraph":  fill("` `` ``` ```` ````` ` `` ``` ```` ````` ` `` ``` \n\n"),
		"angle brackets":      fill("<a:"),
		"quotes":              fill("> > > > > > > > x\n"),
		"quotes, no blank":    fill(">"),
		"deep lists":          fill("- - - - - - - - x\n"),
		"steps":               steps.String(),
		"deep, then blank":    strings.Repeat("- ", 8) + "x\n" + fill("\n"),
		"items":               fill("- a\n"),
		"numbers":             fill("1. a\n\n"),
		"fences":              fill("```\n"),
		"definitions":         fill("[a]: b\n"),
		"addresses":           fill(" http://a.example"),
		"www":                 fill("(www."),
		"mail":                fill("a@"),
		"entities":            fill("&a"),
		"hidden":              fill("\u202e"),
		"headings":            fill("# a\n"),
		"underlines":          fill("a\n===\n"),
		"underlined late":     fill("a\n") + "===",
		"tabs":                fill("\t"),
		"lines of blanks":     fill(" \n"),
		"backslashes":         fill("\\"),
		"titles":              fill(`[a](b "`),
	}
}

// TestHostileTextStaysInBounds draws what might take very long, or become very much. How long it takes is for BenchmarkRender to say.
func TestHostileTextStaysInBounds(t *testing.T) {
	for name, s := range hostile() {
		if out := draw(t, s); len(out) > 60*len(s) {
			t.Errorf("%s: %d bytes became %d", name, len(s), len(out))
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for name, s := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				draw(b, s)
			}
		})
	}
}
