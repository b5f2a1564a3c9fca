package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// invite makes a one-time link into a project, and shows it this once.
func (s *Server) invite(c echo.Context) error {
	form, err := postedForm(c, "role", "note")
	if err != nil {
		return err
	}
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	role, note := interaction.Role(form.text("role")), form.text("note")
	i, code, err := s.gate.Invite(c.Request().Context(), principal(c), in, role, note)
	if message := refusal(err, interaction.ValidationFailed); message != "" {
		return s.showMembers(c, http.StatusUnprocessableEntity, in, views.Members{Problem: message, Note: note, Role: string(role)})
	}
	if err != nil {
		return err
	}
	made := views.Members{NewLink: s.origin(c) + s.config.BasePath + "/invite?code=" + code, NewFor: display.Line(i.Note), NewRole: roleName(i.Role)}
	return s.showMembers(c, http.StatusOK, in, made)
}

// revokeInvitation takes one back.
func (s *Server) revokeInvitation(c echo.Context) error {
	id, err := pathID(c, "invitation", interaction.InvitationPrefix)
	if err != nil {
		return err
	}
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	if err := s.gate.RevokeInvitation(c.Request().Context(), principal(c), in.ID, id); err != nil {
		return err
	}
	return s.toMembers(c, in)
}

// invitationPage shows what an invitation offers. Opening it uses nothing up.
func (s *Server) invitationPage(c echo.Context) error {
	return s.showInvitation(c, http.StatusOK, c.QueryParam("code"), views.Invitation{})
}

func (s *Server) showInvitation(c echo.Context, status int, code string, model views.Invitation) error {
	i, err := s.gate.Invitation(c.Request().Context(), code)
	if err != nil {
		return endedInvitation(err)
	}
	_ = s.findSession(c) // whoever is signed in only accepts
	model.Page = s.page(c, "Invitation", views.SectionNone)
	model.Account, model.User = model.User, "" // a doorway has no rail
	model.Code, model.By, model.ProjectName = code, display.Line(i.ByName), display.Line(i.Project.Name).String()
	model.Role, model.May, model.Days = roleName(i.Role), mays(i.Role), daysLeft(i.ExpiresAt().Sub(s.service.Time()))
	return s.renderStatus(c, status, views.InvitationPage(model))
}

// mays are what a role allows, beginning with what the ones below it do.
func mays(r interaction.Role) (all []string) {
	for _, role := range roles {
		all = append(all, role.May)
		if role.Value == string(r) {
			break
		}
	}
	return all
}

// daysLeft are the days that something still works, the begun one included.
func daysLeft(d time.Duration) int { return int((d + 24*time.Hour - 1) / (24 * time.Hour)) }

// endedInvitation is what somebody is told whose link takes nothing up, whatever the reason.
func endedInvitation(err error) error {
	if interaction.CodeOf(err) != interaction.NotFound {
		return err
	}
	return interaction.Errorf(interaction.Forbidden, "This invitation was used or taken back, or is older than %d days. Ask whoever invited you for a new one.",
		int(auth.InvitationLife/(24*time.Hour)))
}

// join takes an invitation up: somebody who is signed in accepts, and anybody else gets an account.
func (s *Server) join(c echo.Context) error {
	form, err := postedForm(c, "code", "name", "email", "password", "again")
	if err != nil {
		return err
	}
	if s.findSession(c) == nil {
		return s.accept(c, form.text("code"))
	}
	n := auth.Newcomer{Name: form.text("name"), Email: form.text("email"), Password: form.text("password")}
	err = sameTwice(n.Password, form.text("again"))
	var in interaction.Project
	var token string
	if err == nil {
		in, token, err = s.gate.Join(c.Request().Context(), form.text("code"), n, s.from(c))
	}
	if message := refusal(err, interaction.ValidationFailed, interaction.Conflict, interaction.Unavailable); message != "" {
		retryLater(c, err)
		return s.showInvitation(c, formStatus(err), form.text("code"), views.Invitation{Name: n.Name, Email: n.Email, Problem: message})
	}
	if err != nil {
		return endedInvitation(err)
	}
	return s.begin(c, token, "/projects/"+in.Address())
}

func (s *Server) accept(c echo.Context, code string) error {
	in, err := s.gate.Accept(c.Request().Context(), principal(c), code)
	if message := refusal(err, interaction.Conflict); message != "" {
		return s.showInvitation(c, http.StatusConflict, code, views.Invitation{Problem: message})
	}
	if err != nil {
		return endedInvitation(err)
	}
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/projects/"+in.Address())
}

func sameTwice(password, again string) error {
	if password != again {
		return interaction.Errorf(interaction.ValidationFailed, "password: the two are not the same; type it twice")
	}
	return nil
}

// formStatus is the status of a form that comes back: what was typed is wrong, or something else is.
func formStatus(err error) int {
	if code := interaction.CodeOf(err); code != interaction.ValidationFailed && code != interaction.InvalidRequest {
		return statuses[code]
	}
	return http.StatusUnprocessableEntity
}
