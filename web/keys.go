package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// hold has the request's context end when its key does, for a call that may take longer than a second. The cause of that end is what is
// answered then; see [Server.writeError].
func (s *Server) hold(c echo.Context) (release func()) {
	ctx, release := s.gate.HoldKey(c.Request().Context(), bearer(c), principal(c))
	c.SetRequest(c.Request().WithContext(ctx))
	return release
}

// createKey makes a key. Its secret is in the first answer only: a repeated request gets the key without it.
func (s *Server) createKey(c echo.Context) error {
	var in api.NewKey
	body, err := s.readJSON(c, &in)
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	wanted := auth.NewKey{
		Kind: interaction.PrincipalKind(in.Kind), Name: in.Name, Agent: interaction.ID(in.AgentID),
		Scopes: convert(in.Scopes, func(name string) interaction.Scope { return interaction.Scope(name) }),
	}
	project, err := s.inProject(c)
	if err != nil {
		_, wrong := wanted.Normalised()
		return firstOf(wrong, err)
	}
	made, secret, err := s.gate.CreateKey(c.Request().Context(), principal(c), project, wanted, once(c, key, "POST keys "+string(project.ID), body))
	if err != nil {
		return err
	}
	return c.JSON(createdOr(secret != ""), api.KeyBody{Key: wireKey(made), Secret: secret})
}

func (s *Server) listKeys(c echo.Context) error { return listPage(s, c, s.gate.Keys, wireKey) }

// revokeKey ends a key. Repeating it changes nothing.
func (s *Server) revokeKey(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	id, err := pathID(c, "key", interaction.KeyPrefix)
	if err != nil {
		return err
	}
	project, err := s.inProject(c)
	if err != nil {
		return err
	}
	k, err := s.gate.RevokeKey(c.Request().Context(), principal(c), project, id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.KeyBody{Key: wireKey(k)})
}

func wireKey(k auth.Key) api.Key {
	return api.Key{
		ID: string(k.ID), ProjectID: string(k.Project), Kind: string(k.Kind), Name: k.Name, AgentID: string(k.Agent),
		Scopes: convert(k.Scopes, func(scope interaction.Scope) string { return string(scope) }), LastFour: k.LastFour,
		CreatedBy: k.CreatedBy, CreatedAt: api.Time{Time: k.CreatedAt}, LastUsedAt: timeOrNone(k.UsedAt), RevokedAt: timeOrNone(k.RevokedAt),
	}
}

func timeOrNone(t time.Time) *api.Time {
	if t.IsZero() {
		return nil
	}
	return &api.Time{Time: t}
}

// keysPage lists the project's keys.
func (s *Server) keysPage(c echo.Context) error {
	q := queryOf(c, "cursor")
	page := q.page()
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	return s.showKeys(c, in, http.StatusOK, page, views.Keys{})
}

// makeKey makes the key that a form describes. Its secret is on the page that answers the form, which nothing keeps.
func (s *Server) makeKey(c echo.Context) error {
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	form, err := c.FormParams()
	if err != nil {
		return &interaction.Error{Code: interaction.ValidationFailed, Message: "The form could not be read.", Err: err}
	}
	made, secret, err := s.keyOfForm(c, in, form)
	status, model := http.StatusOK, views.Keys{}
	switch e := problem(err); {
	case err == nil:
		model.Made = &views.MadeKey{Name: display.Line(made.Name), Secret: secret}
	case e.Code == interaction.ValidationFailed, e.Code == interaction.InvalidRequest, e.Code == interaction.IdempotencyKey:
		status, model.Problem = statuses[e.Code], "No key was made. "+e.Message
		model.Form.Name, model.Form.Agent = form.Get("name"), form.Get("agent")
	default:
		return err
	}
	for _, name := range form["scope"] {
		model.Form.Scopes = append(model.Form.Scopes, views.Scope{Name: name, Chosen: err != nil})
	}
	return s.showKeys(c, in, status, interaction.Page{Limit: interaction.DefaultLimit}, model)
}

func (s *Server) keyOfForm(c echo.Context, in interaction.Project, form url.Values) (auth.Key, string, error) {
	wanted := auth.NewKey{Kind: interaction.PrincipalKind(form.Get("kind")), Name: form.Get("name")}
	wanted.Scopes = convert(form["scope"], func(name string) interaction.Scope { return interaction.Scope(name) })
	who := principal(c)
	if !who.Can(interaction.ScopeManage) {
		return s.gate.CreateKey(c.Request().Context(), who, in, wanted, interaction.Once{}) // refused there, before an agent is looked for
	}
	if name := strings.TrimSpace(form.Get("agent")); name != "" {
		agent, err := s.agentOfKey(c.Request().Context(), who, in, name)
		if err != nil {
			return auth.Key{}, "", err
		}
		wanted.Agent = agent
	}
	once := interaction.Once{Caller: who.ID}
	if given := form.Get("once"); given != "" {
		once.Key, once.Request = "form "+given[:min(len(given), 100)], sha256.Sum256([]byte(form.Encode()))
	}
	return s.gate.CreateKey(c.Request().Context(), who, in, wanted, once)
}

