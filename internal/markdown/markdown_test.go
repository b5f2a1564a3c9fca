package markdown_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"sayso/internal/markdown"
)

// TestDrawn is what each kind of markup becomes, without the box around it.
func TestDrawn(t *testing.T) {
	const link = `<a href="https://example.com/x" target="_blank" rel="noopener noreferrer nofollow">`
	where := func(s string) string { return ` <bdi class="md-where" dir="ltr">(` + s + `)</bdi>` }
	mark := func(s string) string {
		return `<span class="mark" title="Shown by its code, because it cannot be seen or misleads">` + s + `</span>`
	}
	p := func(s string) string { return `<p dir="auto">` + s + `</p>` }
	for name, c := range map[string]struct{ in, want string }{
		"paragraphs":            {"a\nb\n\nc", p("a<br>b") + p("c")},
		"emphasis":              {"a *b* and **c** d", p("a <em>b</em> and <strong>c</strong> d")},
		"code":                  {"run `ls  -l` now", p(`run <code dir="ltr">ls  -l</code> now`)},
		"fence":                 {"```go\na < b\n```", `<div class="md-info">go</div><pre class="md-code" dir="ltr" tabindex="0"><code>a &lt; b` + "\n</code></pre>"},
		"list":                  {"- a\n- b", `<ul><li><div dir="auto">a</div></li><li><div dir="auto">b</div></li></ul>`},
		"list from three":       {"3. a", `<ol start="3"><li><div dir="auto">a</div></li></ol>`},
		"quote":                 {"> a", "<blockquote>" + p("a") + "</blockquote>"},
		"heading":               {"# a", `<h4 class="md-h1" dir="auto">a</h4>`},
		"low heading":           {"###### a", `<h4 class="md-h6" dir="auto">a</h4>`},
		"break":                 {"***", "<hr>"},
		"link":                  {"[docs](https://example.com/x)", p(link + "docs</a>" + where("example.com"))},
		"link that says it":     {"[https://example.com/x](https://example.com/x)", p(link + "https://example.com/x</a>")},
		"link that says a host": {"[example.com](https://example.com/x)", p(link + "example.com</a>")},
		"link that lies":        {"[github.com](https://example.com/x)", p(link + "github.com</a>" + where("example.com"))},
		"link with a title":     {`[docs](https://example.com/x "all")`, p(link + "docs</a>" + where("example.com") + where("“all”"))},
		"link of another kind":  {"[a](javascript:b)", p("a" + where("javascript:b"))},
		"bare address":          {"see https://example.com/x.", p("see " + link + "https://example.com/x</a>.")},
		"address in brackets":   {"<https://example.com/x>", p(link + "https://example.com/x</a>")},
		"image":                 {"![a cat](https://example.com/x)", p(link + "a cat</a>" + where("example.com"))},
		"image without words":   {"![](https://example.com/x)", p(link + "image</a>" + where("example.com"))},
		"reference":             {"[a][b]\n\n[b]: https://example.com/x 't'", p("[a][b]") + p("[b]: "+link+"https://example.com/x</a> &#39;t&#39;")},
		"HTML":                  {"<b>x</b>", p("&lt;b&gt;x&lt;/b&gt;")},
		"entity":                {"a &lt; b &amp;lt; \\&lt;", p("a &lt; b &amp;lt; &amp;lt;")},
		"hidden character":      {"a\u202eb", p("a" + mark("⟨U+202E⟩") + "b")},
		"hidden by an entity":   {"a&#x202E;b", p("a" + mark("⟨U+202E⟩") + "b")},
		"hidden in code":        {"`a\u200bb`", p(`<code dir="ltr">a` + mark("⟨U+200B⟩") + "b</code>")},
		"hidden in a link":      {"[a\u200bb](https://example.com/x)", p(link + "a" + mark("⟨U+200B⟩") + "b</a>" + where("example.com"))},
		"hidden in an address":  {"[a](https://ex\u200bample.com)", p("a" + where("https://ex"+mark("⟨U+200B⟩")+"ample.com"))},
		"forged mark":           {"⟨U+202E⟩", p(mark("⟨U+27E8⟩") + "U+202E⟩")},
		"blanks":                {"a" + strings.Repeat(" ", 12) + "b", p("a" + mark("⟨␠×12⟩") + "b")},
		"blanks by a word":      {"a *b* c", p("a <em>b</em> c")},
		"padding":               {"a" + strings.Repeat("\u00a0", 3) + "b", p("a" + mark("⟨U+00A0⟩⟨U+00A0⟩⟨U+00A0⟩") + "b")},
		"too deep":              {strings.Repeat("> ", 40) + "a", `<div class="md-plain" dir="auto">` + strings.Repeat("&gt; ", 40) + "a</div>"},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.TrimSuffix(strings.TrimPrefix(draw(t, c.in), `<div class="md" hx-ignore>`), "</div>")
			if got != c.want {
				t.Errorf("%q is drawn as\n%s, want\n%s", c.in, got, c.want)
			}
		})
	}
}

