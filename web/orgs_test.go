package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// TestCreateOrg makes an org by REST, works in it at once by id, and finds both in the lists and in its own audit log.
func TestCreateOrg(t *testing.T) {
	s := newSite(t)
	var made api.OrgCreated
	got := s.call(s.operator, "POST", "/api/v1/orgs", `{"slug":"acme","name":" Acme ","project":{"slug":"shop","name":"Shop"}}`)
	if read(t, got, &made); got.status != http.StatusCreated || made.Org.Name != "Acme" || made.Project.OrgID != made.Org.ID {
		t.Fatalf("%d %s", got.status, got.body)
	}
	at := "/api/v1/orgs/" + made.Org.ID + "/projects/shop"
	if got := s.call(s.operator, "POST", at+"/agents", `{"name":"swe"}`).agent(t); got.OrgID != made.Org.ID || got.ProjectID != made.Project.ID {
		t.Errorf("an agent there: %+v", got)
	}
	plain := s.call(s.operator, "POST", "/api/v1/orgs", `{"slug":"plain","name":"Plain"}`)
	if read(t, plain, &made); made.Project.Slug != "default" || made.Project.Name != "Default" {
		t.Errorf("the first project when none is named: %s", plain.body)
	}
	var orgs api.Orgs
	read(t, s.call(s.operator, "GET", "/api/v1/orgs", ""), &orgs)
	if len(orgs.Data) != 3 || orgs.Data[0].Slug != "default" || orgs.Data[1].Slug != "acme" {
		t.Errorf("orgs: %+v", orgs)
	}
	if n, err := s.store.Verify(t.Context(), interaction.ID(made.Project.ID)); err != nil || n.Entries != 2 {
		t.Errorf("its audit log has %d entries: %v", n.Entries, err)
	}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"a taken slug":        {`{"slug":"acme","name":"Other"}`, 409},
		"the slug default":    {`{"slug":"default","name":"Other"}`, 409},
		"no slug":             {`{"name":"Other"}`, 400},
		"a bad slug":          {`{"slug":"A b","name":"Other"}`, 400},
		"a bad first slug":    {`{"slug":"other","name":"Other","project":{"slug":"","name":"x"}}`, 400},
		"a blank name":        {`{"slug":"other","name":" "}`, 400},
		"a long name":         {`{"slug":"other","name":"` + strings.Repeat("x", 101) + `"}`, 400},
		"an unknown field":    {`{"slug":"other","name":"Other","x":1}`, 400},
		"null as the project": {`{"slug":"other","name":"Other","project":null}`, 400},
	} {
		if got := s.call(s.operator, "POST", "/api/v1/orgs", c.body); got.status != c.want {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.want)
		}
	}
	if n := s.number("SELECT count(*) FROM orgs"); n != 3 {
		t.Errorf("%d orgs", n)
	}
}

// TestCreateProject makes projects in orgs named in every way. Slugs are unique in their org only.
func TestCreateProject(t *testing.T) {
	s := newSite(t)
	var org api.OrgCreated
	read(t, s.call(s.operator, "POST", "/api/v1/orgs", `{"slug":"acme","name":"Acme"}`), &org)
	for _, in := range []string{"default", org.Org.ID} {
		var made api.ProjectBody
		got := s.call(s.operator, "POST", "/api/v1/orgs/"+in+"/projects", `{"slug":"shop","name":"Shop"}`)
		if read(t, got, &made); got.status != http.StatusCreated || made.Project.Slug != "shop" {
			t.Fatalf("%s: %d %s", in, got.status, got.body)
		}
		if again := s.call(s.operator, "POST", "/api/v1/orgs/"+in+"/projects", `{"slug":"shop","name":"Other"}`); again.status != http.StatusConflict {
			t.Errorf("%s again: %d", in, again.status)
		}
		var list api.Projects
		read(t, s.call(s.operator, "GET", "/api/v1/orgs/"+in+"/projects", ""), &list)
		if len(list.Data) != 2 || list.Data[0].Slug != "default" || list.Data[1] != made.Project {
			t.Errorf("%s has %+v", in, list)
		}
	}
	if got := s.call(s.operator, "POST", "/api/v1/orgs/"+string(s.project.OrgID)+"/projects", `{"slug":"web","name":"Web"}`); got.status != http.StatusCreated {
		t.Errorf("by the id of default: %d %s", got.status, got.body)
	}
	nobodys := "org_" + strings.Repeat("a", 26)
	for in, want := range map[string]int{nobodys: 404, "acme": 400, "shop": 400, "org_x": 400} {
		get, post := s.call(s.operator, "GET", "/api/v1/orgs/"+in+"/projects", ""), s.call(s.operator, "POST", "/api/v1/orgs/"+in+"/projects", `{"slug":"x","name":"X"}`)
		if get.status != want || post.status != want {
			t.Errorf("%s: %d and %d, want %d", in, get.status, post.status, want)
		}
	}
}

