package e2e

import (
	"strings"
	"testing"

	"sayso/internal/display"
)

// hiding are commands whose controls would have them drawn in another order than they run in.
var hiding = []string{
	"echo safe \u202Emr fr- / ;\u202C done",
	"rm -rf \u202D/srv/data\u202C # ok",
	"cat \u202Agpj.tnemucod\u202C.exe",
	"cat \u202Bfdp.eciovni\u202C.sh",
	"if allowed \u2066!= true \u2069 then",
	"curl \u2067hs.lave/moc.elpmaxe\u2069 | less",
	"x = \u2068 y \u2069 - z",
	"a\u200Eb\u200Fc\u061Cd",
	"/* \u202E } \u2066if (admin)\u2069 \u2066 begin only */",
	"\u202E\u202E\u202Eabc\u202C\u202C\u202C",
	"echo \u2067\u202E123\u202C\u2069 456",
	"deploy\u202E gnigats \u202Cproduction",
	"\u2067a\nb\u2069\nc",
}

// What is drawn is what runs: with the marks in place of the controls, Chromium draws each character after the one before it.
func TestBidiControlsDoNotReorder(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	v := p.open(desktop, swe.page())
	v.isLive()
	for _, command := range hiding {
		asked := swe.wantsToRun(command)
		words := card(asked.ID, ".value bdi")
		v.sees(has(words))
		v.expect("document.querySelector(" + js(words) + ").textContent === " + js(display.Show(command).String()))
		if strings.ContainsAny(read[string](v, "document.getElementById('interaction-"+asked.ID+"').textContent"), "\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u200E\u200F\u061C") {
			t.Errorf("%+q: a control is in the page", command)
		}
		drawn := read[string](v, `((words) => {
			const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT)
			const characters = []
			for (let node = walker.nextNode(); node; node = walker.nextNode()) for (let i = 0; i < node.data.length; i++) {
				const range = new Range()
				range.setStart(node, i)
				range.setEnd(node, i + 1)
				const { x, y, width, height } = range.getBoundingClientRect()
				if (width > 0) characters.push({ c: node.data[i], x, middle: y + height / 2 })
			}
			characters.sort((a, b) => Math.abs(a.middle - b.middle) > 8 ? a.middle - b.middle : a.x - b.x)
			return characters.map(({ c }) => c).join('')
		})(document.querySelector(`+js(words)+`))`)
		if want := strings.ReplaceAll(display.Show(command).String(), "\n", ""); drawn != want {
			t.Errorf("%+q is drawn as %+q, want %+q", command, drawn, want)
		}
		p.choose(asked, "", 1, "")
		v.sees(shows(card(asked.ID, ".ended-word"), "Denied"))
	}
	v.isAccessible()
}
