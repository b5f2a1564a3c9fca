package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// TestCreateAgent checks what an agent becomes, field by field, and that reading it gives the same.
func TestCreateAgent(t *testing.T) {
	s := newSite(t)
	now := api.Time{Time: s.clock.Now()}
	for _, c := range []struct {
		name, body string
		want       api.Agent
	}{
		{"a name only", `{"name":"SWE"}`, api.Agent{Name: "SWE", Key: "swe"}},
		{"a name with blanks around it", `{"name":"  Release bot\n"}`, api.Agent{Name: "Release bot", Key: "release-bot"}},
		{"a key of its own", `{"name":"Anything","key":"QA_2.x-y"}`, api.Agent{Name: "Anything", Key: "QA_2.x-y"}},
		{"letters that a page must escape", `{"name":"<b>&\"é🙂","key":"odd"}`, api.Agent{Name: `<b>&"é🙂`, Key: "odd"}},
		{
			"everything", `{"name":"Full","profile":" claude ","metadata":{"team":"platform","empty":""},` + destinationJSON + `}`,
			api.Agent{
				Name: "Full", Key: "full", Profile: "claude", Metadata: map[string]string{"team": "platform", "empty": ""},
				Destination: &api.Destination{IntegrationID: "slack", IntegrationTargetID: "C024", HandlerKey: "h1", Conversation: "#releases"},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.call(s.agent, "POST", project+"/agents", c.body)
			made := got.agent(t)
			if got.status != http.StatusCreated || !interaction.ID(made.ID).WellFormed("agt") {
				t.Errorf("%d %s", got.status, got.body)
			}
			c.want.ID, c.want.OrgID, c.want.ProjectID, c.want.State = made.ID, string(s.project.OrgID), string(s.project.ID), "active"
			c.want.CreatedAt, c.want.UpdatedAt = now, now
			if diff := cmp.Diff(c.want, made); diff != "" {
				t.Errorf("made (-want +got):\n%s", diff)
			}
			for _, key := range []string{s.agent, s.operator} {
				if diff := cmp.Diff(made, s.call(key, "GET", project+"/agents/"+made.ID, "").agent(t)); diff != "" {
					t.Errorf("read (-made +read):\n%s", diff)
				}
			}
		})
	}
}

// TestAgentKeyIsUnique checks that an agent's own name for itself finds it again, whoever asks, and changes nothing.
func TestAgentKeyIsUnique(t *testing.T) {
	s := newSite(t)
	first := s.call(s.agent, "POST", project+"/agents", `{"name":"SWE","metadata":{"a":"1"}}`).agent(t)
	s.clock.Advance(time.Minute)
	before := s.writes()
	for _, body := range []string{`{"name":"SWE"}`, `{"name":"swe"}`, `{"name":"Another","key":"swe","metadata":{"b":"2"}}`, `{"name":"S.W.E","key":"swe"}`} {
		got := s.call(s.operator, "POST", project+"/agents", body)
		if diff := cmp.Diff(first, got.agent(t)); got.status != http.StatusOK || diff != "" {
			t.Errorf("%s: %d (-first +got):\n%s", body, got.status, diff)
		}
	}
	if s.writes() != before {
		t.Error("something was written")
	}
	if got := s.call(s.agent, "POST", project+"/agents", `{"name":"x","key":"SWE"}`); got.status != http.StatusCreated {
		t.Errorf("a key in another case is another agent: %d", got.status)
	}
}

// TestAgentNamesOfOtherScripts checks that names without a Latin letter make different agents: they have the same slug, which is none.
func TestAgentNamesOfOtherScripts(t *testing.T) {
	s := newSite(t)
	keys := map[string]string{}
	for _, name := range []string{"代码", "评审", "агент", "агент 2", "Über", "Ober", "ber", "🙂", "!?", strings.Repeat("n", 101), strings.Repeat("n", 102), strings.Repeat("n", 100)} {
		got := s.call(s.agent, "POST", project+"/agents", fmt.Sprintf(`{"name":%q}`, name))
		key := got.agent(t).Key
		if other, taken := keys[key]; got.status != http.StatusCreated || taken {
			t.Errorf("%s: %d, key %q, also of %q", name, got.status, key, other)
		}
		keys[key] = name
		if again := s.call(s.agent, "POST", project+"/agents", fmt.Sprintf(`{"name":%q}`, name)); again.status != http.StatusOK || again.agent(t).Key != key {
			t.Errorf("%s again: %d %s", name, again.status, again.body)
		}
	}
}

