package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/views"
)

// from is where the caller signs in. The session that its browser has ends: a new one is never put beside an old one.
func (s *Server) from(c echo.Context) auth.From {
	from := auth.From{Client: c.Request().UserAgent(), Address: s.address(c.Request())}
	if cookie, err := c.Cookie(s.cookieName()); err == nil {
		from.Instead = auth.HashOf(cookie.Value)
	}
	return from
}

// begin hands a new session to the browser, and takes it to one of our pages.
func (s *Server) begin(c echo.Context, token, path string) error {
	c.SetCookie(s.cookie(s.cookieName(), token, sessionLasts))
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+path)
}

// setupPage shows what a one-time link offers. Opening it uses nothing up.
func (s *Server) setupPage(c echo.Context) error {
	if s.findSession(c) == nil {
		return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/")
	}
	code := c.QueryParam("code")
	good, err := s.gate.CheckCode(c.Request().Context(), code)
	if err != nil {
		return err
	}
	if !good {
		return s.usedLink()
	}
	first, err := s.gate.First(c.Request().Context())
	if err != nil {
		return err
	}
	return s.render(c, views.SetupPage(views.Setup{Page: s.page(c, "Sign in", views.SectionNone), Code: code, First: first}))
}

func (s *Server) usedLink() error {
	return interaction.Errorf(interaction.Forbidden, "This link was used already or is too old. Run `%s signin-link` for a new one.", s.config.Command)
}

// setup signs the owner in.
func (s *Server) setup(c echo.Context) error {
	token, first, err := s.gate.SignIn(c.Request().Context(), c.FormValue("code"), s.config.OwnerName, s.from(c))
	if interaction.CodeOf(err) == interaction.Unauthorized {
		return s.usedLink()
	}
	if err != nil {
		return err
	}
	if s.config.SignedIn != nil {
		s.config.SignedIn(first)
	}
	if first && s.config.Demo != nil {
		s.config.Demo()
	}
	return s.begin(c, token, "/")
}

func (s *Server) signInPage(c echo.Context) error {
	if s.findSession(c) == nil {
		return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/")
	}
	return s.showSignIn(c, http.StatusOK, views.SignIn{SignedOut: c.QueryParams().Has("signed-out")})
}

// showSignIn answers with the ways to sign in.
func (s *Server) showSignIn(c echo.Context, status int, model views.SignIn) error {
	anybody, _, err := s.gate.Passwords(c.Request().Context())
	if err != nil {
		return err
	}
	model.Page, model.Password = s.page(c, "Sign in", views.SectionNone), anybody
	if s.config.Provider != nil {
		model.Provider = s.config.Provider.Name
	}
	return s.renderStatus(c, status, views.SignInPage(model))
}

// signIn signs somebody in by email and password.
func (s *Server) signIn(c echo.Context) error {
	form, err := postedForm(c, "email", "password")
	if err != nil {
		return err
	}
	token, err := s.gate.SignInByPassword(c.Request().Context(), form.text("email"), form.text("password"), s.from(c))
	if message := refusal(err, interaction.Unauthorized, interaction.RateLimited, interaction.Unavailable); message != "" {
		retryLater(c, err)
		return s.showSignIn(c, statuses[interaction.CodeOf(err)], views.SignIn{Email: form.text("email"), Problem: message})
	}
	if err != nil {
		return err
	}
	return s.begin(c, token, "/")
}

// refusal is what to tell the person who sent a form, if the failure is of such a kind; "" for any other.
func refusal(err error, kinds ...interaction.Code) string {
	for _, kind := range kinds {
		if interaction.CodeOf(err) == kind {
			return interaction.AsError(err).Message
		}
	}
	return ""
}

// retryLater says when to try again, of a failure that says so.
func retryLater(c echo.Context, err error) {
	var e *interaction.Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
}

func (s *Server) signOut(c echo.Context) error {
	if s.findSession(c) == nil {
		if err := s.gate.SignOut(c.Request().Context(), session(c)); err != nil {
			return err
		}
	}
	return s.signedOut(c)
}

// signedOut takes the browser's session away, and says so.
func (s *Server) signedOut(c echo.Context) error {
	c.SetCookie(s.cookie(s.cookieName(), "", -1))
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/signin?signed-out")
}
