package store

import (
	"context"
	"database/sql"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// StartSession starts a session of somebody; see [auth.Store].
func (s *Store) StartSession(ctx context.Context, user interaction.ID, session auth.Session, way auth.Way, instead auth.Hash) error {
	return s.writer.do(ctx, func(t *tx) error {
		key, err := t.user(user)
		if err != nil {
			return err
		}
		return t.startSession(key, session, way, instead)
	})
}

// startSession stores a session, ends the one that it takes the place of, and records that somebody signed in.
func (t *tx) startSession(user int64, s auth.Session, way auth.Way, instead auth.Hash) error {
	who, err := t.person(user)
	if err != nil {
		return err
	}
	if instead != (auth.Hash{}) {
		if err := t.run("DELETE FROM sessions WHERE hash = ?", instead[:]); err != nil {
			return err
		}
	}
	err = t.run("INSERT INTO sessions (hash, user, created_at, seen_at, id, client, address) VALUES (?, ?, ?, ?, ?, ?, ?)",
		s.Hash[:], user, ms(s.CreatedAt), ms(s.SeenAt), s.ID, s.Client, s.Address)
	if err != nil {
		return err
	}
	detail := map[string]string{"by": string(way)}
	if s.Address != "" {
		detail["address"] = s.Address
	}
	return t.everywhere(user, who, interaction.SignedIn, interaction.Subject{Kind: "session", ID: s.ID}, detail, s.CreatedAt)
}

// user is the key of a person.
func (t *tx) user(id interaction.ID) (key int64, err error) {
	return key, t.row("SELECT key FROM users WHERE id = ?", []any{id}, &key)
}

// person is somebody as they act for themselves.
func (t *tx) person(user int64) (interaction.Principal, error) {
	p := interaction.Principal{Kind: interaction.UserPrincipal, Channel: interaction.ChannelDashboard}
	return p, t.row("SELECT id, name, owner FROM users WHERE key = ?", []any{user}, &p.ID, &p.Name, &p.Owner)
}

// everywhere records what a person did to their own account, in the audit log of each project that they have a role in; for the owner, who was
// given none, in that of the default project.
func (t *tx) everywhere(user int64, who interaction.Principal, action interaction.AdminAction, about interaction.Subject, detail map[string]string, now time.Time) error {
	const q = "SELECT p.id FROM members m JOIN projects p ON p.key = m.project WHERE m.user = ? ORDER BY p.key"
	projects, err := t.ids(q, user)
	if err == nil && len(projects) == 0 && who.Owner {
		projects, err = t.ids("SELECT p.id FROM projects p JOIN orgs o ON o.key = p.org WHERE o.slug = 'default' AND p.slug = 'default'")
	}
	for n := 0; n < len(projects) && err == nil; n++ {
		err = t.administered(who.Administers(projects[n], action, about, detail, now))
	}
	return err
}

// ids reads a list of ids.
func (t *tx) ids(text string, args ...any) (all []interaction.ID, err error) {
	err = t.rows(text, args, func(r *sql.Rows) error {
		var id interaction.ID
		err := r.Scan(&id)
		all = append(all, id)
		return err
	})
	return all, err
}

// SessionPrincipal finds a session that is neither too old nor idle for too long, and when it was last seen. Its person is in no project yet.
func (s *Store) SessionPrincipal(_ context.Context, h auth.Hash, born, seen time.Time) (interaction.Principal, time.Time, error) {
	const q = `SELECT u.id, u.name, u.owner, x.seen_at FROM sessions x JOIN users u ON u.key = x.user
		WHERE x.hash = +? AND x.created_at > +? AND x.seen_at > +?`
	p := interaction.Principal{Kind: interaction.UserPrincipal, Channel: interaction.ChannelDashboard}
	var last int64
	err := s.row(q, []any{h[:], ms(born), ms(seen)}, &p.ID, &p.Name, &p.Owner, &last)
	if err == nil {
		p.Roles, err = s.roles(p.ID)
	}
	return p, fromMS(last), err
}

// roles are what a person is, by project.
func (s *Store) roles(user interaction.ID) (map[interaction.ID]interaction.Role, error) {
	const q = `SELECT p.id, m.role FROM users u JOIN members m ON m.user = u.key JOIN projects p ON p.key = m.project WHERE u.id = +?`
	roles := map[interaction.ID]interaction.Role{}
	return roles, s.rows(q, []any{user}, func(r *sql.Rows) error {
		var project interaction.ID
		var role interaction.Role
		err := r.Scan(&project, &role)
		roles[project] = role
		return err
	})
}

// TouchSession remembers that a session was used. It waits for nothing.
func (s *Store) TouchSession(h auth.Hash, now time.Time) {
	s.writer.later("touch session", func(t *tx) error {
		return t.run("UPDATE sessions SET seen_at = ? WHERE hash = ?", ms(now), h[:])
	})
}

// Sessions are those of a person that are neither too old nor idle for too long, the newest first.
func (s *Store) Sessions(_ context.Context, user interaction.ID, born, seen time.Time) (all []auth.Session, err error) {
	const q = `SELECT x.hash, x.id, x.client, x.address, x.created_at, x.seen_at FROM sessions x JOIN users u ON u.key = x.user
		WHERE u.id = +? AND x.created_at > +? AND x.seen_at > +? ORDER BY x.created_at DESC, x.id DESC`
	err = s.rows(q, []any{user, ms(born), ms(seen)}, func(r *sql.Rows) error {
		var x auth.Session
		var hash []byte
		var made, last int64
		err := r.Scan(&hash, &x.ID, &x.Client, &x.Address, &made, &last)
		copy(x.Hash[:], hash)
		x.CreatedAt, x.SeenAt = fromMS(made), fromMS(last)
		all = append(all, x)
		return err
	})
	return all, err
}

// EndSession takes a session away, if it is there.
func (s *Store) EndSession(ctx context.Context, h auth.Hash, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		var user int64
		var id interaction.ID
		err := t.row("SELECT user, id FROM sessions WHERE hash = ?", []any{h[:]}, &user, &id)
		if interaction.CodeOf(err) == interaction.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		who, err := t.person(user)
		if err != nil {
			return err
		}
		return t.endSessions(user, who, []interaction.ID{id}, now, "DELETE FROM sessions WHERE hash = ?", h[:])
	})
}