// TestUpdateAgent checks that a patch changes what it names and nothing else.
func TestUpdateAgent(t *testing.T) {
	s := newSite(t)
	first := s.call(s.agent, "POST", project+"/agents", `{"name":"SWE","profile":"claude","metadata":{"a":"1","b":"2"},`+destinationJSON+`}`).agent(t)
	path := project + "/agents/" + first.ID
	for _, c := range []struct {
		name, body string
		change     func(*api.Agent)
	}{
		{"nothing", `{}`, func(*api.Agent) {}},
		{"the name", `{"name":" Release bot "}`, func(a *api.Agent) { a.Name = "Release bot" }},
		{"metadata, as a whole", `{"metadata":{"c":"3"}}`, func(a *api.Agent) { a.Metadata = map[string]string{"c": "3"} }},
		{"metadata, to none", `{"metadata":{}}`, func(a *api.Agent) { a.Metadata = nil }},
		{"the destination, as a whole", `{"destination":{"integration_id":"teams"}}`, func(a *api.Agent) { a.Destination = &api.Destination{IntegrationID: "teams"} }},
		{"all", `{"name":"SWE","metadata":{"d":"4"},"destination":{"integration_id":"x","conversation":"y"}}`, func(a *api.Agent) {
			a.Name, a.Metadata, a.Destination = "SWE", map[string]string{"d": "4"}, &api.Destination{IntegrationID: "x", Conversation: "y"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := s.call(s.operator, "GET", path, "").agent(t)
			c.change(&want)
			s.clock.Advance(time.Second)
			want.UpdatedAt = api.Time{Time: s.clock.Now()}
			got := s.call(s.operator, "PATCH", path, c.body)
			if diff := cmp.Diff(want, got.agent(t)); got.status != http.StatusOK || diff != "" {
				t.Errorf("%d (-want +got):\n%s", got.status, diff)
			}
			if diff := cmp.Diff(want, s.call(s.operator, "GET", path, "").agent(t)); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

// TestListAgents checks the filters.
func TestListAgents(t *testing.T) {
	s := newSite(t)
	for _, body := range []string{`{"name":"SWE"}`, `{"name":"Reviewer"}`, `{"name":"Reviewer","key":"reviewer-2"}`, `{"name":"Old"}`} {
		s.call(s.agent, "POST", project+"/agents", body)
		s.clock.Advance(time.Millisecond)
	}
	s.exec("UPDATE agents SET state = 'archived', archived_at = 1764504000000 WHERE slug = 'old'") // no route archives yet
	for _, c := range []struct{ query, keys string }{
		{"", "swe reviewer reviewer-2 old"},
		{"order=asc", "swe reviewer reviewer-2 old"},
		{"order=desc", "old reviewer-2 reviewer swe"},
		{"name=Reviewer", "reviewer reviewer-2"},
		{"name=reviewer", ""},
		{"name=Review", ""},
		{"name=Reviewer&key=reviewer-2", "reviewer-2"},
		{"key=swe", "swe"},
		{"key=SWE", ""},
		{"state=active", "swe reviewer reviewer-2"},
		{"state=archived", "old"},
		{"state=archived&key=swe", ""},
	} {
		var keys []string
		for _, a := range page[api.Agent](t, s.call(s.operator, "GET", project+"/agents?"+c.query, "")).Data {
			keys = append(keys, a.Key)
		}
		if got := strings.Join(keys, " "); got != c.keys {
			t.Errorf("%s: %s, want %s", c.query, got, c.keys)
		}
	}
}

// TestArchivedAgent checks that an archived agent can be read and can no longer ask.
func TestArchivedAgent(t *testing.T) {
	s := newSite(t)
	id, path := s.newAgent("old")
	once := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "before")
	s.exec("UPDATE agents SET state = 'archived', archived_at = 1764504000000 WHERE id = ?", id)
	if got := s.call(s.operator, "GET", path, "").agent(t); got.State != "archived" || got.ArchivedAt == nil {
		t.Errorf("read: %+v", got)
	}
	if got := s.call(s.agent, "POST", path+"/interactions", bash); got.status != http.StatusConflict || got.code() != "conflict" {
		t.Errorf("ask: %d %s", got.status, got.body)
	}
	if got := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "before"); got.status != http.StatusOK || got.interaction(t).ID != once.interaction(t).ID {
		t.Errorf("the same request again: %d %s", got.status, got.body)
	}
}

// TestOpenInteractionsOfAnAgent checks the number that an agent carries.
func TestOpenInteractionsOfAnAgent(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	open := func() int { return s.call(s.operator, "GET", path, "").agent(t).OpenInteractions }
	_, first := s.asks(path, bash)
	_, second := s.asks(path, bash)
	s.asks(path, bash)
	if n := open(); n != 3 {
		t.Errorf("%d open, want 3", n)
	}
	s.call(s.operator, "POST", first+"/resolve", allow)
	s.call(s.agent, "POST", second+"/cancel", "")
	if n := open(); n != 1 {
		t.Errorf("%d open, want 1", n)
	}
}

// TestPageThroughAgents walks the list in pages of each small size, in both orders: nothing is missed, and nothing comes twice.
func TestPageThroughAgents(t *testing.T) {
	s := newSite(t)
	var ids []string
	for n := range 20 {
		if n%6 == 5 {
			s.clock.Advance(time.Millisecond) // the others share their time
		}
		id, _ := s.newAgent(fmt.Sprintf("agent %d", n))
		ids = append(ids, s.place(id))
	}
	walk(t, s, project+"/agents?", ordered(ids), func(a api.Agent) string { return a.ID })
}

// place is where a list has what was made now under an id.
func (s *site) place(id string) string { return fmt.Sprintf("%d %s", s.clock.Now().UnixMilli(), id) }

// ordered are the ids of places, oldest first.
func ordered(places []string) (ids []string) {
	for _, p := range slices.Sorted(slices.Values(places)) {
		_, id, _ := strings.Cut(p, " ")
		ids = append(ids, id)
	}
	return ids
}

// walk reads a list page by page, with limits from 1 to 7 and as many as there are, and compares it with what should be in it, oldest first.
func walk[T any](t *testing.T, s *site, path string, want []string, id func(T) string) {
	t.Helper()
	for _, order := range []string{"", "asc", "desc"} {
		expected := slices.Clone(want)
		if order == "desc" {
			slices.Reverse(expected)
		}
		for _, limit := range []int{1, 2, 3, 4, 5, 6, 7, len(want), 100} {
			query := path + fmt.Sprintf("limit=%d", limit)
			if order != "" {
				query += "&order=" + order
			}
			var got []string
			for next := query; next != ""; {
				list := page[T](t, s.call(s.operator, "GET", next, ""))
				if len(list.Data) > limit || len(list.Data) < limit && list.NextCursor != nil {
					t.Errorf("%s: a page of %d, and more to come", next, len(list.Data))
				}
				for _, item := range list.Data {
					got = append(got, id(item))
				}
				if next = ""; list.NextCursor != nil {
					next = query + "&cursor=" + *list.NextCursor
				}
			}
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
	}
}

// TestCreateAgentOnce checks the Idempotency-Key of a create.
func TestCreateAgentOnce(t *testing.T) {
	s := newSite(t)
	other := s.newKey(interaction.AgentPrincipal, "another agent")
	first := s.call(s.agent, "POST", project+"/agents", `{"name":"SWE"}`, "Idempotency-Key", "k1")
	for _, c := range []struct {
		name, key, in, body, once string
		status                    int
		code                      string
	}{
		{"the same again", s.agent, "default", `{"name":"SWE"}`, "k1", 200, ""},
		{"the same place by its id", s.agent, string(s.project.ID), `{"name":"SWE"}`, "k1", 200, ""},
		{"another body", s.agent, "default", `{"name":"Reviewer"}`, "k1", 409, "idempotency_key_conflict"},
		{"the same in another spelling", s.agent, "default", `{ "name":"SWE"}`, "k1", 409, "idempotency_key_conflict"},
		{"another caller", other, "default", `{"name":"Reviewer"}`, "k1", 201, ""},
		{"another key", s.agent, "default", `{"name":"Tester"}`, "k2", 201, ""},
		{"a key in another case", s.agent, "default", `{"name":"Planner"}`, "K1", 201, ""},
	} {
		got := s.call(c.key, "POST", "/api/v1/orgs/default/projects/"+c.in+"/agents", c.body, "Idempotency-Key", c.once)
		if got.status != c.status || got.code() != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, got.status, got.body, c.status, c.code)
		}
		if c.status == 200 {
			if diff := cmp.Diff(first.agent(t), got.agent(t)); diff != "" {
				t.Errorf("%s (-first +again):\n%s", c.name, diff)
			}
		}
	}
	if n := s.number("SELECT count(*) FROM agents"); n != 4 {
		t.Errorf("%d agents, want 4", n)
	}
}

// atOnce runs f n times at the same moment, and gives the answers.
func atOnce(t testing.TB, n int, f func(n int) (answer, error)) []answer {
	t.Helper()
	answers, errs := make([]answer, n), make([]error, n)
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			<-start
			answers[i], errs[i] = f(i)
		})
	}
	close(start)
	wait.Wait()
	for _, err := range errs {
		must(t, err)
	}
	return answers
}

