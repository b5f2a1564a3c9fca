package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/mattn/go-sqlite3"

	"sayso/internal/interaction"
)

// Orgs are all there are, in the order of [Store.Projects]. They are few.
func (s *Store) Orgs(context.Context) (all []interaction.Org, err error) {
	const q = "SELECT id, slug, name, created_at FROM orgs ORDER BY slug <> 'default', name, id"
	err = s.rows(q, nil, func(r *sql.Rows) error {
		var o interaction.Org
		var made int64
		err := r.Scan(&o.ID, &o.Slug, &o.Name, &made)
		o.CreatedAt = fromMS(made)
		all = append(all, o)
		return err
	})
	return all, err
}

// CreateOrg makes an org and its first project; see [interaction.Store].
func (s *Store) CreateOrg(ctx context.Context, o interaction.Org, first interaction.Project, record func(interaction.Project) []interaction.AdminEvent) error {
	return s.writer.do(ctx, func(t *tx) error {
		key, err := t.insert("INSERT INTO orgs (id, slug, name, created_at) VALUES (?, ?, ?, ?)", o.ID, o.Slug, o.Name, ms(o.CreatedAt))
		if isTaken(err) {
			return interaction.Errorf(interaction.Conflict, "slug: there is an org %q already", o.Slug)
		}
		if err != nil {
			return err
		}
		return t.createProject(key, first, record)
	})
}

// CreateProject makes a project in an org; see [interaction.Store].
func (s *Store) CreateProject(ctx context.Context, org string, p interaction.Project, record func(interaction.Project) []interaction.AdminEvent) (interaction.Project, error) {
	err := s.writer.do(ctx, func(t *tx) error {
		var key int64
		if err := t.row("SELECT key, id, slug FROM orgs WHERE id = ?1 OR slug = 'default' AND ?1 = 'default'", []any{org}, &key, &p.OrgID, &p.Org); err != nil {
			return err
		}
		return t.createProject(key, p, record)
	})
	return p, err
}

func (t *tx) createProject(org int64, p interaction.Project, record func(interaction.Project) []interaction.AdminEvent) error {
	err := t.run("INSERT INTO projects (org, id, slug, name, created_at) VALUES (?, ?, ?, ?, ?)", org, p.ID, p.Slug, p.Name, ms(p.CreatedAt))
	if isTaken(err) {
		return interaction.Errorf(interaction.Conflict, "slug: the org has a project %q already", p.Slug)
	}
	if err != nil {
		return err
	}
	for _, e := range record(p) {
		if err := t.administered(e); err != nil {
			return err
		}
	}
	return nil
}

// isTaken says that a value which must be unique is there already.
func isTaken(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrConstraintUnique
}
