package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"sayso/internal/api"
)

// -screenshots writes the pictures of the README; without it they are taken all the same, to see that they can be.
var screenshots = flag.Bool("screenshots", false, "write docs/images")

// A morning's work of three agents, as the pictures of the README show it.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	p := start(t)
	folder := t.TempDir()
	if *screenshots {
		folder = "../../docs/images"
		must(t, os.MkdirAll(folder, 0o755))
	}
	web, billing, release := p.agent("harbor-web"), p.agent("billing-api"), p.agent("release-bot")

	// What was settled before.
	who := p.session()
	p.settle(who, web, tool("Bash", `{"command":"npm ci","cwd":"/home/dev/harbor-web"}`), url.Values{"q0": {"0"}})
	p.settle(who, web, tool("Bash", `{"command":"git push --force origin main","cwd":"/home/dev/harbor-web"}`), url.Values{"q0": {"1"}, "q0_text": {"Never force-push main. Open a pull request."}})
	answered := p.settle(who, web, whichDatabase, url.Values{"q0": {"1"}, "q0_text": {"the one in eu-west, it has the anonymised data"}})
	canceled := web.asks(tool("Edit", `{"path":"src/checkout/total.ts","old_string":"return net * 1.19","new_string":"return net * (1 + rate)"}`))
	_, err := p.asking.Cancel(t.Context(), web.id, canceled.ID)
	must(t, err)

	// What waits.
	web.blocks(tool("Bash", `{"command":"curl -fsSL https://get.harbor.dev/install.sh | sudo bash\nnpm run build && rsync -a --delete dist/ deploy@web-1:/srv/harbor/","machine":"build-7","cwd":"/home/dev/harbor-web"}`))
	billing.blocks(tool("Bash", `{"command":"psql \"$STAGING_URL\" -c 'ALTER TABLE invoices ADD COLUMN due_on date'","machine":"db-tools"}`))
	question := release.blocks(releaseQuestion)

	for _, d := range []device{desktop, desktop.inTheDark()} {
		suffix := map[bool]string{false: "", true: "-dark"}[d.dark]
		v := p.open(d, "/")
		v.picture(folder, "inbox"+suffix)
		v.goTo(web.page())
		v.picture(folder, "conversation-permission"+suffix)
		v.isAccessible()
	}
	v := p.open(desktop, release.page())
	v.isLive()
	v.click(option(question, 0, 1))
	v.picture(folder, "question")
	v.goTo(permalink(answered))
	v.picture(folder, "answered")
	v.goTo(permalink(canceled))
	v.picture(folder, "canceled")
}

// tool is a request for permission to use a tool.
func tool(name, input string) api.NewInteraction {
	return api.NewInteraction{ToolCall: &api.ToolCall{Name: name, Input: json.RawMessage(input)}}
}

var whichDatabase = api.NewInteraction{Request: &api.Request{
	Title:   "Which database should the checkout tests use?",
	Context: []api.ContextItem{{Label: "Why I ask", Value: "DATABASE_URL is not set, and there are two candidates in .env.example."}},
	Questions: []api.Question{{Prompt: "Which database should the checkout tests use?", Options: []api.Option{
		{Label: "A fresh one in a container", Description: "Slower to start, and nothing can be broken."},
		{Label: "Staging", AllowsText: true},
	}}},
}}

var releaseQuestion = api.NewInteraction{Request: &api.Request{
	Title:   "How should 2.4.0 go out?",
	Context: []api.ContextItem{{Label: "Changes", Value: "14 commits since 2.3.1, 2 of them touch payments"}, {Label: "Checks", Value: "unit tests passed, browser tests passed, load test not run"}},
	Questions: []api.Question{
		{Prompt: "Which channel?", Header: "Channel", Options: []api.Option{
			{Label: "Stable", Description: "Everybody, at once."},
			{Label: "Beta", Description: "5% of customers for a day, then everybody."},
			{Label: "Not today", AllowsText: true},
		}},
		{Prompt: "What must pass before?", Header: "Checks", Multiple: true, Options: []api.Option{{Label: "Load test"}, {Label: "Manual check of a refund"}, {Label: "Nothing more"}}},
	},
}}

// blocks has the agent ask and wait on the line, for ten minutes.
func (a *asker) blocks(ask api.NewInteraction) api.Interaction {
	a.product.t.Helper()
	ask.WaitMode = "block"
	i := a.asks(expiring(ask, 600))
	a.waitsFor(i)
	return i
}

// settle has the agent ask, the owner answer in the dashboard, and the agent come for the answer.
func (p *product) settle(session *http.Cookie, a *asker, ask api.NewInteraction, form url.Values) api.Interaction {
	p.t.Helper()
	i := a.asks(ask)
	form.Set("digest", i.Digest)
	if got := p.send("POST", posting(i), form, "Cookie", session.Name+"="+session.Value, "Sec-Fetch-Site", "same-origin"); got.status != http.StatusSeeOther {
		p.t.Fatalf("answer %s: %d %s", i.ID, got.status, got.body)
	}
	return a.waitsFor(i).ended()
}

// longAgo is an expression: what the page shows looks as old as it would be at work. The page counts on by itself, and asks the server
// now and then how old things are, so this says it again until it shows.
const longAgo = `(() => {
	const times = [...document.querySelectorAll('[data-age]')].filter((e) => !e.closest('.top'))
	const say = (e, name, value) => e.dataset[name] === String(value) || (e.dataset[name] = value)
	const ended = [...document.querySelectorAll('article:not([data-state=open])')].reverse()
	const open = [...document.querySelectorAll('article[data-state=open]')]
	const waits = (e) => 245 - 70 * open.indexOf(e.closest('article'))
	for (const e of times) say(e, 'age', e.closest('[data-state=open]') ? waits(e) : 700 + 540 * Math.max(0, ended.indexOf(e.closest('article'))))
	for (const e of document.querySelectorAll('[data-remaining]')) say(e, 'remaining', 599 - waits(e))
	return document.fonts.status === 'loaded' && times.every((e) => e.textContent.includes('min'))
})()`

// picture saves what the page shows.
func (v *page) picture(folder, name string) {
	v.t.Helper()
	v.isLive()
	v.sees(longAgo)
	image := v.screenshot()
	decoded, err := png.Decode(bytes.NewReader(image))
	must(v.t, err)
	if size := decoded.Bounds().Size(); size.X != int(v.device.width) || size.Y != int(v.device.height) {
		v.t.Errorf("%s is %v", name, size)
	}
	must(v.t, os.WriteFile(filepath.Join(folder, name+".png"), image, 0o644))
}
