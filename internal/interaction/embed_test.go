package interaction

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOrigins holds what may stand as the origin of a page that frames us. It goes into a header, so nothing else may get through.
func TestOrigins(t *testing.T) {
	for origin, want := range map[string]struct{ public, loopback bool }{
		"https://portal.example.com":      {true, true},
		"https://portal.example.com:8443": {true, true},
		"https://xn--bcher-kva.example":   {true, true},
		"https://10.0.0.7":                {true, true},
		"https://a":                       {true, true},
		"http://localhost":                {false, true},
		"http://localhost:5173":           {false, true},
		"http://localhost:*":              {false, true},
		"http://127.0.0.1:*":              {false, true},
		"http://127.0.0.1:3000":           {false, true},

		"":                                  {},
		"*":                                 {},
		"https:":                            {},
		"https://":                          {},
		"'self'":                            {},
		"https://*.example.com":             {},
		"https://example.com:*":             {},
		"https://example.com/":              {},
		"https://example.com/path":          {},
		"https://example.com?x":             {},
		"https://example.com#x":             {},
		"https://Example.com":               {},
		"HTTPS://example.com":               {},
		"https://dana@example.com":          {},
		"https://example.com:443":           {},
		"https://example.com:0":             {},
		"https://example.com:08":            {},
		"https://example.com:65536":         {},
		"https://example.com:99999":         {},
		"https://example.com.":              {},
		"https://bücher.example":            {},
		"https://[::1]":                     {},
		"https://a b":                       {},
		"https://a;script-src *":            {},
		"https://a, https://b":              {},
		"https://a\n":                       {},
		" https://a":                        {},
		"https://a\x00":                     {},
		"http://example.com":                {},
		"http://localhost.example.com":      {},
		"http://localhost:80":               {},
		"http://localhost:70000":            {},
		"http://localhost/":                 {},
		"http://127.0.0.2":                  {},
		"null":                              {},
		"file://":                           {},
		"data:text/html,x":                  {},
		"https://example.com\u202e":         {},
		"https://example.com%0d%0aX: y":     {},
		"https://" + strings.Repeat("-", 3): {},
	} {
		for _, c := range []struct{ loopback, ok bool }{{false, want.public}, {true, want.loopback}} {
			_, err := EmbedTerms{Name: "Portal", Origins: []string{origin}}.Normalised(c.loopback)
			if ok := err == nil; ok != c.ok || !ok && (CodeOf(err) != ValidationFailed || !strings.Contains(err.Error(), "origins[0]: ")) {
				t.Errorf("%q, on loopback %v: %v, want it taken: %v", origin, c.loopback, err, c.ok)
			}
		}
	}
}

// TestAllows: what was registered is compared as it is, but for a port of loopback that stands for any.
func TestAllows(t *testing.T) {
	e := Embed{EmbedTerms: EmbedTerms{Origins: []string{"https://portal.example", "http://localhost:*"}}}
	for origin, want := range map[string]bool{
		"https://portal.example": true, "http://localhost:5173": true, "http://localhost": true,
		"https://portal.example:8443": false, "http://portal.example": false, "https://portal.example.evil.example": false, "https://evil-portal.example": false,
		"http://localhost:*": false, "http://localhost.evil.example": false, "http://localhost:5173.evil.example": false, "http://127.0.0.1:5173": false, "": false, "null": false,
	} {
		if got := e.Allows(origin, true); got != want {
			t.Errorf("%q: %v", origin, got)
		}
		if e.Allows(origin, false) != (want && strings.HasPrefix(origin, "https:")) {
			t.Errorf("%q is allowed, or not, on a server that others reach", origin)
		}
	}
}

