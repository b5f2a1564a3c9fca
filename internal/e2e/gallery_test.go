package e2e

import (
	"testing"

	"sayso/views/gallery"
)

// Every component in every state, and every page, is accessible and fits the window. The samples are the gallery's; their scripts
// do not run, so that each is looked at as the server renders it.
func TestGallery(t *testing.T) {
	t.Parallel()
	for _, d := range []device{phone.withoutScript(), desktop.withoutScript()} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, inDevelopment)
			v := p.open(d, "/gallery")
			v.mayComplain("nonce", "script-src") // a sample carries the nonce of another response
			v.fits()
			v.run("for (const e of document.querySelectorAll('article')) if (e.textContent.length > 20000) e.remove()") // which axe would measure for minutes
			v.isAccessible()
			v.run("for (const e of document.querySelectorAll('details')) e.open = true")
			v.fits()
			v.isAccessible()
			for _, sample := range gallery.Samples() {
				if sample.Whole {
					v.goTo("/gallery/" + sample.Name)
					v.fits()
					v.isAccessible()
				}
			}
		})
	}
}

// fits fails the test if the page is wider than its window.
func (v *page) fits() {
	v.t.Helper()
	if width := read[int64](v, "document.documentElement.scrollWidth"); width > v.device.width {
		v.t.Errorf("%s: %s is %d wide", v.device.name, v.path(), width)
	}
}
