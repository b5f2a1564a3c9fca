package web_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// tenant is an org with a project, people, keys, and something of everything in it. Whatever is in its words begins with its name.
type tenant struct {
	*site
	name      string
	in        interaction.Project
	path      string // of the project, in REST
	operator  string
	agent     string // key, bound to no agent
	ids       map[string]string
	people    map[string]string // cookies, by role
	asked     api.Interaction
	agentPath string
	made      map[string]int // how much there was at first
}

func (s *site) newTenant(name string) *tenant {
	s.t.Helper()
	var made api.OrgCreated
	read(s.t, s.call(s.operator, "POST", "/api/v1/orgs", fmt.Sprintf(`{"slug":"%s-org","name":"%s org","project":{"slug":"%s-project","name":"%s project"}}`, name, name, name, name)), &made)
	in, err := s.store.Project(s.t.Context(), made.Org.ID, made.Project.ID)
	must(s.t, err)
	n := &tenant{site: s, name: name, in: in, path: "/api/v1/orgs/" + made.Org.ID + "/projects/" + made.Project.ID, people: map[string]string{}}
	n.operator, n.agent = n.key(interaction.OperatorPrincipal), n.key(interaction.AgentPrincipal)
	for _, role := range interaction.Roles {
		n.people[string(role)] = n.member(string(role), role)
	}
	n.fill()
	n.made = n.counts()
	return n
}

func (n *tenant) key(kind interaction.PrincipalKind) string {
	secret := auth.NewSecret(kind)
	k := auth.StoredKey(secret, n.name+" "+string(kind), interaction.NewID(interaction.KeyPrefix, n.clock.Now()))
	k.Project = n.in.ID
	must(n.t, n.store.EnsureKey(context.Background(), k, n.clock.Now()))
	return secret
}

func (n *tenant) member(name string, role interaction.Role) string {
	cookie := n.person(n.name+" "+name, "")
	n.exec("INSERT INTO members (user, project, role, created_at) SELECT u.key, p.key, ?, 1 FROM users u, projects p WHERE u.name = ? AND p.id = ?", role, n.name+" "+name, n.in.ID)
	n.exec("UPDATE users SET email = replace(name, ' ', '.') || '@example.com' WHERE name = ?", n.name+" "+name)
	return cookie
}

// fill makes one of everything that has an id.
func (n *tenant) fill() {
	n.t.Helper()
	id := n.call(n.agent, "POST", n.path+"/agents", `{"name":"`+n.name+` agent"}`).agent(n.t).ID
	n.agentPath = n.path + "/agents/" + id
	n.asked = n.ask("first")
	var sent api.InputBody
	read(n.t, n.call(n.operator, "POST", n.agentPath+"/inputs", `{"content_blocks":[{"type":"text","text":"`+n.name+` input"}]}`), &sent)
	var reported api.Reported
	read(n.t, n.call(n.agent, "POST", n.agentPath+"/events", `{"events":[{"event_kind":"model_output","content_blocks":[{"type":"text","text":"`+n.name+` output"},{"type":"tool_call","name":"`+n.name+`","permission":"always_allow"}]}]}`), &reported)
	var actor api.ActorBody
	read(n.t, n.call(n.operator, "PUT", n.path+"/actors", `{"provider_user_id":"`+n.name+`","display_name":"`+n.name+` actor"}`), &actor)
	who := interaction.Principal{Kind: interaction.OperatorPrincipal, Name: n.name, Scopes: interaction.Scopes}
	invitation, _, err := n.gate.Invite(n.t.Context(), who, n.in, interaction.Viewer, n.name+" invitation")
	must(n.t, err)
	session := string(interaction.NewID(interaction.SessionPrefix, n.clock.Now()))
	n.exec("INSERT INTO sessions (hash, user, created_at, seen_at, id, client) SELECT randomblob(32), key, created_at, created_at, ?, name FROM users WHERE name = ?", session, n.name+" viewer")
	var key api.KeyBody
	read(n.t, n.call(n.operator, "POST", n.path+"/keys", `{"kind":"agent_key","name":"`+n.name+` key"}`), &key)
	var embed api.EmbedBody
	read(n.t, n.call(n.operator, "POST", n.path+"/embeds", `{"name":"`+n.name+` embed","permission":"read","origins":["https://`+n.name+`.example"]}`), &embed)
	n.ids = map[string]string{
		":org": string(n.in.OrgID), ":project": string(n.in.ID), ":agent": id, ":interaction": n.asked.ID, ":input": sent.Input.ID, ":call": reported.ToolCalls[0].ID,
		":actor": actor.Actor.ID, ":user": n.userID(n.name + " lead"), ":invitation": string(invitation.ID), ":session": session,
		":key": key.Key.ID, ":embed": embed.Embed.ID,
	}
}

