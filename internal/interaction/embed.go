package interaction

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EmbedPrefix begins the ids of embeds.
const EmbedPrefix = "emb"

// Embed is the registration of an app that shows the cards of a project to its own users, in a frame on its own pages. It is the most that
// any of its tokens can give.
type Embed struct {
	ID, ProjectID ID
	EmbedTerms
	CreatedAt, UpdatedAt time.Time
}

// EmbedTerms is what an admin decides about an embed.
type EmbedTerms struct {
	Name        string // of the app, as people are told it: 1 to 100 characters
	Agents      []ID   // whose cards it shows; none: all agents of the project
	Permission  Permission
	Origins     []string // of the pages that may hold the frame; see [Embed.Allows]
	OpenInSayso bool     // Allow is a link to the dashboard, and nothing is allowed in the frame
	Enabled     bool
}

// Permission is how much an embed lets people do.
type Permission string

// The permissions. To resolve is also to read.
const (
	ReadOnly   Permission = "read"
	MayResolve Permission = "resolve"
)

// scopes are what a session with the permission may do.
func (p Permission) scopes() []Scope {
	if p == MayResolve {
		return []Scope{ScopeRead, ScopeResolve}
	}
	return []Scope{ScopeRead}
}

func (p Permission) check() error {
	if p != ReadOnly && p != MayResolve {
		return Errorf(ValidationFailed, "permission: %q is unknown; allowed are read and resolve", clip(string(p)))
	}
	return nil
}

const (
	maxEmbedName    = 100
	maxEmbedAgents  = 50
	maxEmbedOrigins = 20
)

// Normalised is t with its name trimmed and its permission filled in. What is missing, malformed or there twice is ValidationFailed, and so is
// an http origin unless the server is reached on loopback only.
func (t EmbedTerms) Normalised(loopback bool) (EmbedTerms, error) {
	if t.Permission == "" {
		t.Permission = ReadOnly
	}
	var err error
	if t.Name, err = line("name", t.Name, maxEmbedName); err != nil {
		return t, err
	}
	return t, firstError(t.Permission.check(), checkEmbedAgents(t.Agents), checkOrigins(t.Origins, loopback))
}

func checkEmbedAgents(agents []ID) error {
	if len(agents) > maxEmbedAgents {
		return Errorf(ValidationFailed, "agents: %d are too many; at most %d are allowed, and none stands for all", len(agents), maxEmbedAgents)
	}
	for n, id := range agents {
		switch at := "agents[" + strconv.Itoa(n) + "]"; {
		case !id.WellFormed(AgentPrefix):
			return Errorf(ValidationFailed, "%s: %q is not an agent's id", at, clip(string(id)))
		case slices.Contains(agents[:n], id):
			return Errorf(ValidationFailed, "%s: this agent is there twice", at)
		}
	}
	return nil
}

func checkOrigins(origins []string, loopback bool) error {
	if n := len(origins); n == 0 || n > maxEmbedOrigins {
		return Errorf(ValidationFailed, "origins: 1 to %d are allowed, got %d", maxEmbedOrigins, n)
	}
	for n, origin := range origins {
		at := "origins[" + strconv.Itoa(n) + "]"
		if slices.Contains(origins[:n], origin) {
			return Errorf(ValidationFailed, "%s: this origin is there twice", at)
		}
		if err := checkOrigin(at, origin, loopback); err != nil {
			return err
		}
	}
	return nil
}

// The forms of an origin. They stand in a header that tells browsers who may frame us, so nothing else may be in them.
var (
	secureOrigin = regexp.MustCompile(`^https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?$`)
	localOrigin  = regexp.MustCompile(`^http://(localhost|127\.0\.0\.1)(:([1-9][0-9]{0,4}|\*))?$`)
)

func checkOrigin(field, origin string, loopback bool) error {
	local := localOrigin.MatchString(origin)
	switch port := portOf(origin); {
	case local && !loopback:
		return Errorf(ValidationFailed, "%s: %q is allowed only while this server listens on loopback; use https", field, origin)
	case !local && !secureOrigin.MatchString(origin):
		return Errorf(ValidationFailed, "%s: %q is not an origin; allowed are https://host and https://host:port, in small letters and without a path", field, clip(origin))
	case port == "443" && !local, port == "80" && local:
		return Errorf(ValidationFailed, "%s: leave the port %s out, as browsers do", field, port)
	case tooHigh(port):
		return Errorf(ValidationFailed, "%s: there is no port %s", field, port)
	}
	return nil
}

func portOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	_, port, _ := strings.Cut(host, ":")
	return port
}

func tooHigh(port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n > 65535
}

// Framers are the origins whose pages may hold the frame, in the form of a Content-Security-Policy. Those of http are left out unless the
// server is reached on loopback only: it may have been so when they were registered.
func (e Embed) Framers(loopback bool) []string {
	return slices.DeleteFunc(slices.Clone(e.Origins), func(o string) bool { return !loopback && strings.HasPrefix(o, "http:") })
}

// Allows says whether pages of an origin, as a browser tells it, may hold the frame. A port * stands for any.
func (e Embed) Allows(origin string, loopback bool) bool {
	if portOf(origin) == "*" {
		return false
	}
	return slices.ContainsFunc(e.Framers(loopback), func(allowed string) bool {
		host, anyPort := strings.CutSuffix(allowed, ":*")
		return origin == host || anyPort && localOrigin.MatchString(origin) && strings.HasPrefix(origin, host+":")
	})
}

// EmbedPatch changes an embed; a nil field stays as it is.
type EmbedPatch struct {
	Name        *string
	Agents      *[]ID
	Permission  *Permission
	Origins     *[]string
	OpenInSayso *bool
	Enabled     *bool
}

// Normalised is p with its name trimmed; see [EmbedTerms.Normalised].
func (p EmbedPatch) Normalised(loopback bool) (EmbedPatch, error) {
	blank := EmbedTerms{Name: "x", Permission: ReadOnly, Origins: []string{"https://x"}}
	t, err := p.Apply(blank).Normalised(loopback)
	if p.Name != nil {
		p.Name = &t.Name
	}
	return p, err
}

// Apply is t as changed by p.
func (p EmbedPatch) Apply(t EmbedTerms) EmbedTerms {
	set(&t.Name, p.Name)
	set(&t.Agents, p.Agents)
	set(&t.Permission, p.Permission)
	set(&t.Origins, p.Origins)
	set(&t.OpenInSayso, p.OpenInSayso)
	set(&t.Enabled, p.Enabled)
	return t
}

func set[T any](into *T, value *T) {
	if value != nil {
		*into = *value
	}
}

// detail is what the audit log says of t, in the terms of the REST API.
func (t EmbedTerms) detail() map[string]string {
	agents := make([]string, len(t.Agents))
	for n, id := range t.Agents {
		agents[n] = string(id)
	}
	if len(agents) == 0 {
		agents = []string{"all"}
	}
	return map[string]string{
		"agents": strings.Join(agents, " "), "permission": string(t.Permission), "origins": strings.Join(t.Origins, " "),
		"open_in_sayso": strconv.FormatBool(t.OpenInSayso), "enabled": strconv.FormatBool(t.Enabled),
	}
}

func (e Embed) subject() Subject { return Subject{Kind: "embed", ID: e.ID, Name: e.Name} }

// Guest is somebody whom an app vouches for, as a session in its frame. A principal with one is bound by it.
type Guest struct {
	Embed   ID
	App     string // the embed's name
	Key     ID     // the operator key that vouched
	Subject string // the app's own id of the person
	Name    string // what the app calls them
	Agents  []ID   // whose cards they see; none: all agents of the project

	OpenInSayso bool // they may not allow
}

// mayGive says whether a guest may give an answer to i: to what was asked and nothing beyond it, and Allow only where the embed lets them.
func (g *Guest) mayGive(i Interaction, a Answers, answers []Answer) error {
	switch {
	case g == nil:
		return nil
	case a.UpdatedInput != nil || a.Remember || a.UpdatedPermissions != nil:
		return forbidden("change or remember what it allows")
	case g.OpenInSayso && i.Kind == PermissionKind && answers[0].OptionIndices[0] == AllowOption:
		return forbidden("allow here; this app has people do so in Sayso")
	}
	return nil
}

// external is the person as the project knows them: the embed is the tenant.
func (g Guest) external() *External {
	return &External{ProviderTenantID: string(g.Embed), ProviderUserID: g.Subject, DisplayName: g.Name}
}

// told is what the person is called wherever their answer is shown: nobody here knows them, so who does is part of the name.
func (g Guest) told() string { return g.Name + ", vouched for by " + g.App }

// EmbedGrant is what an app's back end asks a token for.
type EmbedGrant struct {
	Subject    string // the app's own id of the person, 1 to 256 characters
	Name       string // what the app calls them, 1 to 256 characters
	Permission Permission
	Agents     []ID
	Origin     string // of the page that will hold the frame
	ExpiresIn  time.Duration
}

