package web

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/oidc"
	"sayso/views"
)

// Provider signs people in by its word for who they are.
type Provider struct {
	*oidc.Client
	Name  string // on the button
	Roles []auth.GroupRole
}

// OIDCCallback is where a provider sends people back to, under the base path.
const OIDCCallback = "/signin/oidc/callback"

// ticketLasts is how many seconds a browser keeps the ticket of a sign-in that has begun.
const ticketLasts = 600

// ticketCookie is beside the session's, under the same rules.
func (s *Server) ticketCookie() string { return s.cookieName() + "-oidc" }

// startOIDC sends somebody to the provider. It answers with a page that goes there by itself: a redirect would count as part of the form's
// submission, which the policy of our pages keeps to ourselves.
func (s *Server) startOIDC(c echo.Context) error {
	if s.config.Provider == nil {
		return interaction.Errorf(interaction.NotFound, "Not found.")
	}
	address, ticket, err := s.config.Provider.Start(c.Request().Context())
	if err != nil {
		return s.oidcFailed(c, err)
	}
	c.SetCookie(s.cookie(s.ticketCookie(), ticket, ticketLasts))
	c.Response().Header().Set("Refresh", "0; url="+address)
	return s.render(c, views.LeavePage(views.Leave{Page: s.page(c, "Sign in", views.SectionNone), Provider: s.config.Provider.Name, URL: address}))
}

// finishOIDC signs in whom the provider has sent back. It is the one GET that signs in, since that is how providers send people; nothing is done
// unless the same browser began it. Going back to it later, as by the back button, leads whoever is signed in to the inbox.
func (s *Server) finishOIDC(c echo.Context) error {
	switch {
	case s.config.Provider == nil:
		return interaction.Errorf(interaction.NotFound, "Not found.")
	case wantsHead(c.Request()):
		return c.NoContent(http.StatusNoContent)
	}
	ticket := ""
	if cookie, err := c.Cookie(s.ticketCookie()); err == nil {
		ticket = cookie.Value
	}
	signedIn := s.findSession(c) == nil
	if ticket == "" && signedIn {
		return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/")
	}
	c.SetCookie(s.cookie(s.ticketCookie(), "", -1))
	token, err := s.identified(c, ticket)
	if err != nil {
		return s.oidcFailed(c, err)
	}
	if signedIn {
		if err := s.gate.SignOut(c.Request().Context(), session(c)); err != nil {
			return err
		}
	}
	c.SetCookie(s.cookie(s.cookieName(), token, sessionLasts))
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/")
}

// identified starts the session of whom the provider has sent.
func (s *Server) identified(c echo.Context, ticket string) (token string, err error) {
	who, err := s.config.Provider.Finish(c.Request().Context(), ticket, c.QueryParams())
	if err != nil {
		return "", err
	}
	roles := map[interaction.ID]interaction.Role{}
	for name, role := range auth.RolesOf(s.config.Provider.Roles, who.Groups) {
		in, err := s.mappedProject(c, name)
		if interaction.CodeOf(err) == interaction.NotFound {
			s.config.Log.Warn("sign-in: a group's project is not there", slog.String("project", name))
			continue
		}
		if err != nil {
			return "", err
		}
		roles[in.ID] = roles[in.ID].Or(role)
	}
	return s.gate.SignInAs(c.Request().Context(), auth.Identity{Issuer: who.Issuer, Subject: who.Subject, Name: who.Name, Email: who.Email}, roles, s.from(c))
}

// mappedProject finds a project by a slug of the org default, or by its id.
func (s *Server) mappedProject(c echo.Context, name string) (interaction.Project, error) {
	org := interaction.ID(interaction.DefaultSlug)
	if interaction.ID(name).WellFormed(interaction.ProjectPrefix) {
		org = ""
	}
	return s.service.ProjectOf(c.Request().Context(), org, interaction.ID(name))
}

// What people are told when signing in did not work, by its code. The log has the code, and never what the provider sent.
var oidcFailures = map[oidc.Code]struct {
	status int
	says   string
}{
	oidc.Unreachable: {http.StatusServiceUnavailable, "It cannot be reached at the moment. Try again in a while."},
	oidc.BadState:    {http.StatusBadRequest, "This sign-in was not begun in this browser, or was finished already. Start again."},
	oidc.TooOld:      {http.StatusBadRequest, "This sign-in took longer than ten minutes. Start again."},
	oidc.Used:        {http.StatusBadRequest, "This sign-in was finished already. Start again."},
	oidc.Refused:     {http.StatusForbidden, "It did not sign you in."},
}

// oidcFailed answers with why signing in did not work.
func (s *Server) oidcFailed(c echo.Context, err error) error {
	page := views.SignInFailed{Provider: s.config.Provider.Name}
	status := http.StatusForbidden
	var failure *oidc.Failure
	switch e := interaction.AsError(err); {
	case errors.As(err, &failure):
		s.config.Log.Warn("sign-in failed", slog.String("code", string(failure.Code)), slog.String("issuer", s.config.Provider.Issuer()))
		told, known := oidcFailures[failure.Code]
		if !known {
			told.status, told.says = http.StatusForbidden, "What it said about you could not be accepted. Tell whoever runs this server: "+string(failure.Code)+"."
		}
		status, page.Message = told.status, told.says
	case e.Code == interaction.Forbidden:
		s.config.Log.Warn("sign-in failed", slog.String("code", "not_allowed"), slog.String("issuer", s.config.Provider.Issuer()))
		page.Message = e.Message
	default:
		return err
	}
	c.Set(principalKey, interaction.Principal{}) // the page is for somebody who is not in
	page.Page = s.page(c, "Sign in", views.SectionNone)
	return s.renderStatus(c, status, views.SignInFailedPage(page))
}
