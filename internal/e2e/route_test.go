package e2e

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/server"
)

// route is one route of the product, as web/routes.go writes it, and a request for it.
type route struct{ method, pattern, path string }

// routes are all of them, for one interaction.
func routes(p *product, i api.Interaction) []route {
	project := "/api/v1/orgs/default/projects/default"
	agent := project + "/agents/" + i.AgentID
	page := "/projects/default/agents/" + i.AgentID
	return []route{
		{"GET", "/healthz", "/healthz"},
		{"GET", "/readyz", "/readyz"},
		{"GET", "/api/openapi.yaml", "/api/openapi.yaml"},
		{"GET", "/static/*", "/static/nothing.css"},
		{"GET", "/favicon.ico", "/favicon.ico"},
		{"GET", "/api/v1/me", "/api/v1/me"},
		{"POST", "/api/v1/signin-links", "/api/v1/signin-links"},
		{"POST", "/api/v1/orgs", "/api/v1/orgs"},
		{"GET", "/api/v1/orgs", "/api/v1/orgs"},
		{"POST", "/api/v1/orgs/:org/projects", "/api/v1/orgs/default/projects"},
		{"GET", "/api/v1/orgs/:org/projects", "/api/v1/orgs/default/projects"},
		{"POST", "{project}/agents", project + "/agents"},
		{"GET", "{project}/agents", project + "/agents"},
		{"GET", "{agent}", agent},
		{"PATCH", "{agent}", agent},
		{"GET", "{project}/interactions", project + "/interactions"},
		{"POST", "{agent}/interactions", agent + "/interactions"},
		{"GET", "{agent}/interactions", agent + "/interactions"},
		{"GET", "{agent}/interactions/:interaction", agent + "/interactions/" + i.ID},
		{"POST", "{agent}/interactions/:interaction/resolve", agent + "/interactions/" + i.ID + "/resolve"},
		{"POST", "{agent}/interactions/:interaction/cancel", agent + "/interactions/" + i.ID + "/cancel"},
		{"POST", "{agent}/inputs", agent + "/inputs"},
		{"GET", "{agent}/inputs/backlog", agent + "/inputs/backlog"},
		{"POST", "{agent}/inputs/claim", agent + "/inputs/claim"},
		{"POST", "{agent}/inputs/:input/cancel", agent + "/inputs/" + noInput + "/cancel"},
		{"POST", "{agent}/inputs/:input/move", agent + "/inputs/" + noInput + "/move"},
		{"POST", "{agent}/inputs/:input/promote_to_steering", agent + "/inputs/" + noInput + "/promote_to_steering"},
		{"POST", "{agent}/inputs/:input/demote_to_queued", agent + "/inputs/" + noInput + "/demote_to_queued"},
		{"POST", "{agent}/cancel", agent + "/cancel"},
		{"POST", "{agent}/archive", agent + "/archive"},
		{"POST", "{agent}/events", agent + "/events"},
		{"GET", "{agent}/events", agent + "/events"},
		{"GET", "{agent}/events/stream", agent + "/events/stream?after_sequence=x"},
		{"GET", "{agent}/tool-calls", agent + "/tool-calls"},
		{"POST", "{agent}/tool-calls/:call/result", agent + "/tool-calls/tcl_" + letters + "/result"},
		{"GET", "{project}/events", project + "/events"},
		{"GET", "{project}/events/stream", project + "/events/stream?after_sequence=x"},
		{"GET", "{project}/policies", project + "/policies"},
		{"POST", "{project}/audit/verify", project + "/audit/verify"},
		{"GET", "{project}/audit", project + "/audit"},
		{"GET", "{project}/audit/export", project + "/audit/export?format=csv"},
		{"POST", "{project}/keys", project + "/keys"},
		{"GET", "{project}/keys", project + "/keys"},
		{"DELETE", "{project}/keys/:key", project + "/keys/key_" + letters},
		{"POST", "{project}/embeds", project + "/embeds"},
		{"GET", "{project}/embeds", project + "/embeds"},
		{"PATCH", "{project}/embeds/:embed", project + "/embeds/" + noEmbed},
		{"DELETE", "{project}/embeds/:embed", project + "/embeds/" + noEmbed},
		{"POST", "{project}/embeds/:embed/tokens", project + "/embeds/" + noEmbed + "/tokens"},
		{"GET", "{project}/actors", project + "/actors"},
		{"PUT", "{project}/actors", project + "/actors"},
		{"GET", "{project}/actors/:actor", project + "/actors/actr_" + letters},
		{"POST", "/mcp", "/mcp"},
		{"GET", "/mcp", "/mcp"},
		{"DELETE", "/mcp", "/mcp"},
		{"POST", "/hooks/claude", "/hooks/claude"},
		{"GET", "/setup", "/setup?code=" + p.link[strings.Index(p.link, "code=")+5:]},
		{"POST", "/setup", "/setup"},
		{"GET", "/signin", "/signin"},
		{"POST", "/signin/oidc", "/signin/oidc"},
		{"GET", "/signin/oidc/callback", "/signin/oidc/callback?code=x&state=x"},
		{"POST", "/signin", "/signin"},
		{"GET", "/invite", "/invite?code=x"},
		{"POST", "/invite", "/invite"},
		{"POST", "/signout", "/signout"},
		{"GET", "/gallery", "/gallery"},
		{"GET", "/gallery/:name", "/gallery/group"},
		{"GET", "/", "/"},
		{"POST", "/demo", "/demo"},
		{"GET", "/projects/:project", "/projects/default"},
		{"GET", "/projects/:project/agents", "/projects/default/agents"},
		{"GET", "/projects/:project/agents/:agent", page},
		{"GET", "/projects/:project/settings/policies", "/projects/default/settings/policies"},
		{"GET", "/projects/:project/audit/changes", "/projects/default/audit/changes"},
		{"GET", "/projects/:project/audit/verify", "/projects/default/audit/verify"},
		{"POST", "/projects/:project/audit/verify", "/projects/default/audit/verify"},
		{"GET", "/projects/:project/audit", "/projects/default/audit"},
		{"GET", "/projects/:project/audit/export", "/projects/default/audit/export?format=csv"},
		{"GET", "/projects/:project/settings/keys", "/projects/default/settings/keys"},
		{"POST", "/projects/:project/settings/keys", "/projects/default/settings/keys"},
		{"POST", "/projects/:project/settings/keys/:key/revoke", "/projects/default/settings/keys/key_" + letters + "/revoke"},
		{"GET", "/projects/:project/settings/members", "/projects/default/settings/members"},
		{"POST", "/projects/:project/settings/members/:user/role", "/projects/default/settings/members/usr_" + letters + "/role"},
		{"POST", "/projects/:project/settings/members/:user/remove", "/projects/default/settings/members/usr_" + letters + "/remove"},
		{"POST", "/projects/:project/settings/invitations", "/projects/default/settings/invitations"},
		{"POST", "/projects/:project/settings/invitations/:invitation/revoke", "/projects/default/settings/invitations/inv_" + letters + "/revoke"},
		{"GET", "/account", "/account"},
		{"POST", "/account", "/account"},
		{"POST", "/account/password", "/account/password"},
		{"POST", "/account/sessions/:session/end", "/account/sessions/ses_" + letters + "/end"},
		{"POST", "/account/sessions/end", "/account/sessions/end"},
		{"GET", "/settings/projects", "/settings/projects"},
		{"POST", "/settings/orgs", "/settings/orgs"},
		{"POST", "/settings/projects", "/settings/projects"},
		{"GET", "/projects/:project/settings/embeds", "/projects/default/settings/embeds"},
		{"POST", "/projects/:project/settings/embeds", "/projects/default/settings/embeds"},
		{"POST", "/projects/:project/settings/embeds/:embed", "/projects/default/settings/embeds/" + noEmbed},
		{"POST", "/projects/:project/settings/embeds/:embed/delete", "/projects/default/settings/embeds/" + noEmbed + "/delete"},
		{"GET", "/embed.js", "/embed.js"},
		{"GET", "/embed/:embed", "/embed/" + noEmbed},
		{"POST", "/embed/:embed/session", "/embed/" + noEmbed + "/session"},
		{"GET", "/embed/:embed/live", "/embed/" + noEmbed + "/live"},
		{"GET", "/embed/:embed/cards", "/embed/" + noEmbed + "/cards"},
		{"POST", "/embed/:embed/interactions/:interaction/resolve", "/embed/" + noEmbed + "/interactions/" + i.ID + "/resolve"},
		{"GET", "/projects/:project/interactions/:interaction", permalink(i)},
		{"GET", "/projects/:project/interactions/:interaction/json", permalink(i) + "/json"},
		{"GET", "/projects/:project/interactions/:interaction/context/:item", permalink(i) + "/context/0"},
		{"POST", "{card}/resolve", posting(i)},
		{"POST", "{card}/review", strings.TrimSuffix(posting(i), "resolve") + "review"},
		{"POST", "{conversation}/inputs", page + "/inputs"},
		{"POST", "{conversation}/inputs/:input/cancel", page + "/inputs/" + noInput + "/cancel"},
		{"POST", "{conversation}/inputs/:input/move", page + "/inputs/" + noInput + "/move"},
		{"POST", "{conversation}/inputs/:input/promote", page + "/inputs/" + noInput + "/promote"},
		{"POST", "{conversation}/inputs/:input/demote", page + "/inputs/" + noInput + "/demote"},
		{"POST", "{conversation}/stop", page + "/stop"},
		{"POST", "{conversation}/archive", page + "/archive"},
		{"GET", "/projects/:project/cards", "/projects/default/cards"},
		{"GET", "/projects/:project/agents/:agent/cards", page + "/cards"},
		{"GET", "/projects/:project/live", "/projects/default/live"},
		{"GET", "/projects/:project/agents/:agent/live", page + "/live"},
	}
}