// EmbedTokenMost is how long a token may be good for.
const EmbedTokenMost = 5 * time.Minute

// Normalised is g, trimmed, and filled in from the embed: what is left out is what the embed allows. A field that is malformed is
// ValidationFailed, one that asks for more than the embed allows InvalidRequest.
func (g EmbedGrant) Normalised() (EmbedGrant, error) {
	var err [2]error
	g.Subject, err[0] = line("subject", g.Subject, maxProviderID)
	g.Name, err[1] = line("name", g.Name, maxProviderID)
	if g.ExpiresIn == 0 {
		g.ExpiresIn = EmbedTokenMost
	}
	if g.Permission != "" {
		if err := g.Permission.check(); err != nil {
			return g, err
		}
	}
	if g.ExpiresIn < time.Second || g.ExpiresIn > EmbedTokenMost {
		return g, Errorf(ValidationFailed, "expires_in_secs: 1 to %d are allowed", int(EmbedTokenMost/time.Second))
	}
	if g.Origin == "" {
		return g, Errorf(ValidationFailed, "origin: is missing; it is the origin of the page that will hold the frame")
	}
	return g, firstError(err[0], err[1], checkEmbedAgents(g.Agents))
}

// Within is g, which is normalised, bound to what e allows now.
func (g EmbedGrant) Within(e Embed, loopback bool) (EmbedGrant, error) {
	if g.Permission == "" {
		g.Permission = e.Permission
	}
	switch {
	case !e.Enabled:
		return g, Errorf(Conflict, "This embed is disabled.")
	case g.Permission == MayResolve && e.Permission != MayResolve:
		return g, Errorf(InvalidRequest, "permission: this embed allows read only")
	case !e.Allows(g.Origin, loopback):
		return g, Errorf(InvalidRequest, "origin: %q is not registered for this embed", clip(g.Origin))
	}
	for n, id := range g.Agents {
		if len(e.Agents) > 0 && !slices.Contains(e.Agents, id) {
			return g, Errorf(InvalidRequest, "agents[%d]: this embed does not show that agent", n)
		}
	}
	return g, nil
}

// Guest is the principal of a session that a grant opened by a key's word, as e allows now: what the embed no longer allows, the session no
// longer has. It is bound to the project, to the agents, and to reading and resolving. ok is false when nothing is left to see.
func (e Embed) Guest(g EmbedGrant, key ID) (p Principal, ok bool) {
	permission := g.Permission
	if e.Permission == ReadOnly {
		permission = ReadOnly
	}
	agents, ok := e.shown(g.Agents)
	return Principal{
		Kind: EmbedPrincipal, ID: e.ID, Name: g.Name, ProjectID: e.ProjectID, Scopes: permission.scopes(), Channel: ChannelEmbed,
		Guest: &Guest{Embed: e.ID, App: e.Name, Key: key, Subject: g.Subject, Name: g.Name, Agents: agents, OpenInSayso: e.OpenInSayso},
	}, ok && e.Enabled
}

// shown are those of the agents whose cards e shows; none of them is not all of them, so ok is false then.
func (e Embed) shown(agents []ID) (shown []ID, ok bool) {
	switch {
	case len(agents) == 0:
		return e.Agents, true
	case len(e.Agents) == 0:
		return agents, true
	}
	shown = slices.DeleteFunc(slices.Clone(agents), func(id ID) bool { return !slices.Contains(e.Agents, id) })
	return shown, len(shown) > 0
}

// UseLoopback says that the server is reached on loopback only, so that pages there may embed it over http.
func (s *Service) UseLoopback() { s.loopback = true }

// Loopback says whether the server is reached on loopback only.
func (s *Service) Loopback() bool { return s.loopback }

// CreateEmbed registers an app.
func (s *Service) CreateEmbed(ctx context.Context, p Principal, in Project, t EmbedTerms, once Once) (Embed, bool, error) {
	t, err := t.Normalised(s.loopback)
	if err := firstError(err, mayEmbed(p), mayGrant(p, t.Permission)); err != nil {
		return Embed{}, false, err
	}
	if err := s.mayShow(ctx, in, t.Agents); err != nil {
		return Embed{}, false, err
	}
	now := s.Time()
	e := Embed{ID: NewID(EmbedPrefix, now), ProjectID: in.ID, EmbedTerms: t, CreatedAt: now, UpdatedAt: now}
	return s.store.CreateEmbed(ctx, e, once, p.Administers(in.ID, EmbedCreated, e.subject(), t.detail(), now))
}

