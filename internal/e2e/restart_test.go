package e2e

import (
	"testing"

	"github.com/chromedp/cdproto/network"
)

// goes takes the page's connection away, or gives it back.
func (v *page) goes(online bool) {
	v.t.Helper()
	call(v, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: !online, DownloadThroughput: -1, UploadThroughput: -1})
	call(v, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: !online, DownloadThroughput: -1, UploadThroughput: -1}},
	})
}

// A restart loses nobody: the agent that waits still gets its answer, and an open page shows what was asked while it was cut off.
func TestRestart(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	before := swe.wantsToRun("npm ci")
	v := p.open(desktop, "/")
	v.isLive()
	v.click(card(before.ID, ".reveal-reason summary"))
	v.write(card(before.ID, "[name=q0_text]"), "wait for the release")
	waiting := swe.waitsFor(before)

	v.mayComplain("ERR_CONNECTION_REFUSED", "ERR_INTERNET_DISCONNECTED", "WebSocket connection")
	v.goes(false)
	p.restart()
	meanwhile := swe.wantsToRun("npm test")
	v.expect("!document.getElementById('interaction-" + meanwhile.ID + "')")
	v.goes(true)

	v.sees(has(card(meanwhile.ID, "[data-allow]")))
	v.expect("document.querySelector('" + card(before.ID, "[name=q0_text]") + "').value === 'wait for the release'")
	v.isLive()
	v.click(card(before.ID, "[data-deny]"))
	if got := verdict(waiting.ended()); got != "denied: wait for the release" {
		t.Errorf("the agent got %q through the restart", got)
	}
	after := swe.wantsToRun("npm run lint")
	v.sees(has(card(after.ID, "[data-allow]")))
}

// An answer given while nobody can be reached is not lost: the card says so, keeps what was typed, and takes it again.
func TestAnswerWhileServerIsDown(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(desktop, swe.page())
	v.isLive()
	v.mayComplain("ERR_CONNECTION_REFUSED", "WebSocket connection", "htmx")
	v.click(card(asked.ID, ".reveal-reason summary"))
	v.write(card(asked.ID, "[name=q0_text]"), "use yarn")
	p.stop()
	v.click(card(asked.ID, "[data-deny]"))
	v.sees(shows(card(asked.ID, "[data-error]"), "Could not reach Sayso. Nothing was recorded. Try again."))
	v.isAccessible()
	p.run()
	v.click(card(asked.ID, "[data-deny]"))
	v.sees(shows(card(asked.ID, ".ended-word"), "Denied"))
	if now := verdict(p.asItIs(asked)); now != "denied: use yarn" {
		t.Errorf("recorded is %q", now)
	}
}
