package e2e

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"sayso/internal/api"
)

// The app of these stories is examples/embed, at localhost, while the product is at 127.0.0.1: for a browser these are two sites.

// exampleApp is the program of examples/embed, built once.
var exampleApp = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "sayso-e2e-app-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "app")
	out, err := exec.Command("go", "build", "-o", program, "sayso/examples/embed").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build examples/embed: %w\n%s", err, out)
	}
	return program, nil
})

// register registers an app with the terms, which are JSON behind the name.
func (p *product) register(terms string) (embed string) {
	p.t.Helper()
	var made api.EmbedBody
	p.asks("POST", "/embeds", `{"name":"Portal",`+terms+`}`, &made)
	return made.Embed.ID
}

// asks calls the REST API as the operator.
func (p *product) asks(method, path, body string, into any) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+"/api/v1/orgs/default/projects/default"+path, strings.NewReader(body))
	must(p.t, err)
	req.Header.Set("Authorization", "Bearer "+p.ruling.Key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	must(p.t, err)
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		p.t.Fatalf("%s %s: %s", method, path, resp.Status)
	}
	if into != nil {
		must(p.t, json.NewDecoder(resp.Body).Decode(into))
	}
}

var atAddress = regexp.MustCompile(`at (http://\S+)`)

// app runs the example for an embed and gives its address.
func (p *product) app(embed string) string {
	p.t.Helper()
	program, err := exampleApp()
	must(p.t, err)
	app := exec.Command(program)
	app.Env = append(os.Environ(), "SAYSO_URL="+p.URL, "SAYSO_EMBED_ID="+embed, "SAYSO_EMBED_KEY="+p.ruling.Key, "LISTEN=localhost:0")
	app.Stderr = p.t.Output()
	out, err := app.StdoutPipe()
	must(p.t, err)
	must(p.t, app.Start())
	p.t.Cleanup(func() {
		_ = app.Process.Kill()
		_ = app.Wait()
	})
	first, err := bufio.NewReader(out).ReadString('\n')
	must(p.t, err)
	m := atAddress.FindStringSubmatch(first)
	if m == nil {
		p.t.Fatalf("the app said %q", first)
	}
	return m[1]
}

// visitApp opens a tab on an app's page.
func (p *product) visitApp(t testing.TB, d device, url string) *page {
	t.Helper()
	v := p.visitOn(t, d)
	v.mayComplain("^asked elsewhere: (http://localhost:|data:,)")
	v.goToURL(url)
	return v
}

// be signs somebody in to the app.
func (v *page) be(name string) {
	v.t.Helper()
	v.loads(func() {
		v.run(`[...document.querySelectorAll('button[name=user]')].find((b) => b.textContent === ` + js("Be "+name) + `).click()`)
	})
}

// frame is what the app's frame shows. It is a page of its own, in another process of the browser; its clicks go through the page around it.
type frame struct {
	*page
	around *page
}

// frame finds the frame of an embed in the page.
func (v *page) frame(embed string) *frame {
	v.t.Helper()
	v.sees(`document.querySelector('iframe')`)
	ctx, cancel := context.WithTimeout(v.ctx, waitMost)
	defer cancel()
	for {
		infos, err := chromedp.Targets(ctx)
		v.do(err)
		for _, info := range infos {
			if info.Type != "iframe" || !strings.HasPrefix(info.URL, v.site.URL+"/embed/"+embed) {
				continue
			}
			f := &page{t: v.t, site: v.site, device: v.device}
			tab, closeTab := chromedp.NewContext(v.tab, chromedp.WithTargetID(info.TargetID), chromedp.WithDetachOnCancel(), chromedp.WithListener(f.hear))
			f.tab = tab
			var stop context.CancelFunc
			f.ctx, stop = context.WithTimeout(tab, pageMost)
			v.t.Cleanup(func() {
				f.judgeHeard()
				stop()
				closeTab()
			})
			f.do(chromedp.Do(tab))
			f.prefers(v.device.scheme())
			return &frame{page: f, around: v}
		}
		await[bool](v, "new Promise((resolve) => setTimeout(resolve, 30, true))")
	}
}

