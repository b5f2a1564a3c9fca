package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ---- Looking ----

// read evaluates an expression in the page.
func read[T any](v *page, expression string) T {
	v.t.Helper()
	value, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		v.t.Fatalf("%s: %v\n%s", expression, err, v.describe())
	}
	return value
}

// await is read for a promise.
func await[T any](v *page, promise string) T {
	v.t.Helper()
	value, err := chromedp.Run(v.ctx, chromedp.Evaluate[T](promise, awaited))
	if err != nil {
		v.t.Fatalf("%s: %v\n%s", promise, err, v.describe())
	}
	return value
}

// run evaluates an expression whose value does not matter.
func (v *page) run(expression string) {
	v.t.Helper()
	read[chromedp.Void](v, expression)
}

// is says whether an expression holds now.
func (v *page) is(expression string) bool {
	v.t.Helper()
	return read[bool](v, "Boolean("+expression+")")
}

// waitMost is how long a page is waited for. The slowest thing that it does is to ask every 10 s.
const waitMost = 2 * time.Minute

// sees waits until an expression holds. It looks at each change of the page and at each change of time; a page that comes in
// between is looked at too.
func (v *page) sees(expression string) {
	v.t.Helper()
	v.soon(waitMost, expression)
}

// soon waits until an expression holds, and no longer than d.
func (v *page) soon(d time.Duration, expression string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, d)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](holds(expression), awaited))
		if err == nil {
			return
		}
		if ctx.Err() == nil && leftMeanwhile(err) {
			continue
		}
		v.t.Fatalf("waited in vain for %s: %v\n%s", expression, err, v.describe())
	}
}

func awaited(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }

// holds is a promise that an expression becomes true.
func holds(expression string) string {
	return `new Promise((resolve, reject) => {
		let watch, clock
		const look = () => {
			try {
				if (!(` + expression + `)) return false
				resolve(true)
			} catch (error) {
				reject(error)
			}
			watch?.disconnect()
			clearInterval(clock)
			return true
		}
		if (look()) return
		watch = new MutationObserver(look)
		watch.observe(document, { childList: true, subtree: true, attributes: true, characterData: true })
		clock = setInterval(look, 50)
	})`
}

// leftMeanwhile says that a page went away while something in it was waited for.
func leftMeanwhile(err error) bool {
	for _, sign := range []string{"navigated or closed", "Cannot find context", "Cannot find default execution context", "context was destroyed", "Promise was collected"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// js is a value as JavaScript; < and > are escaped in it.
func js(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // unreachable: all that is passed can be marshalled
	}
	return string(text)
}

// has is an expression: there is such an element, and it can be seen.
func has(selector string) string {
	return "[...document.querySelectorAll(" + js(selector) + ")].some((e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0)"
}

// lacks is an expression: no such element can be seen.
func lacks(selector string) string { return "!(" + has(selector) + ")" }

// shows is an expression: an element's visible text contains something, blanks aside.
func shows(selector, text string) string {
	return "[...document.querySelectorAll(" + js(selector) + ")].some((e) => e.innerText.replace(/\\s+/g, ' ').includes(" + js(text) + "))"
}

// holdsText is an expression: an element's text contains something, folded away or not.
func holdsText(selector, text string) string {
	return "[...document.querySelectorAll(" + js(selector) + ")].some((e) => e.textContent.replace(/\\s+/g, ' ').includes(" + js(text) + "))"
}

// expect is a look at something that must hold already.
func (v *page) expect(expression string) {
	v.t.Helper()
	if !v.is(expression) {
		v.t.Errorf("not so: %s\n%s", expression, v.describe())
	}
}

// title is the text in the tab.
func (v *page) title() string {
	v.t.Helper()
	return read[string](v, "document.title")
}

// ---- Moving ----

// goTo opens a path of the product.
func (v *page) goTo(path string) {
	v.t.Helper()
	v.goToURL(v.site.URL + path)
}

func (v *page) goToURL(url string) {
	v.t.Helper()
	v.do(chromedp.Do(v.ctx, chromedp.Navigate(url)))
}

// reload reloads the page.
func (v *page) reload() {
	v.t.Helper()
	v.do(chromedp.Do(v.ctx, chromedp.Reload()))
}

// follow clicks and waits for the page that comes.
func (v *page) follow(selector string) {
	v.t.Helper()
	v.loads(func() { v.click(selector) })
}

// loads waits for the page that comes of an action.
func (v *page) loads(action func()) {
	v.t.Helper()
	_, err := chromedp.Run(v.ctx, chromedp.WaitEvent(cdppage.LoadEventFired, nil, func(context.Context, *chromedp.Target) (chromedp.Void, error) {
		action()
		return chromedp.Void{}, nil
	}))
	v.do(err)
}

// path is where the page is, without origin.
func (v *page) path() string {
	v.t.Helper()
	return read[string](v, "location.pathname + location.search + location.hash")
}

// ---- Doing ----

// click clicks the middle of the first such element, as a person does: with a mouse, or a finger on a phone. What lies over the element
// is in the way.
func (v *page) click(selector string) {
	v.t.Helper()
	x, y := v.aim(selector)
	if v.device.phone {
		v.do(chromedp.Do(v.ctx, chromedp.TapXY(x, y)))
		return
	}
	v.do(chromedp.Do(v.ctx, chromedp.MouseClickXY(x, y)))
}

// target is where a click would land.
type target struct {
	X, Y    float64
	Problem string
}

// aim waits for an element, brings it into view and says where its middle is.
func (v *page) aim(selector string) (x, y float64) {
	v.t.Helper()
	if !v.device.scriptless {
		v.sees(has(selector))
	}
	at := read[target](v, `(() => {
		const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0
		const element = [...document.querySelectorAll(`+js(selector)+`)].find(seen)
		if (!element) return { problem: 'there is no such element' }
		const look = () => {
			const box = element.getClientRects()[0]
			const x = box.x + box.width / 2, y = box.y + box.height / 2
			const hit = document.elementFromPoint(x, y)
			return { x, y, problem: hit && (element === hit || element.contains(hit) || hit.closest('label')?.control === element) ? '' : 'in the way: ' + (hit?.outerHTML.slice(0, 200) ?? 'the edge of the window') }
		}
		element.scrollIntoView({ block: 'nearest', behavior: 'instant' })
		let at = look()
		if (at.problem) {
			element.scrollIntoView({ block: 'center', behavior: 'instant' })
			at = look()
		}
		return at
	})()`)
	if at.Problem != "" {
		v.t.Fatalf("click %s: %s\n%s", selector, at.Problem, v.describe())
	}
	return at.X, at.Y
}

// hover moves the pointer over an element. A finger does not hover.
func (v *page) hover(selector string) {
	v.t.Helper()
	x, y := v.aim(selector)
	if !v.device.phone {
		v.do(chromedp.Do(v.ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y)))
	}
}

