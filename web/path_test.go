package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/interaction"
)

// place is the ids that a path names.
type place struct{ org, project, agent, interaction string }

func (p place) of(template string) string {
	return strings.NewReplacer(":org", p.org, ":project", p.project, ":agent", p.agent, ":interaction", p.interaction).Replace(template)
}

// placed are the routes with ids in their path, and a body that they take.
var placed = []struct{ method, path, body string }{
	{"GET", "/api/v1/orgs/:org/projects", ""}, // to create one is in TestCreateProject: each must have another slug
	{"POST", "/api/v1/orgs/:org/projects/:project/agents", `{"name":"SWE"}`},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/interactions", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/policies", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/audit/verify", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/audit", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/audit/export", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/keys", `{"kind":"agent_key","name":"ci"}`},
	{"GET", "/api/v1/orgs/:org/projects/:project/keys", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/embeds", newEmbed},
	{"GET", "/api/v1/orgs/:org/projects/:project/embeds", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent", ""},
	{"PATCH", "/api/v1/orgs/:org/projects/:project/agents/:agent", `{"name":"SWE"}`},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions", bash},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions/:interaction", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions/:interaction/resolve", allow},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/interactions/:interaction/cancel", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs", hello},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/backlog", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/inputs/claim", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/cancel", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/archive", ""},
	{"POST", "/api/v1/orgs/:org/projects/:project/agents/:agent/events", says},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/events", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/events/stream", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/agents/:agent/tool-calls", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/events", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/events/stream", ""},
	{"GET", "/api/v1/orgs/:org/projects/:project/actors", ""},
	{"PUT", "/api/v1/orgs/:org/projects/:project/actors", `{"provider_user_id":"u1"}`},
}

const (
	allow = `{"answers":[{"option_indices":[0]}]}`
	deny  = `{"answers":[{"option_indices":[1]}]}`
	hello = `{"content_blocks":[{"type":"text","text":"Hello."}]}`
	says  = `{"events":[{"event_kind":"model_output","content_blocks":[{"type":"text","text":"Hello."}]}]}`
)

// TestMalformedIDs checks that an id which cannot be one is 400, by name, in every place of every route.
func TestMalformedIDs(t *testing.T) {
	s := newSite(t)
	i, _ := s.asks(askable(s), bash)
	good := place{"default", "default", i.AgentID, i.ID}
	letters := strings.Repeat("a", 26)
	ids := func(prefix, other string) []string {
		bad := []string{
			prefix, prefix + "_", letters, "_" + letters, other + "_" + letters, prefix + "_" + letters[1:], prefix + "_" + letters + "a", prefix + letters, prefix + "-" + letters,
			strings.ToUpper(prefix) + "_" + letters, prefix + "_" + strings.ToUpper(letters), prefix + "_" + letters + " ", " " + prefix + "_" + letters,
			prefix + "_" + letters + "\n", prefix + "_" + letters + "\x00", prefix + "_" + letters[1:] + "é", "*", "..", "%", "\xff",
		}
		for _, digit := range "0189" {
			bad = append(bad, prefix+"_"+letters[1:]+string(digit))
		}
		return bad
	}
	for name, c := range map[string]struct {
		bad []string
		set func(*place, string)
	}{
		"org":         {append(ids("org", "proj"), "acme", "DEFAULT", "default2"), func(p *place, v string) { p.org = v }},
		"project":     {append(ids("proj_x", "org"), "Default", "-a", "a_b", "proj_", "proj_"+letters[1:], strings.Repeat("a", 64)), func(p *place, v string) { p.project = v }},
		"agent":       {ids("agt", "int"), func(p *place, v string) { p.agent = v }},
		"interaction": {ids("int", "agt"), func(p *place, v string) { p.interaction = v }},
	} {
		for _, route := range placed {
			if !strings.Contains(route.path, ":"+name) {
				continue
			}
			for _, bad := range c.bad {
				if name == "project" && bad == letters {
					continue // a slug
				}
				at := good
				c.set(&at, url.PathEscape(bad))
				before := s.writes()
				s.refused(t, route.method+" "+at.of(route.path), s.call(s.operator, route.method, at.of(route.path), route.body), before, name+": ")
			}
		}
	}
}

// TestUnknownIDs checks that a well-formed id that names nothing is 404, in every place of every route.
func TestUnknownIDs(t *testing.T) {
	s := newSite(t)
	i, _ := s.asks(askable(s), bash)
	good := place{"default", "default", i.AgentID, i.ID}
	letters := strings.Repeat("a", 26)
	for _, route := range placed {
		for name, at := range map[string]place{
			":org":           {"org_" + letters, good.project, good.agent, good.interaction},
			":project":       {good.org, "proj_" + letters, good.agent, good.interaction},
			":project/slug":  {good.org, "another", good.agent, good.interaction},
			":project/other": {string(s.project.OrgID), strings.Replace(string(s.project.OrgID), "org", "proj", 1), good.agent, good.interaction},
			":agent":         {good.org, good.project, "agt_" + letters, good.interaction},
			":interaction":   {good.org, good.project, good.agent, "int_" + letters},
		} {
			if !strings.Contains(route.path, strings.SplitN(name, "/", 2)[0]) {
				continue
			}
			before := s.writes()
			got := s.call(s.operator, route.method, at.of(route.path), route.body)
			if got.status != http.StatusNotFound || got.code() != "not_found" || s.writes() != before {
				t.Errorf("%s %s: %d %s", route.method, at.of(route.path), got.status, got.body)
			}
		}
	}
}

// TestEverySpellingOfAPlace checks that org and project are found by id and by name, on every route, as the same place.
func TestEverySpellingOfAPlace(t *testing.T) {
	s := newSite(t)
	for _, org := range []string{"default", string(s.project.OrgID)} {
		for _, in := range []string{"default", string(s.project.ID)} {
			for _, route := range placed {
				i, _ := s.asks(askable(s), bash)
				at := place{org, in, i.AgentID, i.ID}
				key := s.operator
				if strings.HasSuffix(route.path, "/:interaction/cancel") {
					key = s.agent
				}
				if got := s.call(key, route.method, at.of(route.path), route.body); got.status/100 != 2 {
					t.Errorf("%s %s: %d %s", route.method, at.of(route.path), got.status, got.body)
				}
			}
		}
	}
}

// secondProject makes another project, which no route can make yet, and an interaction in it.
func (s *site) secondProject() (i place) {
	s.t.Helper()
	id := string(interaction.NewID(interaction.ProjectPrefix, s.clock.Now()))
	s.exec("INSERT INTO projects (org, id, slug, name, created_at) SELECT key, ?, 'second', 'Second', 1 FROM orgs", id)
	second := "/api/v1/orgs/default/projects/second/agents"
	agent := s.call(s.operator, "POST", second, `{"name":"elsewhere"}`).agent(s.t)
	asked := s.call(s.operator, "POST", second+"/"+agent.ID+"/interactions", bash).interaction(s.t)
	if asked.ProjectID != id {
		s.t.Fatalf("made in %s, not in %s", asked.ProjectID, id)
	}
	return place{"default", "second", agent.ID, asked.ID}
}

// TestNotFoundTellsNothing checks that what somebody may not know of, what is elsewhere, and what is not there at all get the same answer,
// byte for byte.
func TestNotFoundTellsNothing(t *testing.T) {
	s := newSite(t)
	other := s.newKey(interaction.AgentPrincipal, "another agent")
	_, path := s.newAgent("one")
	mine, _ := s.asks(path, bash)
	bound := s.bound(mine.AgentID)
	theirs := s.call(other, "POST", path+"/interactions", bash).interaction(t)
	elsewhere, _ := s.asks(askable(s), bash)
	second := s.secondProject()
	random := place{"default", "default", "agt_" + strings.Repeat("b", 26), "int_" + strings.Repeat("c", 26)}

	interactions := map[string]place{
		"a random id":                         {"default", "default", mine.AgentID, random.interaction},
		"a random agent":                      {"default", "default", random.agent, mine.ID},
		"another agent's":                     {"default", "default", mine.AgentID, elsewhere.ID},
		"another project's":                   {"default", "default", mine.AgentID, second.interaction},
		"another project's, at its agent":     {"default", "default", second.agent, second.interaction},
		"in another project, with its agent":  {"default", "second", mine.AgentID, mine.ID},
		"in another project, its own":         second,
		"in a project that is not there":      {"default", "third", mine.AgentID, mine.ID},
		"in another project that is not ours": {"default", "proj_" + strings.Repeat("d", 26), mine.AgentID, mine.ID},
	}
	agents := map[string]place{"a random agent": random, "another project's agent": {"default", "default", second.agent, second.interaction}, "in another project": second}
	unbound := map[string]place{"another asker's": {"default", "default", theirs.AgentID, theirs.ID}}
	boundOnly := map[string]place{"an agent that it is not bound to": {"default", "default", elsewhere.AgentID, elsewhere.ID}}
	operators := map[string]place{} // they see the second project
	for name, at := range interactions {
		if at != second {
			operators[name] = at
		}
	}

	var first *answer
	same := func(key, method, path, body, what string) {
		t.Helper()
		got := s.call(key, method, path, body)
		got.header.Del("Date")
		if first == nil {
			first = &got
		}
		if got.status != http.StatusNotFound || string(got.body) != string(first.body) || !cmp.Equal(got.header, first.header) {
			t.Errorf("%s %s, %s: %d %s %v; want 404 %s %v", method, path, what, got.status, got.body, got.header, first.body, first.header)
		}
	}
	for _, route := range placed {
		for _, c := range []struct {
			key    string
			places []map[string]place
		}{
			{s.agent, []map[string]place{interactions, unbound}},
			{bound, []map[string]place{interactions, boundOnly}},
			{s.operator, []map[string]place{operators}},
		} {
			if strings.Contains(route.path, ":interaction") {
				for _, places := range c.places {
					for what, at := range places {
						same(c.key, route.method, at.of(route.path), route.body, what)
					}
				}
			}
		}
		if !strings.Contains(route.path, ":agent") || strings.Contains(route.path, ":interaction") {
			continue
		}
		for what, at := range agents {
			same(s.agent, route.method, at.of(route.path), route.body, what)
			same(bound, route.method, at.of(route.path), route.body, what)
		}
		for what, at := range boundOnly {
			same(bound, route.method, at.of(route.path), route.body, what)
		}
	}
	same(s.operator, "GET", "/api/v1/nothing", "", "a route that is not there")
	same("", "GET", "/api/v1/nothing", "", "a route that is not there, without a key")
	same(s.operator, "DELETE", path, "", "a method that the route has not")
	same(s.operator, "OPTIONS", path, "", "a method that the route has not")
	same(s.operator, "GET", path+"/", "", "a slash behind it")
}
