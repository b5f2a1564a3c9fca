package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"sayso/internal/api"
	"sayso/internal/display"
)

// payloads are what hostile agents write.
func payloads(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/payloads.txt")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var payload string
		must(t, json.Unmarshal([]byte(line), &payload))
		all = append(all, payload)
	}
	if len(all) < 120 {
		t.Fatalf("there are only %d payloads", len(all))
	}
	return all
}

// shown is what a page must show somewhere: text, as it is, in an element.
type shown struct{ In, Text string }

// attack is one payload in everything that an agent may write.
type attack struct {
	payload    string
	agent      *asker
	permission api.Interaction
	question   api.Interaction
}

func (a attack) permissionShown(titleIn string) []shown {
	value, label := display.Show(a.payload).String(), display.Line(a.payload).String()
	return []shown{
		{titleIn, display.Line("Permission requested for " + a.payload).String()},
		{".item:nth-of-type(1) dt bdi", label},
		{".item:nth-of-type(1) dd .value bdi", value},
		{".item:nth-of-type(2) dd .value bdi", display.Show("echo " + a.payload).String()},
		{".card-agent bdi", label},
	}
}

func (a attack) questionShown(titleIn, promptIn, optionIn string) []shown {
	text, label := display.Show(a.payload).String(), display.Line(a.payload).String()
	return []shown{
		{titleIn, label},
		{".item dt bdi", label},
		{".item dd .value bdi", text},
		{promptIn, text},
		{optionIn, label},
	}
}

// holdsStill fails the test if anything of what agents wrote acts, or is not shown as the text it is.
func (v *page) holdsStill(want map[string][]shown) {
	v.t.Helper()
	for _, problem := range read[[]string](v, `((want) => {
		const problems = []
		const say = (...words) => problems.push(words.join(' '))
		const parts = [document, ...[...document.querySelectorAll('template')].map((e) => e.content)]
		const all = (selector) => parts.flatMap((part) => [...part.querySelectorAll(selector)])
		if (globalThis.__xss !== undefined) say('a script ran')
		for (const { src, text } of document.scripts) if (!new URL(src).pathname.startsWith('/static/') || text) say('a foreign script:', src, text)
		for (const e of all('bdi[hx-ignore] :not(span.mark)')) say('an element of an agent:', e.outerHTML)
		for (const e of all('iframe, object, embed, video, audio, img, math, base, style, script:not([nonce]), marquee, plaintext, foreignObject, image, use, hx-partial')) say('a foreign element:', e.outerHTML)
		for (const e of all('*')) for (const { name, value } of e.attributes) {
			if (/^on|^data-hx-|^hx-(get|trigger|on|ws|boost|vals|swap-oob)|^(srcdoc|autofocus)$/.test(name)
				|| name === 'formaction' && !/^\/projects\/default\/agents\/agt_[a-z2-7]{26}\/interactions\/int_[a-z2-7]{26}\/review$/.test(value)) say('a foreign attribute:', name, e.outerHTML.slice(0, 200))
			if (/^(href|src|action|xlink:href)$/.test(name) && !/^(https?:|data:image\/svg\+xml,)/.test(new URL(value, location).href)) say('a foreign address:', value)
		}
		for (const [id, all] of Object.entries(want ?? {})) {
			const card = document.getElementById(id)
			if (!card) { say('no card', id); continue }
			for (const { In, Text } of all) {
				const there = [...card.querySelectorAll(In)].map((e) => e.textContent.trim())
				if (!there.includes(Text.trim())) say(id, In, 'does not show', JSON.stringify(Text), 'but', JSON.stringify(there))
			}
		}
		return problems.slice(0, 20)
	})(`+js(want)+`)`) {
		v.t.Errorf("%s: %s", v.path(), problem)
	}
	for _, address := range v.requests() {
		if u, err := url.Parse(address); err != nil || u.Scheme != "data" && !ours.MatchString(u.Path) {
			v.t.Errorf("asked for %s", address)
		}
	}
}

// ours are the addresses that pages ask for by themselves.
var ours = regexp.MustCompile(`^/(static/[\w.-]+|projects/default/(agents|(agents/agt_\w+/?)?(cards|live)?|interactions/int_\w+))?$`)

