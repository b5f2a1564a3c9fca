package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// The registrations of apps that embed cards: over REST, and on a page of the settings. What happens in a frame is in frame.go.

func (s *Server) createEmbed(c echo.Context) error {
	var in api.NewEmbed
	body, err := s.readJSON(c, &in)
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	terms := interaction.EmbedTerms{
		Name: in.Name, Agents: convert(in.Agents, agentID), Permission: interaction.Permission(in.Permission), Origins: in.Origins,
		OpenInSayso: in.OpenInSayso, Enabled: in.Enabled == nil || *in.Enabled,
	}
	project, err := s.inProject(c)
	if err != nil {
		_, wrong := terms.Normalised(s.service.Loopback())
		return firstOf(wrong, err)
	}
	e, created, err := s.service.CreateEmbed(c.Request().Context(), principal(c), project, terms, once(c, key, "POST embeds "+string(project.ID), body))
	if err != nil {
		return err
	}
	return c.JSON(createdOr(created), api.EmbedBody{Embed: wireEmbed(e)})
}

func agentID(text string) interaction.ID { return interaction.ID(text) }

func (s *Server) listEmbeds(c echo.Context) error { return listPage(s, c, s.service.Embeds, wireEmbed) }

func (s *Server) updateEmbed(c echo.Context) error {
	var in api.EmbedPatch
	if _, err := s.readJSON(c, &in); err != nil {
		return err
	}
	patch := interaction.EmbedPatch{
		Name: in.Name, Permission: (*interaction.Permission)(in.Permission), Origins: in.Origins, OpenInSayso: in.OpenInSayso, Enabled: in.Enabled,
	}
	if in.Agents != nil {
		agents := convert(*in.Agents, agentID)
		patch.Agents = &agents
	}
	project, id, err := s.embedInProject(c)
	if err != nil {
		_, wrong := patch.Normalised(s.service.Loopback())
		return firstOf(wrong, err)
	}
	e, err := s.service.ChangeEmbed(c.Request().Context(), principal(c), project, id, patch)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.EmbedBody{Embed: wireEmbed(e)})
}

func (s *Server) deleteEmbed(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	project, id, err := s.embedInProject(c)
	if err != nil {
		return err
	}
	if err := s.service.RemoveEmbed(c.Request().Context(), principal(c), project, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// createEmbedToken makes a token for a person of an app. A repeated request makes another: a token is for one session, and told once.
func (s *Server) createEmbedToken(c echo.Context) error {
	var in api.NewEmbedToken
	if _, err := s.readJSON(c, &in); err != nil {
		return err
	}
	grant := interaction.EmbedGrant{
		Subject: in.Subject, Name: in.Name, Permission: interaction.Permission(in.Permission), Agents: convert(in.Agents, agentID), Origin: in.Origin,
	}
	if in.ExpiresInSecs != nil {
		grant.ExpiresIn = seconds(*in.ExpiresInSecs)
	}
	project, id, err := s.embedInProject(c)
	if err != nil {
		_, wrong := grant.Normalised()
		return firstOf(wrong, err)
	}
	ctx := c.Request().Context()
	if grant, err = s.service.Vouch(ctx, principal(c), project, id, grant); err != nil {
		return err
	}
	token, expires, err := s.gate.EmbedToken(ctx, id, principal(c).ID, grant)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, api.EmbedToken{Token: token, ExpiresAt: api.Time{Time: expires}})
}

// seconds is n seconds, where 0 is none rather than as many as there may be.
func seconds(n int) time.Duration {
	if n <= 0 || n > 1<<20 {
		return -time.Second
	}
	return time.Duration(n) * time.Second
}

// embedInProject reads which embed the path names.
func (s *Server) embedInProject(c echo.Context) (interaction.Project, interaction.ID, error) {
	id, err := pathID(c, "embed", interaction.EmbedPrefix)
	if err != nil {
		return interaction.Project{}, "", err
	}
	project, err := s.inProject(c)
	return project, id, err
}

func wireEmbed(e interaction.Embed) api.Embed {
	return api.Embed{
		ID: string(e.ID), ProjectID: string(e.ProjectID), Name: e.Name, Permission: string(e.Permission), Origins: e.Origins,
		Agents: convert(e.Agents, func(id interaction.ID) string { return string(id) }), OpenInSayso: e.OpenInSayso, Enabled: e.Enabled,
		CreatedAt: api.Time{Time: e.CreatedAt}, UpdatedAt: api.Time{Time: e.UpdatedAt},
	}
}

// embedsPage lists the registrations of a project.
func (s *Server) embedsPage(c echo.Context) error {
	q := queryOf(c, "cursor")
	page := q.page()
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	return s.showEmbeds(c, in, http.StatusOK, page, views.Embeds{})
}

// registerEmbed takes the form that registers an app.
func (s *Server) registerEmbed(c echo.Context) error {
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	terms, err := termsOfForm(c)
	if err != nil {
		return err
	}
	terms.Enabled = true
	_, _, err = s.service.CreateEmbed(c.Request().Context(), principal(c), in, terms, interaction.Once{})
	return s.afterEmbedForm(c, in, err, "", terms)
}

// changeEmbedFromPage takes the form of one registration.
func (s *Server) changeEmbedFromPage(c echo.Context) error {
	in, id, err := s.embedInProject(c)
	if err != nil {
		return err
	}
	t, err := termsOfForm(c)
	if err != nil {
		return err
	}
	patch := interaction.EmbedPatch{
		Name: &t.Name, Agents: &t.Agents, Permission: &t.Permission, Origins: &t.Origins, OpenInSayso: &t.OpenInSayso, Enabled: &t.Enabled,
	}
	_, err = s.service.ChangeEmbed(c.Request().Context(), principal(c), in, id, patch)
	return s.afterEmbedForm(c, in, err, id, t)
}

func (s *Server) deleteEmbedFromPage(c echo.Context) error {
	in, id, err := s.embedInProject(c)
	if err != nil {
		return err
	}
	if err := s.service.RemoveEmbed(c.Request().Context(), principal(c), in, id); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, s.presenter(in, principal(c)).url("/settings/embeds"))
}

