package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
)

// noteEndings has the page note when each card was shown as ended, in milliseconds of the clock.
const noteEndings = `globalThis.endedAt = {}
addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
	for (const card of document.querySelectorAll('article.card:not([data-state=open])')) globalThis.endedAt[card.id] ??= Date.now()
}).observe(document.body, { childList: true, subtree: true, attributes: true }))`

// A card whose request ends elsewhere says so where it is, with the reason, within a second, and tells it to screen readers.
func TestEndsElsewhere(t *testing.T) {
	t.Parallel()
	type story struct {
		name, word, reason, announced string
		ends                          func(*product, api.Interaction)
		secs                          int // until the deadline; 0: none
	}
	for _, s := range []story{
		{name: "withdrawn", word: "Canceled", reason: "The agent withdrew the request.", announced: "Canceled by", ends: func(p *product, i api.Interaction) {
			_, err := p.asking.Cancel(p.t.Context(), i.AgentID, i.ID)
			must(p.t, err)
		}},
		{name: "expired", word: "Expired", reason: "Nobody answered in time.", announced: "Expired: Permission requested for Bash", secs: 3},
		{name: "denied by another", word: "Denied", reason: "Fox Mulder", announced: "Denied by Fox Mulder", ends: func(p *product, i api.Interaction) {
			p.choose(i, "Fox Mulder", 1, "Use the staging database.")
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			everyDevice(t, func(t *testing.T, d device) {
				p := start(t)
				swe := p.agent("swe")
				v := p.visit(d)
				v.signIn()
				v.beforeScripts(noteEndings)
				v.goTo(swe.page())
				v.isLive()
				ask := running("npm publish")
				if s.secs > 0 {
					ask = expiring(ask, s.secs)
				}
				asked := swe.asks(ask)
				v.sees(has(card(asked.ID, "[data-allow]")))
				if s.secs > 0 {
					v.expect(shows(card(asked.ID, ".countdown"), "expires in"))
				} else {
					s.ends(p, asked)
				}
				v.sees(shows(card(asked.ID, ".ended-word"), s.word))
				v.expect(shows(card(asked.ID, ".facts"), s.reason))
				v.expect(lacks(card(asked.ID, "form")))
				v.expect(holdsText("#announce[aria-live=polite]", s.announced))
				v.isAccessible()

				ended := p.asItIs(asked).ResolvedAt.Time
				shown := time.UnixMilli(read[int64](v, "endedAt['interaction-"+asked.ID+"']"))
				if late := shown.Sub(ended); late > time.Second {
					t.Errorf("the card said so %v after the request ended, want within a second", late)
				}
			})
		})
	}
}

// box is where something is in the window.
type box struct{ X, Y, Width, Height float64 }

// boxes are where what can be pressed on cards is.
func (v *page) boxes(cards ...api.Interaction) map[string][]box {
	v.t.Helper()
	all := map[string][]box{}
	for _, i := range cards {
		all[i.ID] = read[[]box](v, "[...document.querySelectorAll("+js(card(i.ID, ":is(button, summary)"))+")].filter((e) => e.checkVisibility())"+
			".map((e) => e.getBoundingClientRect()).map(({ x, y, width, height }) => ({ x, y, width, height }))")
		if len(all[i.ID]) == 0 {
			v.t.Fatalf("the card of %s has no buttons\n%s", i.ID, v.describe())
		}
	}
	return all
}

// Nothing moves under the pointer: new cards come last, and a card that ends keeps its room until that can surprise nobody.
func TestNothingMoves(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		first, second := swe.wantsToRun("npm ci"), swe.wantsToRun("npm test")
		for _, path := range []string{swe.page(), "/"} {
			v := p.open(d, path)
			v.isLive()
			v.hover(card(second.ID, "[data-allow]"))
			before := v.boxes(second)

			third := swe.wantsToRun("npm run lint")
			v.sees(has(card(third.ID, "[data-allow]")))
			if diff := cmp.Diff(before, v.boxes(second)); diff != "" {
				t.Errorf("%s: a new card moved another (-before +after):\n%s", path, diff)
			}
			before = v.boxes(second, third)

			p.choose(first, "Fox Mulder", 0, "")
			v.sees(shows(card(first.ID, ".ended-word"), "Allowed"))
			v.run("globalThis.then = performance.now()")
			if diff := cmp.Diff(before, v.boxes(second, third)); diff != "" {
				t.Errorf("%s: a card that ended moved others (-before +after):\n%s", path, diff)
			}
			v.sees("performance.now() - then > 5500") // by now it would have settled, were no pointer over the cards
			if diff := cmp.Diff(before, v.boxes(second, third)); diff != "" && !d.phone {
				t.Errorf("%s: a card that settled under the pointer moved others (-before +after):\n%s", path, diff)
			}
			v.hover("h1")
			v.sees(lacks(".settling"))
			v.sees("!document.querySelector('" + card(first.ID, "details.ended") + "').open")
			v.expect(shows(card(first.ID, ".ended-line"), "Allowed"))
			first, second = second, third
		}
	})
}

// A new card of an agent further up goes to the end when anything below could be pressed by mistake.
func TestNewCardGoesBelowWhatIsInView(t *testing.T) {
	t.Parallel()
	p := start(t)
	above, below := p.agent("above"), p.agent("below")
	above.wantsToRun("npm ci")
	other := below.wantsToRun("npm test")
	v := p.open(desktop, "/")
	v.isLive()
	v.hover(card(other.ID, "[data-deny]"))
	before := v.boxes(other)
	came := above.wantsToRun("npm run lint")
	v.sees(has(card(came.ID, "[data-allow]")))
	if diff := cmp.Diff(before, v.boxes(other)); diff != "" {
		t.Errorf("the new card moved what the pointer is over (-before +after):\n%s", diff)
	}
	v.expect("[...document.querySelectorAll('#cards article')].at(-1).id === 'interaction-" + came.ID + "'")
	v.isAccessible()
}
