package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/static"
)

// healthy says that the process lives.
func (s *Server) healthy(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// ready says that the store can be reached.
func (s *Server) ready(c echo.Context) error {
	if err := s.store.Ping(c.Request().Context()); err != nil {
		return &interaction.Error{Code: interaction.Unavailable, Message: "The database cannot be reached.", Err: err}
	}
	return c.String(http.StatusOK, "ready\n")
}

func (s *Server) openAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", api.Document)
}

// asset serves a file that is named by its content, so that it may be kept for ever.
func (s *Server) asset(c echo.Context) error {
	content, kind, ok := static.File(c.Param("*"))
	if !ok {
		return echo.ErrNotFound
	}
	c.Response().Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	return c.Blob(http.StatusOK, kind, content)
}

func (s *Server) favicon(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+static.Path("favicon.svg"))
}

// createSignInLink makes a one-time link for the owner, for `sayso signin-link`.
func (s *Server) createSignInLink(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	if p := principal(c); !p.Can(interaction.ScopeManage) || p.ProjectID != "" { // the owner is an admin everywhere
		return interaction.Errorf(interaction.Forbidden, "This credential may not make sign-in links.")
	}
	code, err := s.gate.NewCode(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, api.SignInLink{
		URL: s.origin(c) + s.config.BasePath + "/setup?code=" + code, ExpiresAt: api.Time{Time: s.service.Time().Add(auth.CodeLife)},
	})
}

// origin is scheme and host as browsers reach us.
func (s *Server) origin(c echo.Context) string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL
	}
	return "http://" + c.Request().Host
}
