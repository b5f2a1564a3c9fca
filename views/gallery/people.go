package gallery

import (
	"time"

	"sayso/internal/display"
	"sayso/views"
)

// several is a page of somebody who has more than one project.
func several(p views.Page) views.Page {
	p.MayFound = true
	p.Projects = []views.ProjectLink{{Name: "Shop", URL: "/projects/shop"}, {Name: "A project with quite a long name that wraps", URL: "/projects/proj_sample"}}
	return p
}

func invitation(change ...func(*views.Invitation)) views.Invitation {
	i := views.Invitation{Page: outside("Invitation"), Code: "code", By: display.Line("Dana Scully"), Role: "Approver", Days: 7}
	i.ProjectName = "Default"
	i.May = []string{"look at everything in the project", "also answer requests and write to agents"}
	for _, f := range change {
		f(&i)
	}
	return i
}

func refusedInvitation(i *views.Invitation) {
	i.Name, i.Email, i.Days = "Fox Mulder", "fox@example.com", 1
	i.Problem = "password: it has 9 characters; 12 to 128 are allowed"
}

var roles = []views.Role{
	{Value: "viewer", Name: "Viewer", May: "look at everything in the project"},
	{Value: "approver", Name: "Approver", May: "also answer requests and write to agents"},
	{Value: "lead", Name: "Lead", May: "also see policies and the audit log, and export it"},
	{Value: "admin", Name: "Admin", May: "also look after members, keys and embedding"},
}

func members(change ...func(*views.Members)) views.Members {
	at := "/projects/default/settings/members/"
	m := views.Members{
		Page: several(frame("Members", views.SectionSettings, 2)), Roles: roles, InviteURL: "/projects/default/settings/invitations",
		Rows: []views.MemberRow{
			{ID: "usr_sampledana", Name: display.Line("Dana Scully"), Email: display.Line("dana@example.com"), Owner: true, Self: true, Now: now, Ways: display.Line("password, one-time link")},
			{
				ID: "usr_samplefox", Name: display.Line("Fox Mulder"), Email: display.Line("fox@example.com"), Role: "approver", Since: before(26 * time.Hour), Now: now,
				Ways: display.Line("password"), RoleURL: at + "usr_samplefox/role", RemoveURL: at + "usr_samplefox/remove",
			},
			{
				ID: "usr_samplewalter", Name: display.Line("Walter \u202eSkinner with a long name that has to wrap"), Email: display.Line("walter.skinner.of.the.bureau@subdomain.example.com"),
				Role: "admin", Since: before(40 * 24 * time.Hour), Now: now, Ways: display.Line("https://login.example.com"), Follows: display.Line("https://login.example.com"),
				RoleURL: at + "usr_samplewalter/role", RemoveURL: at + "usr_samplewalter/remove",
			},
			{ID: "usr_samplejohn", Name: display.Line("John Doggett"), Role: "viewer", Since: before(time.Hour), Now: now, RoleURL: at + "usr_samplejohn/role", RemoveURL: at + "usr_samplejohn/remove"},
		},
		Invitations: []views.InvitationRow{
			{ID: "inv_sampleone", Note: display.Line("Monica, from the night shift"), Role: "Lead", By: display.Line("Dana Scully"), CreatedAt: before(2 * time.Hour), Now: now, Days: 7, RevokeURL: "/revoke"},
			{ID: "inv_sampletwo", Note: display.Line("Alex"), Role: "Viewer", CreatedAt: before(6 * 24 * time.Hour), Now: now, Days: 1, RevokeURL: "/revoke"},
		},
	}
	for _, f := range change {
		f(&m)
	}
	return m
}

func justInvited(m *views.Members) {
	m.NewLink, m.NewFor, m.NewRole = "https://sayso.example.com/invite?code=cQ3tYw0bqkqk2xX9sWcZ3p1l4k6m8n0a2c4e6g8i0", display.Line("Monica, from the night shift"), "Lead"
}

func refusedMember(m *views.Members) {
	m.Told = display.Line("Fox Mulder is the last admin of this project. Make somebody else an admin first.")
	m.Note, m.Role, m.Problem = "Monica", "lead", "note: 201 characters are too many; 1 to 200 are allowed"
}

func account(change ...func(*views.Account)) views.Account {
	a := views.Account{
		Page: several(frame("Your account", views.SectionNone, 0)), Name: "Dana Scully", Email: "dana@example.com", HasEmail: true, HasPassword: true,
		Issuers: []display.Text{display.Line("https://login.example.com")},
		Sessions: []views.SessionRow{
			{ID: "ses_sampleone", Client: display.Line("Firefox on Linux"), Address: display.Line("127.0.0.1"), CreatedAt: before(time.Hour), SeenAt: before(time.Minute), Now: now, Here: true, EndURL: "/end"},
			{ID: "ses_sampletwo", Client: display.Line("Safari on iPhone"), Address: display.Line("2001:db8:85a3::8a2e:370:7334"), CreatedAt: before(9 * 24 * time.Hour), SeenAt: before(7 * time.Hour), Now: now, EndURL: "/end"},
		},
	}
	for _, f := range change {
		f(&a)
	}
	return a
}

func refusedAccount(a *views.Account) {
	a.NameProblem, a.PasswordProblem = "email: that is not an address; one looks like dana@example.com", "old: that is not your present password"
}

func orgs(change ...func(*views.Orgs)) views.Orgs {
	o := views.Orgs{
		Page: several(frame("Orgs and projects", views.SectionNone, 0)),
		Orgs: []views.OrgRow{
			{ID: "org_sampledefault", Name: display.Line("Default"), Slug: "default", Projects: []views.ProjectRow{
				{ID: "proj_sampledefault", Name: display.Line("Default"), Slug: "default", URL: "/projects/default"},
				{ID: "proj_sampleshop", Name: display.Line("Shop"), Slug: "shop", URL: "/projects/shop"},
			}},
			{ID: "org_sampleacme", Name: display.Line("Acme"), Slug: "acme", Projects: []views.ProjectRow{
				{ID: "proj_sampleacme", Name: display.Line("A project with quite a long name that wraps"), Slug: "main", URL: "/projects/proj_sampleacme"},
			}},
		},
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

func refusedOrg(o *views.Orgs) {
	o.Draft, o.Problem = views.OrgDraft{Name: "Acme", Slug: "acme", ProjectName: "Shop", ProjectSlug: "shop"}, `slug: there is an org "acme" already`
	o.ProjectDraft, o.ProjectDraftOf, o.ProjectProblem = views.OrgDraft{Name: "Web", Slug: "Web"}, "org_sampledefault", `slug: "Web" is not allowed; give 1 to 63 characters of a-z, 0-9 and '-', not beginning with '-'`
}
