package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

const (
	newEmbed  = `{"name":"Portal","permission":"resolve","origins":["https://portal.example"]}`
	readEmbed = `{"name":"Portal","permission":"read","origins":["https://portal.example"]}`
	vouched   = `{"subject":"u1","name":"Dana","origin":"https://portal.example"}`
)

// register registers an app and gives its id.
func (s *site) register(body string) string {
	s.t.Helper()
	a := s.call(s.operator, "POST", project+"/embeds", body)
	var made api.EmbedBody
	if read(s.t, a, &made); a.status != http.StatusCreated {
		s.t.Fatalf("register: %d %s", a.status, a.body)
	}
	return made.Embed.ID
}

func (c *cast) embedded() string { return c.register(newEmbed) }

// token vouches for somebody.
func (s *site) token(embed, body string) string {
	s.t.Helper()
	a := s.call(s.operator, "POST", project+"/embeds/"+embed+"/tokens", body)
	var made api.EmbedToken
	if read(s.t, a, &made); a.status != http.StatusCreated {
		s.t.Fatalf("token: %d %s", a.status, a.body)
	}
	return made.Token
}

// exchange gives a token to the frame.
func (s *site) exchange(embed, body string, headers ...string) answer {
	s.t.Helper()
	return s.call("", "POST", "/embed/"+embed+"/session", body, headers...)
}

// guest is a session in a frame.
type guest struct {
	*site
	embed, session string
}

// admitted is the session of somebody who was vouched for.
func (s *site) admitted(embed, body string) guest {
	s.t.Helper()
	a := s.exchange(embed, `{"token":"`+s.token(embed, body)+`","origin":"https://portal.example"}`)
	var made struct{ Session string }
	if read(s.t, a, &made); a.status != http.StatusCreated || made.Session == "" {
		s.t.Fatalf("exchange: %d %s", a.status, a.body)
	}
	return guest{s, embed, made.Session}
}

// in calls what a frame calls.
func (g guest) in(method, path, form string) answer {
	g.t.Helper()
	return g.call("", method, "/embed/"+g.embed+path, form, "Sayso-Embed-Session", g.session, "Content-Type", "application/x-www-form-urlencoded")
}

func (g guest) answers(i api.Interaction, form string) answer {
	g.t.Helper()
	return g.in("POST", "/interactions/"+i.ID+"/resolve", form+"&digest="+i.Digest)
}

func TestEmbedsOverREST(t *testing.T) {
	s := newSite(t)
	first := s.call(s.operator, "POST", project+"/embeds", newEmbed, "Idempotency-Key", "one")
	again := s.call(s.operator, "POST", project+"/embeds", newEmbed, "Idempotency-Key", "one")
	other := s.call(s.operator, "POST", project+"/embeds", `{"name":"Other","origins":["https://other.example"]}`, "Idempotency-Key", "one")
	if first.status != 201 || again.status != 200 || string(first.body) != string(again.body) || other.code() != "idempotency_key_conflict" {
		t.Fatalf("%d %s, then %d %s, then %d %s", first.status, first.body, again.status, again.body, other.status, other.body)
	}
	var made api.EmbedBody
	read(t, first, &made)
	if e := made.Embed; !e.Enabled || e.Permission != "resolve" || e.OpenInSayso || len(e.Agents) != 0 || e.ProjectID != string(s.project.ID) {
		t.Errorf("%+v", e)
	}
	at := project + "/embeds/" + made.Embed.ID
	agent, _ := s.newAgent("swe")
	changed := s.call(s.operator, "PATCH", at, `{"name":"Portal 2","agents":["`+agent+`"],"permission":"read","open_in_sayso":true,"enabled":false}`)
	if read(t, changed, &made); changed.status != 200 || made.Embed.Name != "Portal 2" || made.Embed.Agents[0] != agent || made.Embed.Enabled || !made.Embed.OpenInSayso || made.Embed.Permission != "read" {
		t.Errorf("%d %s", changed.status, changed.body)
	}
	if list := page[api.Embed](t, s.call(s.operator, "GET", project+"/embeds", "")); len(list.Data) != 1 || list.Data[0].Name != "Portal 2" || list.NextCursor != nil {
		t.Errorf("%+v", list)
	}
	if got := s.call(s.operator, "PATCH", at, `{}`); got.status != 200 {
		t.Errorf("no change: %d %s", got.status, got.body)
	}
	if got := s.call(s.operator, "DELETE", at, ""); got.status != 204 {
		t.Errorf("delete: %d %s", got.status, got.body)
	}
	for _, method := range []string{"PATCH", "DELETE"} {
		body := map[string]string{"PATCH": `{}`}[method]
		if got := s.call(s.operator, method, at, body); got.code() != "not_found" {
			t.Errorf("%s of what is deleted: %d %s", method, got.status, got.body)
		}
	}
	var actions []string
	rows, err := s.database().Query("SELECT json_extract(record, '$.action') || ' ' || coalesce(json_extract(record, '$.detail.enabled'), '') || ' ' || json_extract(record, '$.subject.name') FROM admin_events ORDER BY sequence")
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var action string
		must(t, rows.Scan(&action))
		actions = append(actions, action)
	}
	if got := strings.Join(actions, ", "); got != "embed_created true Portal, embed_changed false Portal 2, embed_removed  Portal 2" {
		t.Errorf("admin events: %s", got)
	}
	if n, err := s.store.Verify(t.Context(), s.project.ID); n.Entries != 3 || err != nil {
		t.Errorf("%d entries: %v", n.Entries, err)
	}
}

