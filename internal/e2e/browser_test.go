package e2e

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"sayso/internal/outside"
)

// pageMost is how long one page may take for its whole story.
const pageMost = 8 * time.Minute

// chromium is the one browser process of this test binary. Each page has cookies and storage of its own in it.
var chromium struct {
	once sync.Once
	ctx  context.Context
	err  error
	stop func()
}

// needBrowser starts Chromium, or leaves the test out if that was asked for. Chromium missing is a failure.
func needBrowser(t testing.TB) context.Context {
	t.Helper()
	outside.Skip(t, "browser")
	chromium.once.Do(startBrowser)
	must(t, chromium.err)
	return chromium.ctx
}

func startBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		chromium.err = errors.New("Chromium is missing: install it (Debian: apt-get install chromium), or leave the browser tests out with SAYSO_SKIP=browser")
		return
	}
	profile, err := os.MkdirTemp("", "sayso-e2e-profile-")
	if err != nil {
		chromium.err = err
		return
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.Headless}
	for _, flag := range []string{
		"disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check", "disable-background-networking", "disable-component-update",
		"disable-sync", "disable-dev-shm-usage", "disable-breakpad", "disable-extensions", "disable-background-timer-throttling",
		"disable-backgrounding-occluded-windows", "disable-renderer-backgrounding",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	chromium.ctx, chromium.err = ctx, chromedp.Do(ctx)
	chromium.stop = func() {
		cancel()
		stop()
		os.RemoveAll(profile)
	}
}

// stopBrowser ends Chromium, if it was started.
func stopBrowser() {
	if chromium.stop != nil {
		chromium.stop()
	}
}

// device is what a person sits at.
type device struct {
	name          string
	width, height int64
	dark          bool
	phone         bool
	scriptless    bool
}

var (
	desktop = device{name: "desktop", width: 1280, height: 900}
	phone   = device{name: "phone", width: 320, height: 640, phone: true}
)

func (d device) scheme() string {
	if d.dark {
		return "dark"
	}
	return "light"
}

func (d device) inTheDark() device {
	d.name, d.dark = d.name+" dark", true
	return d
}

func (d device) withoutScript() device {
	d.name, d.scriptless = d.name+" without JavaScript", true
	return d
}

// everyDevice plays a story on a phone and on a desktop. Where it stops to look, it looks in light and in dark.
func everyDevice(t *testing.T, story func(*testing.T, device)) {
	t.Helper()
	t.Parallel()
	for _, d := range []device{phone, desktop} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			story(t, d)
		})
	}
}

// page is one tab of one person.
type page struct {
	t      testing.TB
	site   *product
	device device
	tab    context.Context // as long as the tab is open
	ctx    context.Context // until pageMost is over

	mu         sync.Mutex
	asked      []string // every address that it asked for
	complaints []string
	expected   []*regexp.Regexp
}

// visit opens a tab for somebody who is not signed in.
func (p *product) visit(d device) *page {
	return p.visitOn(p.t, d)
}

// visitOn is visit for a sub-test that shares a product.
func (p *product) visitOn(t testing.TB, d device) *page {
	t.Helper()
	return p.tab(t, d, needBrowser(t), chromedp.WithNewBrowserContext())
}

// sharing opens another tab of the person who has v open: with the same cookies and storage.
func (p *product) sharing(v *page, path string) *page {
	v.t.Helper()
	other := p.tab(v.t, v.device, v.tab)
	other.goTo(path)
	return other
}

func (p *product) tab(t testing.TB, d device, parent context.Context, options ...chromedp.ContextOption) *page {
	t.Helper()
	v := &page{t: t, site: p, device: d}
	tab, closeTab := chromedp.NewContext(parent, append(options, chromedp.WithListener(v.hear))...)
	ctx, cancel := context.WithTimeout(tab, pageMost)
	v.tab, v.ctx = tab, ctx
	t.Cleanup(func() {
		v.judge()
		cancel()
		closeTab()
	})
	v.do(chromedp.Do(tab)) // with a context that has no timeout: the tab lives as long as it
	v.watch()
	v.emulate()
	return v
}

// open opens a tab for the owner, signed in, at a path.
func (p *product) open(d device, path string) *page { return p.openOn(p.t, d, path) }

// openOn is open for a sub-test that shares a product.
func (p *product) openOn(t testing.TB, d device, path string) *page {
	t.Helper()
	v := p.visitOn(t, d)
	v.signIn()
	v.goTo(path)
	return v
}

// signIn gives the tab a session, as the link would.
func (v *page) signIn() {
	v.t.Helper()
	c := v.site.session()
	call(v, network.SetCookie, network.SetCookieParams{
		Name: c.Name, Value: c.Value, URL: v.site.URL + "/", Path: c.Path, HTTPOnly: new(true), SameSite: network.CookieSameSiteLax,
	})
}

