package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxPunctuation is how many characters with a meaning one paragraph may have: the time to read it grows with their square.
const maxPunctuation = 300

// inlines reads one paragraph. Raw HTML is not in the list, so it is text; references have no definitions, so they are text too.
var inlines = parser.NewParser(
	parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
		util.Prioritized(extension.NewLinkifyParser(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})), 999),
	),
)

// prose draws the text of one block. Each is read on its own, so that what is costly in one cannot spread.
func (p *page) prose(s string) {
	s = strings.TrimRight(s, "\r\n")
	if punctuation(s) > maxPunctuation {
		p.shown(s)
		return
	}
	paragraph := &page{source: []byte(s)}
	paragraph.inlineChildren(inlines.Parse(text.NewReader(paragraph.source)), 0)
	p.tag(paragraph.String())
}

func punctuation(s string) (n int) {
	for i := range len(s) {
		switch s[i] {
		case '*', '_', '[', ']', '`', '<', '(', '@':
			n++
		}
	}
	return n
}

func (p *page) inlineChildren(parent ast.Node, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if first, ok := n.(*ast.Text); ok {
			n = p.text(first)
		} else {
			p.inline(n, depth+1)
		}
	}
}

func (p *page) inline(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.CodeSpan:
		p.element("code", ` dir="ltr"`, func() { p.shownLine(p.codeText(n)) })
	case *ast.Emphasis:
		p.emphasis(n, depth)
	case *ast.Link:
		p.link(unescape(string(n.Destination)), unescape(string(n.Title)), p.plain(n), func() { p.inlineChildren(n, depth) })
	case *ast.Image:
		p.image(n, depth)
	case *ast.AutoLink:
		p.autoLink(n)
	default: // the paragraph around them all
		p.inlineChildren(n, depth)
	}
}

// text draws the neighbours of first with it, up to the end of the line, because the parser cuts text where nothing begins. It returns the
// last of them. Lines are kept as they were written: an agent that begins a new line means it.
func (p *page) text(first *ast.Text) (last *ast.Text) {
	var raw strings.Builder
	for last = first; ; {
		raw.Write(last.Segment.Value(p.source))
		next, ok := last.NextSibling().(*ast.Text)
		if !ok || endsLine(last) {
			break
		}
		last = next
	}
	p.piece(unescape(raw.String()), !beginsLine(first), !endsLine(last) && !isLast(last))
	if endsLine(last) {
		p.tag(`<br>`)
	}
	return last
}

func endsLine(n *ast.Text) bool { return n.SoftLineBreak() || n.HardLineBreak() }

func beginsLine(n *ast.Text) bool {
	if before, ok := n.PreviousSibling().(*ast.Text); ok {
		return endsLine(before)
	}
	return n.PreviousSibling() == nil && n.Parent().Kind() == ast.KindParagraph
}

func isLast(n *ast.Text) bool {
	return n.NextSibling() == nil && n.Parent().Kind() == ast.KindParagraph
}

func (p *page) emphasis(n *ast.Emphasis, depth int) {
	if depth > maxDepth {
		p.inlineChildren(n, depth)
		return
	}
	name := "em"
	if n.Level == 2 {
		name = "strong"
	}
	p.element(name, "", func() { p.inlineChildren(n, depth) })
}

// shownLine is text inside a line, whose blanks end no line.
func (p *page) shownLine(s string) { p.piece(s, true, true) }

// codeText is what stands in a code span, where nothing has a meaning and a line's end is a blank.
func (p *page) codeText(n *ast.CodeSpan) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(p.source))
		}
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ").Replace(b.String())
}

// plain is the text of n without its markup, to compare with an address.
func (p *page) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(unescape(string(c.Segment.Value(p.source))))
		case *ast.AutoLink:
			b.Write(c.Label(p.source))
		default:
			b.WriteString(p.plain(c))
		}
	}
	return b.String()
}
