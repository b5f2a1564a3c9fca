package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

const keyColumns = `SELECT k.id, k.kind, k.name, p.id, coalesce(a.id, ''), k.scopes, k.last_four, k.created_by, k.created_at, k.used_at, k.revoked_at, k.hash
	FROM api_keys k JOIN projects p ON p.key = k.project LEFT JOIN agents a ON a.key = k.agent `

func keys(read lister, text string, args ...any) (list []auth.Key, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		var k auth.Key
		var created int64
		var used, revoked sql.NullInt64
		var scopes string
		var hash []byte
		err := rows.Scan(&k.ID, &k.Kind, &k.Name, &k.Project, &k.Agent, &scopes, &k.LastFour, &k.CreatedBy, &created, &used, &revoked, &hash)
		k.Scopes, k.CreatedAt, k.UsedAt, k.RevokedAt = scopesOf(scopes), fromMS(created), fromNull(used), fromNull(revoked)
		copy(k.Hash[:], hash)
		list = append(list, k)
		return err
	})
	return list, err
}

func scopesOf(text string) (scopes []interaction.Scope) {
	for name := range strings.FieldsSeq(text) {
		scopes = append(scopes, interaction.Scope(name))
	}
	return scopes
}

// Keys are those of a project. The server's own are not among them.
func (s *Store) Keys(_ context.Context, project interaction.ID, page interaction.Page) ([]auth.Key, error) {
	q := keyQuery(project, page)
	list, err := keys(s.rows, q.text(), q.args...)
	for n := range list {
		list[n].Hash = auth.Hash{}
	}
	return list, err
}

func keyQuery(project interaction.ID, page interaction.Page) *query {
	q := newQuery(keyColumns)
	q.where("k.project = (SELECT key FROM projects WHERE id = ?)", project)
	q.page("k", page)
	return q
}

// CreateKey stores a key of a project; see [auth.Store].
func (s *Store) CreateKey(ctx context.Context, k auth.Key, once interaction.Once, e interaction.AdminEvent) (made auth.Key, created bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		before, err := t.already(once)
		if err != nil || before != "" {
			created = false
			return t.readKey(&made, before, k.Project, err)
		}
		if err := t.checkAgent(k); err != nil {
			return err
		}
		if err := t.ensureKey(k, k.CreatedAt); err != nil {
			return err
		}
		if err := t.remember(once, k.ID, k.CreatedAt); err != nil {
			return err
		}
		created = true
		return t.readKey(&made, k.ID, k.Project, t.administered(e))
	})
	made.Hash = auth.Hash{}
	return made, created && err == nil, err
}

func (t *tx) readKey(into *auth.Key, id, project interaction.ID, err error) error {
	if err != nil {
		return err
	}
	*into, err = only(keys(t.rows, keyColumns+"WHERE k.id = +? AND p.id = +?", id, project))
	return err
}

// checkAgent refuses a key for an agent that is not there: it would be bound to none.
func (t *tx) checkAgent(k auth.Key) error {
	if k.Agent == "" {
		return nil
	}
	var found int64
	const q = "SELECT a.key FROM agents a JOIN projects p ON p.key = a.project WHERE a.id = ? AND p.id = ? AND a.state = 'active'"
	err := t.row(q, []any{k.Agent, k.Project}, &found)
	if interaction.CodeOf(err) == interaction.NotFound {
		return interaction.Errorf(interaction.InvalidRequest, "agent_id: %s is not an active agent of this project", k.Agent)
	}
	return err
}

// RevokeKey ends a key; see [auth.Store].
func (s *Store) RevokeKey(ctx context.Context, project, id interaction.ID, now time.Time, said func(auth.Key) interaction.AdminEvent) (k auth.Key, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		if err := t.readKey(&k, id, project, nil); err != nil || !k.RevokedAt.IsZero() {
			return err
		}
		if err := t.run("UPDATE api_keys SET revoked_at = ? WHERE id = ?", ms(now), id); err != nil {
			return err
		}
		k.RevokedAt = now
		return t.administered(said(k))
	})
	return k, err
}

// TouchKey remembers that a key was used. It waits for nothing.
func (s *Store) TouchKey(h auth.Hash, now time.Time) {
	s.writer.later("touch key", func(t *tx) error {
		return t.run("UPDATE api_keys SET used_at = ? WHERE hash = ?", ms(now), h[:])
	})
}
