package views

import (
	"strconv"
	"time"

	"sayso/internal/display"
)

// SignIn offers the ways to sign in.
type SignIn struct {
	Page
	SignedOut bool
	Password  bool   // somebody has one: the form is shown
	Provider  string // the name of one that signs people in; "": there is none
	Email     string // as typed, when the form comes back
	Problem   string // why nobody was signed in
}

// Invitation is the page of a one-time link into a project. Opening it changes nothing; the form does.
type Invitation struct {
	Page
	Code    string
	By      display.Text // who invites
	Role    string
	May     []string // what the role allows
	Days    int      // that are left
	Account string   // of somebody who is signed in and only accepts; "": the form makes one

	Name, Email string // as typed, when the form comes back
	Problem     string
}

// Members is who may come into a project.
type Members struct {
	Page
	Rows        []MemberRow
	Invitations []InvitationRow
	Roles       []Role
	InviteURL   string       // takes a new invitation by POST
	Told        display.Text // why a member was not changed

	NewLink string // of the invitation that was just made: it is shown this once
	NewFor  display.Text
	NewRole string

	Role, Note string // as typed, when the form comes back
	Problem    string
}

// Role is something that a member can be, and what it allows beyond the one before.
type Role struct{ Value, Name, May string }

// MemberRow is one person.
type MemberRow struct {
	ID      string // usr_…
	Name    display.Text
	Email   display.Text // empty: none
	Role    string       // the value of a Role; "" of an owner who was given none
	Owner   bool
	Self    bool // the one who looks
	Since   time.Time
	Now     time.Time
	Ways    display.Text // how they sign in; empty: they cannot yet
	Follows display.Text // whose word the membership follows; empty: an admin gave it

	RoleURL, RemoveURL string // take a POST; "" of the owner, whom nobody changes
}

// InvitationRow is one that can be taken up.
type InvitationRow struct {
	ID        string // inv_…
	Note      display.Text
	Role      string
	By        display.Text
	CreatedAt time.Time
	Now       time.Time
	Days      int // that are left
	RevokeURL string
}

// Account is a person's own page.
type Account struct {
	Page
	Name, Email string // in the form
	HasEmail    bool   // one is saved
	HasPassword bool
	Issuers     []display.Text // whose word we take for who they are
	Sessions    []SessionRow

	NameProblem, PasswordProblem string
}

// SessionRow is one browser that the person is signed in with.
type SessionRow struct {
	ID                string // ses_…
	Client            display.Text
	Address           display.Text
	CreatedAt, SeenAt time.Time
	Now               time.Time
	Here              bool // this one
	EndURL            string
}

// Orgs is every org and project, for the owner.
type Orgs struct {
	Page
	Orgs []OrgRow

	Draft          OrgDraft // as typed, when a form comes back
	Problem        string
	ProjectDraft   OrgDraft
	ProjectDraftOf string // the id of the org whose form it was
	ProjectProblem string
}

// OrgRow is one org.
type OrgRow struct {
	ID       string // org_…
	Name     display.Text
	Slug     string
	Projects []ProjectRow
}

// ProjectRow is one project.
type ProjectRow struct {
	ID   string // proj_…
	Name display.Text
	Slug string
	URL  string
}

// OrgDraft is what was typed into a form that makes an org or a project.
type OrgDraft struct{ Name, Slug, ProjectName, ProjectSlug string }

// daysLeft is how long a link still works.
func daysLeft(n int) string {
	if n == 1 {
		return "works for 1 more day"
	}
	return "works for " + strconv.Itoa(n) + " more days"
}