// fragments are what the property tests build texts of: all that means something to Markdown, HTML or a URL, and some that does not.
var fragments = rapid.SampledFrom([]string{
	"a", "b c", " ", "  ", "\n", "\n\n", "\t", "*", "**", "_", "`", "```", "~~~", "# ", "> ", "- ", "1. ", "[", "]", "(", ")", "![", "](", "<", ">", "</", "\"", "'",
	"&", ";", "&lt;", "&#x202E;", "\\", "javascript:", "data:", "https://", "http://a.example", "mailto:a@b.example", "www.", "@", ":", "/", "script", "onclick=", "\u202e",
	"\u200b", "\x00", "\x1b", "\xff", "⟨", "é", "日本", "👩‍👩‍👧", "---", "===", "    ", "\r\n", "\r", "{", "}", "|", "x",
})

func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(fragments, 0, 60), func(parts []string) string { return strings.Join(parts, "") })
}

func TestOnlyAllowedComesOut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		out := render(r, texts().Draw(r, "text"))
		checkHarmless(r, out)
		checkClosed(r, out)
	})
}

// TestNothingIsDropped: every letter that was written is there to read, in its order.
func TestNothingIsDropped(t *testing.T) {
	words := rapid.Map(rapid.SliceOfN(fragments, 0, 40), func(parts []string) string {
		var b strings.Builder
		for n, part := range parts {
			b.WriteString(part)
			b.WriteString(" w" + string(rune('a'+n%26)) + " ")
		}
		return b.String()
	})
	rapid.Check(t, func(r *rapid.T) {
		in := words.Draw(r, "text")
		seen := readable(render(r, in))
		for _, field := range strings.Fields(in) {
			if len(field) == 2 && field[0] == 'w' && !strings.Contains(seen, field) {
				r.Fatalf("%q is not in %q", field, seen)
			}
		}
		if got, want := strings.Count(seen, "w"), strings.Count(in, " w"); got < want {
			r.Fatalf("%d words of %d are left in %q", got, want, seen)
		}
	})
}

func FuzzRender(f *testing.F) {
	for _, payload := range payloads {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := draw(t, s)
		checkHarmless(t, out)
		checkClosed(t, out)
	})
}

func render(r *rapid.T, s string) string {
	var b strings.Builder
	if err := markdown.Render(s).Render(r.Context(), &b); err != nil {
		r.Fatal(err)
	}
	return b.String()
}

// checkClosed wants every element closed in its order, so that what follows on the page stands outside of it.
func checkClosed(t interface{ Errorf(string, ...any) }, out string) {
	var open []string
	z := html.NewTokenizer(strings.NewReader(out))
	for z.Next() != html.ErrorToken {
		token := z.Token()
		switch {
		case token.Type == html.StartTagToken && token.Data != "br" && token.Data != "hr":
			open = append(open, token.Data)
		case token.Type == html.EndTagToken && (len(open) == 0 || open[len(open)-1] != token.Data):
			t.Errorf("</%s> closes %v in %q", token.Data, open, out)
			return
		case token.Type == html.EndTagToken:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v stay open in %q", open, out)
	}
}

func readable(out string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(out))
	for z.Next() != html.ErrorToken {
		if token := z.Token(); token.Type == html.TextToken {
			b.WriteString(token.Data)
		}
	}
	return b.String()
}
