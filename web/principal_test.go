package web_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/static"
	"sayso/web"
)

// principals are everybody who may call, in the order of the columns of TestEveryRouteForEverybody.
var principals = append(strings.Fields("asker other bound elsewhere read resolve manage audit embed nobody revoked malformed "+people), "session")

// people are signed in: one for each role in the project, and one who has none there. The session is the owner's.
const people = "viewer approver lead admin stranger"

// cast is a site with an interaction, and everybody's credentials.
type cast struct {
	*site
	keys    map[string]string
	cookies map[string]string
	path    string // of the agent
}

func newCast(t *testing.T, adjust ...func(*web.Config)) *cast {
	t.Helper()
	s := newSite(t, append(adjust, func(c *web.Config) { c.Demo, c.Gallery = func() {}, true })...)
	id, path := s.newAgent("swe")
	another, _ := s.newAgent("another")
	c := &cast{site: s, path: path, keys: map[string]string{
		"asker":     s.agent,
		"other":     s.newKey(interaction.AgentPrincipal, "other"),
		"bound":     s.bound(id),
		"elsewhere": s.bound(another),
		"nobody":    "",
		"revoked":   s.newKey(interaction.OperatorPrincipal, "revoked", interaction.Scopes...),
		"malformed": s.operator[:len(s.operator)-1] + "!",
	}, cookies: map[string]string{"session": s.signedIn().String()}}
	for who := range strings.FieldsSeq(people) {
		c.cookies[who] = s.person(who, interaction.Role(who))
	}
	for _, scope := range interaction.Scopes {
		c.keys[string(scope)] = s.newKey(interaction.OperatorPrincipal, string(scope), scope)
	}
	s.exec("UPDATE api_keys SET revoked_at = 1 WHERE name = 'revoked'")
	return c
}

// as calls as one of the principals.
func (c *cast) as(who, method, path, body string) answer {
	c.t.Helper()
	headers := []string{}
	if cookie := c.cookies[who]; cookie != "" {
		headers = append(headers, "Cookie", strings.SplitN(cookie, ";", 2)[0])
	}
	switch {
	case path == "/mcp":
		headers = append(headers, "Accept", "application/json, text/event-stream")
	case strings.HasSuffix(path, "/session"):
		headers = append(headers, "Content-Type", "application/json", "Origin", c.http.URL, "Sec-Fetch-Site", "same-origin")
	case !strings.HasPrefix(path, "/api/") && path != "/hooks/claude" && method == "POST":
		headers = append(headers, "Content-Type", "application/x-www-form-urlencoded", "Origin", c.http.URL, "Sec-Fetch-Site", "same-origin")
	}
	return c.call(c.keys[who], method, path, body, headers...)
}

// all is one status for every principal; but changes some.
func all(status int, but ...any) map[string]int {
	of := map[string]int{}
	for _, who := range principals {
		of[who] = status
	}
	for n := 0; n < len(but); n += 2 {
		for who := range strings.FieldsSeq(but[n].(string)) {
			of[who] = but[n+1].(int)
		}
	}
	return of
}

// keyed is all for a route that wants a key: who has none is told so, and a cookie is none.
func keyed(status int, but ...any) map[string]int {
	return all(status, append([]any{"nobody revoked malformed session " + people, 401}, but...)...)
}

// paged is all for a page of a project: who has no session is sent to sign in, a key is none, and who has no role there finds nothing.
func paged(status int, but ...any) map[string]int {
	return all(303, append([]any{"session viewer approver lead admin", status, "stranger", 404}, but...)...)
}

// posted is paged for what a page sends.
func posted(status int, but ...any) map[string]int {
	return all(401, append([]any{"session viewer approver lead admin", status, "stranger", 404}, but...)...)
}