// The ids of nothing.
const (
	letters = "aaaaaaaaaaaaaaaaaaaaaaaaaa"
	noInput = "ain_" + letters
	noEmbed = "emb_" + letters
)

// A route that is missing above is missing in every matrix below.
func TestRoutesAreComplete(t *testing.T) {
	source, err := os.ReadFile("../../web/routes.go")
	must(t, err)
	known := map[string]bool{}
	for _, r := range routes(&product{link: "code="}, api.Interaction{}) {
		known[r.method+" "+r.pattern] = true
	}
	short := strings.NewReplacer("projectPath+\"", "\"{project}", "agentPath+\"", "\"{agent}", "cardPath+\"", "\"{card}", "conversationPath+\"", "\"{conversation}", "agentPath", "\"{agent}\"")
	for _, m := range regexp.MustCompile(`\.(GET|POST|PUT|PATCH|DELETE|HEAD)\(([^,]+),`).FindAllStringSubmatch(string(source), -1) {
		name := m[1] + " " + strings.Trim(short.Replace(m[2]), `"`)
		if !known[name] {
			t.Errorf("web/routes.go has %s, which the matrices here do not try", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is tried here, and not in web/routes.go", name)
	}
}

// credential is a way to call: headers.
type credential struct {
	name    string
	headers []string
}

func credentials(p *product) []credential {
	c := p.session()
	return []credential{
		{"nobody", nil},
		{"the owner", []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin"}},
		{"the owner's script", []string{"Cookie", c.Name + "=" + c.Value, "Sec-Fetch-Site", "same-origin", "HX-Request", "true"}},
		{"an agent", []string{"Authorization", "Bearer " + p.asking.Key, "Content-Type", "application/json"}},
		{"the operator", []string{"Authorization", "Bearer " + p.ruling.Key, "Content-Type", "application/json"}},
	}
}

// inDevelopment has development's pages served too.
func inDevelopment(c *server.Config) { c.Dev = true }

// Every response of every route to everybody carries the headers that keep a browser from being turned against its person.
func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		name   string
		adjust []func(*server.Config)
		hsts   string
	}{
		{"on loopback", []func(*server.Config){inDevelopment}, ""},
		{"behind TLS", []func(*server.Config){inDevelopment, func(c *server.Config) { c.PublicURL = "https://sayso.example.com" }}, "max-age=31536000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := start(t, c.adjust...)
			asked := p.agent("swe").wantsToRun("npm ci")
			all := append(routes(p, asked), route{"GET", "", "/nowhere"}, route{"DELETE", "", "/"}, route{"TRACE", "", "/"})
			for _, who := range credentials(p) {
				for _, r := range all {
					if r.path == "/signout" || r.path == "/account/sessions/end" {
						continue // which would sign the owner out for the rest; it is tried below
					}
					if framed := strings.HasPrefix(r.pattern, "/embed"); framed && r.method == "GET" && strings.Count(r.pattern, "/") < 3 {
						continue // the frame, which others may frame, and the script for their pages: see TestFramePage and TestLoader in package web
					}
					a := p.send(r.method, r.path, nil, who.headers...)
					checkHeaders(t, who.name+": "+r.method+" "+r.path, a, c.hsts)
				}
			}
			for _, path := range []string{"/account/sessions/end", "/signout"} {
				cookie := p.session()
				a := p.send("POST", path, nil, "Sec-Fetch-Site", "same-origin", "Cookie", cookie.Name+"="+cookie.Value)
				checkHeaders(t, "POST "+path, a, c.hsts)
			}
			checkHeaders(t, "another host", p.send("GET", "/", nil, "Host", "evil.example"), c.hsts)
		})
	}
}

