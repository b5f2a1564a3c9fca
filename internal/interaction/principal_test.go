package interaction

import (
	"slices"
	"testing"
)

func TestPrincipalIn(t *testing.T) {
	here, elsewhere := Project{ID: "proj_here"}, Project{ID: "proj_elsewhere"}
	for _, role := range Roles {
		p := Principal{Kind: UserPrincipal, Roles: map[ID]Role{here.ID: role}}
		there, err := p.In(here)
		if err != nil || there.ProjectID != here.ID || !slices.Equal(there.Scopes, role.Scopes()) {
			t.Errorf("%s: %+v %v", role, there, err)
		}
		for name, who := range map[string]Principal{"from outside": p, "from inside": there} {
			if _, err := who.In(elsewhere); CodeOf(err) != NotFound {
				t.Errorf("%s, in another project %s: %v", role, name, err)
			}
		}
	}
	for name, c := range map[string]struct {
		p    Principal
		want Code
	}{
		"nobody's role":             {Principal{Kind: UserPrincipal}, NotFound},
		"an unknown role":           {Principal{Kind: UserPrincipal, Roles: map[ID]Role{here.ID: "king"}}, NotFound},
		"the owner":                 {Principal{Kind: UserPrincipal, Owner: true}, ""},
		"a key of the server":       {Principal{Kind: OperatorPrincipal, Scopes: Scopes}, ""},
		"a key of the project":      {Principal{Kind: OperatorPrincipal, ProjectID: here.ID}, ""},
		"a key of another project":  {Principal{Kind: OperatorPrincipal, ProjectID: elsewhere.ID}, NotFound},
		"an agent's key, elsewhere": {Principal{Kind: AgentPrincipal, ProjectID: elsewhere.ID}, NotFound},
	} {
		if _, err := c.p.In(here); CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if (Principal{Kind: UserPrincipal, Owner: true}).Can(ScopeRead) {
		t.Error("the owner reads without being in a project")
	}
}

// TestRoles: each role holds what the one before it does.
func TestRoles(t *testing.T) {
	var before []Scope
	for _, role := range Roles {
		for _, scope := range before {
			if !slices.Contains(role.Scopes(), scope) {
				t.Errorf("%s lacks %s", role, scope)
			}
		}
		if before = role.Scopes(); len(before) == 0 {
			t.Errorf("%s may do nothing", role)
		}
	}
	if slices.Contains(Lead.Scopes(), ScopeManage) || slices.Contains(Viewer.Scopes(), ScopeResolve) || slices.Contains(Approver.Scopes(), ScopeAudit) {
		t.Error("a role may do too much")
	}
}