// judgeHeard is judge for a page that may be gone.
func (v *page) judgeHeard() {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.complaints {
		known := false
		for _, r := range v.expected {
			known = known || r.MatchString(c)
		}
		if !known {
			v.t.Errorf("%s: the frame complained: %s", v.device.name, c)
		}
	}
}

// place is where the middle of an element of the frame is in the page around it, brought into view.
func (f *frame) place(selector string) (x, y float64) {
	f.t.Helper()
	f.sees(has(selector))
	whole := fmt.Sprintf("document.querySelector('iframe').offsetHeight >= %f", read[float64](f.page, "document.body.getBoundingClientRect().height"))
	f.around.sees(whole) // the page around has given it the height that it asked for
	in := read[target](f.page, `(() => { const b = [...document.querySelectorAll(`+js(selector)+`)].find((e) => e.getClientRects().length > 0).getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 } })()`)
	out := read[target](f.around, `(() => {
		const place = () => document.querySelector('iframe').getBoundingClientRect()
		scrollBy({ top: place().y + `+fmt.Sprint(in.Y)+` - innerHeight / 2, behavior: 'instant' })
		return { x: place().x, y: place().y }
	})()`)
	await[bool](f.around, "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))") // it is drawn there
	return in.X + out.X, in.Y + out.Y
}

func (f *frame) hover(selector string) {
	f.t.Helper()
	x, y := f.place(selector)
	f.do(chromedp.Do(f.around.ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y)))
}

// click is one with a mouse, on a phone too: Chromium's tools make no click of a touch that goes to the frame of another process.
func (f *frame) click(selector string) {
	f.t.Helper()
	x, y := f.place(selector)
	f.do(chromedp.Do(f.around.ctx, chromedp.MouseClickXY(x, y)))
}

const armed = "[data-allow][data-armed=true]"

// allow does what somebody does who reads before they press: comes with the pointer, and waits.
func (f *frame) allow(id string) {
	f.t.Helper()
	f.hover(card(id, "[data-allow]"))
	f.sees(has(card(id, armed)))
	f.later(time.Second) // with the mouse there, whatever else has armed it
	f.click(card(id, "[data-allow]"))
}

// later waits in the page for d, for what must not happen meanwhile.
func (f *frame) later(d time.Duration) {
	f.t.Helper()
	await[bool](f.page, fmt.Sprintf("new Promise((resolve) => setTimeout(resolve, %d, true))", d.Milliseconds()))
}

// denied is a frame that may keep nothing: no cookie, and no storage of any kind.
const denied = `(() => {
	const refused = (use) => { try { return use() === null } catch (error) { return error.name === 'SecurityError' } }
	return document.cookie === '' && refused(() => localStorage.length) && refused(() => sessionStorage.length) && refused(() => indexedDB.open('x'))
})()`

// denying makes a document one that may keep nothing, as browsers do for other sites' frames when they are told to.
const denying = `for (const [object, name] of [[window, 'localStorage'], [window, 'sessionStorage'], [window, 'indexedDB'], [window, 'caches']])
	Object.defineProperty(object, name, { get() { throw new DOMException('Access is denied for this document.', 'SecurityError') } })
Object.defineProperty(document, 'cookie', { get: () => '', set() {} })`

// denyStorage has the frame loaded again, as one that may keep nothing.
func (f *frame) denyStorage() {
	f.t.Helper()
	f.beforeScripts(denying)
	f.run("globalThis.before = true; setTimeout(() => location.reload())")
	f.sees("!globalThis.before && document.readyState === 'complete'")
	f.expect(denied)
}

