package store

import (
	"context"
	"database/sql"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

var _ auth.Store = (*Store)(nil)

// KeyPrincipal is who a key stands for.
func (s *Store) KeyPrincipal(_ context.Context, h auth.Hash) (interaction.Principal, time.Time, error) {
	const q = `SELECT k.kind, k.id, k.name, k.scopes, coalesce(p.id, ''), coalesce(a.id, ''), k.used_at FROM api_keys k
		LEFT JOIN projects p ON p.key = k.project LEFT JOIN agents a ON a.key = k.agent WHERE k.hash = +? AND k.revoked_at IS NULL`
	var p interaction.Principal
	var scopes string
	var used sql.NullInt64
	err := s.row(q, []any{h[:]}, &p.Kind, &p.ID, &p.Name, &scopes, &p.ProjectID, &p.AgentID, &used)
	p.Scopes = scopesOf(scopes)
	return p, fromNull(used), err
}

// EnsureKey stores a key unless it is there.
func (s *Store) EnsureKey(ctx context.Context, k auth.Key, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error { return t.ensureKey(k, now) })
}

// ReplaceKey stores a key in place of all others of its kind and name that the server made.
func (s *Store) ReplaceKey(ctx context.Context, k auth.Key, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		const q = "UPDATE api_keys SET revoked_at = ? WHERE kind = ? AND name = ? AND hash <> ? AND created_by = '' AND revoked_at IS NULL"
		if err := t.run(q, ms(now), k.Kind, k.Name, k.Hash[:]); err != nil {
			return err
		}
		return t.ensureKey(k, now)
	})
}

func (t *tx) ensureKey(k auth.Key, now time.Time) error {
	return t.run(`INSERT INTO api_keys (id, kind, name, project, agent, scopes, hash, last_four, created_by, creator, created_at)
		VALUES (?, ?, ?, (SELECT key FROM projects WHERE id = ?), (SELECT key FROM agents WHERE id = ?), ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
		k.ID, k.Kind, k.Name, k.Project, k.Agent, k.ScopeText(), k.Hash[:], k.LastFour, k.CreatedBy, k.Creator, ms(now))
}

// HasOwner says whether somebody has signed in ever.
func (s *Store) HasOwner(context.Context) (bool, error) {
	var has bool
	err := s.row("SELECT EXISTS (SELECT 1 FROM users)", nil, &has)
	return has, err
}

// SignIn uses up a code and starts a session of the owner; see [auth.Store].
func (s *Store) SignIn(ctx context.Context, code auth.Hash, born time.Time, name string, session auth.Session, instead auth.Hash) (ok, first bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		ok, first = false, false
		if ok, err = t.useCode(code, born); err != nil || !ok {
			return err
		}
		owner, made, err := t.owner(name, session.CreatedAt)
		if err != nil {
			return err
		}
		first = made
		return t.startSession(owner, session, auth.ByLink, instead)
	})
	return ok && err == nil, first, err
}

// useCode takes a code away and says whether it was good.
func (t *tx) useCode(h auth.Hash, born time.Time) (good bool, err error) {
	var made int64
	t.writes++
	err = t.row("DELETE FROM signin_codes WHERE hash = ? RETURNING created_at", []any{h[:]}, &made)
	if interaction.CodeOf(err) == interaction.NotFound {
		return false, nil
	}
	return made > ms(born), err
}

// owner is the one who may do everything, and whether this made them.
func (t *tx) owner(name string, now time.Time) (key int64, made bool, err error) {
	err = t.row("SELECT key FROM users WHERE owner = 1", nil, &key)
	if interaction.CodeOf(err) != interaction.NotFound {
		return key, false, err
	}
	key, err = t.insert("INSERT INTO users (id, name, created_at, owner) VALUES (?, ?, ?, 1)", interaction.NewID(interaction.UserPrefix, now), name, ms(now))
	return key, true, err
}

// AddCode stores a one-time code.
func (s *Store) AddCode(ctx context.Context, h auth.Hash, now time.Time) error {
	return s.writer.do(ctx, func(t *tx) error {
		return t.run("INSERT INTO signin_codes (hash, created_at) VALUES (?, ?)", h[:], ms(now))
	})
}

// GoodCode says whether a code is good.
func (s *Store) GoodCode(_ context.Context, h auth.Hash, born time.Time) (good bool, err error) {
	err = s.row("SELECT EXISTS (SELECT 1 FROM signin_codes WHERE hash = ? AND created_at > ?)", []any{h[:], ms(born)}, &good)
	return good, err
}

// DropCodes takes all codes away.
func (s *Store) DropCodes(ctx context.Context) error {
	return s.writer.do(ctx, func(t *tx) error { return t.run("DELETE FROM signin_codes") })
}
