package markdown

import (
	stdhtml "html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// target is where a link leads.
type target struct {
	href  string
	where string // shown beside the words: the host, or the mail address with all that the link would fill in
}

// follow says whether an address may be a link. It is a list of what may, and what a browser and this parser could read
// differently may not: then the address is only shown.
func follow(address string) (target, bool) {
	for _, c := range []byte(address) {
		if c <= ' ' || c >= 0x7F || strings.IndexByte("\\\"'<>`{}|^", c) >= 0 {
			return target{}, false
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return target{}, false
	}
	switch u.Scheme {
	case "http", "https":
		return target{href: u.String(), where: u.Host}, u.Opaque == "" && isHost(u.Host)
	case "mailto":
		return target{href: u.String(), where: strings.TrimPrefix(u.String(), "mailto:")}, strings.Contains(u.Opaque, "@")
	}
	return target{}, false
}

// isHost is stricter than a URL needs: letters, digits, dots, hyphens, a port, or an address in brackets. A name of other letters may look
// like a known one; it is shown, and not a link.
func isHost(host string) bool {
	for _, c := range strings.ToLower(host) {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-:[]_", c) {
			return false
		}
	}
	return strings.Trim(host, ".-:[]_") != ""
}

// link is words that lead somewhere. An address that may not be followed stands behind them as text.
func (p *page) link(address, title, words string, draw func()) {
	to, ok := follow(address)
	if ok {
		p.anchor(to, draw)
	} else {
		draw()
	}
	where := to.where
	if !ok {
		where = address
	}
	if where != "" && !(ok && tells(words, to)) {
		p.aside(where)
	}
	if title != "" {
		p.aside("“" + title + "”")
	}
}

func (p *page) anchor(to target, draw func()) {
	p.tag(`<a href="` + stdhtml.EscapeString(to.href) + `" target="_blank" rel="noopener noreferrer nofollow">`)
	draw()
	p.tag(`</a>`)
}

// tells says that the words of a link are the very place where it leads.
func tells(words string, to target) bool {
	return words == to.href || words == to.where || "http://"+words == to.href || words+"/" == to.href
}

// aside is what we say of a link, behind it.
func (p *page) aside(s string) {
	p.tag(` <bdi class="md-where" dir="ltr">(`)
	p.shownLine(strings.NewReplacer("\r\n", " ", "\n", " ").Replace(s))
	p.tag(`)</bdi>`)
}

func (p *page) image(n *ast.Image, depth int) {
	draw := func() { p.inlineChildren(n, depth) }
	words := p.plain(n)
	if strings.TrimSpace(words) == "" {
		draw = func() { p.tag("image") }
	}
	p.link(unescape(string(n.Destination)), unescape(string(n.Title)), words, draw)
}

// autoLink is an address in the text. It says itself where it leads.
func (p *page) autoLink(n *ast.AutoLink) {
	label, address := string(n.Label(p.source)), string(n.URL(p.source))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(address), "mailto:") {
		address = "mailto:" + address
	}
	to, ok := follow(address)
	if !ok {
		p.shownLine(label)
		return
	}
	p.anchor(to, func() { p.shownLine(label) })
}