func (n *tenant) ask(what string) api.Interaction {
	n.t.Helper()
	got := n.call(n.agent, "POST", n.agentPath+"/interactions", `{"tool_call":{"name":"Bash","input":{"command":"`+n.name+` `+what+`"}}}`)
	if got.status != http.StatusCreated {
		n.t.Fatalf("ask: %d %s", got.status, got.body)
	}
	return got.interaction(n.t)
}

// secrets is everything by which the tenant could be known: its name, and every id that is its own.
func (n *tenant) secrets() (all []string) {
	n.t.Helper()
	all = []string{n.name}
	rows, err := n.database().Query(`WITH p AS (SELECT key FROM projects WHERE id = ?1)
		SELECT id FROM projects WHERE id = ?1 UNION SELECT o.id FROM orgs o JOIN projects p ON p.org = o.key WHERE p.id = ?1
		UNION SELECT id FROM agents WHERE project IN p UNION SELECT id FROM interactions WHERE project IN p UNION SELECT id FROM events WHERE project IN p
		UNION SELECT id FROM admin_events WHERE project IN p UNION SELECT id FROM invitations WHERE project IN p UNION SELECT id FROM api_keys WHERE project IN p
		UNION SELECT u.id FROM users u JOIN members m ON m.user = u.key WHERE m.project IN p UNION SELECT x.id FROM sessions x JOIN members m ON m.user = x.user WHERE m.project IN p AND x.id <> ''`, n.in.ID)
	must(n.t, err)
	defer rows.Close()
	for rows.Next() {
		var id string
		must(n.t, rows.Scan(&id))
		all = append(all, id)
	}
	for _, id := range n.ids {
		all = append(all, id)
	}
	return all
}

// tells fails the test if an answer to somebody else has anything of the tenant in it.
func (n *tenant) tells(what, text string) {
	n.t.Helper()
	for _, secret := range n.secrets() {
		if strings.Contains(text, secret) {
			n.t.Errorf("%s tells %q: %.300s", what, secret, text)
		}
	}
}

// caller is somebody of a tenant.
type caller struct{ name, key, cookie string }

func (n *tenant) callers() []caller {
	return []caller{
		{"operator's key", n.operator, ""}, {"agent's key", n.agent, ""}, {"viewer", "", n.people["viewer"]}, {"approver", "", n.people["approver"]},
		{"lead", "", n.people["lead"]}, {"admin", "", n.people["admin"]},
	}
}

// calls sends as a caller, as a page or a program would.
func (n *tenant) calls(who caller, method, path, body string) answer {
	n.t.Helper()
	headers := []string{loosely, "1"}
	if who.cookie != "" {
		headers = append(headers, "Cookie", who.cookie)
	}
	switch {
	case path == "/mcp":
		headers = append(headers, "Accept", "application/json, text/event-stream")
	case !strings.HasPrefix(path, "/api/") && path != "/hooks/claude" && method == "POST":
		headers = append(headers, "Content-Type", "application/x-www-form-urlencoded", "Origin", n.http.URL, "Sec-Fetch-Site", "same-origin")
	}
	return n.call(who.key, method, path, body, headers...)
}

// changing are the parts of an answer that differ each time.
var changing = regexp.MustCompile(`nonce-[A-Za-z0-9+/]{22}|nonce="[^"]{22}"`)

// whole is all of an answer but what differs each time.
func whole(a answer) string {
	header := a.header.Clone()
	header.Del("Date")
	return changing.ReplaceAllString(fmt.Sprintf("%d %v\n%s", a.status, header, a.body), "nonce")
}

var placeholder = regexp.MustCompile(`:(org|project|agent|interaction|input|call|actor|user|invitation|session|key|embed)\b`)

