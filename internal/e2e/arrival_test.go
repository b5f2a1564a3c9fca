package e2e

import (
	"slices"
	"strings"
	"testing"
)

// A card that an agent opens is there at once, wherever the agent can be watched, and is noticed from another tab.
func TestCardArrives(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		inbox, conversation := p.open(d, "/"), p.open(d, swe.page())
		inbox.isLive()
		conversation.isLive()
		inbox.expect(shows("#empty", "Nothing waits for you"))
		inbox.isAccessible()
		conversation.isAccessible()
		plain := read[string](inbox, "document.querySelector('link[rel=icon]').href")

		asked := swe.wantsToRun("git push --force origin main")
		for _, v := range []*page{inbox, conversation} {
			v.sees(shows(card(asked.ID, ".value"), "git push --force origin main"))
			v.expect(shows(card(asked.ID, "h3"), "Permission requested for Bash"))
			v.expect(shows(card(asked.ID, ".chip"), "force"))
			v.expect(lacks("#empty"))
			v.expect(shows("[data-open-count]", "1"))
			v.expect(holdsText("#announce", "New request: Permission requested for Bash"))
			if title := v.title(); !strings.HasPrefix(title, "(1) ") {
				t.Errorf("the tab is titled %q, want the count in front", title)
			}
			if icon := read[string](v, "document.querySelector('link[rel=icon]').href"); icon == plain {
				t.Error("the favicon does not show that something is open")
			}
			v.isAccessible()
		}
		inbox.expect(shows("[data-group] h2", "swe"))

		p.choose(asked, "", 0, "")
		inbox.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
		inbox.sees(lacks("[data-open-count]"))
		if title := inbox.title(); strings.HasPrefix(title, "(") {
			t.Errorf("the tab is titled %q though nothing is open", title)
		}
		if icon := read[string](inbox, "document.querySelector('link[rel=icon]').href"); icon != plain {
			t.Error("the favicon says that something is open")
		}
	})
}

// hasty has a page press both buttons of each card that comes, at once and again before half a second is over.
const hasty = `globalThis.presses = 0
addEventListener('DOMContentLoaded', () => new MutationObserver((changes) => {
	const fresh = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.matches?.('article.card, [data-group]'))
	for (const card of fresh) for (const wait of [0, 150, 400]) setTimeout(() => {
		for (const button of card.querySelectorAll('[data-allow], [data-deny]')) presses++, button.click()
		for (const form of card.querySelectorAll('form')) presses++, form.requestSubmit()
	}, wait)
}).observe(document.querySelector('#cards'), { childList: true, subtree: true }))`

// A press that was meant for something else, where a card has just come in, decides nothing.
func TestNewCardIgnoresHaste(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	for _, path := range []string{"/", swe.page()} {
		t.Run(path, func(t *testing.T) {
			v := p.visitOn(t, desktop)
			v.signIn()
			v.beforeScripts(hasty)
			v.beforeScripts(noteArrivals)
			v.goTo(path)
			v.isLive()
			asked := swe.wantsToRun("rm -rf build")
			v.ready(asked.ID)
			if n := read[int](v, "presses"); n < 9 {
				t.Fatalf("only %d presses were tried", n)
			}
			v.expect(has(card(asked.ID, "[data-allow]")))
			if slices.ContainsFunc(v.requests(), func(url string) bool { return strings.HasSuffix(url, "/resolve") }) {
				t.Error("a hasty press was sent")
			}
			if now := verdict(p.asItIs(asked)); now != "open" {
				t.Fatalf("after hasty presses the request is %s, want open", now)
			}
			v.click(card(asked.ID, "[data-allow]"))
			v.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
			if now := verdict(p.asItIs(asked)); now != "allowed" {
				t.Errorf("after Allow the request is %s", now)
			}
		})
	}
}