// Two people of an app answer, on another site, without cookies and storage, on a phone and on a desktop; the record names each.
func TestEmbedTwoPeopleAnswer(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		embed := p.register(`"permission":"resolve","origins":["http://localhost:*"]`)
		v := p.visitApp(t, d, p.app(embed))
		v.blockCookies()
		first, second := swe.wantsToRun("npm ci"), swe.wantsToRun("git push --force")
		v.be("Dana")
		f := v.frame(embed)
		f.denyStorage()
		f.sees(has(card(first.ID, "")))
		v.sees(`document.title === '(2) Portal'`)
		f.fits()
		v.fits()
		f.isAccessible()
		if d.phone { // a finger that was there a moment ago is as good as a pointer that is there
			f.expect(lacks(card(first.ID, armed)))
			x, y := f.place(card(first.ID, ".card-title"))
			f.do(chromedp.Do(v.ctx, chromedp.TapXY(x, y)))
			f.sees(has(card(first.ID, armed)))
		}
		f.allow(first.ID)
		f.sees(shows(card(first.ID, ".ended"), "Dana, vouched for by Portal"))
		v.sees(shows("#told", "Thank you: allowed."))
		third := swe.wantsToRun("npm test") // comes by itself
		f.sees(has(card(third.ID, "[data-deny]")))
		v.sees(`document.title === '(2) Portal'`)
		v.expect(`document.querySelector('iframe').offsetHeight >= 200`)

		v.be("Fox")
		f = v.frame(embed)
		f.click(card(second.ID, ".reveal-reason > summary"))
		f.sees(`document.activeElement.name === 'q0_text'`)
		f.run(`document.activeElement.value = 'Not on a Friday'`)
		f.click(card(second.ID, "[data-deny]")) // at once: Deny needs no arming
		f.sees(shows(card(second.ID, ".ended"), "Not on a Friday"))
		f.isAccessible()

		for id, want := range map[string]string{first.ID: "Dana", second.ID: "Fox"} {
			by := p.asItIs(api.Interaction{ID: id, AgentID: swe.id}).ResolvedBy
			if by == nil || by.Kind != "external" || by.Name != want+", vouched for by Portal" || by.Channel != "embed" {
				t.Errorf("%s was answered by %+v", id, by)
			}
		}
		if p.asItIs(third).State != "open" {
			t.Error("what nobody answered is answered")
		}
		if cookies := call(v, network.GetCookies, network.GetCookiesParams{URLs: []string{p.URL + "/"}}).Cookies; len(cookies) != 0 {
			t.Errorf("Sayso left cookies: %+v", cookies)
		}
	})
}

// blockCookies has the browser keep no cookies of other sites' frames.
func (v *page) blockCookies() {
	v.t.Helper()
	call(v, network.SetCookieControls, network.SetCookieControlsParams{EnableThirdPartyCookieRestriction: true})
}

// A page around the frame can cover it, move it, or lead a pointer to it. None of that makes anybody allow what they have not seen.
func TestEmbedClickjacking(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	embed := p.register(`"permission":"resolve","origins":["http://localhost:*"]`)
	asked := swe.wantsToRun("git push --force")
	long := swe.wantsToRun(strings.Repeat("echo one more line\n", 200) + "rm -rf /")
	v := p.visitApp(t, desktop, p.app(embed))
	v.be("Dana")
	f := v.frame(embed)
	open := func(what string) {
		t.Helper()
		if got := verdict(p.asItIs(asked)); got != "open" {
			t.Fatalf("%s: it is %s", what, got)
		}
	}
	f.sees(has(card(asked.ID, "[data-allow]")))
	if !f.is("'isVisible' in IntersectionObserverEntry.prototype") {
		t.Fatal("this browser cannot tell what is covered")
	}

	f.later(time.Second) // it has been in view for long; the pointer has not
	f.click(card(asked.ID, "[data-allow]"))
	f.later(300 * time.Millisecond)
	open("a pointer that came just now")

	cover := func(style string) {
		t.Helper()
		x, y := f.place(card(asked.ID, "[data-allow]"))
		v.run(fmt.Sprintf(`(() => {
			document.querySelector('#cover')?.remove()
			const cover = Object.assign(document.createElement('div'), { id: 'cover' })
			cover.style.cssText = 'position: fixed; z-index: 9; left: %fpx; top: %fpx; width: 40px; height: 20px; background: white; pointer-events: none; %s'
			document.body.append(cover)
		})()`, x-20, y-10, style))
	}
	for name, style := range map[string]string{"covered": "", "almost transparently covered": "opacity: 0.02"} {
		cover(style)
		f.hover(card(asked.ID, "[data-allow]"))
		f.later(1500 * time.Millisecond)
		f.expect(lacks(card(asked.ID, armed)))
		f.click(card(asked.ID, "[data-allow]"))
		f.later(300 * time.Millisecond)
		open(name)
	}
	v.run(`document.querySelector('#cover').remove(); document.querySelector('iframe').style.opacity = '0.05'`)
	f.hover(card(asked.ID, "[data-allow]"))
	f.later(1500 * time.Millisecond)
	f.click(card(asked.ID, "[data-allow]"))
	f.later(300 * time.Millisecond)
	open("almost transparent itself")
	v.run(`document.querySelector('iframe').style.opacity = ''`)
	f.sees(has(card(asked.ID, armed)))

	f.expect(shows(card(long.ID, "[data-arming]"), "Scroll to the end of the request to allow it."))
	f.hover(card(long.ID, "[data-allow]"))
	f.later(1500 * time.Millisecond)
	f.expect(lacks(card(long.ID, armed)))
	f.run(`document.querySelector(` + js(card(long.ID, ".evidence")) + `).scrollTop = 1e6`)
	f.sees(has(card(long.ID, armed)))

	// Moved under a pointer that stands still: the press comes before the frame has noticed that it was there for long.
	x, y := f.place(card(asked.ID, "[data-allow]"))
	v.do(chromedp.Do(v.ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 5, 5)))
	v.run(`document.querySelector('iframe').style.marginTop = '-4000px'`)
	v.do(chromedp.Do(v.ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y)))
	f.later(time.Second)
	v.run(`document.querySelector('iframe').style.marginTop = ''`)
	v.do(chromedp.Do(v.ctx, chromedp.MouseClickXY(x, y)))
	f.later(300 * time.Millisecond)
	open("moved under the pointer")

	f.allow(asked.ID)
	f.sees(shows(card(asked.ID, ".ended"), "Dana, vouched for by Portal"))
	f.click(card(long.ID, "[data-deny]"))
	f.sees(shows(card(long.ID, ".ended"), "Denied"))
}