func TestEmbedTerms(t *testing.T) {
	agents := func(n int) (ids []ID) {
		for range n {
			ids = append(ids, NewID(AgentPrefix, time.Now()))
		}
		return ids
	}
	good := EmbedTerms{Name: " Portal ", Origins: []string{"https://portal.example"}}
	if n, err := good.Normalised(false); err != nil || n.Name != "Portal" || n.Permission != ReadOnly || n.Enabled {
		t.Fatalf("%+v %v", n, err)
	}
	one := agents(1)[0]
	for name, change := range map[string]func(*EmbedTerms){
		"name: ":        func(e *EmbedTerms) { e.Name = " " },
		"name":          func(e *EmbedTerms) { e.Name = strings.Repeat("x", 101) },
		"permission: ":  func(e *EmbedTerms) { e.Permission = "manage" },
		"agents: ":      func(e *EmbedTerms) { e.Agents = agents(51) },
		"agents[1]: ":   func(e *EmbedTerms) { e.Agents = []ID{one, one} },
		"agents[0]: ":   func(e *EmbedTerms) { e.Agents = []ID{"int_" + one[4:]} },
		"origins: ":     func(e *EmbedTerms) { e.Origins = nil },
		"origins[1]: ":  func(e *EmbedTerms) { e.Origins = []string{"https://a", "https://a"} },
		"origins: 1 to": func(e *EmbedTerms) { e.Origins = slices.Repeat([]string{"https://a"}, 21) },
	} {
		bad := good
		change(&bad)
		if _, err := bad.Normalised(false); CodeOf(err) != ValidationFailed || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestGrants(t *testing.T) {
	one, two := NewID(AgentPrefix, time.Now()), NewID(AgentPrefix, time.Now())
	e := Embed{EmbedTerms: EmbedTerms{Agents: []ID{one}, Permission: ReadOnly, Origins: []string{"https://portal.example"}, Enabled: true}}
	good := EmbedGrant{Subject: "u1", Name: "Dana", Origin: "https://portal.example"}
	for name, c := range map[string]struct {
		grant func(*EmbedGrant)
		embed func(*Embed)
		want  Code
	}{
		"as the embed allows":    {want: ""},
		"no subject":             {grant: func(g *EmbedGrant) { g.Subject = " " }, want: ValidationFailed},
		"no name":                {grant: func(g *EmbedGrant) { g.Name = "" }, want: ValidationFailed},
		"a long subject":         {grant: func(g *EmbedGrant) { g.Subject = strings.Repeat("x", 257) }, want: ValidationFailed},
		"no origin":              {grant: func(g *EmbedGrant) { g.Origin = "" }, want: ValidationFailed},
		"another origin":         {grant: func(g *EmbedGrant) { g.Origin = "https://evil.example" }, want: InvalidRequest},
		"more than is permitted": {grant: func(g *EmbedGrant) { g.Permission = MayResolve }, want: InvalidRequest},
		"an unknown permission":  {grant: func(g *EmbedGrant) { g.Permission = "audit" }, want: ValidationFailed},
		"its agent":              {grant: func(g *EmbedGrant) { g.Agents = []ID{one} }, want: ""},
		"another agent":          {grant: func(g *EmbedGrant) { g.Agents = []ID{two} }, want: InvalidRequest},
		"too long":               {grant: func(g *EmbedGrant) { g.ExpiresIn = EmbedTokenMost + time.Second }, want: ValidationFailed},
		"no time":                {grant: func(g *EmbedGrant) { g.ExpiresIn = -time.Second }, want: ValidationFailed},
		"a disabled embed":       {embed: func(e *Embed) { e.Enabled = false }, want: Conflict},
	} {
		e, g := e, good
		if c.embed != nil {
			c.embed(&e)
		}
		if c.grant != nil {
			c.grant(&g)
		}
		g, err := g.Normalised()
		if err == nil {
			g, err = g.Within(e, false)
		}
		if CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil && (g.Permission != ReadOnly || g.ExpiresIn != EmbedTokenMost) {
			t.Errorf("%s: %+v is not filled in", name, g)
		}
	}
}

// TestGuestIsBound: what the embed allows now is the most that a guest has, whatever the token said when it was made.
func TestGuestIsBound(t *testing.T) {
	here, one, two := ID("proj_here"), ID("agt_one"), ID("agt_two")
	embed := func(p Permission, agents ...ID) Embed {
		return Embed{ID: "emb_x", ProjectID: here, EmbedTerms: EmbedTerms{Name: "Portal", Permission: p, Agents: agents, Enabled: true}}
	}
	for name, c := range map[string]struct {
		embed  Embed
		grant  EmbedGrant
		sees   []ID
		answer bool
	}{
		"all agents":                {embed(MayResolve), EmbedGrant{Permission: MayResolve}, []ID{one, two}, true},
		"the embed's agent":         {embed(MayResolve, one), EmbedGrant{Permission: MayResolve}, []ID{one}, true},
		"the token's agent":         {embed(MayResolve), EmbedGrant{Permission: MayResolve, Agents: []ID{two}}, []ID{two}, true},
		"one of both":               {embed(MayResolve, one, two), EmbedGrant{Permission: MayResolve, Agents: []ID{two}}, []ID{two}, true},
		"an agent taken away since": {embed(MayResolve, one), EmbedGrant{Permission: MayResolve, Agents: []ID{two, one}}, []ID{one}, true},
		"answering taken away":      {embed(ReadOnly), EmbedGrant{Permission: MayResolve}, []ID{one, two}, false},
		"a token to look":           {embed(MayResolve), EmbedGrant{Permission: ReadOnly}, []ID{one, two}, false},
	} {
		p, ok := c.embed.Guest(c.grant, "key_x")
		if !ok {
			t.Errorf("%s: nothing is left", name)
		}
		for _, agent := range []ID{one, two} {
			r, want := Record{ProjectID: here, AgentID: agent}, slices.Contains(c.sees, agent)
			if p.reads(r) != want || p.hides(r) == want || p.sees(Agent{ID: agent, ProjectID: here}) != want {
				t.Errorf("%s: sees %s: %v", name, agent, !want)
			}
			r.ProjectID = "proj_there"
			if p.reads(r) || p.sees(Agent{ID: agent, ProjectID: "proj_there"}) {
				t.Errorf("%s: sees another project", name)
			}
		}
		if p.Can(ScopeResolve) != c.answer || p.Can(ScopeManage) || p.Can(ScopeAudit) || p.Can(ScopeEmbed) || p.readsAll() {
			t.Errorf("%s: may %v", name, p.Scopes)
		}
		if err := p.writes(Project{ID: here}, Agent{ID: c.sees[0], ProjectID: here}); CodeOf(err) != Forbidden {
			t.Errorf("%s: writes to agents: %v", name, err)
		}
	}
	for name, e := range map[string]Embed{"no agent left": embed(MayResolve, two), "disabled": {ProjectID: here}} {
		if p, ok := e.Guest(EmbedGrant{Permission: MayResolve, Agents: []ID{one}}, "key_x"); ok {
			t.Errorf("%s: %+v", name, p.Guest)
		}
	}
}

// TestGuestAnswers: an answer from a frame tells who vouched, and with which key.
func TestGuestAnswers(t *testing.T) {
	p, _ := Embed{ID: "emb_x", ProjectID: "proj_x", EmbedTerms: EmbedTerms{Name: "Portal", Permission: MayResolve, Enabled: true}}.Guest(EmbedGrant{Permission: MayResolve, Subject: "u1", Name: "Dana"}, "key_x")
	end := p.end(time.Unix(0, 0))
	end.By = p.person(p.Guest.external(), "actr_x")
	want := Actor{Kind: ExternalActor, Name: "Dana, vouched for by Portal", ActorID: "actr_x", Channel: ChannelEmbed}
	if end.By != want || end.Credential != "key_x" || end.ProvedBy != OperatorPrincipal {
		t.Errorf("%+v", end)
	}
	if who := p.Guest.external(); who.ProviderTenantID != "emb_x" || who.ProviderUserID != "u1" || who.DisplayName != "Dana" {
		t.Errorf("%+v", who)
	}
}

// TestEmbedsOwnTheirPeople: nobody else names, or answers as, somebody of an embed.
func TestEmbedsOwnTheirPeople(t *testing.T) {
	for _, blank := range []string{"", " "} {
		who := External{ProviderTenantID: blank + string(NewID(EmbedPrefix, time.Now())) + blank, ProviderUserID: "u1"}
		if err := who.Check(); CodeOf(err) != ValidationFailed {
			t.Errorf("%q: %v", who.ProviderTenantID, err)
		}
	}
}
