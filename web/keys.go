package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
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

func (s *Server) listKeys(c echo.Context) error {
	q := queryOf(c, "limit", "cursor", "order")
	page := q.page()
	project, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	list, next, err := s.gate.Keys(c.Request().Context(), principal(c), project, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.List[api.Key]{Data: convert(list, wireKey), NextCursor: cursorText(next)})
}

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