// do fails the test at once when a step in the browser failed.
func (v *page) do(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("browser: %v\n%s", err, v.describe())
	}
}

// call runs a command of the DevTools protocol.
func call[P, R any](v *page, command cdp.Command[P, R], params P) R {
	v.t.Helper()
	r, err := chromedp.Call(v.ctx, command, params)
	v.do(err)
	return r
}

// eventsOf gives events from now on, until the tab is closed.
func eventsOf[E any](v *page, event cdp.Event[E]) iter.Seq[E] {
	events := chromedp.Events(v.tab, event)
	return func(yield func(E) bool) {
		for e, err := range events {
			if err != nil || !yield(e) {
				return
			}
		}
	}
}

// watch has everything reported that a page must not do. A dialog would stop the page: it is told away.
func (v *page) watch() {
	v.t.Helper()
	call(v, audits.Enable, cdp.Empty{})
	dialogs := eventsOf(v, cdppage.JavascriptDialogOpening)
	go func() {
		for range dialogs {
			_, _ = chromedp.Call(v.tab, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{})
		}
	}()
}

func (v *page) emulate() {
	v.t.Helper()
	options := []chromedp.EmulateViewportOption{}
	if v.device.phone {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	v.do(chromedp.Do(v.ctx, chromedp.EmulateViewport(v.device.width, v.device.height, options...)))
	v.prefers(v.device.scheme())
	call(v, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	v.scripts(!v.device.scriptless)
}

// prefers sets the system's colour scheme, light or dark.
func (v *page) prefers(scheme string) {
	v.t.Helper()
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// scripts lets the page run scripts, or not.
func (v *page) scripts(on bool) {
	v.t.Helper()
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// hear notes what the browser reports. It is called for one event after another, and before a later command returns.
func (v *page) hear(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		v.noteRequest(e.Request.URL)
	case *network.EventWebSocketCreated:
		v.noteRequest(e.URL)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert || e.Type == runtime.ConsoleAPICalledTypeWarning {
			v.complain("console." + string(e.Type) + ": " + fmt.Sprint(texts(e.Args)))
		}
	case *runtime.EventExceptionThrown:
		v.complain("exception: " + exceptionText(e.ExceptionDetails))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			v.complain(fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil {
			v.complain("Content-Security-Policy: " + csp.ViolatedDirective + " refused " + csp.BlockedURL)
		}
	case *cdppage.EventJavascriptDialogOpening:
		v.complain("a dialog opened: " + e.Message)
	}
}

func texts(args []*runtime.RemoteObject) (all []string) {
	for _, a := range args {
		all = append(all, string(a.Value)+a.Description)
	}
	return all
}

func exceptionText(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}

// calendarIcon is how the pictures begin that the browser itself draws in date fields.
const calendarIcon = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxNiIgaGVpZ2h0PSIxNSIg"

func (v *page) noteRequest(url string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, url)
	own := v.site.origin() + "/"
	if strings.HasPrefix(url, calendarIcon) {
		return
	}
	if !strings.HasPrefix(url, own) && !strings.HasPrefix(url, "ws"+strings.TrimPrefix(own, "http")) && !strings.HasPrefix(url, "data:image/svg+xml,") {
		v.complaints = append(v.complaints, "asked elsewhere: "+url)
	}
}

func (v *page) complain(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.complaints = append(v.complaints, what)
}

// mayComplain says what is expected to go wrong in this story.
func (v *page) mayComplain(patterns ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range patterns {
		v.expected = append(v.expected, regexp.MustCompile(p))
	}
}

// judge fails the test for everything unexpected that the page did.
func (v *page) judge() {
	v.t.Helper()
	if _, err := chromedp.Run(v.ctx, chromedp.Evaluate[bool](`true`)); err != nil { // by then all earlier events were heard
		v.t.Errorf("the page did not answer at its end: %v", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.complaints {
		if !slices.ContainsFunc(v.expected, func(r *regexp.Regexp) bool { return r.MatchString(c) }) {
			v.t.Errorf("%s: the page complained: %s", v.device.name, c)
		}
	}
}

// requests are the addresses asked for so far.
func (v *page) requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asked)
}

// describe tells what the page shows, for a failure.
func (v *page) describe() string {
	ctx, cancel := context.WithTimeout(v.tab, 5*time.Second)
	defer cancel()
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + ' shows:\n' + (document.body?.innerText ?? '').slice(0, 3000)`))
	if err != nil {
		return "the page cannot be read: " + err.Error()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return fmt.Sprintf("%s: %s\ncomplaints: %q", v.device.name, shown, v.complaints)
}