var nonce = regexp.MustCompile(`script-src 'nonce-([A-Za-z0-9+/]{22})';`)

func checkHeaders(t *testing.T, what string, a answer, hsts string) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Strict-Transport-Security": hsts,
	} {
		if got := a.header.Values(name); strings.Join(got, "|") != want {
			t.Errorf("%s: %d has %s %q, want %q", what, a.status, name, got, want)
		}
	}
	policies := a.header.Values("Content-Security-Policy")
	if len(policies) != 1 {
		t.Errorf("%s: %d has %d policies", what, a.status, len(policies))
		return
	}
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policies[0], part) {
			t.Errorf("%s: the policy %q lacks %s", what, policies[0], part)
		}
	}
	for _, hole := range []string{"unsafe", "*", "http:", "https:", "strict-dynamic"} {
		if strings.Contains(policies[0], hole) {
			t.Errorf("%s: the policy %q has %s", what, policies[0], hole)
		}
	}
	if page := strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && strings.Contains(a.body, "<html"); page {
		m := nonce.FindStringSubmatch(policies[0])
		if m == nil || strings.Count(a.body, "<script") != strings.Count(a.body, `nonce="`+m[1]+`"`) {
			t.Errorf("%s: not every script has the nonce of the policy %q", what, policies[0])
		}
	}
}

