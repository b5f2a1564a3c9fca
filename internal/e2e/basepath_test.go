package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
)

// Behind a proxy that mounts it on a path, everything stays below that path: links, forms, redirects, cookie, socket, the setup link.
func TestBasePath(t *testing.T) {
	t.Parallel()
	for _, d := range []device{desktop, desktop.withoutScript()} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := startFresh(t, basePath("/sayso"))
			if want := p.origin() + "/sayso/setup?code="; !strings.HasPrefix(p.link, want) {
				t.Fatalf("the setup link is %s, want it to begin with %s", p.link, want)
			}
			signIn(t, p, d)

			swe := p.agent("swe")
			asked := swe.wantsToRun("npm ci")
			v := p.open(d, swe.page())
			cookies := call(v, network.GetCookies, network.GetCookiesParams{URLs: []string{p.URL + "/"}}).Cookies
			if len(cookies) != 1 || cookies[0].Path != "/sayso/" || !cookies[0].HTTPOnly || cookies[0].SameSite != network.CookieSameSiteLax {
				t.Errorf("the cookies are %+v, want one for /sayso/, HttpOnly and SameSite=Lax", cookies)
			}
			if !d.scriptless {
				v.isLive()
				asked = swe.wantsToRun("npm test")
				v.sees(has(card(asked.ID, "[data-allow]")))
			}
			for _, path := range []string{"/", "/projects/default/agents", permalink(asked), "/nowhere", swe.page()} {
				v.mayComplain("status of 404")
				v.goTo(path)
				if away := read[[]string](v, `[...document.querySelectorAll('[href], [src], [action], [hx-post], [data-live], [data-cards], [data-signin]')].flatMap((e) =>
					['href', 'src', 'action', 'hx-post', 'data-live', 'data-cards', 'data-signin'].map((name) => e.getAttribute(name)).filter((value) => value && !/^(#|data:)/.test(value) && !new URL(value, location).href.startsWith(location.origin + '/sayso/')))`); len(away) > 0 {
					t.Errorf("%s leads out of /sayso: %v", path, away)
				}
			}
			v.decide(card(asked.ID, "[data-allow]"))
			v.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
			if at := v.path(); !strings.HasPrefix(at, "/sayso"+swe.page()) {
				t.Errorf("answering led to %s", at)
			}
			v.follow(".crumbs a")
			v.follow(".agents-table a[href$='" + swe.id + "']")
			v.expect(shows("h1", "swe"))
			for _, url := range v.requests() {
				if !strings.HasPrefix(strings.TrimPrefix(url, "ws"), strings.TrimPrefix(p.URL, "http")+"/") && !strings.HasPrefix(url, p.URL+"/") && !strings.HasPrefix(url, "data:") {
					t.Errorf("%s was asked for, outside of /sayso/", url)
				}
			}
		})
	}
}

// decide presses a card's button; without scripts a page comes of it.
func (v *page) decide(selector string) {
	v.t.Helper()
	if v.device.scriptless {
		v.follow(selector)
		return
	}
	v.click(selector)
}
