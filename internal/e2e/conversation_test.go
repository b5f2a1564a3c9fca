package e2e

import (
	"testing"

	"sayso/internal/api"
)

// compose writes into the composer and sends.
func (v *page) compose(words, mode string) {
	v.t.Helper()
	v.write("#composer-text", words)
	v.click("#composer [name=mode][value=" + mode + "]")
}

// The whole of a conversation: somebody writes, the agent answers and asks, is steered and superseded, is stopped, and is archived.
func TestConversation(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		v := p.open(d, swe.page())
		v.isLive()
		v.compose("Please release 2.4.0.", "queued")
		v.sees(shows("#waiting", "Please release 2.4.0."))
		if got := swe.claims(); got != "Please release 2.4.0." {
			t.Errorf("the agent was told %q", got)
		}
		v.sees(shows("#timeline .entry-message", "Please release 2.4.0."))
		v.sees(lacks("#waiting"))

		said := swe.says(text("I look around **first**."), calls("Bash", "always_allow", "git status"), calls("Bash", "", "git push --force"))
		v.sees(shows("#timeline .entry-output strong", "first"))
		v.sees(shows("#call-"+said.ToolCalls[0].ID, "Ready"))
		swe.reports(said.ToolCalls[0], "succeeded", "nothing to commit")
		v.sees(shows("#call-"+said.ToolCalls[0].ID, "Succeeded"))
		push := said.ToolCalls[1].InteractionID
		v.sees(has(card(push, "[data-allow]")))
		v.expect(shows("#call-"+said.ToolCalls[1].ID, "Awaits permission"))
		v.isAccessible()

		v.write("#composer-text", "Open a pull request instead.")
		v.click("[name=cancel_open_interactions]")
		v.click("#composer [value=steering]")
		v.sees(shows(card(push, ".ended-word"), "Canceled"))
		v.expect(holdsText(card(push, ""), "Open a pull request instead."))
		v.sees(shows("#call-"+said.ToolCalls[1].ID, "Canceled"))
		v.expect("document.querySelector('#composer-text').value === ''")
		if now := swe.now(push); verdict(now) != "canceledsuperseded_by_input" || now.ResolvedBy.Name != owner {
			t.Errorf("it is %s, by %v", verdict(now), now.ResolvedBy)
		}
		if got := swe.claims(); got != "Open a pull request instead." {
			t.Errorf("the agent was told %q", got)
		}
		v.sees(shows("#timeline .entry-message", "canceled 1 open request"))

		said = swe.says(text("I do."), calls("Bash", "", "gh pr create"))
		create := said.ToolCalls[0].InteractionID
		v.sees(has(card(create, "[data-allow]")))
		v.click("#composer .confirm:first-of-type summary")
		v.sees(shows("#composer .confirm[open]", "Cancels 1 open request."))
		v.click("#composer .confirm[open] form button")
		v.sees(shows("#timeline .divider", "Stopped"))
		v.sees(shows(card(create, ".ended-word"), "Canceled"))
		v.expect(holdsText(card(create, ""), "The agent was stopped."))

		v.click("#composer .confirm:last-of-type summary")
		v.sees(shows("#composer .confirm[open]", "This is for good"))
		v.click("#composer .confirm[open] form button")
		v.sees(shows("#agent-state", "Archived"))
		v.sees(lacks("#composer"))
		v.isAccessible()

		v.goTo("/")
		v.run("history.back()")
		v.sees(shows("#agent-state", "Archived"))
		v.sees(shows("#timeline", "Please release 2.4.0."))
		v.run("history.forward()")
		v.sees(shows("h1", "Inbox"))
		v.goTo(swe.page())
		v.reload()
		v.sees(shows("#timeline", "Open a pull request instead."))
		v.expect(shows("#timeline .divider", "Stopped"))
		v.expect(lacks("#composer"))
		v.isAccessible()
	})
}

