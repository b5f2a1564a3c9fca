package e2e

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Only our own pages may post. What another site has a browser send records nothing, and signs nobody in or out.
func TestCrossSiteForms(t *testing.T) {
	p := start(t)
	swe := p.agent("swe")
	own := p.origin()
	for _, c := range []struct {
		name, site, origin string
		taken              bool
	}{
		{"our page", "same-origin", own, true},
		{"our page, in a browser that sends no Sec-Fetch-Site", "", own, true},
		{"a program", "", "", true},
		{"the person, by hand", "none", "", true},
		{"another site", "cross-site", "https://evil.example", false},
		{"another site that hides its origin", "cross-site", "", false},
		{"another site with our origin", "cross-site", own, false},
		{"a frame without an origin", "cross-site", "null", false},
		{"another name of the same site", "same-site", "http://evil.127.0.0.1", false},
		{"another port of this machine", "same-site", "http://127.0.0.1:1", false},
		{"another site, in an old browser", "", "https://evil.example", false},
		{"another port, in an old browser", "", "http://127.0.0.1:1", false},
		{"no origin, in an old browser", "", "null", false},
		{"a site that is called like us", "", own + ".evil.example", false},
		{"a made-up kind of site", "friendly", own, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := swe.wantsToRun("npm ci")
			session := p.session()
			headers := []string{"Cookie", session.Name + "=" + session.Value}
			for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Origin": c.origin} {
				if value != "" {
					headers = append(headers, name, value)
				}
			}
			db := p.database(t)
			before := rows(t, db)
			link, err := p.ruling.SignInLink(t.Context())
			must(t, err)
			withLink := rows(t, db)
			u, err := url.Parse(link.URL)
			must(t, err)

			status := map[string]int{
				"resolve": p.send("POST", posting(asked), url.Values{"q0": {"0"}, "digest": {asked.Digest}}, headers...).status,
				"setup":   p.send("POST", "/setup", url.Values{"code": {u.Query().Get("code")}}, headers...).status,
				"signout": p.send("POST", "/signout", url.Values{}, headers...).status,
			}
			want := map[string]int{"resolve": http.StatusSeeOther, "setup": http.StatusSeeOther, "signout": http.StatusSeeOther}
			if !c.taken {
				want = map[string]int{"resolve": http.StatusForbidden, "setup": http.StatusForbidden, "signout": http.StatusForbidden}
				if diff := cmp.Diff(withLink, rows(t, db)); diff != "" {
					t.Errorf("a refused form changed what is stored (-before +after):\n%s", diff)
				}
			} else if cmp.Equal(before, rows(t, db)) {
				t.Error("nothing was recorded")
			}
			if diff := cmp.Diff(want, status); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if now := verdict(p.asItIs(asked)); (now == "allowed") != c.taken {
				t.Errorf("the request is %s", now)
			}
		})
	}
}