// agentOfKey finds the agent that a key is for by its key, else by a name that no other has.
func (s *Server) agentOfKey(ctx context.Context, who interaction.Principal, in interaction.Project, name string) (interaction.ID, error) {
	for _, f := range []interaction.AgentFilter{{Key: name}, {Name: name}} {
		f.Project, f.State, f.Limit = in.ID, interaction.AgentActive, 1
		found, more, err := s.service.Agents(ctx, who, f)
		switch {
		case err != nil:
			return "", err
		case more != nil:
			return "", interaction.Errorf(interaction.InvalidRequest, "Several agents have this name; give the key of the one you mean.")
		case len(found) == 1:
			return found[0].ID, nil
		}
	}
	return "", interaction.Errorf(interaction.InvalidRequest, "There is no active agent with this key or name.")
}

// showKeys fills in model and answers with it.
func (s *Server) showKeys(c echo.Context, in interaction.Project, status int, at interaction.Page, model views.Keys) error {
	at.Newest = true
	list, next, err := s.gate.Keys(c.Request().Context(), principal(c), in, at)
	if err != nil {
		return err
	}
	if model.Page, err = s.pageIn(c, in, "API keys", views.SectionSettings); err != nil {
		return err
	}
	p := s.presenter(in, principal(c))
	model.URL = p.url("/settings/keys")
	model.Self = model.URL
	if next != nil {
		model.NextURL = model.URL + "?cursor=" + url.QueryEscape(next.String())
	}
	if model.Form, err = s.keyForm(c, in, model.Form); err != nil {
		return err
	}
	names := agentNames{service: s.service}
	for _, k := range list {
		row := p.key(k)
		if k.Agent != "" {
			name, err := names.of(c.Request().Context(), k.Agent)
			if err != nil {
				return err
			}
			row.Agent, row.AgentURL = display.Line(name), p.agentURL(k.Agent)
		}
		model.Rows = append(model.Rows, row)
	}
	return s.renderStatus(c, status, views.KeysPage(model))
}

// keyForm fills in what can be chosen. What was typed and chosen stays.
func (s *Server) keyForm(c echo.Context, in interaction.Project, typed views.KeyForm) (views.KeyForm, error) {
	form := views.KeyForm{Once: rand.Text(), Name: typed.Name, Agent: typed.Agent}
	for _, scope := range interaction.Scopes {
		if principal(c).Can(scope) {
			chosen := slices.Contains(typed.Scopes, views.Scope{Name: string(scope), Chosen: true})
			form.Scopes = append(form.Scopes, views.Scope{Name: string(scope), About: aboutScope[scope], Chosen: chosen})
		}
	}
	f := interaction.AgentFilter{Project: in.ID, State: interaction.AgentActive, Page: interaction.Page{Limit: agentsAtOnce}}
	agents, _, err := s.service.Agents(c.Request().Context(), principal(c), f)
	form.Agents = convert(agents, func(a interaction.Agent) string { return a.Key })
	return form, err
}

// aboutScope is what people are told of a scope.
var aboutScope = map[interaction.Scope]string{
	interaction.ScopeRead:    "sees requests, agents and conversations",
	interaction.ScopeResolve: "answers requests and writes to agents",
	interaction.ScopeManage:  "makes agents, keys and whatever else the settings hold",
	interaction.ScopeAudit:   "reads the audit log and the policies",
	interaction.ScopeEmbed:   "lets other sites show requests",
}

func (p presenter) key(k auth.Key) views.KeyRow {
	return views.KeyRow{
		ID: string(k.ID), Name: display.Line(k.Name), Operator: k.Kind == interaction.OperatorPrincipal, Scopes: strings.ReplaceAll(k.ScopeText(), " ", ", "),
		LastFour: k.LastFour, CreatedBy: display.Line(k.CreatedBy), CreatedAt: k.CreatedAt, UsedAt: k.UsedAt, RevokedAt: k.RevokedAt,
		RevokeURL: p.url("/settings/keys/" + string(k.ID) + "/revoke"),
	}
}

// revokeFromPage ends a key and shows the list again.
func (s *Server) revokeFromPage(c echo.Context) error {
	id, err := pathID(c, "key", interaction.KeyPrefix)
	if err != nil {
		return err
	}
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	if _, err := s.gate.RevokeKey(c.Request().Context(), principal(c), in, id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, s.presenter(in, principal(c)).url("/settings/keys"))
}
