package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// Members are the people of a project; see [auth.Store].
func (s *Store) Members(_ context.Context, in interaction.ID) ([]auth.Member, error) {
	return members(s.rows, in)
}

func members(read lister, in interaction.ID) (all []auth.Member, err error) {
	const q = `SELECT u.id, u.name, coalesce(u.email, ''), coalesce(m.role, ''), u.owner, m.created_at, coalesce(m.granted_by, ''), u.password IS NOT NULL,
			(SELECT coalesce(group_concat(DISTINCT i.issuer), '') FROM identities i WHERE i.user = u.key)
		FROM projects p JOIN users u LEFT JOIN members m ON m.user = u.key AND m.project = p.key
		WHERE p.id = +? AND (m.role IS NOT NULL OR u.owner = 1) ORDER BY u.owner DESC, u.name, u.id`
	err = read(q, []any{in}, func(r *sql.Rows) error {
		var m auth.Member
		var since sql.NullInt64
		var issuers string
		err := r.Scan(&m.User, &m.Name, &m.Email, &m.Role, &m.Owner, &since, &m.GrantedBy, &m.Password, &issuers)
		m.Since = fromNull(since)
		if issuers != "" {
			m.Issuers = strings.Split(issuers, ",")
		}
		all = append(all, m)
		return err
	})
	return all, err
}

// ChangeMember carries out what change makes of the members of a project; see [auth.Store].
func (s *Store) ChangeMember(ctx context.Context, in, user interaction.ID, change func([]auth.Member) (auth.MemberChange, error)) error {
	return s.writer.do(ctx, func(t *tx) error {
		all, err := members(t.rows, in)
		if err != nil {
			return err
		}
		c, err := change(all)
		if err != nil {
			return err
		}
		if err := t.setRole(in, user, c.Role); err != nil {
			return err
		}
		if err := t.administered(c.Event); err != nil || c.Role == interaction.Admin {
			return err
		}
		return t.revokeAll(in, user, c)
	})
}

// setRole gives a member another role, or takes them out when it is "".
func (t *tx) setRole(in, user interaction.ID, role interaction.Role) error {
	const of = " WHERE user = (SELECT key FROM users WHERE id = ?) AND project = (SELECT key FROM projects WHERE id = ?)"
	if role == "" {
		return t.run("DELETE FROM members"+of, user, in)
	}
	return t.run("UPDATE members SET role = ?, granted_by = NULL, given = NULL"+of, role, user, in)
}

// revokeAll takes back what somebody gave out as an admin, who is none any more: no link must bring them back as one, and no key that they may have
// kept go on for them.
func (t *tx) revokeAll(in, user interaction.ID, c auth.MemberChange) error {
	if err := t.revokeKeysOf(in, user, c); err != nil {
		return err
	}
	open, err := invitations(t.rows, "AND p.id = +? AND i.created_by = +?", time.Time{}, in, user)
	for n := 0; n < len(open) && err == nil; n++ {
		if err = t.endInvitation(open[n], c.Event.At); err == nil {
			err = t.administered(c.Revoke(open[n]))
		}
	}
	return err
}

func (t *tx) revokeKeysOf(in, user interaction.ID, c auth.MemberChange) error {
	made, err := keys(t.rows, keyColumns+"WHERE p.id = +? AND k.creator = +? AND k.revoked_at IS NULL", in, user)
	for n := 0; n < len(made) && err == nil; n++ {
		if err = t.run("UPDATE api_keys SET revoked_at = ? WHERE id = ?", ms(c.Event.At), made[n].ID); err == nil {
			err = t.administered(c.End(made[n]))
		}
	}
	return err
}
