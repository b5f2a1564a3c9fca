package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// accountPage is a person's own page: what they are called, how they sign in, and where they are signed in.
func (s *Server) accountPage(c echo.Context) error {
	return s.showAccount(c, http.StatusOK, func(*views.Account) {})
}

// showAccount answers with the account page; adjust may say more on it.
func (s *Server) showAccount(c echo.Context, status int, adjust func(*views.Account)) error {
	ctx, who := c.Request().Context(), principal(c)
	account, err := s.gate.Account(ctx, who)
	if err != nil {
		return err
	}
	sessions, err := s.gate.Sessions(ctx, who)
	if err != nil {
		return err
	}
	model := views.Account{
		Page: s.pageAnywhere(c, "Your account"), Name: account.Name, Email: account.Email, HasEmail: account.Email != "", HasPassword: account.HasPassword,
		Issuers:  convert(account.Issuers, func(i string) display.Text { return display.Line(i) }),
		Sessions: convert(sessions, func(x auth.Session) views.SessionRow { return s.sessionRow(x, x.Hash == session(c)) }),
	}
	adjust(&model)
	return s.renderStatus(c, status, views.AccountPage(model))
}

func (s *Server) sessionRow(x auth.Session, here bool) views.SessionRow {
	return views.SessionRow{
		ID: string(x.ID), Client: display.Line(browser(x.Client)), Address: display.Line(x.Address), CreatedAt: x.CreatedAt, SeenAt: x.SeenAt,
		Now: s.service.Time(), Here: here, EndURL: s.config.BasePath + "/account/sessions/" + string(x.ID) + "/end",
	}
}

// browser is what a browser and its system are called, as far as it says so; else all that it says. The order matters: most say that they are
// several others too.
func browser(client string) string {
	name := firstIn(client, "Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "Safari")
	system := firstIn(client, "Android", "Android", "iPhone", "iPhone", "iPad", "iPad", "Windows", "Windows", "Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case client == "":
		return "A browser that does not say which"
	case name == "" || system == "":
		return client
	}
	return name + " on " + system
}

// firstIn is the name that stands behind the first sign that text has.
func firstIn(text string, signs ...string) string {
	for n := 0; n < len(signs); n += 2 {
		if strings.Contains(text, signs[n]) {
			return signs[n+1]
		}
	}
	return ""
}

// setName changes what the caller is called, and their email.
func (s *Server) setName(c echo.Context) error {
	form, err := postedForm(c, "name", "email")
	if err != nil {
		return err
	}
	err = s.gate.SetName(c.Request().Context(), principal(c), form.text("name"), form.text("email"))
	if message := refusal(err, interaction.ValidationFailed, interaction.Conflict); message != "" {
		return s.showAccount(c, formStatus(err), func(a *views.Account) {
			a.Name, a.Email, a.NameProblem = form.text("name"), form.text("email"), message
		})
	}
	if err != nil {
		return err
	}
	return s.toAccount(c)
}

// setPassword gives the caller a password, or another one.
func (s *Server) setPassword(c echo.Context) error {
	form, err := postedForm(c, "old", "password", "again")
	if err != nil {
		return err
	}
	err = sameTwice(form.text("password"), form.text("again"))
	if err == nil {
		err = s.gate.SetPassword(c.Request().Context(), principal(c), session(c), form.text("old"), form.text("password"), s.address(c.Request()))
	}
	if message := refusal(err, interaction.ValidationFailed, interaction.InvalidRequest, interaction.RateLimited, interaction.Unavailable); message != "" {
		retryLater(c, err)
		return s.showAccount(c, formStatus(err), func(a *views.Account) { a.PasswordProblem = message })
	}
	if err != nil {
		return err
	}
	return s.toAccount(c)
}

// endSession ends one of the caller's sessions.
func (s *Server) endSession(c echo.Context) error {
	id, err := pathID(c, "session", interaction.SessionPrefix)
	if err != nil {
		return err
	}
	if err := s.gate.EndSession(c.Request().Context(), principal(c), id); err != nil {
		return err
	}
	return s.toAccount(c)
}

// signOutEverywhere ends all of the caller's sessions, this one too.
func (s *Server) signOutEverywhere(c echo.Context) error {
	if err := s.gate.EndSessions(c.Request().Context(), principal(c)); err != nil {
		return err
	}
	return s.signedOut(c)
}

func (s *Server) toAccount(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/account")
}