// TestTenantsAreApart walks every route as everybody of one org, with each combination of the ids of another org in the path. The answer is the
// one for ids that are nobody's, byte for byte, and nothing of the other org is told or changed.
func TestTenantsAreApart(t *testing.T) {
	s := newSite(t)
	alpha, bravo := s.newTenant("alpha"), s.newTenant("bravo")
	nobodys := func(param string) string {
		prefix, _, _ := strings.Cut(bravo.ids[param], "_")
		return prefix + "_" + strings.Repeat("c", 26)
	}
	foreign, routes := 0, 0
	for _, route := range everyRoute {
		params := placeholder.FindAllString(route.path, -1)
		if len(params) == 0 || strings.HasPrefix(route.path, "/embed/") {
			continue // below; a frame is shown to whoever has its address, and everything in it needs a session of its own
		}
		routes++
		for set := 1; set < 1<<len(params); set++ {
			at := func(id func(string) string) (path, body string) {
				path, body = route.path, strings.NewReplacer(":digest", bravo.asked.Digest, ":fresh", "fresh").Replace(route.body)
				for n, param := range params {
					value := alpha.ids[param]
					if set&(1<<n) != 0 {
						value = id(param)
					}
					path = strings.Replace(path, param, value, 1)
				}
				return strings.NewReplacer(":item", "0", ":name", "group").Replace(path), body
			}
			theirs, body := at(func(param string) string { return bravo.ids[param] })
			random, _ := at(nobodys)
			for _, who := range alpha.callers() {
				foreign++
				got, want := alpha.calls(who, route.method, theirs, body), alpha.calls(who, route.method, random, body)
				if whole(got) != whole(want) {
					t.Errorf("%s %s as alpha's %s:\n%s\nwant\n%s", route.method, theirs, who.name, whole(got), whole(want))
				}
				if keyed := strings.HasPrefix(route.path, "/api/"); got.status/100 == 2 || (who.key != "") == keyed && got.status != 404 && got.status != 403 {
					t.Errorf("%s %s as alpha's %s: %d", route.method, theirs, who.name, got.status)
				}
				bravo.tells(route.method+" "+theirs+" as alpha's "+who.name, string(got.body)+fmt.Sprint(got.header))
			}
		}
	}
	if routes < 50 || foreign < 1000 {
		t.Errorf("only %d routes and %d calls were tried", routes, foreign)
	}
	bravo.isUntouched()
}

// isUntouched checks that nobody did anything in the tenant since it was made.
func (n *tenant) isUntouched() {
	n.t.Helper()
	if now := n.call(n.operator, "GET", n.agentPath+"/interactions/"+n.asked.ID, "").interaction(n.t); now.State != "open" {
		n.t.Errorf("%s's request is %s", n.name, now.State)
	}
	if diff := cmp.Diff(n.made, n.counts()); diff != "" {
		n.t.Errorf("%s was changed (-before +after):\n%s", n.name, diff)
	}
	if _, err := n.store.Verify(n.t.Context(), n.in.ID); err != nil {
		n.t.Error(err)
	}
}

// counts is how much there is in the tenant's project.
func (n *tenant) counts() map[string]int {
	n.t.Helper()
	counts := map[string]int{"active agents": n.number("SELECT count(*) FROM agents WHERE project = (SELECT key FROM projects WHERE id = ?) AND state = 'active'", n.in.ID)}
	for _, table := range strings.Fields("agents members invitations admin_events events audit_entries interactions actors api_keys") {
		counts[table] = n.number("SELECT count(*) FROM "+table+" WHERE project = (SELECT key FROM projects WHERE id = ?)", n.in.ID)
	}
	counts["open invitations"] = n.number("SELECT count(*) FROM invitations WHERE project = (SELECT key FROM projects WHERE id = ?) AND ended_at IS NULL", n.in.ID)
	counts["waiting"] = n.number("SELECT count(*) FROM inputs WHERE agent = (SELECT key FROM agents WHERE id = ?)", n.ids[":agent"])
	return counts
}

