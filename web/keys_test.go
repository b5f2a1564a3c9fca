package web_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// makes makes a key over REST.
func (s *site) makes(body string, headers ...string) api.KeyBody {
	s.t.Helper()
	got := s.call(s.operator, "POST", project+"/keys", body, headers...)
	var made api.KeyBody
	read(s.t, got, &made)
	if got.status != http.StatusCreated || made.Secret == "" {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	return made
}

// revokes ends a key over REST.
func (s *site) revokes(id string) {
	s.t.Helper()
	if got := s.call(s.operator, "DELETE", project+"/keys/"+id, ""); got.status != http.StatusOK {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
}

func TestKeyMade(t *testing.T) {
	s := newSite(t)
	agent, _ := s.newAgent("swe")
	for _, c := range []struct {
		body, prefix string
		scopes       []string
		agent        string
	}{
		{`{"kind":"operator_key","name":" relay ","scopes":["resolve","read","read"]}`, "sayso_op_", []string{"read", "resolve"}, ""},
		{`{"kind":"agent_key","name":"relay"}`, "sayso_agt_", []string{}, ""},
		{`{"kind":"agent_key","name":"relay","agent_id":"` + agent + `"}`, "sayso_agt_", []string{}, agent},
	} {
		made := s.makes(c.body)
		k := made.Key
		if !strings.HasPrefix(made.Secret, c.prefix) || !strings.HasSuffix(made.Secret, k.LastFour) || k.Name != "relay" || k.AgentID != c.agent ||
			!slices.Equal(k.Scopes, c.scopes) || k.CreatedBy != "operator" || k.ProjectID != string(s.project.ID) || k.LastUsedAt != nil || k.RevokedAt != nil {
			t.Errorf("%s: %+v", c.body, made)
		}
		var me api.Me
		read(t, s.call(made.Secret, "GET", "/api/v1/me", ""), &me)
		if me.ID != k.ID || me.ProjectID != string(s.project.ID) || me.AgentID != c.agent || !slices.Equal(me.Scopes, c.scopes) {
			t.Errorf("%s is %+v", c.body, me)
		}
		if n := s.number("SELECT count(*) FROM api_keys WHERE instr(cast(hash AS text) || name || last_four, ?) > 0", made.Secret); n != 0 {
			t.Error("the secret is stored")
		}
	}
	if n := s.number("SELECT count(*) FROM audit_entries WHERE entry LIKE '%key_created%'"); n != 3 {
		t.Errorf("%d audit entries of 3 keys", n)
	}
}

func TestKeyRefused(t *testing.T) {
	s := newSite(t)
	manager := s.newKey(interaction.OperatorPrincipal, "manager", interaction.ScopeManage, interaction.ScopeRead)
	_, path := s.newAgent("gone")
	s.call(s.operator, "POST", path+"/archive", "")
	archived := path[strings.LastIndexByte(path, '/')+1:]
	for _, c := range []struct {
		key, body string
		status    int
		says      string
	}{
		{s.operator, `{"kind":"operator_key","name":"x"}`, 400, "scopes: "},
		{s.operator, `{"kind":"operator_key","name":"x","scopes":["root"]}`, 400, "scopes: "},
		{s.operator, `{"kind":"operator_key","name":"x","scopes":["read"],"agent_id":"agt_` + strings.Repeat("a", 26) + `"}`, 400, "agent_id: "},
		{s.operator, `{"kind":"agent_key","name":"x","scopes":["read"]}`, 400, "scopes: "},
		{s.operator, `{"kind":"user","name":"x"}`, 400, "kind: "},
		{s.operator, `{"kind":"agent_key","name":"  "}`, 400, "name: "},
		{s.operator, `{"kind":"agent_key","name":"` + strings.Repeat("x", 101) + `"}`, 400, "name: "},
		{s.operator, `{"kind":"agent_key","name":"a\u0000"}`, 400, "name: "},
		{s.operator, `{"kind":"agent_key","name":"x","agent_id":"swe"}`, 400, "agent_id: "},
		{s.operator, `{"kind":"agent_key","name":"x","agent_id":"agt_` + strings.Repeat("a", 26) + `"}`, 400, "agent_id: "},
		{s.operator, `{"kind":"agent_key","name":"x","agent_id":"` + archived + `"}`, 400, "agent_id: "},
		{s.operator, `{"kind":"agent_key","name":"x","secret":"sayso_op_x"}`, 400, "secret: "},
		{manager, `{"kind":"operator_key","name":"x","scopes":["read","resolve"]}`, 403, `scopes: you cannot give "resolve"`},
	} {
		before := s.number("SELECT count(*) FROM api_keys")
		got := s.call(c.key, "POST", project+"/keys", c.body, loosely, "1")
		if got.status != c.status || !strings.Contains(got.message(), c.says) {
			t.Errorf("%s: %d %s", c.body, got.status, got.body)
		}
		if s.number("SELECT count(*) FROM api_keys") != before {
			t.Errorf("%s made a key", c.body)
		}
	}
}

// TestKeyMadeOnce: the secret is told once, whatever is repeated.
// TestNobodyGivesWhatTheyLack: who only manages makes no key and no embed by which others read or answer.
func TestNobodyGivesWhatTheyLack(t *testing.T) {
	s := newSite(t)
	agent, _ := s.newAgent("swe")
	manager := s.newKey(interaction.OperatorPrincipal, "manager", interaction.ScopeManage)
	for path, body := range map[string]string{
		"/keys":   `{"kind":"agent_key","name":"reader","agent_id":"` + agent + `"}`,
		"/embeds": newEmbed,
	} {
		if got := s.call(manager, "POST", project+path, body); got.status != http.StatusForbidden || !strings.Contains(string(got.body), "you cannot give") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	read(t, s.call(manager, "POST", project+"/embeds", readEmbed), &struct{ Embed any }{})
	embed := page[api.Embed](t, s.call(s.operator, "GET", project+"/embeds", "")).Data[0].ID
	if got := s.call(manager, "PATCH", project+"/embeds/"+embed, `{"permission":"resolve"}`); got.status != http.StatusForbidden {
		t.Errorf("raised: %d %s", got.status, got.body)
	}
}

func TestKeyMadeOnce(t *testing.T) {
	s := newSite(t)
	const body = `{"kind":"agent_key","name":"ci"}`
	made := s.makes(body, "Idempotency-Key", "one")
	got := s.call(s.operator, "POST", project+"/keys", body, "Idempotency-Key", "one")
	var again api.KeyBody
	read(t, got, &again)
	if got.status != http.StatusOK || again.Secret != "" || again.Key.ID != made.Key.ID || strings.Contains(string(got.body), made.Secret[:20]) {
		t.Errorf("%d %s", got.status, got.body)
	}
	other := s.call(s.operator, "POST", project+"/keys", `{"kind":"agent_key","name":"other"}`, "Idempotency-Key", "one")
	if other.status != http.StatusConflict || other.code() != "idempotency_key_conflict" {
		t.Errorf("%d %s", other.status, other.body)
	}
	if n := s.number("SELECT count(*) FROM admin_events"); n != 1 {
		t.Errorf("%d admin events", n)
	}
}

func TestKeyList(t *testing.T) {
	s := newSite(t)
	var want []string
	for _, body := range []string{`{"kind":"agent_key","name":"a"}`, `{"kind":"operator_key","name":"b","scopes":["audit"]}`, `{"kind":"agent_key","name":"c"}`} {
		s.clock.Advance(time.Second)
		want = append(want, s.makes(body).Key.ID)
	}
	s.revokes(want[0])
	s.revokes(want[0]) // again
	list := page[api.Key](t, s.call(s.operator, "GET", project+"/keys?order=desc&limit=2", ""))
	if len(list.Data) != 2 || list.Data[0].ID != want[2] || list.Data[1].ID != want[1] || list.NextCursor == nil {
		t.Fatalf("%+v", list)
	}
	list = page[api.Key](t, s.call(s.operator, "GET", project+"/keys?order=desc&limit=2&cursor="+*list.NextCursor, ""))
	if len(list.Data) == 0 || list.Data[0].ID != want[0] || list.Data[0].RevokedAt == nil {
		t.Errorf("%+v", list.Data)
	}
	all := string(s.call(s.operator, "GET", project+"/keys", "").body)
	if strings.Contains(all, "sayso_") || strings.Contains(all, "hash") {
		t.Errorf("it tells too much: %s", all)
	}
	if n := s.number("SELECT count(*) FROM audit_entries WHERE entry LIKE '%key_revoked%'"); n != 1 {
		t.Errorf("%d audit entries of one revocation", n)
	}
}

// TestKeyUse checks that the last use is noted, at most once a minute, and that looking at a key is no use.
func TestKeyUse(t *testing.T) {
	s := newSite(t)
	made := s.makes(`{"kind":"operator_key","name":"reader","scopes":["read"]}`)
	used := func() int {
		s.settle()
		return s.number("SELECT coalesce(used_at, 0) FROM api_keys WHERE id = ?", made.Key.ID)
	}
	if used() != 0 {
		t.Error("used before it was")
	}
	call := func() { s.call(made.Secret, "GET", "/api/v1/me", "") }
	call()
	first := used()
	if first != int(s.clock.Now().UnixMilli()) {
		t.Errorf("%d", first)
	}
	for range 5 {
		s.clock.Advance(10 * time.Second)
		call()
	}
	if got := used(); got != first {
		t.Errorf("noted again after %d ms", got-first)
	}
	s.clock.Advance(11 * time.Second)
	call()
	if got := used(); got != first+61_000 {
		t.Errorf("after a minute: %d", got-first)
	}
}

// TestKeysStayInTheirProject: an operator key that an admin made does nothing anywhere else, and makes no link that signs the owner in.
func TestKeysStayInTheirProject(t *testing.T) {
	s := newSite(t)
	other := s.otherProject()
	made := s.makes(`{"kind":"operator_key","name":"all","scopes":["read","resolve","manage","audit","embed"]}`).Secret
	_, path := s.newAgent("swe")
	i, _ := s.asks(path, bash)
	if got := s.call(made, "POST", "/api/v1/signin-links", ""); got.status != http.StatusForbidden {
		t.Errorf("a link for the owner: %d %s", got.status, got.body)
	}
	unknown := s.call(made, "GET", "/api/v1/orgs/default/projects/proj_"+strings.Repeat("a", 26)+"/agents", "")
	for _, route := range everyRoute {
		if !strings.HasPrefix(route.path, "/api/v1/orgs/:org/projects/:project") {
			continue
		}
		at := place{"default", other, i.AgentID, i.ID}.of(route.path)
		at = strings.NewReplacer(":input", "ain_"+strings.Repeat("a", 26), ":call", "tcl_"+strings.Repeat("a", 26), ":actor", "actr_"+strings.Repeat("a", 26),
			":key", "key_"+strings.Repeat("a", 26), ":embed", "emb_"+strings.Repeat("a", 26)).Replace(at)
		got := s.call(made, route.method, at, route.body)
		if got.status != http.StatusNotFound || string(got.body) != string(unknown.body) {
			t.Errorf("%s %s: %d %s", route.method, at, got.status, got.body)
		}
	}
}

// TestDefaultIsTheKeysProject: programs are not told where they work, by REST, by MCP and by hooks.
func TestDefaultIsTheKeysProject(t *testing.T) {
	s := newSite(t)
	other := s.otherProject()
	there := "/api/v1/orgs/default/projects/" + other
	var made api.KeyBody
	read(t, s.call(s.operator, "POST", there+"/keys", `{"kind":"agent_key","name":"ci"}`), &made)
	if got := s.call(made.Secret, "POST", project+"/agents", `{"name":"swe"}`).agent(t); got.ProjectID != made.Key.ProjectID || got.ProjectID == string(s.project.ID) {
		t.Errorf("%+v", got)
	}
	hook := strings.Replace(notified, "Notification", "UserPromptSubmit", 1)
	hook = strings.Replace(hook, `"message":"Hello","notification_type":"auth_success"`, `"prompt":"Hello"`, 1)
	if got := s.call(made.Secret, "POST", "/hooks/claude?agent=hooked", hook); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	agents := page[api.Agent](t, s.call(s.operator, "GET", there+"/agents", ""))
	if len(agents.Data) != 2 {
		t.Errorf("the agents there: %+v", agents.Data)
	}
	if here := page[api.Agent](t, s.call(s.operator, "GET", project+"/agents", "")); len(here.Data) != 0 {
		t.Errorf("the agents here: %+v", here.Data)
	}
}

// otherProject is the slug of a second project.
func (s *site) otherProject() string {
	s.t.Helper()
	s.exec("INSERT INTO projects (org, id, slug, name, created_at) SELECT key, ?, 'other', 'Other', 1 FROM orgs", interaction.NewID(interaction.ProjectPrefix, s.clock.Now()))
	return "other"
}

// TestRevokedWhileWaiting: whoever waits with a key is told within a second of its end, what they asked stays open, and others wait on. It is
// told at once by the process that revokes, and by looking again when another one did.
func TestRevokedWhileWaiting(t *testing.T) {
	ends := map[string]func(s *site, id string){
		"here": (*site).revokes,
		"elsewhere": func(s *site, id string) {
			s.exec("UPDATE api_keys SET revoked_at = 1 WHERE id = ?", id)
			s.clock.Advance(time.Second)
			s.gate.Recheck()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			_, path := s.newAgent("swe")
			made := s.makes(`{"kind":"agent_key","name":"asker"}`)
			asked := s.call(made.Secret, "POST", path+"/interactions", bash).interaction(t)
			at := path + "/interactions/" + asked.ID
			waits, claims, other := s.wait(made.Secret, at), s.waitsToClaim(made.Secret, path), s.wait(s.operator, at)
			s.gate.Recheck()
			waits.stillWaits()
			claims.stillWaits()
			end(s, made.Key.ID)
			for what, p := range map[string]pending{"wait": waits, "claim": claims} {
				if got := p.ends(); got.status != http.StatusUnauthorized || got.code() != "unauthorized" || got.header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("%s: %d %s", what, got.status, got.body)
				}
			}
			other.stillWaits()
			if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" {
				t.Errorf("it is %s", got.State)
			}
			s.call(s.operator, "POST", at+"/resolve", allow)
			if got := other.ends(); got.status != http.StatusOK {
				t.Errorf("the other: %d %s", got.status, got.body)
			}
		})
	}
}