// TestCreateOnceInParallel sends the same create with the same key 200 times at once: one resource comes of it.
func TestCreateOnceInParallel(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("one")
	for _, c := range []struct{ name, path, body, table string }{
		{"agent", project + "/agents", `{"name":"SWE"}`, "agents"},
		{"interaction", path + "/interactions", bash, "interactions"},
	} {
		before := s.number("SELECT count(*) FROM " + c.table)
		made, ids := 0, map[string]bool{}
		for _, got := range atOnce(t, 200, func(int) (answer, error) { return s.try(s.agent, "POST", c.path, c.body, "Idempotency-Key", c.name) }) {
			switch got.status {
			case http.StatusCreated:
				made++
			case http.StatusOK:
			default:
				t.Errorf("%s: %d %s", c.name, got.status, got.body)
			}
			ids[string(got.body)] = true
		}
		if n := s.number("SELECT count(*) FROM " + c.table); made != 1 || len(ids) != 1 || n != before+1 {
			t.Errorf("%s: %d were told that they made it, %d different answers, %d more rows", c.name, made, len(ids), n-before)
		}
	}
}

// TestMe checks what each kind of key is told about itself.
func TestMe(t *testing.T) {
	s := newSite(t)
	id, _ := s.newAgent("swe")
	for _, c := range []struct {
		name, key string
		want      api.Me
	}{
		{"an operator", s.operator, api.Me{Kind: "operator_key", Name: "operator", Scopes: []string{"read", "resolve", "manage", "audit", "embed"}}},
		{"a reader", s.newKey(interaction.OperatorPrincipal, "reader", interaction.ScopeRead), api.Me{Kind: "operator_key", Name: "reader", Scopes: []string{"read"}}},
		{"an agent", s.agent, api.Me{Kind: "agent_key", Name: "agent", ProjectID: string(s.project.ID), Scopes: []string{}}},
		{"a bound agent", s.bound(id), api.Me{Kind: "agent_key", Name: "bound", ProjectID: string(s.project.ID), AgentID: id, Scopes: []string{}}},
	} {
		var got api.Me
		read(t, s.call(c.key, "GET", "/api/v1/me", ""), &got)
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(api.Me{}, "ID")); diff != "" || !interaction.ID(got.ID).WellFormed("key") {
			t.Errorf("%s: id %q (-want +got):\n%s", c.name, got.ID, diff)
		}
	}
}

