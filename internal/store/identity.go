package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// SignInIdentity starts a session of whom an issuer has named; see [auth.Store].
func (s *Store) SignInIdentity(ctx context.Context, who auth.Identity, roles map[interaction.ID]interaction.Role, session auth.Session, instead auth.Hash) (allowed bool, err error) {
	now := session.CreatedAt
	err = s.writer.do(ctx, func(t *tx) error {
		allowed = false
		u, err := t.identified(who)
		if err != nil {
			return err
		}
		if u.key == 0 {
			if len(roles) == 0 {
				return nil
			}
			if err := t.makeIdentified(&u, who, now); err != nil {
				return err
			}
		}
		member, err := t.follow(u, who.Issuer, roles, now)
		if allowed = member || u.owner; err != nil || !allowed {
			return err
		}
		return t.startSession(u.key, session, auth.Way(who.Issuer), instead)
	})
	return allowed && err == nil, err
}

// identifiedUser is a user as signing in needs them; key is 0 for one who is not there.
type identifiedUser struct {
	key   int64
	id    interaction.ID
	name  string
	owner bool
}

func (t *tx) identified(who auth.Identity) (u identifiedUser, err error) {
	const q = "SELECT u.key, u.id, u.name, u.owner FROM identities i JOIN users u ON u.key = i.user WHERE i.issuer = ? AND i.subject = ?"
	err = t.row(q, []any{who.Issuer, who.Subject}, &u.key, &u.id, &u.name, &u.owner)
	if interaction.CodeOf(err) == interaction.NotFound {
		return identifiedUser{}, nil
	}
	return u, err
}

// makeIdentified makes the user. An email that somebody has already is left out: it must not make two people one.
func (t *tx) makeIdentified(u *identifiedUser, who auth.Identity, now time.Time) (err error) {
	u.id, u.name = interaction.NewID(interaction.UserPrefix, now), who.Name
	const q = `INSERT INTO users (id, name, email, created_at)
		VALUES (?1, ?2, CASE WHEN EXISTS (SELECT 1 FROM users WHERE email = ?3) THEN NULL ELSE nullif(?3, '') END, ?4)`
	if u.key, err = t.insert(q, u.id, u.name, who.Email, ms(now)); err != nil {
		return err
	}
	return t.run("INSERT INTO identities (issuer, subject, user) VALUES (?, ?, ?)", who.Issuer, who.Subject, u.key)
}

// follow has the memberships of a user follow their groups, and says whether there is one then.
func (t *tx) follow(u identifiedUser, issuer string, roles map[interaction.ID]interaction.Role, now time.Time) (member bool, err error) {
	had, err := t.memberships(u.key)
	if err != nil {
		return false, err
	}
	projects := maps.Clone(had)
	for project := range roles {
		projects[project] = had[project]
	}
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		was, is := had[project], had[project].Following(issuer, roles[project])
		if err := t.setMembership(u, project, was, is, now); err != nil {
			return false, err
		}
		member = member || is.Role != ""
	}
	return member, nil
}

func (t *tx) memberships(user int64) (map[interaction.ID]auth.Membership, error) {
	had := map[interaction.ID]auth.Membership{}
	const q = `SELECT p.id, m.role, coalesce(m.granted_by, ''), coalesce(m.given, '') FROM members m JOIN projects p ON p.key = m.project WHERE m.user = ?`
	return had, t.rows(q, []any{user}, func(rows *sql.Rows) error {
		var project interaction.ID
		var m auth.Membership
		err := rows.Scan(&project, &m.Role, &m.By, &m.Given)
		had[project] = m
		return err
	})
}

// setMembership writes what a membership has become. A change of the role is told in the audit log of the project.
func (t *tx) setMembership(u identifiedUser, project interaction.ID, was, is auth.Membership, now time.Time) error {
	if was == is {
		return nil
	}
	const remove = "DELETE FROM members WHERE user = ? AND project = (SELECT key FROM projects WHERE id = ?)"
	const put = `INSERT INTO members (user, project, role, granted_by, given, created_at) SELECT ?, key, ?, nullif(?, ''), nullif(?, ''), ? FROM projects WHERE id = ?
		ON CONFLICT (user, project) DO UPDATE SET role = excluded.role, granted_by = excluded.granted_by, given = excluded.given`
	action := interaction.MemberChanged
	var err error
	switch {
	case is.Role == "":
		action, err = interaction.MemberRemoved, t.run(remove, u.key, project)
	default:
		err = t.run(put, u.key, is.Role, is.By, is.Given, ms(now), project)
	}
	if err != nil || is.Role == was.Role {
		return err
	}
	if was.Role == "" {
		action = interaction.MemberAdded
	}
	e := followed(u, project, action, was, is, now)
	if err := t.administered(e); err != nil || was.Role != interaction.Admin {
		return err
	}
	end := auth.Leaving(interaction.Principal{Kind: interaction.SystemPrincipal}, project, e.At)
	end.Event = e
	return t.revokeAll(project, u.id, end)
}

// followed is what the audit log says of a membership that follows groups: nobody here did it.
func followed(u identifiedUser, project interaction.ID, action interaction.AdminAction, was, is auth.Membership, now time.Time) interaction.AdminEvent {
	detail := map[string]string{"issuer": cmp.Or(is.By, was.By)}
	if is.Role != "" {
		detail["role"] = string(is.Role)
	}
	if was.Role != "" {
		detail["was"] = string(was.Role)
	}
	return interaction.AdminEvent{
		ID: interaction.NewID(interaction.AdminEventPrefix, now), ProjectID: project, Action: action, Detail: detail, By: interaction.System,
		Subject: interaction.Subject{Kind: "user", ID: u.id, Name: u.name}, At: now.UTC().Truncate(time.Millisecond),
	}
}
