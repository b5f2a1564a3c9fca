package store

import (
	"context"
	"database/sql"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// Invite stores an invitation.
func (s *Store) Invite(ctx context.Context, i auth.Invitation, code auth.Hash, e interaction.AdminEvent) error {
	return s.writer.do(ctx, func(t *tx) error {
		err := t.run(`INSERT INTO invitations (id, project, role, note, hash, created_by, created_at) VALUES (?, (SELECT key FROM projects WHERE id = ?), ?, ?, ?, ?, ?)`,
			i.ID, i.Project.ID, i.Role, i.Note, code[:], i.By, ms(i.CreatedAt))
		if err != nil {
			return err
		}
		return t.administered(e)
	})
}

const openInvitations = `SELECT ` + projectColumns + `, i.id, i.role, i.note, i.created_by, coalesce(u.name, k.name, ''), i.created_at
	FROM invitations i JOIN projects p ON p.key = i.project JOIN orgs o ON o.key = p.org
	LEFT JOIN users u ON u.id = i.created_by LEFT JOIN api_keys k ON k.id = i.created_by
	WHERE i.ended_at IS NULL AND i.created_at > +? `

func invitationInto(i *auth.Invitation, projectMade, made *int64) []any {
	return append(projectInto(&i.Project, projectMade), &i.ID, &i.Role, &i.Note, &i.By, &i.ByName, made)
}

// Invitations are the open ones of a project, the newest first.
func (s *Store) Invitations(_ context.Context, in interaction.ID, born time.Time) (all []auth.Invitation, err error) {
	return invitations(s.rows, "AND p.id = +?", born, in)
}

func invitations(read lister, which string, born time.Time, args ...any) (all []auth.Invitation, err error) {
	err = read(openInvitations+which+" ORDER BY i.key DESC", append([]any{ms(born)}, args...), func(r *sql.Rows) error {
		var i auth.Invitation
		var projectMade, made int64
		err := r.Scan(invitationInto(&i, &projectMade, &made)...)
		i.CreatedAt, i.Project.CreatedAt = fromMS(made), fromMS(projectMade)
		all = append(all, i)
		return err
	})
	return all, err
}

// Invitation finds an open one by its code.
func (s *Store) Invitation(_ context.Context, code auth.Hash, born time.Time) (auth.Invitation, error) {
	return invitation(s.row, "AND i.hash = +?", born, code[:])
}

func invitation(read reader, which string, born time.Time, args ...any) (i auth.Invitation, err error) {
	var projectMade, made int64
	err = read(openInvitations+which, append([]any{ms(born)}, args...), invitationInto(&i, &projectMade, &made)...)
	i.CreatedAt, i.Project.CreatedAt = fromMS(made), fromMS(projectMade)
	return i, err
}

// RevokeInvitation takes an open one back.
func (s *Store) RevokeInvitation(ctx context.Context, in, id interaction.ID, born time.Time, record func(auth.Invitation) interaction.AdminEvent) error {
	return s.writer.do(ctx, func(t *tx) error {
		i, err := invitation(t.row, "AND i.id = +? AND p.id = +?", born, id, in)
		if err != nil {
			return err
		}
		e := record(i)
		if err := t.endInvitation(i, e.At); err != nil {
			return err
		}
		return t.administered(e)
	})
}

func (t *tx) endInvitation(i auth.Invitation, now time.Time) error {
	return t.run("UPDATE invitations SET ended_at = ? WHERE id = ?", ms(now), i.ID)
}

// Accept uses an invitation up for a person; see [auth.Store].
func (s *Store) Accept(ctx context.Context, code auth.Hash, born, now time.Time, decide func(auth.Invitation, auth.Member) (interaction.AdminEvent, error), user interaction.ID) (i auth.Invitation, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		if i, err = invitation(t.row, "AND i.hash = +?", born, code[:]); err != nil {
			return err
		}
		is, err := t.standing(i.Project.ID, user)
		if err != nil {
			return err
		}
		e, err := decide(i, is)
		if err != nil {
			return err
		}
		return t.addMember(i, user, e, now)
	})
	return i, err
}

// standing is a person as they are in a project: without a role when they are not.
func (t *tx) standing(in, user interaction.ID) (m auth.Member, err error) {
	const q = `SELECT u.id, u.owner, coalesce(m.role, '') FROM users u LEFT JOIN members m ON m.user = u.key AND m.project = (SELECT key FROM projects WHERE id = +?)
		WHERE u.id = +?`
	return m, t.row(q, []any{in, user}, &m.User, &m.Owner, &m.Role)
}

// addMember makes somebody a member, as an invitation says, and uses it up.
func (t *tx) addMember(i auth.Invitation, user interaction.ID, e interaction.AdminEvent, now time.Time) error {
	if err := t.endInvitation(i, now); err != nil {
		return err
	}
	err := t.run(`INSERT INTO members (user, project, role, created_at) VALUES ((SELECT key FROM users WHERE id = ?), (SELECT key FROM projects WHERE id = ?), ?, ?)`,
		user, i.Project.ID, i.Role, ms(now))
	if err != nil {
		return err
	}
	return t.administered(e)
}

// Join uses an invitation up for somebody who is made with it; see [auth.Store].
func (s *Store) Join(ctx context.Context, code auth.Hash, born time.Time, n auth.Newcomer, session auth.Session, record func(auth.Invitation) interaction.AdminEvent) (i auth.Invitation, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		if i, err = invitation(t.row, "AND i.hash = +?", born, code[:]); err != nil {
			return err
		}
		key, err := t.insert("INSERT INTO users (id, name, email, password, created_at) VALUES (?, ?, ?, ?, ?)", n.ID, n.Name, n.Email, n.Password, ms(n.At))
		if isTaken(err) {
			return errEmailTaken()
		}
		if err != nil {
			return err
		}
		if err := t.addMember(i, n.ID, record(i), n.At); err != nil {
			return err
		}
		return t.startSession(key, session, auth.ByInvitation, auth.Hash{})
	})
	return i, err
}
