package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// membersPage shows who may come into a project.
func (s *Server) membersPage(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	return s.showMembers(c, http.StatusOK, in, views.Members{})
}

// showMembers answers with the members page; what the model holds already is kept.
func (s *Server) showMembers(c echo.Context, status int, in interaction.Project, model views.Members) error {
	ctx, who := c.Request().Context(), principal(c)
	members, err := s.gate.Members(ctx, who, in.ID)
	if err != nil {
		return err
	}
	open, err := s.gate.Invitations(ctx, who, in.ID)
	if err != nil {
		return err
	}
	if model.Page, err = s.pageIn(c, in, "Members", views.SectionSettings); err != nil {
		return err
	}
	p := s.presenter(in, who)
	model.InviteURL, model.Roles = p.url("/settings/invitations"), roles
	model.Rows = convert(members, func(m auth.Member) views.MemberRow { return p.memberRow(m, m.User == who.ID) })
	model.Invitations = convert(open, p.invitationRow)
	return s.renderStatus(c, status, views.MembersPage(model))
}

// roles are what people are told of each role, from the least to the most.
var roles = []views.Role{
	{Value: string(interaction.Viewer), Name: "Viewer", May: "look at everything in the project"},
	{Value: string(interaction.Approver), Name: "Approver", May: "also answer requests and write to agents"},
	{Value: string(interaction.Lead), Name: "Lead", May: "also see policies and the audit log, and export it"},
	{Value: string(interaction.Admin), Name: "Admin", May: "also look after members, keys and embedding"},
}

// roleName is what people call a role.
func roleName(r interaction.Role) string {
	for _, role := range roles {
		if role.Value == string(r) {
			return role.Name
		}
	}
	return ""
}

func (p presenter) memberRow(m auth.Member, self bool) views.MemberRow {
	row := views.MemberRow{
		ID: string(m.User), Name: display.Line(m.Name), Email: display.Line(m.Email), Role: string(m.Role), Owner: m.Owner, Self: self, Since: m.Since, Now: p.now,
		Ways: display.Line(ways(m)), Follows: display.Line(m.GrantedBy),
	}
	if !m.Owner {
		row.RoleURL, row.RemoveURL = p.memberURL(m.User)+"/role", p.memberURL(m.User)+"/remove"
	}
	return row
}

// ways are how somebody signs in, in words.
func ways(m auth.Member) string {
	all := m.Issuers
	if m.Password {
		all = append([]string{"password"}, all...)
	}
	if m.Owner {
		all = append(all, "one-time link")
	}
	return strings.Join(all, ", ")
}

func (p presenter) memberURL(user interaction.ID) string {
	return p.url("/settings/members/" + url.PathEscape(string(user)))
}

func (p presenter) invitationRow(i auth.Invitation) views.InvitationRow {
	return views.InvitationRow{
		ID: string(i.ID), Note: display.Line(i.Note), Role: roleName(i.Role), By: display.Line(i.ByName), CreatedAt: i.CreatedAt, Now: p.now,
		Days: daysLeft(i.ExpiresAt().Sub(p.now)), RevokeURL: p.url("/settings/invitations/" + string(i.ID) + "/revoke"),
	}
}

// setRole changes what a member may do.
func (s *Server) setRole(c echo.Context) error {
	form, err := postedForm(c, "role")
	if err != nil {
		return err
	}
	return s.changeMember(c, func(in, user interaction.ID) error {
		return s.gate.SetRole(c.Request().Context(), principal(c), in, user, interaction.Role(form.text("role")))
	})
}

// removeMember takes somebody out of the project.
func (s *Server) removeMember(c echo.Context) error {
	return s.changeMember(c, func(in, user interaction.ID) error {
		return s.gate.Remove(c.Request().Context(), principal(c), in, user)
	})
}

func (s *Server) changeMember(c echo.Context, change func(in, user interaction.ID) error) error {
	user, err := pathID(c, "user", interaction.UserPrefix)
	if err != nil {
		return err
	}
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	err = change(in.ID, user)
	if message := refusal(err, interaction.Conflict); message != "" {
		return s.showMembers(c, http.StatusConflict, in, views.Members{Told: display.Line(message)})
	}
	if err != nil {
		return err
	}
	if user == principal(c).ID { // who may no longer see this page
		return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/")
	}
	return s.toMembers(c, in)
}

func (s *Server) toMembers(c echo.Context, in interaction.Project) error {
	return c.Redirect(http.StatusSeeOther, s.presenter(in, principal(c)).url("/settings/members"))
}
