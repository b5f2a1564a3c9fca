package markdown

import (
	stdhtml "html"
	"strings"

	"sayso/internal/display"
)

// page is the HTML drawn so far. Only tag writes markup, and only markup that stands in this package's source or was built by it.
type page struct {
	source []byte
	out    strings.Builder
}

func (p *page) String() string { return p.out.String() }

func (p *page) tag(markup string) { p.out.WriteString(markup) }

func (p *page) element(name, attributes string, content func()) {
	p.tag("<" + name + attributes + ">")
	content()
	p.tag("</" + name + ">")
}

// shown is an agent's text, as a person may see it.
func (p *page) shown(s string) { p.draw(display.Show(s)) }

// draw joins neighbours of the same kind, as views.Shown does, so that 60,000 invisible characters are one element.
func (p *page) draw(text display.Text) {
	marked := false
	for _, segment := range text.Segments {
		if segment.Mark != marked {
			p.mark(segment.Mark)
			marked = segment.Mark
		}
		p.out.WriteString(stdhtml.EscapeString(segment.Text))
	}
	if marked {
		p.mark(false)
	}
}

func (p *page) mark(begins bool) {
	if begins {
		p.tag(`<span class="mark" title="Shown by its code, because it cannot be seen or misleads">`)
	} else {
		p.tag(`</span>`)
	}
}

// guard stands for the text beside a piece of text, which display must know of: a blank before a bold word does not end its line.
const guard = "x"

// piece is shown for a part of a line. Before and after say whether the line goes on there.
func (p *page) piece(s string, before, after bool) {
	if before {
		s = guard + s
	}
	if after {
		s += guard
	}
	segments := display.Show(s).Segments
	if before && len(segments) > 0 && !segments[0].Mark {
		segments[0].Text = strings.TrimPrefix(segments[0].Text, guard)
	}
	if last := len(segments) - 1; after && last >= 0 && !segments[last].Mark {
		segments[last].Text = strings.TrimSuffix(segments[last].Text, guard)
	}
	p.draw(display.Text{Segments: segments})
}

// asWritten is text of which Markdown is not read.
func (p *page) asWritten(s string) {
	p.element("div", ` class="md-plain" dir="auto"`, func() { p.shown(s) })
}

// unescape resolves what stands for another character: \* and &lt;. It is done before display sees the text, so that &#x202E; is a
// mark like the character itself.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && isPunctuation(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			entity := entityAt(s[i:])
			b.WriteString(stdhtml.UnescapeString(entity))
			i += len(entity) - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// entityAt is the entity that s begins with, or its first byte.
func entityAt(s string) string {
	const longest = 33 // &CounterClockwiseContourIntegral;
	for i := 1; i < len(s) && i < longest; i++ {
		switch c := s[i]; {
		case c == ';':
			return s[:i+1]
		case c != '#' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			return s[:1]
		}
	}
	return s[:1]
}

func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7F && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}