// EndSessionOf takes one session of a person away; one that is not theirs is NotFound.
func (s *Store) EndSessionOf(ctx context.Context, who interaction.Principal, id interaction.ID, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		user, err := t.user(who.ID)
		if err != nil {
			return err
		}
		var there interaction.ID
		if err := t.row("SELECT id FROM sessions WHERE user = ? AND id = ?", []any{user, id}, &there); err != nil {
			return err
		}
		return t.endSessions(user, who, []interaction.ID{id}, now, "DELETE FROM sessions WHERE user = ? AND id = ?", user, id)
	})
}

// EndSessionsOf takes all sessions of a person away.
func (s *Store) EndSessionsOf(ctx context.Context, who interaction.Principal, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		user, err := t.user(who.ID)
		if err != nil {
			return err
		}
		return t.endSessionsBut(user, who, auth.Hash{}, now)
	})
}

// endSessionsBut takes all sessions of a person away but one.
func (t *tx) endSessionsBut(user int64, who interaction.Principal, keep auth.Hash, now time.Time) error {
	ended, err := t.ids("SELECT id FROM sessions WHERE user = ? AND hash <> ? ORDER BY created_at, id", user, keep[:])
	if err != nil {
		return err
	}
	return t.endSessions(user, who, ended, now, "DELETE FROM sessions WHERE user = ? AND hash <> ?", user, keep[:])
}

// endSessions carries out a statement that takes those sessions away, and records that of each.
func (t *tx) endSessions(user int64, who interaction.Principal, ended []interaction.ID, now time.Time, statement string, args ...any) error {
	err := t.run(statement, args...)
	for n := 0; n < len(ended) && err == nil; n++ {
		err = t.everywhere(user, who, interaction.SignedOut, interaction.Subject{Kind: "session", ID: ended[n]}, nil, now)
	}
	return err
}