// hail begins a session of MCP.
const hail = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// notified is a hook that waits for nobody.
const notified = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"Notification","message":"Hello","notification_type":"auth_success"}`

const agents = "asker other bound elsewhere"

// everyRoute says what every route answers to everybody. Each cell has an interaction of its own, which is open.
var everyRoute = []struct {
	method, path, body string
	want               map[string]int
}{
	{"GET", "/healthz", "", all(200)},
	{"GET", "/readyz", "", all(200)},
	{"GET", "/api/openapi.yaml", "", all(200)},
	{"GET", "/static/*", "", all(200)},
	{"GET", "/favicon.ico", "", all(303)},
	{"GET", "/embed.js", "", all(200)},

	{"GET", "/api/v1/me", "", keyed(200)},
	{"POST", "/api/v1/signin-links", "", keyed(403, "manage", 201)},
	{"POST", "/api/v1/orgs", `{"slug":":fresh","name":"Acme"}`, keyed(403, "manage", 201)},
	{"GET", "/api/v1/orgs", "", keyed(403, "manage", 200)},
	{"POST", "/api/v1/orgs/:org/projects", `{"slug":":fresh","name":"Shop"}`, keyed(403, "manage", 201)},
	{"GET", "/api/v1/orgs/:org/projects", "", keyed(403, "manage", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents", `{"name":"swe"}`, keyed(403, "asker other manage", 200)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents", "", keyed(403, "read", 200)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent", "", keyed(403, "asker other bound read", 200, "elsewhere", 404)},
	{"PATCH", "/api/v1/orgs/:org/projects/:project/agents/:agent", `{}`, keyed(403, "bound manage", 200, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/interactions", "", keyed(403, "read", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions", bash, keyed(403, "asker other bound manage", 201, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions", "", keyed(403, "read", 200, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions/:interaction", "", keyed(403, "asker bound read", 200, "other elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions/:interaction/resolve", allow, keyed(403, "resolve", 200, "other elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions/:interaction/cancel", "", keyed(403, "asker bound", 200, "other elsewhere", 404)},

	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs", hello, keyed(403, "resolve", 201, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/backlog", "", keyed(403, "read", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/claim", "", keyed(403, "asker other bound manage", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/:input/cancel", "", keyed(403, "resolve", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/:input/move", `{"position":"front"}`, keyed(403, "resolve", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/:input/promote_to_steering", "", keyed(403, "resolve", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/:input/demote_to_queued", "", keyed(403, "resolve", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/cancel", "", keyed(403, "resolve", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/events", says, keyed(403, "asker other bound manage", 201, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/events", "", keyed(403, "read", 200, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/events/stream", "", keyed(403, "read", 200, "elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/tool-calls", "", keyed(403, "read", 200, "elsewhere", 404)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/tool-calls/:call/result", `{"outcome":"succeeded","content_blocks":[]}`, keyed(403, "asker bound manage", 201, "other elsewhere", 404)},
	{"GET", "/api/v1/orgs/:org/projects/:project/events", "", keyed(403, "read", 200)},
	{"GET", "/api/v1/orgs/:org/projects/:project/events/stream", "", keyed(403, "read", 200)},
	{"GET", "/api/v1/orgs/:org/projects/:project/policies", "", keyed(403, "read audit", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/audit/verify", "", keyed(403, "audit", 200)},
	{"GET", "/api/v1/orgs/:org/projects/:project/audit", "", keyed(403, "audit", 200)},
	{"GET", "/api/v1/orgs/:org/projects/:project/audit/export", "", keyed(403, "audit", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/keys", `{"kind":"agent_key","name":"ci"}`, keyed(403, "manage", 201)},
	{"GET", "/api/v1/orgs/:org/projects/:project/keys", "", keyed(403, "manage", 200)},
	{"DELETE", "/api/v1/orgs/:org/projects/:project/keys/:key", "", keyed(403, "manage", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/embeds", readEmbed, keyed(403, "manage", 201)},
	{"GET", "/api/v1/orgs/:org/projects/:project/embeds", "", keyed(403, "manage", 200)},
	{"PATCH", "/api/v1/orgs/:org/projects/:project/embeds/:embed", `{"permission":"read"}`, keyed(403, "manage", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/embeds/:embed/tokens", vouched, keyed(403, "embed", 201)},
	{"DELETE", "/api/v1/orgs/:org/projects/:project/embeds/:embed", "", keyed(403, "manage", 204)},
	{"GET", "/api/v1/orgs/:org/projects/:project/actors", "", keyed(403, "read", 200)},
	{"PUT", "/api/v1/orgs/:org/projects/:project/actors", `{"provider_user_id":"u1"}`, keyed(403, "resolve", 201)},
	{"GET", "/api/v1/orgs/:org/projects/:project/actors/:actor", "", keyed(403, "read", 200)},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/archive", "", keyed(403, "manage", 200, "bound elsewhere", 404)},

	{"POST", "/mcp", hail, keyed(200)},
	{"GET", "/mcp", "", keyed(400)},    // no session
	{"DELETE", "/mcp", "", keyed(400)}, // no session
	{"POST", "/hooks/claude", notified, keyed(403, agents, 200)},

	{"GET", "/setup", "", all(403, "session "+people, 303)},
	{"POST", "/setup", "code=x", all(403)},
	{"GET", "/signin", "", all(200, "session "+people, 303)},
	{"POST", "/signin/oidc", "", all(404)}, // there is no provider; see oidc_test.go
	{"GET", "/signin/oidc/callback", "", all(404)},
	{"POST", "/signin", "email=:fresh@example.com&password=x", all(401)},
	{"GET", "/invite", "", all(403)},
	{"POST", "/invite", "code=x", all(403)},
	{"GET", "/gallery", "", all(200)},
	{"GET", "/gallery/:name", "", all(200)},
	{"GET", "/", "", paged(200, "stranger", 403)},
	{"GET", "/projects/:project", "", paged(200)},
	{"GET", "/projects/:project/agents", "", paged(200)},
	{"GET", "/projects/:project/agents/:agent", "", paged(200)},
	{"GET", "/projects/:project/settings/policies", "", paged(200, "viewer approver", 403)},
	{"GET", "/projects/:project/audit/changes", "", paged(200, "viewer approver", 403)},
	{"GET", "/projects/:project/audit/verify", "", paged(200, "viewer approver", 403)},
	{"POST", "/projects/:project/audit/verify", "", posted(200, "viewer approver", 403)},
	{"GET", "/projects/:project/audit", "", paged(200, "viewer approver", 403)},
	{"GET", "/projects/:project/audit/export", "", paged(200, "viewer approver", 403)},
	{"GET", "/projects/:project/settings/keys", "", paged(200, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/keys", "kind=agent_key&name=ci", posted(200, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/keys/:key/revoke", "", posted(303, "viewer approver lead", 403)},
	{"GET", "/projects/:project/settings/members", "", paged(200, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/members/:user/role", "role=approver", posted(303, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/members/:user/remove", "", posted(303, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/invitations", "role=viewer&note=Fox", posted(200, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/invitations/:invitation/revoke", "", posted(303, "viewer approver lead", 403)},
	{"GET", "/account", "", all(303, "session "+people, 200)},
	{"POST", "/account", "name=Dana&email=", all(401, "session "+people, 303)},
	{"POST", "/account/password", "password=correct+horse&again=correct+horse", all(401, "session "+people, 422)}, // they have no email
	{"POST", "/account/sessions/:session/end", "", all(401, "session "+people, 404)},                              // it is nobody's
	{"GET", "/settings/projects", "", all(303, "session", 200, people, 403)},
	{"POST", "/settings/orgs", "name=Acme&slug=:fresh&project_name=Shop&project_slug=shop", all(401, "session", 303, people, 403)},
	{"POST", "/settings/projects", "org=default&name=Shop&slug=:fresh", all(401, "session", 303, people, 403)},
	{"GET", "/projects/:project/settings/embeds", "", paged(200, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/embeds", "name=Portal&permission=read&origins=https://portal.example", posted(303, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/embeds/:embed", "name=Portal&permission=read&origins=https://portal.example", posted(303, "viewer approver lead", 403)},
	{"POST", "/projects/:project/settings/embeds/:embed/delete", "", posted(303, "viewer approver lead", 403)},
	{"GET", "/projects/:project/interactions/:interaction", "", paged(200)},
	{"GET", "/projects/:project/interactions/:interaction/json", "", paged(200)},
	{"GET", "/projects/:project/interactions/:interaction/context/:item", "", paged(200)},
	{"POST", "/projects/:project/agents/:agent/interactions/:interaction/resolve", "q0=0&digest=:digest", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/interactions/:interaction/review", "q0=0&digest=:digest&updated_input={}", posted(200)},
	{"POST", "/projects/:project/agents/:agent/inputs", "text=Hello&mode=queued", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/inputs/:input/cancel", "", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/inputs/:input/move", "position=front", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/inputs/:input/promote", "", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/inputs/:input/demote", "", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/stop", "", posted(303, "viewer", 403)},
	{"POST", "/projects/:project/agents/:agent/archive", "", posted(303, "viewer approver lead", 403)},
	{"GET", "/projects/:project/cards", "", posted(200)},
	{"GET", "/projects/:project/agents/:agent/cards", "", posted(200)},
	{"GET", "/projects/:project/live", "", posted(400)}, // not a WebSocket handshake
	{"GET", "/projects/:project/agents/:agent/live", "", posted(400)},
	{"POST", "/demo", "", posted(303, "viewer approver lead", 403)},
	// Nobody is anybody in a frame without a session of its own, whatever else they bring.
	{"GET", "/embed/:embed", "", all(200)},
	{"POST", "/embed/:embed/session", `{"token":"x"}`, all(401)},
	{"GET", "/embed/:embed/cards", "", all(401)},
	{"POST", "/embed/:embed/interactions/:interaction/resolve", "q0=0&digest=:digest", all(401)},
	{"GET", "/embed/:embed/live", "", all(400)}, // not a WebSocket handshake
	// last: they end the session
	{"POST", "/account/sessions/end", "", all(401, "session "+people, 303)},
	{"POST", "/signout", "", all(303)},
}

// TestEveryRouteForEverybody goes through every route and every principal.
func TestEveryRouteForEverybody(t *testing.T) {
	c := newCast(t)
	for n, route := range everyRoute {
		for _, who := range principals {
			i, at := c.asks(c.path, bash)
			id := at[strings.LastIndexByte(at, '/')+1:]
			agent := c.path[len(project+"/agents/"):]
			if strings.HasSuffix(route.path, "/archive") {
				agent, _ = c.newAgent("archived by " + who)
			}
			path := place{"default", "default", agent, id}.of(c.filled(route.path))
			body := strings.NewReplacer(":digest", i.Digest, ":fresh", fmt.Sprintf("s%d-%s", n, who)).Replace(route.body)
			if got := c.as(who, route.method, path, body); got.status != route.want[who] {
				t.Errorf("%s %s as %s: %d %.200s, want %d", route.method, route.path, who, got.status, got.body, route.want[who])
			}
			c.call(c.agent, "POST", at+"/cancel", "")
		}
	}
	var described, answered []string
	for _, route := range everyRoute {
		described = append(described, route.method+" "+route.path)
	}
	for _, route := range c.pages.Routes() {
		answered = append(answered, route.Method+" "+route.Path)
		if !slices.Contains(described, route.Method+" "+route.Path) {
			t.Errorf("%s %s is answered and not in the table", route.Method, route.Path)
		}
	}
	for _, route := range described {
		if !slices.Contains(answered, route) {
			t.Errorf("%s is in the table and not answered", route)
		}
	}
}

// filled puts what is needed in the place of the other parameters of a path: an input that waits, a call that may run, an external person.
func (c *cast) filled(path string) string {
	c.t.Helper()
	for param, make := range map[string]func() string{":input": c.waits, ":call": c.mayRun, ":actor": c.actor, ":key": c.spare, ":embed": c.embedded, ":user": c.member, ":invitation": c.invited} {
		if before, after, there := strings.Cut(path, param); there {
			path = before + make() + after
		}
	}
	return strings.NewReplacer(":session", "ses_"+strings.Repeat("a", 26), ":item", "0", ":name", "group", "/static/*", static.Path("favicon.svg")).Replace(path)
}

func (c *cast) waits() string {
	var sent api.InputBody
	read(c.t, c.call(c.operator, "POST", c.path+"/inputs", hello), &sent)
	return sent.Input.ID
}

func (c *cast) mayRun() string {
	var reported api.Reported
	read(c.t, c.call(c.agent, "POST", c.path+"/events", `{"events":[{"event_kind":"model_output","content_blocks":[{"type":"tool_call","name":"ls","permission":"always_allow"}]}]}`), &reported)
	return reported.ToolCalls[0].ID
}

// spare is a key that nobody uses.
func (c *cast) spare() string {
	var made api.KeyBody
	read(c.t, c.call(c.operator, "POST", project+"/keys", `{"kind":"agent_key","name":"spare"}`), &made)
	return made.Key.ID
}

// member is somebody in the project who has no part in the test.
func (c *cast) member() string {
	c.t.Helper()
	name := fmt.Sprint("member ", c.number("SELECT count(*) FROM users"))
	c.person(name, interaction.Viewer)
	return c.userID(name)
}

// invited is an open invitation.
func (c *cast) invited() string {
	c.t.Helper()
	who := interaction.Principal{Kind: interaction.OperatorPrincipal, Name: "test", Scopes: interaction.Scopes}
	i, _, err := c.gate.Invite(c.t.Context(), who, c.project, interaction.Viewer, "somebody")
	must(c.t, err)
	return string(i.ID)
}

func (c *cast) actor() string {
	var stored api.ActorBody
	read(c.t, c.call(c.operator, "PUT", project+"/actors", `{"provider_user_id":"dana"}`), &stored)
	return stored.Actor.ID
}

// TestAgentsNeverAnswer tries every road by which an agent's credential might list or answer: through every route and disguise, and with
// scopes that it must not have.
func TestAgentsNeverAnswer(t *testing.T) {
	c := newCast(t)
	i, at := c.asks(c.path, bash)
	card := "/projects/default/agents/" + i.AgentID + "/interactions/" + i.ID + "/resolve"
	for _, who := range strings.Fields(agents) {
		for _, road := range []struct {
			name, method, path, body string
			headers                  []string
		}{
			{"resolve", "POST", at + "/resolve", allow, nil},
			{"resolve as our own client", "POST", at + "/resolve", allow, []string{"Sayso-Channel", "cli"}},
			{"resolve for somebody", "POST", at + "/resolve", `{"answers":[{"option_indices":[0]}],"actor":{"provider_user_id":"U1"}}`, nil},
			{"resolve by its digest", "POST", at + "/resolve", `{"answers":[{"option_indices":[0]}],"digest":"` + i.Digest + `"}`, nil},
			{"resolve by the project's id", "POST", strings.Replace(at, "projects/default", "projects/"+i.ProjectID, 1) + "/resolve", allow, nil},
			{"resolve by another method", "PUT", at + "/resolve", allow, nil},
			{"resolve by a method in a header", "GET", at + "/resolve", "", []string{"X-HTTP-Method-Override", "POST"}},
			{"the card's form", "POST", card, "q0=0&digest=" + i.Digest, []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}},
			{"the card's form, as a fragment", "POST", card, "q0=0", []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true"}},
			{"its key as a session", "POST", card, "q0=0", []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Cookie", "sayso=" + c.keys[who]}},
			{"list", "GET", project + "/interactions", "", nil},
			{"list its own", "GET", project + "/interactions?agent_id=" + i.AgentID, "", nil},
			{"list an agent's", "GET", c.path + "/interactions", "", nil},
			{"list agents", "GET", project + "/agents", "", nil},
			{"the inbox", "GET", "/", "", nil},
			{"the cards", "GET", "/projects/default/cards", "", nil},
			{"the live cards", "GET", "/projects/default/live", "", []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}},
			{"a sign-in link", "POST", "/api/v1/signin-links", "{}", nil},
		} {
			got := c.call(c.keys[who], road.method, road.path, road.body, road.headers...)
			toSignIn := got.status == http.StatusSeeOther && got.header.Get("Location") == "/signin"
			if got.status < 400 && !toSignIn || strings.Contains(string(got.body), i.ID) {
				t.Errorf("%s as %s: %d %.300s", road.name, who, got.status, got.body)
			}
		}
	}
	for _, statement := range []string{
		"UPDATE api_keys SET scopes = 'read resolve' WHERE kind = 'agent_key'",
		"UPDATE api_keys SET project = NULL WHERE kind = 'agent_key'",
	} {
		if _, err := c.database().Exec(statement); err == nil || !strings.Contains(err.Error(), "CHECK") {
			t.Errorf("%s: %v, want the database to refuse", statement, err)
		}
	}
	if got := c.call(c.operator, "GET", at, "").interaction(t); got.State != "open" {
		t.Errorf("it is %s", got.State)
	}
}

// TestKeys goes through the ways in which a key may be sent: as a bearer token only, whole, and nowhere else.
func TestKeys(t *testing.T) {
	s := newSite(t)
	unknown := auth.NewSecret(interaction.OperatorPrincipal)
	flipped := []byte(s.operator)
	flipped[len("sayso_op_")] ^= 1
	basic := base64.StdEncoding.EncodeToString([]byte("sayso:" + s.operator))
	for _, c := range []struct{ name, header, value string }{
		{"nothing", "Authorization", absent},
		{"an empty header", "Authorization", ""},
		{"the key alone", "Authorization", s.operator},
		{"no key", "Authorization", "Bearer "},
		{"no key and no blank", "Authorization", "Bearer"},
		{"two blanks", "Authorization", "Bearer  " + s.operator},
		{"no blank", "Authorization", "Bearer" + s.operator},
		{"another scheme", "Authorization", "Basic " + basic},
		{"the key in another scheme", "Authorization", "Token " + s.operator},
		{"cut short", "Authorization", "Bearer " + s.operator[:len(s.operator)-1]},
		{"too long", "Authorization", "Bearer " + s.operator + "0"},
		{"two keys", "Authorization", "Bearer " + s.operator + "," + s.operator},
		{"a letter changed", "Authorization", "Bearer " + string(flipped)},
		{"in capitals", "Authorization", "Bearer " + strings.ToUpper(s.operator)},
		{"an unknown one", "Authorization", "Bearer " + unknown},
		{"an operator's as an agent's", "Authorization", "Bearer " + strings.Replace(s.operator, "_op_", "_agt_", 1)},
		{"another header", "X-Api-Key", s.operator},
		{"a cookie", "Cookie", "sayso=" + s.operator + "; Authorization=Bearer " + s.operator},
	} {
		got := s.call("", "GET", "/api/v1/me", "", c.header, c.value)
		if got.status != http.StatusUnauthorized || got.code() != "unauthorized" || got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	if got := s.call("", "GET", "/api/v1/me?access_token="+s.operator, ""); got.status != http.StatusUnauthorized {
		t.Errorf("in the query: %d", got.status)
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		if got := s.call("", "GET", "/api/v1/me", "", "Authorization", scheme+" "+s.operator); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", scheme, got.status, got.body)
		}
	}
}

// TestRevokedKey checks that a key stops within a second of being revoked, for reading and for answering.
func TestRevokedKey(t *testing.T) {
	s := newSite(t)
	_, at := s.asks(askable(s), bash)
	key := s.newKey(interaction.OperatorPrincipal, "laptop", interaction.Scopes...)
	if got := s.call(key, "GET", at, ""); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	s.exec("UPDATE api_keys SET revoked_at = 1 WHERE name = 'laptop'")
	s.clock.Advance(time.Second)
	for _, c := range []struct{ method, path, body string }{{"GET", at, ""}, {"POST", at + "/resolve", allow}, {"GET", "/api/v1/me", ""}} {
		if got := s.call(key, c.method, c.path, c.body); got.status != http.StatusUnauthorized {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" {
		t.Errorf("it is %s", got.State)
	}
}

// TestUnauthorizedTellsNothing checks that every refusal of a key is the same, byte for byte, on every route.
func TestUnauthorizedTellsNothing(t *testing.T) {
	c := newCast(t)
	var first string
	for _, route := range everyRoute {
		if !strings.HasPrefix(route.path, "/api/v1/") && route.path != "/mcp" && route.path != "/hooks/claude" {
			continue
		}
		for _, key := range []string{"", c.keys["revoked"], c.keys["malformed"], auth.NewSecret(interaction.AgentPrincipal)} {
			for _, at := range []place{{"default", "default", c.path[len(project+"/agents/"):], "int_" + strings.Repeat("a", 26)}, {"x", "X", "x", "x"}} {
				got := c.call(key, route.method, at.of(route.path), route.body)
				text := fmt.Sprintf("%d %s", got.status, got.body)
				if first == "" {
					first = text
				}
				if text != first || got.status != http.StatusUnauthorized {
					t.Errorf("%s %s: %s, want %s", route.method, route.path, text, first)
				}
			}
		}
	}
}
