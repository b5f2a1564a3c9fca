package store

import (
	"context"
	"database/sql"
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

// Project finds a project of an org, both by id or by slug; org may be "" beside a project's id. What was found is remembered: neither changes.
func (s *Store) Project(_ context.Context, org, project string) (interaction.Project, error) {
	ref := projectRef{org, project}
	if p, ok := s.refs.Load(ref); ok {
		return p.(interaction.Project), nil
	}
	const q = "SELECT " + projectColumns + " FROM projects p JOIN orgs o ON o.key = p.org" + `
		WHERE (o.id = +?1 OR o.slug = +?1 OR +?1 = '') AND (p.id = +?2 OR p.slug = +?2 AND +?1 <> '')`
	var p interaction.Project
	var made int64
	if err := s.row(q, []any{org, project}, projectInto(&p, &made)...); err != nil {
		return p, err
	}
	p.CreatedAt = fromMS(made)
	s.refs.Store(ref, p)
	return p, nil
}

const projectColumns = "p.id, o.id, o.slug, p.slug, p.name, p.created_at"

func projectInto(p *interaction.Project, made *int64) []any {
	return []any{&p.ID, &p.OrgID, &p.Org, &p.Slug, &p.Name, made}
}

// Projects are all there are, by org and name. They are few.
func (s *Store) Projects(context.Context) (all []interaction.Project, err error) {
	const q = "SELECT " + projectColumns + " FROM projects p JOIN orgs o ON o.key = p.org ORDER BY o.slug <> 'default', o.name, p.name, p.id"
	err = s.rows(q, nil, func(r *sql.Rows) error {
		var p interaction.Project
		var made int64
		err := r.Scan(projectInto(&p, &made)...)
		p.CreatedAt = fromMS(made)
		all = append(all, p)
		return err
	})
	return all, err
}