func mayEmbed(p Principal) error {
	if !p.Can(ScopeManage) {
		return forbidden("manage embeds")
	}
	return nil
}

// mayGrant says whether the principal may have others do so much: nobody gives away what they do not have.
func mayGrant(p Principal, permission Permission) error {
	if permission == MayResolve && !p.Can(ScopeResolve) {
		return Errorf(Forbidden, "permission: you cannot give %q, since you may not answer yourself.", permission)
	}
	return nil
}

// Embeds lists the embeds of a project; next is nil on the last page.
func (s *Service) Embeds(ctx context.Context, p Principal, in Project, at Page) (page []Embed, next *Cursor, err error) {
	if err := mayEmbed(p); err != nil {
		return nil, nil, err
	}
	all, err := s.store.Embeds(ctx, in.ID, at)
	page, next = cut(all, at.Limit, func(e Embed) Cursor { return Cursor{e.CreatedAt, e.ID} })
	return page, next, err
}

// ChangeEmbed changes what an embed allows. Open sessions have no more than that from then on.
func (s *Service) ChangeEmbed(ctx context.Context, p Principal, in Project, id ID, patch EmbedPatch) (Embed, error) {
	patch, err := patch.Normalised(s.loopback)
	if err != nil {
		return Embed{}, err
	}
	if e, err := s.store.Embed(ctx, id); err != nil || e.in(in) != nil || mayEmbed(p) != nil {
		return e, firstError(err, e.in(in), mayEmbed(p))
	}
	if patch.Permission != nil {
		if err := mayGrant(p, *patch.Permission); err != nil {
			return Embed{}, err
		}
	}
	if patch.Agents != nil {
		if err := s.mayShow(ctx, in, *patch.Agents); err != nil {
			return Embed{}, err
		}
	}
	return s.store.UpdateEmbed(ctx, id, func(e Embed) (Embed, *AdminEvent) {
		before := e
		e.EmbedTerms, e.UpdatedAt = patch.Apply(e.EmbedTerms), s.Time()
		detail := changed(before, e)
		if len(detail) == 0 {
			return before, nil
		}
		done := p.Administers(in.ID, EmbedChanged, e.subject(), detail, e.UpdatedAt)
		return e, &done
	})
}

// changed is what is another in after than before.
func changed(before, after Embed) map[string]string {
	old, now := before.detail(), after.detail()
	old["name"], now["name"] = before.Name, after.Name
	maps.DeleteFunc(now, func(name, value string) bool { return old[name] == value })
	return now
}

func (e Embed) in(project Project) error {
	if e.ProjectID != project.ID {
		return errNotFound()
	}
	return nil
}

// RemoveEmbed deletes an embed, and with it every token and session. What its people answered stays.
func (s *Service) RemoveEmbed(ctx context.Context, p Principal, in Project, id ID) error {
	return s.store.RemoveEmbed(ctx, id, func(e Embed) (AdminEvent, error) {
		done := p.Administers(in.ID, EmbedRemoved, e.subject(), nil, s.Time())
		return done, firstError(e.in(in), mayEmbed(p))
	})
}

// Embed gives an embed, to draw its frame for whoever asks: there is nothing in it that is secret.
func (s *Service) Embed(ctx context.Context, id ID) (Embed, error) { return s.store.Embed(ctx, id) }

// Vouch checks what an app's back end asks a token for, in the name of an operator key with the scope embed.
func (s *Service) Vouch(ctx context.Context, p Principal, in Project, id ID, g EmbedGrant) (EmbedGrant, error) {
	g, err := g.Normalised()
	if err != nil {
		return g, err
	}
	e, err := s.store.Embed(ctx, id)
	if err := firstError(err, e.in(in)); err != nil {
		return g, err
	}
	if p.Kind != OperatorPrincipal || !p.Can(ScopeEmbed) {
		return g, forbidden("vouch for people")
	}
	if err := s.mayShow(ctx, in, g.Agents); err != nil {
		return g, err
	}
	return g.Within(e, s.loopback)
}

// mayShow refuses agents that are not of the project.
func (s *Service) mayShow(ctx context.Context, in Project, agents []ID) error {
	for n, id := range agents {
		a, err := s.store.Agent(ctx, id)
		if CodeOf(err) == NotFound || err == nil && a.ProjectID != in.ID {
			return Errorf(InvalidRequest, "agents[%d]: there is no such agent in this project", n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
