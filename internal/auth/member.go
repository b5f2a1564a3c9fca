package auth

import (
	"context"
	"slices"
	"time"

	"sayso/internal/interaction"
)

// Member is a person in a project. The owner is one of every project, with or without a role of their own there.
type Member struct {
	User      interaction.ID
	Name      string
	Email     string
	Role      interaction.Role // "": the owner, who was not given one
	Owner     bool
	Since     time.Time // zero: the owner, who was always there
	GrantedBy string    // the issuer that the membership follows; "": an admin gave it
	Password  bool      // they have one
	Issuers   []string
}

// MemberChange is what becomes of a member.
type MemberChange struct {
	Role   interaction.Role // "": is no longer one
	Event  interaction.AdminEvent
	Revoke func(Invitation) interaction.AdminEvent // of the invitations that end with it
	End    func(Key) interaction.AdminEvent        // of the keys that end with it
}

// Leaving is what ends with the admin rights that somebody had in a project, as who brought it about.
func Leaving(who interaction.Principal, in interaction.ID, now time.Time) MemberChange {
	return MemberChange{
		Revoke: func(i Invitation) interaction.AdminEvent { return i.revoked(who, now) },
		End: func(k Key) interaction.AdminEvent {
			return who.Administers(in, interaction.KeyRevoked, k.subject(), k.detail(), now)
		},
	}
}

func (c MemberChange) with(role interaction.Role, e interaction.AdminEvent) MemberChange {
	c.Role, c.Event = role, e
	return c
}

// Members are the people of a project, for its admins.
func (g *Gate) Members(ctx context.Context, who interaction.Principal, in interaction.ID) ([]Member, error) {
	if !who.Can(interaction.ScopeManage) {
		return nil, mayNot("see the members of this project")
	}
	return g.store.Members(ctx, in)
}

// SetRole changes what a member may do. It holds from their next request on, and on the pages that they have open.
func (g *Gate) SetRole(ctx context.Context, who interaction.Principal, in, user interaction.ID, role interaction.Role) error {
	if !slices.Contains(interaction.Roles, role) {
		return interaction.Errorf(interaction.ValidationFailed, "role: %q is unknown; allowed are %v", role, interaction.Roles)
	}
	return g.changeMember(ctx, who, in, user, role, interaction.MemberChanged)
}

// Remove takes a member out of a project. What they did there stays.
func (g *Gate) Remove(ctx context.Context, who interaction.Principal, in, user interaction.ID) error {
	return g.changeMember(ctx, who, in, user, "", interaction.MemberRemoved)
}

func (g *Gate) changeMember(ctx context.Context, who interaction.Principal, in, user interaction.ID, role interaction.Role, action interaction.AdminAction) error {
	if !who.Can(interaction.ScopeManage) {
		return mayNot("change the members of this project")
	}
	err := g.store.ChangeMember(ctx, in, user, func(all []Member) (MemberChange, error) {
		m, err := changeable(all, user, role)
		if err != nil {
			return MemberChange{}, err
		}
		detail := map[string]string{"role_before": string(m.Role)}
		if role != "" {
			detail["role"] = string(role)
		}
		about := interaction.Subject{Kind: "user", ID: user, Name: m.Name}
		now := g.now()
		return Leaving(who, in, now).with(role, who.Administers(in, action, about, detail, now)), nil
	})
	if err == nil {
		g.keys.forget(everything)
	}
	return g.end(err, sessionsOf(user))
}

// changeable is the member, if they may get that role, or leave when it is "": nobody changes the owner, and a project that has no owner above
// it keeps an admin.
func changeable(all []Member, user interaction.ID, role interaction.Role) (Member, error) {
	n := slices.IndexFunc(all, func(m Member) bool { return m.User == user })
	if n < 0 {
		return Member{}, interaction.Errorf(interaction.NotFound, "Not found.")
	}
	if all[n].Owner {
		return Member{}, interaction.Errorf(interaction.Forbidden, "Nobody changes what the owner may do.")
	}
	kept := func(m Member) bool { return m.Owner || m.Role == interaction.Admin && m.User != user }
	if role != interaction.Admin && !slices.ContainsFunc(all, kept) {
		return Member{}, interaction.Errorf(interaction.Conflict, "%s is the last admin of this project. Make somebody else an admin first.", all[n].Name)
	}
	return all[n], nil
}

func mayNot(what string) error {
	return interaction.Errorf(interaction.Forbidden, "Only an admin of the project may %s.", what)
}
