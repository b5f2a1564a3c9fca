package store

import (
	"context"
	"time"

	"sayso/internal/interaction"
)

// seed makes the org and the project that exist from the start.
func (s *Store) seed(ctx context.Context) error {
	var there int
	if err := s.row("SELECT count(*) FROM projects", nil, &there); err != nil || there > 0 {
		return err
	}
	now := time.Now()
	return s.writer.do(ctx, func(t *tx) error {
		org, err := t.insert("INSERT INTO orgs (id, slug, name, created_at) VALUES (?, 'default', 'Default', ?)",
			interaction.NewID(interaction.OrgPrefix, now), ms(now))
		if err != nil {
			return err
		}
		return t.run("INSERT INTO projects (org, id, slug, name, created_at) VALUES (?, ?, 'default', 'Default', ?)",
			org, interaction.NewID(interaction.ProjectPrefix, now), ms(now))
	})
}

type projectRef struct{ org, project string }

// Project finds a project of an org, both by id or by slug. What was found is remembered: neither changes.
func (s *Store) Project(_ context.Context, org, project string) (interaction.Project, error) {
	ref := projectRef{org, project}
	if p, ok := s.refs.Load(ref); ok {
		return p.(interaction.Project), nil
	}
	const q = `SELECT p.id, o.id, p.slug, p.name FROM projects p JOIN orgs o ON o.key = p.org
		WHERE (o.id = +?1 OR o.slug = +?1) AND (p.id = +?2 OR p.slug = +?2)`
	var p interaction.Project
	if err := s.row(q, []any{org, project}, &p.ID, &p.OrgID, &p.Slug, &p.Name); err != nil {
		return p, err
	}
	s.refs.Store(ref, p)
	return p, nil
}