func TestBadEmbeds(t *testing.T) {
	s := newSite(t)
	elsewhere := s.secondProject()
	embed := s.register(newEmbed)
	for _, c := range []struct{ method, path, body, code string }{
		{"POST", "", `{"name":"","origins":["https://a"]}`, "validation_failed"},
		{"POST", "", `{"name":"x","origins":[]}`, "validation_failed"},
		{"POST", "", `{"name":"x","origins":["https://*.example"]}`, "validation_failed"},
		{"POST", "", `{"name":"x","origins":["http://localhost:3000"]}`, "validation_failed"}, // this server says nothing of loopback
		{"POST", "", `{"name":"x","origins":["https://a"],"permission":"audit"}`, "validation_failed"},
		{"POST", "", `{"name":"x","origins":["https://a"],"agents":["agt_` + strings.Repeat("a", 26) + `"]}`, "invalid_request"},
		{"POST", "", `{"name":"x","origins":["https://a"],"agents":["` + elsewhere.agent + `"]}`, "invalid_request"},
		{"POST", "", `{"name":"x","origins":["https://a"],"secret":"x"}`, "validation_failed"},
		{"PATCH", "/" + embed, `{"origins":["https://a/"]}`, "validation_failed"},
		{"PATCH", "/" + embed, `{"agents":["` + elsewhere.agent + `"]}`, "invalid_request"},
		{"POST", "/" + embed + "/tokens", `{"subject":"","name":"Dana","origin":"https://portal.example"}`, "validation_failed"},
		{"POST", "/" + embed + "/tokens", `{"subject":"u1","name":"Dana","origin":"https://evil.example"}`, "invalid_request"},
		{"POST", "/" + embed + "/tokens", `{"subject":"u1","name":"Dana","origin":"https://portal.example","expires_in_secs":301}`, "validation_failed"},
		{"POST", "/" + embed + "/tokens", `{"subject":"u1","name":"Dana","origin":"https://portal.example","expires_in_secs":0}`, "validation_failed"},
		{"POST", "/" + embed + "/tokens", `{"subject":"u1","name":"Dana","origin":"https://portal.example","agents":["` + elsewhere.agent + `"]}`, "invalid_request"},
	} {
		if got := s.call(s.operator, c.method, project+"/embeds"+c.path, c.body); got.code() != c.code {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
	}
	second := "/api/v1/orgs/default/projects/second/embeds/" + embed
	for _, c := range []struct{ method, path, body string }{{"PATCH", second, `{}`}, {"DELETE", second, ""}, {"POST", second + "/tokens", vouched}} {
		if got := s.call(s.operator, c.method, c.path, c.body); got.code() != "not_found" {
			t.Errorf("%s in another project: %d %s", c.method, got.status, got.body)
		}
	}
	s.call(s.operator, "PATCH", project+"/embeds/"+embed, `{"enabled":false}`)
	if got := s.call(s.operator, "POST", project+"/embeds/"+embed+"/tokens", vouched); got.code() != "conflict" {
		t.Errorf("a token of a disabled embed: %d %s", got.status, got.body)
	}
}

// TestMalformedTokens: whatever is no token is refused in the same words, and writes nothing.
func TestMalformedTokens(t *testing.T) {
	s := newSite(t)
	embed := s.register(newEmbed)
	good := s.token(embed, vouched)
	of := func(n int, text string) string { return strings.Repeat(text, n) }
	bad := []string{
		"", " ", "x", "null", "0", "true", "sayso_emt_", "sayso_emt", "SAYSO_EMT_" + good[10:], strings.ToUpper(good), strings.ToLower(good) + "x",
		good[:len(good)-1], good + "A", good + "=", " " + good, good + " ", good + "\\n", good + "\\u0000", "\\u0000", good[10:], good + good,
		"Bearer " + good, s.operator, s.agent, "sayso_op_" + good[10:], good + "." + good, "e30.e30.", "eyJhbGciOiJub25lIn0.e30.", "' OR 1=1 --",
		"../" + good, "%2e%2e", "sayso_emt_" + of(43, "A"), "sayso_emt_" + of(43, "-"), "sayso_emt_" + of(43, "é"), "sayso_emt_" + of(1000, "A"),
		of(100_000, "A"), "{}", "[]", "sayso_emt_" + of(43, "\\u202e"), embed, "\\ud83d\\ude00",
	}
	if len(bad) < 40 {
		t.Fatalf("only %d", len(bad))
	}
	before, first := s.number("SELECT count(*) FROM embed_tokens"), ""
	for _, token := range bad {
		got := s.exchange(embed, `{"token":"`+token+`","origin":"https://portal.example"}`)
		text := fmt.Sprintf("%d %s", got.status, got.body)
		if first == "" {
			first = text
		}
		if got.status != http.StatusUnauthorized || text != first {
			t.Errorf("%.80q: %s, want %s", token, text, first)
		}
	}
	for _, body := range []string{"", "x", "{}x", `{"token":1}`, `{"token":["` + good + `"]}`, `{"token":null}`, `{"Token":"` + good + `"}`, `{"token":"` + good + `","token":"` + good + `"}`, `{"token":"` + good + `","admin":true}`} {
		if got := s.exchange(embed, body, "Content-Type", "application/json"); got.code() != "validation_failed" {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	if after := s.number("SELECT count(*) FROM embed_tokens"); after != before {
		t.Errorf("%d tokens are left of %d", after, before)
	}
	if got := s.exchange(embed, `{"token":"`+good+`"}`); got.status != http.StatusCreated {
		t.Errorf("the good one after all that: %d %s", got.status, got.body)
	}
}

// TestTokenIsUsedOnce: of many exchanges of one token at once, exactly one succeeds.
func TestTokenIsUsedOnce(t *testing.T) {
	s := newSite(t)
	embed := s.register(newEmbed)
	for range 20 {
		body := `{"token":"` + s.token(embed, vouched) + `","origin":"https://portal.example"}`
		var won, lost int
		var mu sync.Mutex
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				got, err := s.try("", "POST", "/embed/"+embed+"/session", body)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err != nil:
					t.Error(err)
				case got.status == http.StatusCreated:
					won++
				case got.status == http.StatusUnauthorized:
					lost++
				default:
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
		if wait.Wait(); won != 1 || lost != 7 {
			t.Fatalf("%d exchanges succeeded and %d failed", won, lost)
		}
	}
	if n := s.number("SELECT count(*) FROM embed_tokens"); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
}

// TestTokenIsBound: a token is of one embed, for one site, and for minutes.
func TestTokenIsBound(t *testing.T) {
	s := newSite(t)
	embed := s.register(`{"name":"Portal","origins":["https://portal.example","https://second.example"]}`)
	other := s.register(newEmbed)
	for name, c := range map[string]struct {
		embed, origin string
		wait          time.Duration
		want          int
	}{
		"as it was made":           {embed, "https://portal.example", 0, 201},
		"where nobody can tell":    {embed, "", 0, 201},
		"at its last moment":       {embed, "https://portal.example", 5*time.Minute - time.Second, 201},
		"too late":                 {embed, "https://portal.example", 5 * time.Minute, 401},
		"in another frame":         {other, "https://portal.example", 0, 401},
		"on another site of it":    {embed, "https://second.example", 0, 400},
		"on a site that is not":    {embed, "https://evil.example", 0, 400},
		"in a frame that is not":   {"emb_" + strings.Repeat("a", 26), "https://portal.example", 0, 401},
		"in a frame of no such id": {"emb_x", "https://portal.example", 0, 400},
	} {
		token := s.token(embed, vouched)
		s.clock.Advance(c.wait)
		body := fmt.Sprintf(`{"token":%q,"origin":%q}`, token, c.origin)
		if got := s.exchange(c.embed, body); got.status != c.want {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.want)
		}
		if got := s.exchange(embed, body); got.status != 401 && c.embed != "emb_x" {
			t.Errorf("%s, once more: %d %s", name, got.status, got.body)
		}
	}
}

// TestGuestsAnswer: two people of an app answer, and the record names each and who vouched.
func TestGuestsAnswer(t *testing.T) {
	s := newSite(t)
	embed := s.register(newEmbed)
	agent := askable(s)
	dana, fox := s.admitted(embed, vouched), s.admitted(embed, `{"subject":"u2","name":"Fox","origin":"https://portal.example"}`)
	one, _ := s.asks(agent, bash)
	two, _ := s.asks(agent, bash)
	if got := dana.in("GET", "/cards", ""); got.status != 200 || !strings.Contains(string(got.body), one.ID) || !strings.Contains(string(got.body), two.ID) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := dana.answers(one, "q0=0"); got.status != 200 || !strings.Contains(string(got.body), "Dana, vouched for by Portal") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := fox.answers(two, "q0=1&q0_text=Not+today"); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := dana.answers(two, "q0=0"); got.status != 200 || !strings.Contains(string(got.body), "Your answer was not used") {
		t.Errorf("the loser: %d %s", got.status, got.body)
	}
	for id, want := range map[string]struct{ name, subject string }{one.ID: {"Dana", "u1"}, two.ID: {"Fox", "u2"}} {
		got := s.call(s.operator, "GET", agent+"/interactions/"+id, "").interaction(t)
		if by := got.ResolvedBy; by.Kind != "external" || by.Name != want.name+", vouched for by Portal" || by.Channel != "embed" {
			t.Errorf("%+v", by)
		}
		var who api.ActorBody
		read(t, s.call(s.operator, "GET", project+"/actors/"+got.ResolvedBy.ActorID, ""), &who)
		if a := who.Actor; a.ProviderTenantID != embed || a.ProviderUserID != want.subject || a.DisplayName != want.name {
			t.Errorf("%+v", a)
		}
		var me api.Me
		read(t, s.call(s.operator, "GET", "/api/v1/me", ""), &me)
		if n := s.number(`SELECT count(*) FROM ends e JOIN interactions i ON i.key = e.interaction
			WHERE i.id = ? AND actor_kind = 'external' AND proved_by = 'operator_key' AND credential = ?`, id, me.ID); n != 1 {
			t.Errorf("%s: the end does not name the key that vouched", id)
		}
		if n := s.number(`SELECT count(*) FROM audit_entries WHERE json_extract(entry, '$.interaction_id') = ? AND json_extract(entry, '$.actor.name') = ?
			AND json_extract(entry, '$.actor.channel') = 'embed'`, id, want.name+", vouched for by Portal"); n != 1 {
			t.Errorf("%s: the audit log does not name %s", id, want.name)
		}
	}
	if _, err := s.store.Verify(t.Context(), s.project.ID); err != nil {
		t.Error(err)
	}
}

// TestGuestsAreBound: what is not theirs is not there, and what is beyond answering is refused.
func TestGuestsAreBound(t *testing.T) {
	s := newSite(t)
	mine, path := s.newAgent("mine")
	embed := s.register(`{"name":"Portal","permission":"resolve","origins":["https://portal.example"],"agents":["` + mine + `"]}`)
	shown, _ := s.asks(path, bash)
	hidden, at := s.asks(askable(s), bash)
	second := s.secondProject()
	dana := s.admitted(embed, vouched)
	cards := dana.in("GET", "/cards?have="+hidden.ID+","+second.interaction, "")
	if text := string(cards.body); cards.status != 200 || !strings.Contains(text, shown.ID) || strings.Contains(text, hidden.ID) || strings.Contains(text, second.interaction) {
		t.Errorf("%d %s", cards.status, cards.body)
	}
	if text := string(cards.body); strings.Contains(text, `href="/projects/`) && strings.Count(text, "Open in Sayso") != strings.Count(text, `href="/projects/`) {
		t.Errorf("leads into the dashboard other than by Open in Sayso: %s", text)
	}
	var first answer
	for n, id := range []string{hidden.ID, second.interaction, "int_" + strings.Repeat("b", 26)} {
		got := dana.in("POST", "/interactions/"+id+"/resolve", "q0=0&digest="+hidden.Digest)
		if n == 0 {
			first = got
		}
		if got.status != 404 || string(got.body) != string(first.body) {
			t.Errorf("%s: %d %s", id, got.status, got.body)
		}
	}
	for _, form := range []string{"q0=0&updated_input={}", "q0=0&remember=1", "q0=0&session=1", "q0=0&actor=x", "q0=0&q0_text=x", "", "q0=7", "q0=0&q0=1"} {
		if got := dana.answers(shown, form); got.status != 422 {
			t.Errorf("%s: %d %s", form, got.status, got.body)
		}
	}
	if got := dana.in("POST", "/interactions/"+shown.ID+"/resolve", "q0=0&digest="+strings.Replace(shown.Digest, "sha256:", "sha256:0", 1)); strings.Contains(string(got.body), "card-ended") {
		t.Errorf("another digest: %d %s", got.status, got.body)
	}
	for _, c := range []struct{ name, embed, session string }{
		{"no session", embed, ""}, {"an unknown one", embed, "x"}, {"a key", embed, s.operator}, {"a session of another embed", s.register(newEmbed), dana.session},
		{"a cookie's", embed, s.signedIn().Value},
	} {
		other := guest{s, c.embed, c.session}
		for _, got := range []answer{other.in("GET", "/cards", ""), other.answers(shown, "q0=0")} {
			if got.status != 401 || got.code() != "unauthorized" {
				t.Errorf("%s: %d %s", c.name, got.status, got.body)
			}
		}
	}
	if got := s.call("", "GET", "/embed/"+embed+"/cards", "", "Cookie", s.signedIn().String(), "Authorization", "Bearer "+s.operator); got.status != 401 {
		t.Errorf("a cookie and a key: %d %s", got.status, got.body)
	}
	for _, i := range []string{at, path + "/interactions/" + shown.ID} {
		if got := s.call(s.operator, "GET", i, "").interaction(t); got.State != "open" {
			t.Errorf("%s is %s", i, got.State)
		}
	}
	if got := s.post("/embed/"+embed+"/interactions/"+shown.ID+"/resolve", "q0=0", "Sayso-Embed-Session", dana.session, "Origin", "https://portal.example", "Sec-Fetch-Site", "cross-site"); got.code() != "csrf_check_failed" {
		t.Errorf("from the app's own page: %d %s", got.status, got.body)
	}
}

// TestGuestsWhoLook: a permission to look, of the token or the embed, now or since, answers nothing.
func TestGuestsWhoLook(t *testing.T) {
	s := newSite(t)
	agent := askable(s)
	i, at := s.asks(agent, bash)
	look, answer := s.register(`{"name":"Portal","origins":["https://portal.example"]}`), s.register(newEmbed)
	limited := `{"subject":"u1","name":"Dana","origin":"https://portal.example","permission":"read"}`
	demoted := s.admitted(answer, vouched)
	for name, g := range map[string]guest{"of the embed": s.admitted(look, vouched), "of the token": s.admitted(answer, limited)} {
		if got := g.in("GET", "/cards", ""); got.status != 200 || !strings.Contains(string(got.body), "You may look at this request and not answer it") || strings.Contains(string(got.body), "<form") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		if got := g.answers(i, "q0=1"); got.status != 403 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	s.call(s.operator, "PATCH", project+"/embeds/"+answer, `{"permission":"read"}`)
	s.clock.Advance(time.Second)
	if got := demoted.answers(i, "q0=0"); got.status != 403 {
		t.Errorf("since: %d %s", got.status, got.body)
	}
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" {
		t.Errorf("it is %s", got.State)
	}
}

// TestAllowElsewhere: where the embed has people allow in the dashboard, the frame denies and never allows.
func TestAllowElsewhere(t *testing.T) {
	s := newSite(t)
	i, at := s.asks(askable(s), bash)
	dana := s.admitted(s.register(`{"name":"Portal","permission":"resolve","open_in_sayso":true,"origins":["https://portal.example"]}`), vouched)
	if got := dana.in("GET", "/cards", ""); !strings.Contains(string(got.body), "Open in Sayso to allow") || strings.Contains(string(got.body), "data-allow") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := dana.answers(i, "q0=0"); got.status != 403 {
		t.Errorf("allow: %d %s", got.status, got.body)
	}
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" {
		t.Fatalf("it is %s", got.State)
	}
	if got := dana.answers(i, "q0=1"); got.status != 200 {
		t.Errorf("deny: %d %s", got.status, got.body)
	}
}

// TestGuestSessionsEnd: of themselves, with the embed, and with the key; and they do not come back.
func TestGuestSessionsEnd(t *testing.T) {
	s := newSite(t)
	i, _ := s.asks(askable(s), bash)
	works := func(g guest) int { return g.in("GET", "/cards", "").status }
	embed := s.register(newEmbed)

	idle := s.admitted(embed, vouched)
	for range 3 { // what the page does by itself keeps nothing alive
		s.clock.Advance(4 * time.Minute)
		if works(idle) != 200 {
			t.Fatal("ended too early")
		}
	}
	if ends := idle.in("GET", "/cards", "").header.Get("Sayso-Session-Ends-In"); ends != "180" {
		t.Errorf("ends in %s s", ends)
	}
	s.clock.Advance(3 * time.Minute)
	if got := works(idle); got != 401 {
		t.Errorf("after 15 minutes: %d", got)
	}

	busy := s.admitted(embed, vouched)
	for at := time.Duration(0); at < 8*time.Hour-14*time.Minute; at += 14 * time.Minute {
		if got := busy.answers(i, ""); got.status != 422 {
			t.Fatalf("%v: %d %s", at, got.status, got.body)
		}
		s.clock.Advance(14 * time.Minute)
	}
	s.clock.Advance(14 * time.Minute)
	if got := works(busy); got != 401 {
		t.Errorf("after 8 hours: %d", got)
	}

	renewed := s.admitted(embed, vouched)
	a := s.exchange(embed, `{"token":"`+s.token(embed, vouched)+`"}`, "Sayso-Embed-Session", renewed.session)
	if a.status != 201 || works(renewed) != 401 {
		t.Errorf("the session before a renewal goes on: %d", a.status)
	}

	disabled := s.admitted(embed, vouched)
	s.call(s.operator, "PATCH", project+"/embeds/"+embed, `{"enabled":false}`)
	s.clock.Advance(time.Second)
	if got := disabled.in("GET", "/cards", ""); got.status != 403 {
		t.Errorf("disabled: %d %s", got.status, got.body)
	}
	s.call(s.operator, "PATCH", project+"/embeds/"+embed, `{"enabled":true}`)
	s.clock.Advance(time.Second)
	if got := works(disabled); got == 200 {
		t.Error("it came back")
	}

	key := s.newKey(interaction.OperatorPrincipal, "portal", interaction.ScopeEmbed)
	operator := s.operator
	s.operator = key
	revoked := s.admitted(embed, vouched)
	pending := s.token(embed, vouched)
	s.operator = operator
	s.exec("UPDATE api_keys SET revoked_at = 1 WHERE name = 'portal'")
	s.clock.Advance(time.Second)
	if got := works(revoked); got != 403 {
		t.Errorf("the key is revoked: %d", got)
	}
	if got := s.exchange(embed, `{"token":"`+pending+`"}`); got.status != 403 {
		t.Errorf("a token of a revoked key: %d %s", got.status, got.body)
	}

	removed := s.admitted(embed, vouched)
	pending = s.token(embed, vouched)
	s.call(s.operator, "DELETE", project+"/embeds/"+embed, "")
	s.clock.Advance(time.Second)
	if got := works(removed); got != 403 {
		t.Errorf("deleted: %d", got)
	}
	if got := s.exchange(embed, `{"token":"`+pending+`"}`); got.status != 401 {
		t.Errorf("a token of a deleted embed: %d %s", got.status, got.body)
	}
}