// revokeOperators ends every operator's key, behind the server's back.
func (p *product) revokeOperators(t testing.TB) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(p.config.Data, "sayso.db")+"?_busy_timeout=5000")
	must(t, err)
	defer db.Close()
	_, err = db.Exec("UPDATE api_keys SET revoked_at = 1 WHERE kind = 'operator_key'")
	must(t, err)
}

// What goes wrong is told in the frame, with a way out, and never goes round in circles.
func TestEmbedStates(t *testing.T) {
	t.Parallel()
	state := func(name string) string { return has(".frame-state[data-state=" + name + "]") }
	wayOut := `[...document.querySelectorAll('a')].some((a) => a.checkVisibility() && a.textContent.trim() === 'Open in Sayso' && a.target === '_blank')`

	t.Run("nothing is open, then disabled", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		embed := p.register(`"permission":"resolve","origins":["http://localhost:*"]`)
		v := p.visitApp(t, phone, p.app(embed))
		v.be("Dana")
		f := v.frame(embed)
		f.sees(state("empty"))
		asked := p.agent("swe").wantsToRun("npm ci")
		f.sees(has(card(asked.ID, "[data-deny]")))
		f.expect(lacks(".frame-state"))
		f.mayComplain("403")
		p.asks("PATCH", "/embeds/"+embed, `{"enabled":false}`, nil)
		f.soon(8*time.Second, state("disabled")) // five seconds, and what a busy machine takes
		f.expect(wayOut)
		f.expect(lacks("article"))
		f.fits()
		f.isAccessible()
	})
	t.Run("the key is revoked", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		embed := p.register(`"origins":["http://localhost:*"]`)
		asked := p.agent("swe").wantsToRun("npm ci")
		v := p.visitApp(t, desktop, p.app(embed))
		v.be("Dana")
		f := v.frame(embed)
		f.sees(shows(card(asked.ID, ""), "You may look at this request and not answer it."))
		f.expect(lacks("form"))
		f.expect(wayOut)
		f.isAccessible()
		f.mayComplain("403")
		p.revokeOperators(t)
		f.soon(8*time.Second, state("disabled"))
	})
	t.Run("the app gives no token", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		embed := p.register(`"origins":["http://localhost:*"]`)
		v := p.visitApp(t, desktop, p.app(embed))
		v.beforeScripts(`globalThis.asked = 0
			globalThis.fetch = ((original) => (url, ...rest) => {
				if (!String(url).includes('sayso-token')) return original(url, ...rest)
				asked++
				return Promise.resolve(new Response('', { status: 500 }))
			})(globalThis.fetch)`)
		v.be("Dana")
		f := v.frame(embed)
		f.sees(state("unreachable"))
		f.expect(wayOut)
		f.later(3 * time.Second)
		if asked := read[int](v, "asked"); asked != 1 {
			t.Errorf("the app was asked %d times", asked)
		}
		f.click("[data-state=unreachable] [data-retry]")
		v.sees("asked === 2")
		f.sees(state("unreachable"))
		f.isAccessible()
	})
	t.Run("another site", func(t *testing.T) {
		t.Parallel()
		p := start(t)
		embed := p.register(`"origins":["http://localhost:1"]`)
		v := p.visitApp(t, desktop, p.app(embed))
		v.mayComplain("frame-ancestors", "^security error", "chrome-error")
		v.be("Dana")
		v.sees(shows("sayso-cards", "Requests cannot be shown on this page. Open in Sayso"))
		v.expect(lacks("iframe"))
	})
}

