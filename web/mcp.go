package web

import (
	"bytes"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/interaction"
	"sayso/internal/mcp"
)

// serveMCP answers a client of MCP. The tools call the routes of REST with the same key, so they can do what it may and no more.
func (s *Server) serveMCP(c echo.Context) error {
	if err := s.cross.Check(c.Request()); err != nil {
		return &interaction.Error{Code: interaction.CSRFCheckFailed, Message: "Another site's page may not call this.", Err: err}
	}
	body, err := s.readAll(c)
	if err != nil {
		return err
	}
	if c.Request().Method == http.MethodGet {
		defer s.hold(c)() // a call that waits is told by the route that it waits on
	}
	r := c.Request().Clone(c.Request().Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	org, project, err := s.boundTo(c)
	if err != nil {
		return err
	}
	p := principal(c)
	s.mcp.Serve(c.Response(), r, mcp.Caller{
		ID: string(p.ID), Key: bearer(c), Manages: p.Can(interaction.ScopeRead) && p.Can(interaction.ScopeResolve), Org: org, Project: project,
	})
	return nil
}

// boundTo is the org and the project of the caller's key, for a door whose address names none; both "" of a key that is bound to none.
func (s *Server) boundTo(c echo.Context) (org, project string, err error) {
	id := principal(c).ProjectID
	if id == "" {
		return "", "", nil
	}
	in, err := s.service.ProjectOf(c.Request().Context(), "", id)
	return string(in.OrgID), string(in.ID), err
}
