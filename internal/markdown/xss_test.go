package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sayso/internal/markdown"
)

// allowed is every element that may come out, with every attribute it may have.
var allowed = map[string][]string{
	"p": {"dir"}, "div": {"class", "dir", "hx-ignore"}, "h4": {"class", "dir"}, "br": nil, "hr": nil, "em": nil, "strong": nil,
	"code": {"dir"}, "pre": {"class", "dir", "tabindex"}, "ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil,
	"a": {"href", "rel", "target"}, "span": {"class", "title"}, "bdi": {"class", "dir"},
}

// payloads try to get something past us: to run, to load, to lead somewhere unsaid, or to look like the page.
var payloads = []string{
	`[a](javascript:alert(1))`,
	`[a](JaVaScRiPt:alert(1))`,
	`[a]( javascript:alert(1))`,
	"[a](\tjavascript:alert(1))",
	`[a](<javascript:alert(1)>)`,
	`[a](<java script:alert(1)>)`,
	"[a](<java\tscript:alert(1)>)",
	"[a](java\x00script:alert(1))",
	"[a](\x01javascript:alert(1))",
	"[a](\u00a0javascript:alert(1))",
	"[a](\u200bjavascript:alert(1))",
	`[a](javascript&colon;alert(1))`,
	`[a](javascript&#58;alert(1))`,
	`[a](javascript&#x3A;alert(1))`,
	`[a](&#106;avascript:alert(1))`,
	`[a](java&#09;script:alert(1))`,
	`[a](java&Tab;script:alert(1))`,
	`[a](java&NewLine;script:alert(1))`,
	`[a](javascript\:alert(1))`,
	`[a](javascript%3Aalert(1))`,
	`[a](vbscript:msgbox(1))`,
	`[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
	`[a](data:text/html,<script>alert(1)</script>)`,
	`[a](file:///etc/passwd)`,
	`[a](blob:https://example.com/1)`,
	`[a](view-source:https://example.com)`,
	`[a](//evil.example/path)`,
	`[a](/signout)`,
	`[a](?q=1)`,
	`[a](#cards)`,
	`[a](\\evil.example)`,
	`[a](https:\\evil.example)`,
	`[a](https:evil.example)`,
	`[a](https:///evil.example)`,
	`[a](https://)`,
	`[google.com](https://google.com@evil.example)`,
	`[a](https://google.com\@evil.example)`,
	`[a](https://аpple.com)`,
	"[a](https://goog\u202ele.com)",
	`[a](https://example.com" onmouseover="alert(1))`,
	`[a](https://example.com/"onmouseover="alert(1))`,
	`[a](https://example.com 'x" onclick="alert(1)')`,
	`[a](https://example.com "</a><script>alert(1)</script>")`,
	"[a][1]\n\n[1]: javascript:alert(1)",
	"[1]\n\n[1]: https://evil.example 'x\" onclick=\"alert(1)'",
	"[a][]\n\n[a]: data:text/html,x",
	`<javascript:alert(1)>`,
	`<JAVASCRIPT:alert(1)>`,
	`<data:text/html,x>`,
	`<https://example.com/"onclick="alert(1)>`,
	`<a@b.c"onclick="alert(1)>`,
	`<mailto:a@b.example?body=hi>`,
	`https://example.com/<script>alert(1)</script>`,
	`https://example.com/"><img src=x onerror=alert(1)>`,
	`https://google.com@evil.example/`,
	`www.example.com/"onclick=alert(1)`,
	`ftp://example.com/x`,
	`<script>alert(1)</script>`,
	"<script>\nalert(1)\n</script>\n",
	"<style>\n*{display:none}\n</style>",
	`<img src=x onerror=alert(1)>`,
	`<svg/onload=alert(1)>`,
	"<div\nonclick=alert(1)>\nx\n</div>",
	`<a href="javascript:alert(1)">x</a>`,
	`<iframe srcdoc="<script>alert(1)</script>"></iframe>`,
	`<form action="/resolve"><button>Allow</button></form>`,
	`<button hx-post="/resolve" hx-trigger="load">`,
	`<article data-version="99" id="interaction-int_x">`,
	`<!-- --><script>alert(1)</script><!-- -->`,
	`<!--><script>alert(1)</script>`,
	`<![CDATA[<script>alert(1)</script>]]>`,
	`<?php echo 1 ?>`,
	`<!DOCTYPE html>`,
	`</div></main></body><script>alert(1)</script>`,
	`&lt;script&gt;alert(1)&lt;/script&gt;`,
	`&#60;script&#62;alert(1)&#60;/script&#62;`,
	`\<script\>alert(1)\</script\>`,
	"`<script>alert(1)</script>`",
	"```\n</code></pre><script>alert(1)</script>\n```",
	"```\"><script>alert(1)</script>\nx\n```",
	"~~~ js onclick=alert(1) \"\nx\n~~~",
	"    <script>alert(1)</script>",
	`![x](javascript:alert(1))`,
	`![x](https://evil.example/pixel.gif)`,
	`![x" onerror="alert(1)](https://evil.example/pixel.gif)`,
	`![](https://evil.example/pixel.gif)`,
	`![x](data:image/svg+xml;base64,PHN2Zy8+)`,
	`[![x](https://a.example/i.png)](https://b.example)`,
	`![[x](javascript:alert(1))](https://b.example)`,
	`[a](https://a.example)[b](javascript:alert(1))`,
	"# <script>alert(1)</script>",
	"# x {#id onclick=alert(1)}",
	"> <script>alert(1)</script>",
	"- <img src=x onerror=alert(1)>",
	"<x\n===",
	"*<b*onclick=alert(1)>",
	"[<script>](https://a.example)",
	"[a](https://a.example/\n\"x\nonclick=alert(1)\")",
	"\u2028<script>\u2029alert(1)",
	"\xff<script>\xfe",
	"\x1b]8;;https://evil.example\x07x\x1b]8;;\x07",
}

func TestPayloads(t *testing.T) {
	for _, payload := range payloads {
		t.Run(payload, func(t *testing.T) { checkHarmless(t, draw(t, payload)) })
	}
}

func draw(t testing.TB, s string) string {
	t.Helper()
	var b strings.Builder
	if err := markdown.Render(s).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkHarmless reads out as a browser does, and wants only what the list allows.
func checkHarmless(t interface {
	Helper()
	Errorf(string, ...any)
}, out string) {
	t.Helper()
	each(out, func(token html.Token) {
		attributes, ok := allowed[token.Data]
		if !ok {
			t.Errorf("<%s> came out: %q", token.Data, out)
		}
		for _, a := range token.Attr {
			if !slices.Contains(attributes, a.Key) {
				t.Errorf("<%s> has the attribute %s: %q", token.Data, a.Key, out)
			}
			if a.Key == "href" && !safe(a.Val) {
				t.Errorf("a link leads to %q", a.Val)
			}
		}
	})
}

func each(out string, visit func(html.Token)) {
	for z := html.NewTokenizer(strings.NewReader(out)); z.Next() != html.ErrorToken; {
		switch token := z.Token(); token.Type {
		case html.StartTagToken, html.SelfClosingTagToken:
			visit(token)
		case html.CommentToken, html.DoctypeToken:
			visit(html.Token{Data: "!" + token.Data})
		}
	}
}

func safe(href string) bool {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if strings.HasPrefix(href, scheme) {
			return !strings.ContainsAny(href, " \t\n\r\"<>\\`")
		}
	}
	return false
}