// TestBoundKeysFoundNothing: a key of one project that manages it makes no orgs and projects, and sees no others.
func TestBoundKeysFoundNothing(t *testing.T) {
	s := newSite(t)
	secret := auth.NewSecret(interaction.OperatorPrincipal)
	key := auth.StoredKey(secret, "bound", "key_bound")
	key.Project = s.project.ID
	must(t, s.store.EnsureKey(t.Context(), key, s.clock.Now()))
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/v1/orgs", ""}, {"POST", "/api/v1/orgs", `{"slug":"acme","name":"Acme"}`},
		{"GET", "/api/v1/orgs/default/projects", ""}, {"POST", "/api/v1/orgs/default/projects", `{"slug":"shop","name":"Shop"}`},
	} {
		if got := s.call(secret, c.method, c.path, c.body); got.status != http.StatusForbidden {
			t.Errorf("%s %s: %d %s", c.method, c.path, got.status, got.body)
		}
	}
}

// TestKeysWorkWhereTheyAreBound: an agent of another org asks by MCP and hooks, whose addresses name no project.
func TestKeysWorkWhereTheyAreBound(t *testing.T) {
	s := newSite(t)
	alpha := s.newTenant("alpha")
	before := alpha.counts()
	if got := s.call(alpha.agent, "POST", "/hooks/claude", notified); got.status != http.StatusOK {
		t.Errorf("a hook: %d %s", got.status, got.body)
	}
	if after := alpha.counts(); after["agents"] != before["agents"]+1 {
		t.Errorf("the hook's agent is not in the key's project: %v, before %v", after, before)
	}
	if n := s.number("SELECT count(*) FROM agents WHERE project = (SELECT key FROM projects WHERE id = ?)", s.project.ID); n != 0 {
		t.Errorf("%d agents in the default project", n)
	}
}

// TestOwnersProjectsPage makes an org and a project on the owner's page, and goes from one to the other in the rail.
func TestOwnersProjectsPage(t *testing.T) {
	s := newSite(t)
	owner := s.owner()
	if page := string(s.sees(owner, "/").body); strings.Contains(page, "switcher") || !strings.Contains(page, `href="/settings/projects"`) {
		t.Error("one project needs no switch, and the owner can make more")
	}
	for path, form := range map[string]string{
		"/settings/orgs":     "name=Acme+\u202e&slug=acme&project_name=Main&project_slug=main",
		"/settings/projects": "org=default&name=Shop&slug=shop",
	} {
		if got := s.as(owner, path, form); got.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, got.status, wording(got))
		}
	}
	page := s.sees(owner, "/settings/projects")
	for _, want := range []string{"Acme ⟨U+202E⟩", "Main", "Shop", "Default"} {
		if !strings.Contains(wording(page), want) {
			t.Errorf("it does not say %q", want)
		}
	}
	var main string
	must(t, s.database().QueryRow("SELECT id FROM projects WHERE slug = 'main'").Scan(&main))
	for _, at := range []string{"/projects/shop", "/projects/" + main} {
		if inbox := string(s.sees(owner, "/projects/default").body); !strings.Contains(inbox, `class="switcher"`) || !strings.Contains(inbox, `href="`+at+`"`) {
			t.Errorf("the inbox does not lead to %s", at)
		}
		if got := s.sees(owner, at); got.status != http.StatusOK || strings.Contains(string(got.body), `href="`+at+`">`+"\u202e") {
			t.Errorf("%s: %d", at, got.status)
		}
		if got := s.sees(owner, at+"/settings/members"); got.status != http.StatusOK {
			t.Errorf("%s/settings/members: %d", at, got.status)
		}
	}
	for form, says := range map[string]string{
		"name=Shop&slug=shop":             "the org has a project", // taken
		"name=Shop&slug=Shop":             `slug: "Shop" is not allowed`,
		"name=&slug=x":                    "name: must not be blank",
		"name=x&slug=x&project_slug=more": "unknown field",
	} {
		if got := s.as(owner, "/settings/projects", "org="+string(s.project.OrgID)+"&"+form); got.status/100 != 4 || !strings.Contains(wording(got), says) {
			t.Errorf("%s: %d, it does not say %q", form, got.status, says)
		}
	}
	admin := s.person("admin", interaction.Admin)
	if page := string(s.sees(admin, "/").body); strings.Contains(page, "/settings/projects") || strings.Contains(page, "switcher") || strings.Contains(page, fmt.Sprint(main)) {
		t.Error("an admin of one project is led to others")
	}
}
