package e2e

import (
	"testing"
)

// Going back and forward shows what is true now, and what comes then is pushed.
func TestBackAndForward(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	first := swe.wantsToRun("npm ci")
	v := p.open(desktop, "/")
	v.isLive()
	v.follow("[data-group] h2 a")
	v.sees(shows("h1", "swe"))
	v.click(card(first.ID, "[data-allow]"))
	v.sees(shows(card(first.ID, ".ended-word"), "Allowed"))

	v.run("history.back()")
	v.sees(shows("h1", "Inbox"))
	v.isLive()
	v.sees(shows("#empty", "Nothing waits for you"))
	second := swe.wantsToRun("npm test")
	v.sees(has(card(second.ID, "[data-allow]")))

	v.run("history.forward()")
	v.sees(shows("h1", "swe"))
	v.isLive()
	v.sees(has(card(second.ID, "[data-allow]")))
	v.expect(shows(card(first.ID, ".ended-line"), "Allowed"))
	third := swe.wantsToRun("npm run lint")
	v.sees(has(card(third.ID, "[data-allow]")))

	v.reload()
	v.expect(has(card(third.ID, "[data-allow]")))
	v.isAccessible()
}

// noSocket is a network that lets no socket through.
const noSocket = `globalThis.WebSocket = class {
	static CONNECTING = 0
	static OPEN = 1
	static CLOSED = 3
	readyState = 0
	constructor() {
		setTimeout(() => {
			this.readyState = 3
			this.onclose?.({ code: 1006 })
		})
	}
	close() {}
}`

// Where no socket can be opened, the page says so and asks by itself: cards come and end a little later.
func TestWithoutSocket(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		v := p.visit(d)
		v.signIn()
		v.beforeScripts(noSocket)
		v.goTo("/")
		v.sees(shows("#live", "Updates every 10 s"))
		v.isAccessible()
		asked := swe.wantsToRun("npm ci")
		v.sees(has(card(asked.ID, "[data-allow]")))
		p.choose(asked, "Fox Mulder", 1, "use yarn")
		v.sees(shows(card(asked.ID, ".ended-word"), "Denied"))
		v.expect(shows(card(asked.ID, ".ended-by"), "Fox Mulder"))
	})
}

// A session that ends elsewhere leaves no page that looks alive: it says so, and its card tells that nothing was recorded.
func TestSignedOutElsewhere(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(desktop, "/")
	v.isLive()
	v.click(card(asked.ID, ".reveal-reason summary"))
	v.write(card(asked.ID, "[name=q0_text]"), "use yarn")
	v.mayComplain("status of 401")
	other := p.sharing(v, "/")
	other.click(".account summary")
	other.follow(".account-menu form button")
	other.expect(shows("[role=status]", "You are signed out."))

	v.sees(shows("#live", "You are signed out. Sign in"))
	v.isAccessible()
	v.click(card(asked.ID, "[data-deny]"))
	v.sees(shows(card(asked.ID, "[data-error]"), "You are signed out. Nothing was recorded."))
	v.expect("document.querySelector('" + card(asked.ID, "[name=q0_text]") + "').value === 'use yarn'")
	if now := verdict(p.asItIs(asked)); now != "open" {
		t.Errorf("the request is %s though nobody was signed in", now)
	}
}