// TestSignInLink checks that a link signs its opener in, once, until it is too old.
func TestSignInLink(t *testing.T) {
	s := newSite(t)
	var link api.SignInLink
	got := s.call(s.operator, "POST", "/api/v1/signin-links", "{}")
	read(t, got, &link)
	if got.status != http.StatusCreated || !link.ExpiresAt.Equal(s.clock.Now().Add(24*time.Hour)) {
		t.Errorf("%d %s", got.status, got.body)
	}
	path, code, ok := strings.Cut(strings.TrimPrefix(link.URL, s.http.URL), "?")
	if !ok || path != "/setup" {
		t.Fatalf("link %s", link.URL)
	}
	if got := s.call("", "GET", path+"?"+code, ""); got.status != http.StatusOK {
		t.Errorf("open: %d", got.status)
	}
	if got := s.post("/setup", code); got.status != http.StatusSeeOther {
		t.Errorf("use: %d", got.status)
	}
	if got := s.post("/setup", code); got.status != http.StatusForbidden {
		t.Errorf("use again: %d", got.status)
	}
}

// TestHealth checks the two probes, which ask for no key.
func TestHealth(t *testing.T) {
	s := newSite(t)
	for path, body := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n"} {
		if got := s.call("", "GET", path, ""); got.status != http.StatusOK || string(got.body) != body {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
