package markdown

import (
	"context"
	"io"
	"strconv"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// How much structure a text may have. What has more was written to be slow or to be deep, and is drawn as it stands.
const (
	maxMarkers = 8  // of quotes and lists, at the beginning of one line
	maxIndent  = 40 // columns before a marker
	maxDepth   = 8  // elements inside each other; deeper ones lend their content to the last
)

// blocks finds paragraphs, lists and the like. It knows neither HTML nor definitions of references: both stay what they are, text.
var blocks = parser.NewParser(parser.WithBlockParsers(
	util.Prioritized(parser.NewSetextHeadingParser(), 100),
	util.Prioritized(parser.NewThematicBreakParser(), 200),
	util.Prioritized(parser.NewListParser(), 300),
	util.Prioritized(parser.NewListItemParser(), 400),
	util.Prioritized(parser.NewCodeBlockParser(), 500),
	util.Prioritized(parser.NewATXHeadingParser(), 600),
	util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
	util.Prioritized(parser.NewBlockquoteParser(), 800),
	util.Prioritized(parser.NewParagraphParser(), 1000),
))

// Render draws s, which an agent wrote.
func Render(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, html(s))
		return err
	})
}

// html never fails: a text that the parser cannot take must not take its conversation's page away from everybody.
func html(s string) (out string) {
	defer func() {
		if recover() != nil {
			out = box(s, func(p *page) { p.asWritten(s) })
		}
	}()
	return box(s, func(p *page) {
		if nestsTooDeep(s) {
			p.asWritten(s)
		} else {
			p.children(blocks.Parse(text.NewReader(p.source)), 0)
		}
	})
}

// box is what stands around everything: htmx does nothing that an agent's words ask of it.
func box(s string, draw func(*page)) string {
	p := page{source: []byte(s)}
	p.element("div", ` class="md" hx-ignore`, func() { draw(&p) })
	return p.String()
}

// nestsTooDeep says that a line opens more quotes and lists than any prose. It may err towards yes: then the text is drawn as it was written.
func nestsTooDeep(s string) bool {
	markers, indent, leading := 0, 0, true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n':
			markers, indent, leading = 0, 0, true
		case !leading:
		case c == ' ':
			indent++
		case c == '\t':
			indent += 4
		case c == '>' || isMarker(s, i):
			if markers++; markers > maxMarkers || indent > maxIndent {
				return true
			}
		case c < '0' || c > '9':
			leading = false
		}
	}
	return false
}

// isMarker says that the byte at i ends the marker of a list item: a bullet or the dot after a number, before a blank.
func isMarker(s string, i int) bool {
	switch s[i] {
	case '-', '+', '*', '.', ')':
		return i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t' || s[i+1] == '\n' || s[i+1] == '\r'
	}
	return false
}

func (p *page) children(parent ast.Node, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		p.block(n, depth+1)
	}
}

func (p *page) block(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Paragraph:
		p.element("p", ` dir="auto"`, func() { p.prose(p.lines(n)) })
	case *ast.TextBlock:
		p.element("div", ` dir="auto"`, func() { p.prose(p.lines(n)) })
	case *ast.Heading:
		// All are of one level: what an agent calls a title is a title inside one entry of the timeline, and levels never jump.
		p.element("h4", ` class="md-h`+strconv.Itoa(n.Level)+`" dir="auto"`, func() { p.prose(p.lines(n)) })
	case *ast.CodeBlock:
		p.code("", p.lines(n))
	case *ast.FencedCodeBlock:
		p.code(p.info(n), p.lines(n))
	case *ast.ThematicBreak:
		p.tag(`<hr>`)
	default:
		p.container(n, depth)
	}
}

// container is a block of blocks.
func (p *page) container(n ast.Node, depth int) {
	name, attributes := containerTag(n)
	if depth > maxDepth && name != "li" {
		name = ""
	}
	if name == "" || name == "li" && depth > maxDepth+1 {
		p.children(n, depth)
		return
	}
	p.element(name, attributes, func() { p.children(n, depth) })
}

func containerTag(n ast.Node) (name, attributes string) {
	switch n := n.(type) {
	case *ast.Blockquote:
		return "blockquote", ""
	case *ast.ListItem:
		return "li", ""
	case *ast.List:
		if !n.IsOrdered() {
			return "ul", ""
		}
		if n.Start != 1 {
			return "ol", ` start="` + strconv.Itoa(n.Start) + `"`
		}
		return "ol", ""
	}
	return "", ""
}

// code is a block that scrolls alone, so it takes focus.
func (p *page) code(info, code string) {
	if info != "" {
		p.element("div", ` class="md-info"`, func() { p.shown(info) })
	}
	p.tag(`<pre class="md-code" dir="ltr" tabindex="0"><code>`)
	p.shown(code)
	p.tag(`</code></pre>`)
}

func (p *page) info(n *ast.FencedCodeBlock) string {
	if n.Info == nil {
		return ""
	}
	return unescape(string(n.Info.Segment.Value(p.source)))
}

// lines is the text of a block without the markers of what it stands in.
func (p *page) lines(n ast.Node) string {
	var all []byte
	lines := n.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		all = append(all, segment.Value(p.source)...)
	}
	return string(all)
}