// waitsToClaim starts a waiting claim.
func (s *site) waitsToClaim(key, path string) pending {
	s.t.Helper()
	for len(s.waits.arrived) > 0 {
		<-s.waits.arrived
	}
	p := pending{s, make(chan answer, 1)}
	go func() {
		a, err := s.try(key, "POST", path+"/inputs/claim?wait_secs=55", "")
		if err != nil {
			s.t.Error(err)
		}
		p.answer <- a
	}()
	<-s.waits.arrived
	return p
}

// TestRevokedWhileStreaming: streams of a key that is revoked in this process end at once.
func TestRevokedWhileStreaming(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	made := s.makes(`{"kind":"operator_key","name":"reader","scopes":["read"]}`)
	conversation, lifecycle := s.streams(made.Secret, path+"/events/stream"), s.streams(made.Secret, project+"/events/stream")
	s.reports(path, says)
	if got := conversation.next(); got.event != "model_output" {
		t.Errorf("%+v", got)
	}
	s.revokes(made.Key.ID)
	for _, st := range []*stream{conversation, lifecycle} {
		if rest := st.ends(); rest != nil {
			t.Errorf("before the end: %+v", rest)
		}
	}
}

// TestRevokedWhileHooked: a gate hook that waits is denied, and its card stays open.
func TestRevokedWhileHooked(t *testing.T) {
	s := newSite(t)
	made := s.makes(`{"kind":"agent_key","name":"claude"}`)
	const call = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"}}`
	p := pending{s, make(chan answer, 1)}
	go func() {
		a, err := s.try(made.Secret, "POST", "/hooks/claude?agent=swe", call)
		if err != nil {
			t.Error(err)
		}
		p.answer <- a
	}()
	<-s.waits.arrived
	s.revokes(made.Key.ID)
	if got := p.ends(); got.status != http.StatusOK || !strings.Contains(string(got.body), `"deny"`) || strings.Contains(string(got.body), "sayso_agt_") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := s.number("SELECT count(*) FROM interactions WHERE state = 'open'"); n != 1 {
		t.Errorf("%d are open", n)
	}
}

