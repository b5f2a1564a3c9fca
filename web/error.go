package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/interaction"
	"sayso/views"
)

var statuses = map[interaction.Code]int{
	interaction.ValidationFailed: http.StatusBadRequest,
	interaction.InvalidRequest:   http.StatusBadRequest,
	interaction.Unauthorized:     http.StatusUnauthorized,
	interaction.Forbidden:        http.StatusForbidden,
	interaction.CSRFCheckFailed:  http.StatusForbidden,
	interaction.NotFound:         http.StatusNotFound,
	interaction.Conflict:         http.StatusConflict,
	interaction.IdempotencyKey:   http.StatusConflict,
	interaction.StateTransition:  http.StatusConflict,
	interaction.RequestTooLarge:  http.StatusRequestEntityTooLarge,
	interaction.RateLimited:      http.StatusTooManyRequests,
	interaction.Internal:         http.StatusInternalServerError,
	interaction.Unavailable:      http.StatusServiceUnavailable,
}

// panicError is a panic of a handler.
type panicError struct{ value any }

func (p panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// problem is err as an error of ours. Echo's own say only that there is no such route; a method that a route does not have is told the same.
func problem(err error) *interaction.Error {
	var router *echo.HTTPError
	if errors.As(err, &router) && (router.Code == http.StatusNotFound || router.Code == http.StatusMethodNotAllowed) {
		return interaction.Errorf(interaction.NotFound, "Not found.")
	}
	return interaction.AsError(err)
}

// writeError answers with err in the form that the caller expects. It is the one place that does.
func (s *Server) writeError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		var ended *interaction.Error // the caller's key; see hold
		if !errors.As(context.Cause(c.Request().Context()), &ended) {
			c.Response().Status = 499 // for the log: nobody is there to be told
			return
		}
		err = ended
	}
	e := problem(err)
	if e.Code == interaction.Internal {
		s.config.Log.Error("request failed", slog.String("route", c.Path()), slog.Any("err", err))
	}
	retryLater(c, e)
	if err := s.tell(c, e); err != nil {
		s.config.Log.Error("write error", slog.Any("err", err))
		if !c.Response().Committed { // what is ready made needs nothing that can fail
			_ = c.String(http.StatusInternalServerError, headings[http.StatusInternalServerError]+".\n")
		}
	}
}

// tell writes the failure; an error page that cannot be drawn is an error too.
func (s *Server) tell(c echo.Context, e *interaction.Error) (err error) {
	defer recoverTo(&err)
	status := statuses[e.Code]
	switch {
	case keyed(c.Request().URL.Path):
		if e.Code == interaction.Unauthorized {
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
		}
		return c.JSONBlob(status, errorBody(e))
	case isFragment(c):
		return c.String(status, e.Message)
	case e.Code == interaction.Unauthorized && c.Request().Method == http.MethodGet:
		return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/signin")
	}
	if principal(c).ID == "" && !strings.HasPrefix(c.Path(), "/embed/") {
		_ = s.findSession(c) // whoever is signed in keeps the rail, on any address
	}
	return s.renderStatus(c, status, views.ErrorPageView(views.ErrorPage{
		Page: s.pageAnywhere(c, "Error"), Status: status, Heading: headings[status], Message: e.Message,
	}))
}

// keyed says whether a path is called by programs, so that failures on it are JSON.
func keyed(path string) bool {
	if below, framed := strings.CutPrefix(path, "/embed/"); framed && strings.Contains(below, "/") {
		return true // what a frame's script calls
	}
	return strings.HasPrefix(path, "/api/") || path == "/mcp" || strings.HasPrefix(path, "/hooks/")
}

var headings = map[int]string{
	http.StatusBadRequest:            "That request is not right",
	http.StatusUnauthorized:          "You are signed out",
	http.StatusForbidden:             "Not allowed",
	http.StatusNotFound:              "Nothing here",
	http.StatusConflict:              "That has changed",
	http.StatusRequestEntityTooLarge: "That is too large",
	http.StatusUnprocessableEntity:   "That is not quite right",
	http.StatusTooManyRequests:       "Too much at once",
	http.StatusInternalServerError:   "Something went wrong on our side",
	http.StatusServiceUnavailable:    "Not available right now",
}

// errorBody is the JSON of a failure. One about an interaction that ended carries how.
func errorBody(e *interaction.Error) []byte {
	b := append(quoted(append([]byte(nil), `{"error":`...), e.Message), `,"code":`...)
	b = quoted(b, string(e.Code))
	if e.Final != nil {
		b = interaction.NewRecord(*e.Final).AppendJSON(append(b, `,"interaction":`...))
	}
	return append(b, '}', '\n')
}