// The same by plain forms, for a browser that runs no scripts.
func TestConversationWithoutScripts(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(desktop.withoutScript(), swe.page())
	v.write("#composer-text", "Not now.")
	v.follow("#composer [value=queued]")
	v.expect(shows("#waiting", "Not now."))
	v.follow("#waiting [id$=-now]")
	v.expect(shows("#waiting .entry-fact", "Sent now"))
	v.write("#composer-text", "Leave it.")
	v.click("[name=cancel_open_interactions]")
	v.follow("#composer [value=steering]")
	v.expect(holdsText(".timeline "+card(asked.ID, ""), "Leave it."))
	if now := verdict(p.asItIs(asked)); now != "canceledsuperseded_by_input" {
		t.Errorf("it is %s", now)
	}
	v.click("#composer .confirm:first-of-type summary")
	v.follow("#composer .confirm[open] form button")
	v.expect(shows("#timeline .divider", "Stopped"))
	v.expect(lacks("#waiting"))
	v.isAccessible()
	v.click("#composer .confirm:last-of-type summary")
	v.follow("#composer .confirm[open] form button")
	v.expect(shows("#agent-state", "Archived"))
	v.expect(lacks("#composer"))
}

// What waits is moved, sent now, queued again and canceled, and the focus is never lost.
func TestWaitingInputs(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	swe.wantsToRun("npm ci")
	v := p.open(desktop, swe.page())
	v.isLive()
	order := func(words string) string {
		return "[...document.querySelectorAll('#waiting .waiting-text')].map((e) => e.innerText.trim()).join(' ') === " + js(words)
	}
	for _, words := range []string{"one", "two", "three"} {
		v.compose(words, "queued")
		v.sees(shows("#waiting", words) + " && document.getElementById('composer-text').value === ''") // the socket may be ahead of the form's answer
	}
	v.click("#waiting li:nth-child(3) [id$=-front]")
	v.sees(order("three one two"))
	v.click("#waiting li:nth-child(2) [id$=-down]")
	v.sees(order("three two one"))
	v.click("#waiting li:nth-child(3) [id$=-now]")
	v.sees(order("one three two"))
	v.expect("document.activeElement !== document.body")
	if got := swe.claims(); got != "one" {
		t.Errorf("the agent got %q first", got)
	}
	v.sees(order("three two"))
	v.click("#waiting li:nth-child(1) [id$=-canceled]")
	v.sees(order("two"))
	v.isAccessible()
}

// A page that was away catches up: with what was said meanwhile, and with how the calls on it went.
func TestConversationCatchesUp(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	said := swe.says(text("I build."), calls("Bash", "always_allow", "make"))
	v := p.visit(desktop)
	v.signIn()
	v.beforeScripts(noSocket)
	v.goTo(swe.page())
	v.sees(shows("#live", "Updates every 10 s"))
	swe.reports(said.ToolCalls[0], "failed", "no rule")
	swe.says(text("It failed."))
	asked := swe.wantsToRun("npm ci")
	v.sees(has(card(asked.ID, "[data-allow]")))
	v.expect(shows("#timeline", "It failed."))
	v.expect(shows("#call-"+said.ToolCalls[0].ID, "Failed"))
	v.expect("document.querySelectorAll('#timeline .entry').length === 2")
}

// Ten thousand events are no burden: the page holds the newest of them, and goes back in parts.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	for range 25 {
		events := make([]api.NewEvent, 100)
		for n := range events {
			events[n] = api.NewEvent{EventKind: "model_output", ContentBlocks: api.Text("still here")}
		}
		_, err := p.asking.Report(t.Context(), swe.id, "", events...)
		must(t, err)
	}
	v := p.open(desktop, swe.page())
	v.sees("document.querySelectorAll('#timeline .entry').length === 100")
	first := read[string](v, "document.querySelector('#timeline .entry').id")
	v.follow(".more-rows a")
	v.sees("document.querySelectorAll('#timeline .entry').length === 100")
	v.expect("!document.getElementById(" + js(first) + ")")
	v.sees(has("a[href='" + swe.page() + "']"))
	swe.says(text("something new"))
	v.expect("!document.querySelector('#timeline').innerText.includes('something new')")
}