// Assets are named by their content and may be kept for ever; a page's nonce is never used twice.
func TestCaching(t *testing.T) {
	p := start(t)
	first, second := p.send("GET", "/signin", nil), p.send("GET", "/signin", nil)
	if a, b := nonce.FindString(first.header.Get("Content-Security-Policy")), nonce.FindString(second.header.Get("Content-Security-Policy")); a == b {
		t.Errorf("two pages share the nonce %s", a)
	}
	assets := regexp.MustCompile(`/static/[\w.-]+`).FindAllString(first.body, -1)
	if len(assets) < 4 {
		t.Fatalf("the sign-in page names only %v", assets)
	}
	for _, path := range assets {
		a := p.send("GET", path, nil)
		if got, want := a.header.Get("Cache-Control"), "public, max-age=31536000, immutable"; a.status != http.StatusOK || got != want {
			t.Errorf("%s: %d with Cache-Control %q, want %q", path, a.status, got, want)
		}
	}
}

// Reading changes nothing: no GET, no HEAD, by anybody who may look, whatever a link carries along.
func TestReadingChangesNothing(t *testing.T) {
	p := start(t, inDevelopment)
	swe := p.agent("swe")
	asked, ended := swe.wantsToRun("npm ci"), swe.wantsToRun("npm test")
	p.choose(ended, "Fox Mulder", 1, "no")
	who := credentials(p)
	db := p.database(t)
	before := rows(t, db)
	for _, c := range who {
		if c.name == "an agent" {
			continue // its reading is the one exception: it marks the answer as picked up
		}
		for _, i := range []api.Interaction{asked, ended} {
			for _, r := range routes(p, i) {
				for _, query := range []string{"", "?q0=0&digest=" + i.Digest, "?_method=POST"} {
					path := r.path
					if query != "" && !strings.Contains(path, "?") {
						path += query
					}
					p.send("GET", path, nil, append(c.headers, "X-HTTP-Method-Override", "POST")...)
					p.send("HEAD", path, nil, c.headers...)
				}
			}
		}
	}
	if diff := cmp.Diff(before, rows(t, db)); diff != "" {
		t.Errorf("reading changed what is stored (-before +after):\n%s", diff)
	}
	if a := p.send("GET", p.link[len(p.URL):], nil); a.status != http.StatusOK {
		t.Errorf("the sign-in link was used up by looking at it: %d", a.status)
	}
}

// On loopback only our own names are answered for, so that nobody can point a name of theirs at us.
func TestForeignHost(t *testing.T) {
	p := start(t)
	asked := p.agent("swe").wantsToRun("npm ci")
	_, port, _ := strings.Cut(strings.TrimPrefix(p.URL, "http://"), ":")
	c := p.session()
	for host, answered := range map[string]bool{
		"127.0.0.1:" + port: true, "localhost:" + port: true, "LOCALHOST": true,
		"evil.example": false, "evil.example:" + port: false, "127.0.0.1.evil.example": false, "localhost.evil.example:" + port: false, "0.0.0.0:" + port: false,
		"169.254.169.254": false, "127.0.0.1:" + port + ".evil.example": false,
	} {
		for _, path := range []string{"/", "/healthz", "/api/v1/me", "/mcp", "/projects/default/live", "/static/app.css"} {
			a := p.send("GET", path, nil, "Host", host, "Cookie", c.Name+"="+c.Value)
			if refused := a.status == http.StatusMisdirectedRequest; refused == answered {
				t.Errorf("%s of host %q: %d, want it answered: %v", path, host, a.status, answered)
			}
		}
	}
	p.send("POST", posting(asked), map[string][]string{"q0": {"0"}}, "Host", "evil.example", "Origin", "http://evil.example", "Cookie", c.Name+"="+c.Value)
	if now := verdict(p.asItIs(asked)); now != "open" {
		t.Errorf("an answer for a foreign host was recorded: %s", now)
	}
}