// TestRevokedOverMCP: a call that waits ends with an error in MCP's own form, a stream that waits for nothing in particular ends too, and what was
// asked stays open.
func TestRevokedOverMCP(t *testing.T) {
	s := newSite(t)
	made := s.makes(`{"kind":"agent_key","name":"claude"}`)
	began := s.call(made.Secret, "POST", "/mcp", hail, mcpHeaders...)
	inSession := append([]string{"Mcp-Session-Id", began.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}, mcpHeaders...)
	s.call(made.Secret, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, inSession...)
	standing, _ := http.NewRequestWithContext(t.Context(), "GET", s.http.URL+"/mcp", nil)
	standing.Header = http.Header{"Authorization": {"Bearer " + made.Secret}, "Accept": {"text/event-stream"}, "Mcp-Session-Id": {inSession[1]}, "Mcp-Protocol-Version": {"2025-11-25"}}
	stream, err := http.DefaultClient.Do(standing)
	must(t, err)
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		t.Fatal(stream.Status)
	}
	called := make(chan string, 1)
	go func() {
		_, body := s.whole(made.Secret, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{"question":"May I?","wait":"block"}}}`, inSession)
		called <- body
	}()
	<-s.waits.arrived
	s.revokes(made.Key.ID)
	if got := <-called; !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "revoked") || strings.Contains(got, made.Secret) {
		t.Errorf("the call: %s", got)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream: %v", err)
	}
	if n := s.number("SELECT count(*) FROM interactions WHERE state = 'open'"); n != 1 {
		t.Errorf("%d are open", n)
	}
}

// TestRevokedServerKeyNames: a key that somebody named as the server names its own is not taken away by the next start.
func TestRevokedServerKeyNames(t *testing.T) {
	s := newSite(t)
	made := s.makes(`{"kind":"agent_key","name":"agent key of this machine"}`)
	secret := auth.NewSecret(interaction.AgentPrincipal)
	key := auth.StoredKey(secret, "agent key of this machine", interaction.NewID(interaction.KeyPrefix, s.clock.Now()))
	key.Project = s.project.ID
	must(t, s.store.ReplaceKey(t.Context(), key, s.clock.Now()))
	s.clock.Advance(time.Second)
	if got := s.call(made.Secret, "GET", "/api/v1/me", ""); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}

const keysPath = "/projects/default/settings/keys"

// secretOn finds the secret that a page shows; "" if it shows none.
func secretOn(a answer) string {
	for _, word := range strings.Fields(wording(a)) {
		if auth.WellFormedKey(word) {
			return word
		}
	}
	return ""
}

func TestKeysPage(t *testing.T) {
	s := newSite(t)
	agent, _ := s.newAgent("swe")
	owner := []string{"Cookie", strings.SplitN(s.signedIn().String(), ";", 2)[0]}
	if got := s.call("", "GET", keysPath, "", owner...); got.status != http.StatusOK || !strings.Contains(string(got.body), `<option value="swe">`) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	const form = "kind=agent_key&name=%3Cb%3Elaptop&agent=swe&once=1"
	made := s.post(keysPath, form, owner...)
	secret := secretOn(made)
	if made.status != http.StatusOK || secret == "" || strings.Contains(string(made.body), "<b>laptop") || made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", made.status, wording(made))
	}
	var me api.Me
	read(t, s.call(secret, "GET", "/api/v1/me", ""), &me)
	if me.AgentID != agent {
		t.Errorf("%+v", me)
	}
	again := s.post(keysPath, form, owner...)
	if again.status != http.StatusOK || secretOn(again) != "" || !strings.Contains(wording(again), "This form was sent before") {
		t.Errorf("%d %s", again.status, wording(again))
	}
	if got := s.call("", "GET", keysPath, "", owner...); secretOn(got) != "" || !strings.Contains(wording(got), "…"+secret[len(secret)-4:]) || !strings.Contains(wording(got), "by Dana") {
		t.Errorf("%s", wording(got))
	}

	operator := s.post(keysPath, "kind=operator_key&name=relay&scope=read&scope=resolve", owner...)
	read(t, s.call(secretOn(operator), "GET", "/api/v1/me", ""), &me)
	if !slices.Equal(me.Scopes, []string{"read", "resolve"}) {
		t.Errorf("%+v", me)
	}
	for form, says := range map[string]string{
		"kind=agent_key&name=":                 "No key was made. name: 1 to 100",
		"kind=agent_key&name=kept&agent=nope":  "no active agent with this key or name",
		"kind=operator_key&name=kept":          "scopes: an operator key needs",
		"kind=operator_key&name=x&scope=chaos": "scopes: &#34;chaos&#34; is unknown",
		"name=x":                               "kind: ",
	} {
		if got := s.post(keysPath, form, owner...); got.status != http.StatusBadRequest || secretOn(got) != "" || !strings.Contains(string(got.body), says) {
			t.Errorf("%s: %d %s", form, got.status, wording(got))
		}
	}

	if got := s.post(keysPath+"/"+me.ID+"/revoke", "", owner...); got.status != http.StatusSeeOther || got.header.Get("Location") != keysPath {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.call(secretOn(operator), "GET", "/api/v1/me", ""); got.status != http.StatusUnauthorized {
		t.Errorf("right after: %d", got.status)
	}
	if got := wording(s.call("", "GET", keysPath, "", owner...)); !strings.Contains(got, "Revoked") {
		t.Errorf("%s", got)
	}
}

// TestSignedOutSocket: the page of a session that ends in this process is told at once.
func TestSignedOutSocket(t *testing.T) {
	s := newSite(t)
	cookie := s.signedIn()
	conn := s.dialLive(cookie)
	if got := s.post("/signout", "", "Cookie", cookie.Name+"="+cookie.Value); got.status != http.StatusSeeOther {
		t.Fatalf("%d", got.status)
	}
	must(t, conn.SetReadDeadline(time.Now().Add(4*time.Second))) // sockets look by themselves after five
	for {
		_, _, err := conn.ReadMessage()
		if websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (s *site) dialLive(cookie *http.Cookie) *websocket.Conn {
	s.t.Helper()
	header := http.Header{"Origin": {s.http.URL}, "Cookie": {cookie.Name + "=" + cookie.Value}}
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.http.URL, "http")+"/projects/default/live", header)
	must(s.t, err)
	s.t.Cleanup(func() { conn.Close() })
	return conn
}