// A page that does without the loader hands the token over behind a #. It is gone from the address before anybody could read it there, and is
// good once.
func TestEmbedWithoutLoader(t *testing.T) {
	t.Parallel()
	p := start(t)
	asked := p.agent("swe").wantsToRun("npm ci")
	host := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(host.Listener.Addr().String(), ":")
	origin := "http://localhost:" + port
	embed := p.register(`"permission":"resolve","origins":["` + origin + `"]`)
	var made api.EmbedToken
	p.asks("POST", "/embeds/"+embed+"/tokens", `{"subject":"u1","name":"Dana","origin":"`+origin+`"}`, &made)
	host.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><title>Host</title><link rel=icon href=data:,><iframe width=600 height=500 title=Requests src="%s/embed/%s#token=%s"></iframe>`, p.URL, embed, made.Token)
	})
	host.Start()
	t.Cleanup(host.Close)
	v := p.visitApp(t, desktop, origin)
	v.mayComplain("^asked elsewhere: data:")
	f := v.frame(embed)
	f.sees(has(card(asked.ID, "[data-allow]")))
	f.expect(`location.hash === ''`)
	f.allow(asked.ID)
	f.sees(shows(card(asked.ID, ".ended"), "Dana, vouched for by Portal"))
	v.reload() // the token is used up
	f = v.frame(embed)
	f.mayComplain("401")
	f.sees(has(".frame-state[data-state=expired]"))
}

// The page around the frame says whether it is light or dark, and nothing else about its looks.
func TestEmbedTheme(t *testing.T) {
	t.Parallel()
	p := start(t)
	embed := p.register(`"permission":"resolve","origins":["http://localhost:*"]`)
	asked := p.agent("swe").wantsToRun("npm ci")
	v := p.visitApp(t, desktop, p.app(embed))
	v.be("Dana")
	f := v.frame(embed)
	f.sees(has(card(asked.ID, "")))
	surface := func() string {
		return read[string](f.page, `getComputedStyle(document.querySelector('article')).backgroundColor`)
	}
	light := surface()
	v.run(`document.querySelector('sayso-cards').setAttribute('theme', 'dark')`)
	f.sees(`document.documentElement.dataset.theme === 'dark'`)
	if dark := surface(); dark == light {
		t.Errorf("dark is %s, as light is", dark)
	}
	f.isAccessible()
	f.axe("dark", `{ resultTypes: ['violations'], runOnly: ['color-contrast'] }`)
	f.prefers("dark")
	v.run(`document.querySelector('sayso-cards').setAttribute('theme', 'light')`)
	f.sees(`document.documentElement.dataset.theme === 'light'`)
	if now := surface(); now != light {
		t.Errorf("light on a dark machine is %s, want %s", now, light)
	}
	v.run(`document.querySelector('sayso-cards').setAttribute('theme', 'auto')`)
	f.sees(`!document.documentElement.dataset.theme`)
	if now := surface(); now == light {
		t.Error("auto does not follow the machine")
	}
	v.run(`document.querySelector('sayso-cards').focusCards()`)
	f.sees(`document.activeElement.matches('.card-title')`)
}
