package auth

import (
	"cmp"
	"context"
	"slices"

	"sayso/internal/interaction"
)

// Identity is who somebody is by the word of an issuer, who never gives a subject to another person.
type Identity struct {
	Issuer, Subject string
	Name            string // for a new user
	Email           string // for a new user, if no other has it; it never finds one. "": none that is verified
}

// GroupRole is what members of an issuer's group are in a project.
type GroupRole struct {
	Group   string
	Project string // a slug of the org default, or the id of any project
	Role    interaction.Role
}

// RolesOf are what members of these groups are, by project: the highest role counts.
func RolesOf(rules []GroupRole, groups []string) map[string]interaction.Role {
	roles := map[string]interaction.Role{}
	for _, r := range rules {
		if slices.Contains(groups, r.Group) {
			roles[r.Project] = roles[r.Project].Or(r.Role)
		}
	}
	return roles
}

// Membership is what a person is in a project, and why.
type Membership struct {
	Role  interaction.Role // "": no member
	By    string           // the issuer whose groups it follows; "": somebody gave it by hand
	Given interaction.Role // the role given by hand below one that follows groups; "": none
}

// Following is the membership of somebody whose groups at the issuer make them mapped here; "": nothing. What was given by hand stays, and counts
// where it is at least as much.
func (m Membership) Following(issuer string, mapped interaction.Role) Membership {
	hand := m.Given
	if m.By == "" {
		hand = m.Role
	}
	switch {
	case hand.Or(mapped) == hand:
		return Membership{Role: hand}
	default:
		return Membership{Role: mapped, By: issuer, Given: hand}
	}
}

// SignInAs starts a session of the person whom an issuer has named, who is made if this is their first time. Their memberships follow roles, by
// project. Somebody who is then in no project is Forbidden, and nobody is made; so is everybody before the owner has signed in.
func (g *Gate) SignInAs(ctx context.Context, who Identity, roles map[interaction.ID]interaction.Role, from From) (token string, err error) {
	if first, err := g.First(ctx); err != nil || first {
		return "", cmp.Or(err, error(interaction.Errorf(interaction.Forbidden, "Sayso is not set up yet: the owner signs in first, by the link that the server has printed.")))
	}
	token, session := newSession(from, g.now())
	allowed, err := g.store.SignInIdentity(ctx, who, roles, session, from.Instead)
	if err != nil || !allowed {
		return "", cmp.Or(err, error(interaction.Errorf(interaction.Forbidden, "You are in no project here. Ask an admin to invite you, or to have your group added.")))
	}
	return token, g.end(nil, everything) // roles may have followed the groups, in other sessions too
}