// Nothing that an agent writes, in whichever field, is anything but text: pushed, rendered with the page, on a page of its own, or ended.
func TestPayloads(t *testing.T) {
	t.Parallel()
	p := start(t)
	hostile := p.agent("hostile")
	inbox, conversation := p.open(desktop, "/"), p.open(desktop, hostile.page())
	inbox.isLive()
	conversation.isLive()
	all := payloads(t)
	var attacks []attack
	for from := 0; from < len(all); from += 50 { // as many may be open at once
		var some []attack
		for n, payload := range all[from:min(from+50, len(all))] {
			some = append(some, p.attack(hostile, from+n, payload))
		}
		open := map[string][]shown{}
		for _, a := range some {
			open["interaction-"+a.question.ID] = a.questionShown("h3 bdi", ".question-prompt bdi", ".option label bdi")
		}
		conversation.sees(fmt.Sprintf("document.querySelectorAll('article[data-state=open]').length === %d", len(open)))
		conversation.holdsStill(open)
		for _, a := range some {
			open["interaction-"+a.permission.ID] = a.permissionShown("h3 bdi")
		}
		inbox.sees(fmt.Sprintf("document.querySelectorAll('article[data-state=open]').length === %d", len(open)))
		inbox.holdsStill(open)
		inbox.reload()
		inbox.isLive()
		inbox.holdsStill(open)

		ended := map[string][]shown{}
		for n, a := range some {
			p.end(a, n)
			ended["interaction-"+a.question.ID] = a.questionShown(".ended-title bdi", ".asked-question p bdi", ".asked-question li bdi")
			ended["interaction-"+a.permission.ID] = a.permissionShown(".ended-title bdi")
		}
		inbox.sees("!document.querySelector('article[data-state=open]')")
		inbox.holdsStill(ended)
		conversation.sees("!document.querySelector('article[data-state=open]')")
		attacks = append(attacks, some...)
	}

	conversation.reload()
	newest := map[string][]shown{}
	for _, a := range attacks[len(attacks)-100:] {
		newest["interaction-"+a.question.ID] = a.questionShown(".ended-title bdi", ".asked-question p bdi", ".asked-question li bdi")
	}
	conversation.holdsStill(newest)
	for n, a := range attacks {
		v := inbox
		closing := strings.Contains(a.payload, "</") // of the title of a tab, say
		if n%5 == 0 || closing {
			v.goTo(permalink(a.permission))
			v.holdsStill(map[string][]shown{"interaction-" + a.permission.ID: a.permissionShown(".ended-title bdi")})
		}
		if n%10 == 1 || closing {
			v.goTo(a.agent.page())
			v.holdsStill(map[string][]shown{"interaction-" + a.permission.ID: a.permissionShown(".ended-title bdi")})
			if want := oneSpaced(display.Line(a.payload).String()); !strings.HasPrefix(v.title(), want) {
				t.Errorf("the tab of an agent is titled %q, want %q", v.title(), want)
			}
		}
		if n%10 == 0 {
			v.goTo(permalink(a.question))
			v.holdsStill(nil)
		}
	}
	inbox.goTo("/projects/default/agents")
	inbox.holdsStill(nil)
}

// oneSpaced is text as a tab's title has it.
func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// attack has an agent that is called by a payload ask for permission with it, and the hostile one ask a question made of it.
func (p *product) attack(hostile *asker, n int, payload string) attack {
	p.t.Helper()
	named, err := p.asking.CreateAgent(p.t.Context(), api.NewAgent{Name: payload, Key: fmt.Sprintf("payload-%d", n)})
	must(p.t, err)
	key, err := json.Marshal(payload)
	must(p.t, err)
	command, err := json.Marshal("echo " + payload)
	must(p.t, err)
	a := attack{payload: payload, agent: &asker{product: p, id: named.ID, name: payload}}
	a.permission = a.agent.asks(api.NewInteraction{
		ToolCall: &api.ToolCall{Name: payload, Input: json.RawMessage(fmt.Sprintf(`{%s:%s,"command":%s}`, key, key, command))},
		WaitMode: "suspend", WorkflowID: payload, TaskID: payload,
	})
	a.question = hostile.asks(api.NewInteraction{Request: &api.Request{
		Title: payload, Context: []api.ContextItem{{Label: payload, Value: payload}},
		Questions: []api.Question{
			{Prompt: payload, Header: payload, Options: []api.Option{{Label: payload, Description: payload, AllowsText: true}}},
			{Prompt: "Anything else?", Multiple: true, Options: []api.Option{{Label: payload}, {Label: "No"}}},
		},
	}})
	return a
}

// end ends both requests of an attack, one way or another; whoever does is called by the payload too.
func (p *product) end(a attack, n int) {
	p.t.Helper()
	actor := &api.External{ProviderUserID: a.payload, DisplayName: a.payload}
	if n%3 == 0 {
		_, err := p.asking.Cancel(p.t.Context(), a.permission.AgentID, a.permission.ID)
		must(p.t, err)
	} else {
		p.choose(a.permission, a.payload, 1, a.payload)
	}
	_, err := p.ruling.Resolve(p.t.Context(), a.question.AgentID, a.question.ID, api.Resolve{
		Answers: []api.Answer{{OptionIndices: []int{0}, Text: a.payload}, {OptionIndices: []int{0, 1}}}, Actor: actor, Response: a.payload,
	})
	must(p.t, err)
}

// Should markup ever get into the words of an agent, htmx does not act on it.
func TestMarkupInAgentTextIsInert(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(desktop, swe.page())
	v.isLive()
	v.run(`(() => {
		const evil = '<div hx-get="/xss/get" hx-trigger="load"></div><form hx-post="/xss/post" hx-trigger="load"></form><p hx-on:click="window.__xss=1">x</p>'
		for (const words of document.querySelectorAll('article bdi')) words.innerHTML = evil
		htmx.process(document.querySelector('article'))
		for (const p of document.querySelectorAll('article bdi p')) p.click()
	})()`)
	v.click(card(asked.ID, "[data-allow]")) // by when a request would have been sent
	v.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
	v.expect("globalThis.__xss === undefined")
	for _, address := range v.requests() {
		if strings.Contains(address, "/xss/") {
			t.Errorf("htmx asked for %s", address)
		}
	}
}