// press presses keys one after another, wherever the focus is. "\r" is Enter.
func (v *page) press(keys string) {
	v.t.Helper()
	v.do(chromedp.Do(v.ctx, chromedp.KeyEvent(keys)))
}

// write clicks into a field and types.
func (v *page) write(selector, text string) {
	v.t.Helper()
	v.click(selector)
	v.press(text)
}

// focus is the element that has the focus, as a selector would name it.
func (v *page) focus() string {
	v.t.Helper()
	return read[string](v, `(() => { const e = document.activeElement; return e === document.body ? 'body' : e.id ? '#' + e.id : e.localName + (e.className ? '.' + e.className.split(' ').join('.') : '') })()`)
}

// beforeScripts has a script run in each page before its own.
func (v *page) beforeScripts(source string) {
	v.t.Helper()
	call(v, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: source})
}

// holdBack keeps what the page's scripts send to such addresses waiting, until the function that it gives is called.
func (v *page) holdBack(part string) (letGo func()) {
	v.t.Helper()
	v.run(`globalThis.held = new Promise((resolve) => (globalThis.letGo = resolve))
		globalThis.fetch = ((original) => async (url, ...rest) => {
			if (String(url).includes(` + js(part) + `)) await held
			return original(url, ...rest)
		})(globalThis.fetch)`)
	return func() {
		v.t.Helper()
		v.run("letGo()")
	}
}

// ---- Accessibility ----

var axeSource = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("testdata/axe.min.js")
	return string(text), err
})

// finding is a rule of axe that is broken, and where.
type finding struct {
	ID, Help string
	Nodes    []struct {
		HTML, FailureSummary string
	}
}

// isAccessible fails the test for everything that axe finds in the page as it is now, in light and in dark.
func (v *page) isAccessible() {
	v.t.Helper()
	source, err := axeSource()
	if err != nil {
		v.t.Fatalf("axe: %v (npm run vendor puts it there)", err)
	}
	if v.device.scriptless { // axe is a script; those of the page are not run any more
		v.scripts(true)
		defer v.scripts(false)
	}
	if !v.is("globalThis.axe") {
		v.run(source + "; undefined")
	}
	defer v.prefers(v.device.scheme())
	// What lies half below the sticky header is no smaller for it, but axe says so.
	v.run("globalThis.place = scrollY; scrollTo(0, 0)")
	defer v.run("scrollTo(0, place)")
	v.prefers("light")
	v.axe("light", `{ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }`)
	v.prefers("dark")
	v.axe("dark", `{ resultTypes: ['violations'], runOnly: ['color-contrast'] }`)
}

func (v *page) axe(scheme, options string) {
	v.t.Helper()
	found, err := chromedp.Run(v.ctx, chromedp.Evaluate[[]finding]("axe.run(document, "+options+").then(({ violations }) => violations)", awaited))
	v.do(err)
	for _, f := range found {
		var where strings.Builder
		for _, n := range f.Nodes {
			fmt.Fprintf(&where, "\n  %s\n  %s", n.HTML, n.FailureSummary)
		}
		v.t.Errorf("%s, %s, at %s: axe: %s: %s%s", v.device.name, scheme, v.path(), f.ID, f.Help, where.String())
	}
}

// ---- Cards ----

// card selects the card of an interaction, or something in it.
func card(id, within string) string {
	return strings.TrimSpace("#interaction-" + id + " " + within)
}

// ready waits until a card that was pushed in takes input. Its guard is over when it has been there for half a second.
func (v *page) ready(id string) {
	v.t.Helper()
	v.sees("(globalThis.cameAt?.['interaction-" + id + "'] ?? -Infinity) + 600 < performance.now() && " + has(card(id, "")))
}

// noteArrivals has the page note when each card came, for ready.
const noteArrivals = `globalThis.cameAt = {}
new MutationObserver((changes) => {
	for (const { addedNodes } of changes) for (const node of addedNodes) {
		const all = node.nodeType === 1 ? [node, ...node.querySelectorAll('article.card')] : []
		for (const card of all) if (card.matches('article.card')) globalThis.cameAt[card.id] = performance.now()
	}
}).observe(document, { childList: true, subtree: true })`

// isLive waits until the page's socket is open.
func (v *page) isLive() {
	v.t.Helper()
	v.sees(shows("#live", "Live"))
}

// screenshot is the visible part of the page.
func (v *page) screenshot() []byte {
	v.t.Helper()
	image, err := chromedp.Run(v.ctx, chromedp.CaptureScreenshot())
	v.do(err)
	return image
}