// TestListsAreApart asks for everything that one org may see, by every route and with the other's ids wherever a query or a body takes one: nothing
// of the other is in it.
func TestListsAreApart(t *testing.T) {
	s := newSite(t)
	alpha, bravo := s.newTenant("alpha"), s.newTenant("bravo")
	own := func(path string) string {
		for param, id := range alpha.ids {
			path = strings.ReplaceAll(path, param, id)
		}
		return strings.NewReplacer(":item", "0", ":name", "group", "/static/*", "/favicon.ico").Replace(path)
	}
	seen := 0
	for _, route := range everyRoute {
		if route.method != "GET" || strings.HasPrefix(route.path, "/gallery") {
			continue
		}
		for _, who := range alpha.callers() {
			got := alpha.calls(who, "GET", own(route.path), "")
			bravo.tells("GET "+route.path+" as alpha's "+who.name, string(got.body)+fmt.Sprint(got.header))
			if strings.Contains(string(got.body), "alpha") {
				seen++
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d answers told anything at all", seen)
	}
	admin := caller{cookie: alpha.people["admin"]}
	operator, agent := caller{key: alpha.operator}, caller{key: alpha.agent}
	page := "/projects/" + string(alpha.in.ID)
	for _, c := range []struct {
		who                caller
		method, path, body string
	}{
		{operator, "GET", alpha.path + "/interactions?agent_id=" + bravo.ids[":agent"], ""},
		{operator, "GET", alpha.path + "/interactions?resolved_by=bravo", ""},
		{operator, "GET", alpha.path + "/agents?name=bravo+agent", ""},
		{operator, "GET", alpha.path + "/events?agent_id=" + bravo.ids[":agent"], ""},
		{operator, "GET", alpha.path + "/events?after_sequence=0", ""},
		{admin, "GET", page + "/cards?have=" + bravo.ids[":interaction"], ""},
		{admin, "GET", page + "/agents/" + alpha.ids[":agent"] + "/cards?have=" + bravo.ids[":interaction"], ""},
		{admin, "GET", page + "/agents?archived=1", ""},
		{admin, "POST", "/settings/projects", "org=" + bravo.ids[":org"] + "&name=x&slug=bravo-project"},
		{admin, "POST", "/account", "name=alpha&email=bravo.admin@example.com"}, // told that it is taken, and not by whom
		{admin, "POST", "/signin", "email=bravo.admin@example.com&password=x"},
		{operator, "POST", "/api/v1/orgs", `{"slug":"bravo-org","name":"x"}`},
		{agent, "POST", alpha.path + "/agents", `{"name":"bravo agent"}`},
		{agent, "POST", alpha.agentPath + "/interactions", `{"tool_call":{"id":"` + bravo.ids[":call"] + `","name":"Bash","input":{}}}`},
		{agent, "POST", "/hooks/claude", notified},
	} {
		got := alpha.calls(c.who, c.method, c.path, c.body)
		for _, secret := range bravo.secrets() {
			if strings.Contains(string(got.body), secret) && !strings.Contains(c.path+c.body, secret) {
				t.Errorf("%s %s: %d tells %q: %.300s", c.method, c.path, got.status, secret, got.body)
			}
		}
	}
	begun := alpha.call(alpha.operator, "POST", "/mcp", hail, mcpHeaders...)
	inSession := append([]string{"Mcp-Session-Id", begun.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}, mcpHeaders...)
	alpha.call(alpha.operator, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, inSession...)
	_, listed := alpha.whole(alpha.operator, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"interactions_list","arguments":{"all":true}}}`, inSession)
	if !strings.Contains(listed, "alpha first") {
		t.Errorf("over MCP alpha does not see its own: %s", listed)
	}
	bravo.tells("interactions_list", listed)
	_, answered := alpha.whole(alpha.operator, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"interactions_answer","arguments":{"interaction_id":"`+bravo.asked.ID+`","verdict":"allow"}}}`, inSession)
	bravo.tells("interactions_answer", strings.ReplaceAll(answered, bravo.asked.ID, ""))
	bravo.isUntouched()
}

// TestSocketsAndStreamsAreApart has both orgs at work while pages and streams of one are open: they hear all of their own, and nothing else.
func TestSocketsAndStreamsAreApart(t *testing.T) {
	s := newSite(t)
	alpha, bravo := s.newTenant("alpha"), s.newTenant("bravo")
	page := "/projects/" + string(alpha.in.ID)
	heard := map[string]func() string{}
	for _, role := range []string{"viewer", "admin"} {
		for _, path := range []string{page + "/live", page + "/agents/" + alpha.ids[":agent"] + "/live"} {
			heard[role+" "+path] = alpha.hears(alpha.people[role], path)
		}
	}
	for _, path := range []string{alpha.path + "/events/stream", alpha.agentPath + "/events/stream"} {
		stream := s.streams(alpha.operator, path)
		heard[path] = func() string { m := stream.next(); return m.id + m.event + m.data }
	}
	for round := range 3 {
		theirs := bravo.ask(fmt.Sprint("request ", round))
		bravo.call(bravo.operator, "POST", bravo.agentPath+"/interactions/"+theirs.ID+"/resolve", allow)
		bravo.call(bravo.operator, "POST", bravo.agentPath+"/inputs", hello)
		bravo.call(bravo.agent, "POST", bravo.agentPath+"/events", says)
		mark := fmt.Sprint("alpha mark ", round)
		ours := alpha.ask(fmt.Sprint("mark ", round))
		alpha.call(alpha.agent, "POST", alpha.agentPath+"/events", strings.Replace(says, "Hello.", mark, 1))
		for what, next := range heard {
			for text := ""; !strings.Contains(text, mark) && !strings.Contains(text, ours.ID); {
				text = next()
				bravo.tells(what, text)
			}
		}
	}
}

// hears opens a socket, and gives its next frame.
func (n *tenant) hears(cookie, path string) func() string {
	n.t.Helper()
	conn := n.socket(cookie, path)
	return func() string {
		n.t.Helper()
		must(n.t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
		kind, frame, err := conn.ReadMessage()
		must(n.t, err)
		if !slices.Contains([]int{websocket.TextMessage, websocket.BinaryMessage}, kind) {
			n.t.Fatalf("a frame of kind %d", kind)
		}
		return string(frame)
	}
}
