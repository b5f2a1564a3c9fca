package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// The names under which a request carries who is calling, and in which project.
const (
	principalKey = "principal"
	sessionKey   = "session"
	projectKey   = "project"
)

// principal is who is calling; the zero value on a route that asks nobody.
func principal(c echo.Context) interaction.Principal {
	p, _ := c.Get(principalKey).(interaction.Principal)
	return p
}

// session is the hash of the caller's session token.
func session(c echo.Context) auth.Hash {
	h, _ := c.Get(sessionKey).(auth.Hash)
	return h
}

// withKey lets only callers with an API key through. Cookies are not looked at.
func (s *Server) withKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.findKey(c); err != nil {
			return err
		}
		return next(c)
	}
}

func (s *Server) findKey(c echo.Context) error {
	p, err := s.gate.Key(c.Request().Context(), bearer(c))
	if err != nil {
		return err
	}
	if p.Channel, err = channel(c); err != nil {
		return err
	}
	c.Set(principalKey, p)
	return nil
}

// bearer is the key that the request carries; "" for one that comes in any other way.
func bearer(c echo.Context) string {
	scheme, secret, _ := strings.Cut(c.Request().Header.Get(echo.HeaderAuthorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return secret
}

// channel is the door that our own clients say they are.
func channel(c echo.Context) (interaction.Channel, error) {
	switch given := interaction.Channel(c.Request().Header.Get("Sayso-Channel")); given {
	case "":
		return interaction.ChannelAPI, nil
	case interaction.ChannelCLI, interaction.ChannelMCP, interaction.ChannelChat:
		return given, nil
	default:
		return "", interaction.Errorf(interaction.ValidationFailed, "Sayso-Channel: %q is unknown; allowed are cli, mcp and chat", given)
	}
}

// withSession lets only people who are signed in through.
func (s *Server) withSession(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := s.findSession(c); err != nil {
			return err
		}
		if !byItself(c) {
			s.gate.Active(session(c))
		}
		return next(c)
	}
}

// byItself says whether a page asked, and nobody did anything.
func byItself(c echo.Context) bool {
	return strings.HasSuffix(c.Path(), "/cards") || strings.HasSuffix(c.Path(), "/live")
}

func (s *Server) findSession(c echo.Context) error {
	cookie, err := c.Cookie(s.cookieName())
	if err != nil {
		return interaction.Errorf(interaction.Unauthorized, "You are signed out.")
	}
	h := auth.HashOf(cookie.Value)
	p, err := s.gate.Session(c.Request().Context(), h)
	if err == nil && p.Kind != interaction.UserPrincipal {
		err = interaction.Errorf(interaction.Unauthorized, "You are signed out.") // unreachable unless bug in package auth
	}
	if err != nil {
		return err
	}
	c.Set(principalKey, p)
	c.Set(sessionKey, h)
	return nil
}

// cookieName tells the browser to hold us to the strictest rules that the way we are reached allows.
func (s *Server) cookieName() string {
	switch {
	case !s.https():
		return "sayso"
	case s.config.BasePath != "":
		return "__Secure-sayso"
	}
	return "__Host-sayso"
}

// sessionLasts is how many seconds a browser keeps what belongs to a session.
const sessionLasts = int(auth.SessionMost / time.Second)

// sameOrigin refuses a post that another site's page sends, and bounds what a form may hold.
func (s *Server) sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(bodyWithin)); err != nil {
			return err
		}
		c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, s.config.BodyLimit)
		if err := s.cross.Check(c.Request()); err != nil {
			return &interaction.Error{Code: interaction.CSRFCheckFailed, Message: "This form was sent from another site. Nothing was recorded.", Err: err}
		}
		return next(c)
	}
}

func (s *Server) startDemo(c echo.Context) error {
	if _, err := s.enter(c, "", interaction.DefaultSlug); err != nil { // where it works
		return err
	}
	switch {
	case !principal(c).Can(interaction.ScopeManage):
		return interaction.Errorf(interaction.Forbidden, "Only an admin starts the demo agent.")
	case s.config.Demo == nil:
		return interaction.Errorf(interaction.NotFound, "There is no demo agent here.")
	}
	s.config.Demo()
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/")
}
