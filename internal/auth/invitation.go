package auth

import (
	"context"
	"slices"
	"time"

	"sayso/internal/interaction"
)

// InvitationLife is how long an invitation may be taken up: over a weekend, and not for ever.
const InvitationLife = 7 * 24 * time.Hour

// noteMost is how long a note on an invitation may be, in code points.
const noteMost = 200

// Invitation is a one-time link into a project.
type Invitation struct {
	ID        interaction.ID
	Project   interaction.Project
	Role      interaction.Role
	Note      string // for whom, in the words of whoever made it
	By        interaction.ID
	ByName    string
	CreatedAt time.Time
}

// ExpiresAt is when it can no longer be taken up.
func (i Invitation) ExpiresAt() time.Time { return i.CreatedAt.Add(InvitationLife) }

func (i Invitation) subject() interaction.Subject {
	return interaction.Subject{Kind: "invitation", ID: i.ID, Name: i.Note}
}

// Invite makes an invitation into a project, and the code that takes it up, which is told once.
func (g *Gate) Invite(ctx context.Context, who interaction.Principal, in interaction.Project, role interaction.Role, note string) (i Invitation, code string, err error) {
	if !slices.Contains(interaction.Roles, role) {
		return i, "", interaction.Errorf(interaction.ValidationFailed, "role: %q is unknown; allowed are %v", role, interaction.Roles)
	}
	if note, err = interaction.Line("note", note, noteMost); err != nil {
		return i, "", err
	}
	if !who.Can(interaction.ScopeManage) {
		return i, "", mayNot("invite people")
	}
	now := g.now()
	i = Invitation{ID: interaction.NewID(interaction.InvitationPrefix, now), Project: in, Role: role, Note: note, By: who.ID, ByName: who.Name, CreatedAt: now}
	code = secret()
	e := who.Administers(in.ID, interaction.InvitationCreated, i.subject(), map[string]string{"role": string(role)}, now)
	return i, code, g.store.Invite(ctx, i, HashOf(code), e)
}

// Invitations are those of a project that can be taken up, for its admins; the newest first.
func (g *Gate) Invitations(ctx context.Context, who interaction.Principal, in interaction.ID) ([]Invitation, error) {
	if !who.Can(interaction.ScopeManage) {
		return nil, mayNot("see its invitations")
	}
	return g.store.Invitations(ctx, in, g.now().Add(-InvitationLife))
}

// RevokeInvitation takes one back. One that is not open is NotFound.
func (g *Gate) RevokeInvitation(ctx context.Context, who interaction.Principal, in, id interaction.ID) error {
	if !who.Can(interaction.ScopeManage) {
		return mayNot("take invitations back")
	}
	now := g.now()
	return g.store.RevokeInvitation(ctx, in, id, now.Add(-InvitationLife), func(i Invitation) interaction.AdminEvent {
		return i.revoked(who, now)
	})
}

// revoked is the event of taking i back.
func (i Invitation) revoked(who interaction.Principal, now time.Time) interaction.AdminEvent {
	return who.Administers(i.Project.ID, interaction.InvitationRevoked, i.subject(), nil, now)
}

// Invitation is the one that a code takes up. It uses nothing up, so that opening a link decides nothing. One that was used, taken back or is
// too old is NotFound, as is one that never was.
func (g *Gate) Invitation(ctx context.Context, code string) (Invitation, error) {
	return g.store.Invitation(ctx, HashOf(code), g.now().Add(-InvitationLife))
}

// Accept takes an invitation up for somebody who is signed in. Whoever is in the project already is a Conflict, and uses nothing up.
func (g *Gate) Accept(ctx context.Context, who interaction.Principal, code string) (interaction.Project, error) {
	now := g.now()
	i, err := g.store.Accept(ctx, HashOf(code), now.Add(-InvitationLife), now, func(i Invitation, is Member) (interaction.AdminEvent, error) {
		if is.Owner || is.Role != "" {
			return interaction.AdminEvent{}, interaction.Errorf(interaction.Conflict, "You are in this project already. The link still works for somebody else.")
		}
		return joined(who, i, now), nil
	}, who.ID)
	return i.Project, g.end(err, sessionsOf(who.ID))
}

// Join takes an invitation up for somebody who has no account, makes one, and starts a session. An email that has an account is a Conflict, and
// uses nothing up.
func (g *Gate) Join(ctx context.Context, code string, n Newcomer, from From) (in interaction.Project, token string, err error) {
	now := g.now()
	if _, err := g.Invitation(ctx, code); err != nil { // before anything is hashed for them
		return in, "", err
	}
	if n, err = n.checked(now); err != nil {
		return in, "", err
	}
	if n.Password, err = g.hasher.hash(ctx, n.Password); err != nil {
		return in, "", err
	}
	token, session := newSession(from, now)
	who := interaction.Principal{Kind: interaction.UserPrincipal, ID: n.ID, Name: n.Name, Channel: interaction.ChannelDashboard}
	i, err := g.store.Join(ctx, HashOf(code), now.Add(-InvitationLife), n, session, func(i Invitation) interaction.AdminEvent { return joined(who, i, now) })
	return i.Project, token, err
}

func joined(who interaction.Principal, i Invitation, now time.Time) interaction.AdminEvent {
	about := interaction.Subject{Kind: "user", ID: who.ID, Name: who.Name}
	return who.Administers(i.Project.ID, interaction.MemberAdded, about, map[string]string{"role": string(i.Role), "invitation_id": string(i.ID)}, now)
}