// termsOfForm reads a registration's form. Origins stand one below the other.
func termsOfForm(c echo.Context) (t interaction.EmbedTerms, err error) {
	form, err := readForm(c)
	if err != nil {
		return t, err
	}
	values := url.Values(form)
	return interaction.EmbedTerms{
		Name: values.Get("name"), Agents: convert(values["agent"], agentID), Permission: interaction.Permission(values.Get("permission")),
		Origins: strings.Fields(values.Get("origins")), OpenInSayso: values.Has("open_in_sayso"), Enabled: values.Has("enabled"),
	}, nil
}

// afterEmbedForm shows the list again: as it now is, or with what was wrong and what was typed.
func (s *Server) afterEmbedForm(c echo.Context, in interaction.Project, err error, id interaction.ID, typed interaction.EmbedTerms) error {
	switch e := problem(err); {
	case err == nil:
		return c.Redirect(http.StatusSeeOther, s.presenter(in, principal(c)).url("/settings/embeds"))
	case e.Code == interaction.ValidationFailed, e.Code == interaction.InvalidRequest:
		model := views.Embeds{Problem: "Nothing was changed. " + e.Message, ProblemOf: string(id), Typed: embedForm(typed)}
		return s.showEmbeds(c, in, http.StatusUnprocessableEntity, interaction.Page{Limit: interaction.DefaultLimit}, model)
	}
	return err
}

// showEmbeds fills in model and answers with it.
func (s *Server) showEmbeds(c echo.Context, in interaction.Project, status int, at interaction.Page, model views.Embeds) error {
	ctx, who := c.Request().Context(), principal(c)
	at.Newest = true
	list, next, err := s.service.Embeds(ctx, who, in, at)
	if err != nil {
		return err
	}
	if model.Page, err = s.pageIn(c, in, "Embedding", views.SectionSettings); err != nil {
		return err
	}
	f := interaction.AgentFilter{Project: in.ID, State: interaction.AgentActive, Page: interaction.Page{Limit: agentsAtOnce}}
	agents, _, err := s.service.Agents(ctx, who, f)
	if err != nil {
		return err
	}
	p := s.presenter(in, who)
	model.URL = p.url("/settings/embeds")
	model.Self, model.Address, model.Loopback = model.URL, s.publicAddress(c), s.service.Loopback()
	model.API = "/api/v1/orgs/" + orgAddress(in) + "/projects/" + in.Slug
	model.Agents = convert(agents, func(a interaction.Agent) views.EmbedAgent {
		return views.EmbedAgent{ID: string(a.ID), Name: display.Line(a.Name)}
	})
	if next != nil {
		model.NextURL = model.URL + "?cursor=" + url.QueryEscape(next.String())
	}
	model.Rows = convert(list, func(e interaction.Embed) views.EmbedRow {
		at := model.URL + "/" + string(e.ID)
		return views.EmbedRow{ID: string(e.ID), Name: display.Line(e.Name), Form: embedForm(e.EmbedTerms), CreatedAt: e.CreatedAt, ChangeURL: at, DeleteURL: at + "/delete"}
	})
	return s.renderStatus(c, status, views.EmbedsPage(model))
}

// orgAddress is how the REST API names the project's org.
func orgAddress(in interaction.Project) string {
	if in.Org == interaction.DefaultSlug {
		return in.Org
	}
	return string(in.OrgID)
}

func embedForm(t interaction.EmbedTerms) views.EmbedForm {
	return views.EmbedForm{
		Name: t.Name, Agents: convert(t.Agents, func(id interaction.ID) string { return string(id) }), Resolve: t.Permission == interaction.MayResolve,
		Origins: strings.Join(t.Origins, "\n"), OpenInSayso: t.OpenInSayso, Enabled: t.Enabled,
	}
}

// publicAddress is where browsers reach us, with the base path.
func (s *Server) publicAddress(c echo.Context) string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL + s.config.BasePath
	}
	return "http://" + c.Request().Host + s.config.BasePath
}
