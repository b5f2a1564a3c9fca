package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
)

// j and k move between cards; a and d answer the one that has the focus, and then the next one has it.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	var asked []api.Interaction
	for _, command := range []string{"npm ci", "npm test", "npm run lint"} {
		asked = append(asked, swe.wantsToRun(command))
	}
	for n, path := range []string{swe.page(), "/"} {
		v := p.open(desktop, path)
		v.isLive()
		v.press("a")
		v.press("d") // no card has the focus: nothing happens
		v.press("j")
		v.hasFocus(asked[n])
		if n == 0 {
			v.press("jj")
			v.hasFocus(asked[2])
			v.press("kk")
			v.hasFocus(asked[0])
		}
		v.run(hurried(asked[n+1]))
		v.press("dd") // the second was meant for the card that ended
		v.sees(shows(card(asked[n].ID, ".ended-word"), "Denied"))
		v.hasFocus(asked[n+1])
		v.sees("globalThis.hurried")
		v.expect(has(card(asked[n+1].ID, "[data-deny]:not([aria-disabled])")))
		if now := verdict(p.asItIs(asked[n+1])); now != "open" {
			t.Errorf("%s: a second press answered the next card: %s", path, now)
		}
	}
	v := p.open(desktop, swe.page())
	v.isLive()
	v.press("k") // from nowhere, up: the last one
	v.hasFocus(asked[2])
	v.press("a")
	v.sees(shows(card(asked[2].ID, ".ended-word"), "Allowed"))
	v.isAccessible()
}

// hurried has the page press d once more just after the focus came to a card.
func hurried(i api.Interaction) string {
	return `globalThis.hurried = false
		document.addEventListener('focusin', ({ target }) => target.id === '` + i.ID + `-title' && setTimeout(() => {
			target.dispatchEvent(new KeyboardEvent('keydown', { key: 'd', bubbles: true }))
			globalThis.hurried = true
		}, 100), { once: true })`
}

// hasFocus waits until the heading of a card has the focus.
func (v *page) hasFocus(i api.Interaction) {
	v.t.Helper()
	v.sees("document.activeElement?.id === '" + i.ID + "-title'")
}

// A card that is not all in view is brought into view by the first press, and answered by the next.
func TestShortcutsNeedTheCardInView(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	for range 3 {
		swe.wantsToRun(strings.Repeat("make all\n", 40))
	}
	last := swe.wantsToRun("make deploy")
	v := p.open(desktop, "/")
	v.isLive()
	v.run("document.getElementById('" + last.ID + "-title').focus({ preventScroll: true })")
	v.expect("scrollY === 0")
	v.press("a")
	v.sees("scrollY > 0")
	if now := verdict(p.asItIs(last)); now != "open" {
		t.Fatalf("a card out of view was %s", now)
	}
	v.sees("document.getElementById('interaction-" + last.ID + "').getBoundingClientRect().bottom <= innerHeight + 1")
	v.press("a")
	v.sees(shows(card(last.ID, ".ended-word"), "Allowed"))
}

// In a text field every key is text, and with the setting off every key is left alone.
func TestShortcutsKeepOutOfText(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(desktop, swe.page())
	v.isLive()
	v.click(card(asked.ID, ".reveal-reason summary"))
	v.write(card(asked.ID, "[name=q0_text]"), "a bad day? jk")
	v.expect("document.querySelector('" + card(asked.ID, "[name=q0_text]") + "').value === 'a bad day? jk'")
	v.expect(lacks("#shortcuts"))
	v.run("document.activeElement.blur()")

	v.press("?")
	v.sees(has("#shortcuts"))
	v.isAccessible()
	v.click("#shortcuts-on")
	v.press("\x1b")
	v.sees(lacks("#shortcuts"))
	v.press("?j")
	v.expect(lacks("#shortcuts"))
	v.expect("document.activeElement === document.body || !document.activeElement.closest('article')")
	v.reload()
	v.isLive()
	v.run("document.getElementById('" + asked.ID + "-title').focus()")
	v.press("a")
	v.click(".account summary")
	v.click("[data-shortcuts]")
	v.sees(has("#shortcuts"))
	v.expect("!document.getElementById('shortcuts-on').checked")
	if now := verdict(p.asItIs(asked)); now != "open" {
		t.Errorf("a key that is switched off answered: %s", now)
	}
}

// The tab key goes through a page in the order in which it is read, and every stop can be seen.
func TestTabOrder(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		swe.wantsToRun("git push")
		swe.asks(release)
		v := p.open(d, "/")
		v.isLive()
		var got []string
		for range 40 {
			v.press("\t")
			at := read[string](v, `(() => {
				const e = document.activeElement
				if (e === document.body) return ''
				const box = e.getBoundingClientRect()
				const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
				const seen = hit && (e.contains(hit) || hit.contains(e) || hit.closest('label')?.control === e)
				const words = e.labels?.length ? e.labels[0].innerText : e.innerText
				return words.replace(/\s+/g, ' ').trim() + (seen ? '' : ' (hidden by ' + (hit?.outerHTML.slice(0, 100) ?? 'nothing') + ' ' + JSON.stringify(box) + ')')
			})()`)
			if at == "" {
				break
			}
			got = append(got, at)
		}
		rail := []string{"Sayso Default", "Inbox 2 open", "Agents", "Audit", "Settings", owner}
		if d.phone {
			rail = append(rail[1:5], "Account")
		}
		want := append([]string{"Skip to content"}, rail...)
		want = append(want, "swe",
			"swe", "Copy Command", "Allow", "Deny", "Add a reason", "More",
			"swe", "Copy Version", "Copy Changes", "Stable", "Unit tests", "Browser tests", "Load test", "I do", "Submit", "Open on its own")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the tab key stops at (-want +got):\n%s", diff)
		}
	})
}
