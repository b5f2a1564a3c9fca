package store

import (
	"context"
	"database/sql"
	"time"

	"sayso/internal/interaction"
)

const actorColumns = `SELECT x.id, p.id, x.tenant, x.user, x.display_name, x.metadata, x.created_at FROM actors x JOIN projects p ON p.key = x.project `

func actors(read lister, text string, args ...any) (list []interaction.StoredActor, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		var a interaction.StoredActor
		var metadata string
		var created int64
		err := rows.Scan(&a.ID, &a.ProjectID, &a.ProviderTenantID, &a.ProviderUserID, &a.DisplayName, &metadata, &created)
		if err != nil {
			return err
		}
		a.CreatedAt = fromMS(created)
		err = decode(metadata, &a.Metadata)
		list = append(list, a)
		return err
	})
	return list, err
}

// Actors lists the external people of a project.
func (s *Store) Actors(_ context.Context, project interaction.ID, page interaction.Page) ([]interaction.StoredActor, error) {
	q := actorQuery(project, page)
	return actors(s.rows, q.text(), q.args...)
}

func actorQuery(project interaction.ID, page interaction.Page) *query {
	q := newQuery(actorColumns)
	q.where("x.project = (SELECT key FROM projects WHERE id = ?)", project)
	q.page("x", page)
	return q
}

// Actor gives one external person.
func (s *Store) Actor(_ context.Context, id interaction.ID) (interaction.StoredActor, error) {
	return only(actors(s.rows, actorColumns+"WHERE x.id = +?", id))
}

// PutActor stores an external person.
func (s *Store) PutActor(ctx context.Context, project interaction.ID, who interaction.External, now time.Time) (a interaction.StoredActor, created bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		var key int64
		if err := t.row("SELECT key FROM projects WHERE id = ?", []any{project}, &key); err != nil {
			return err
		}
		id, known, err := t.actorID(key, &who, now)
		if err != nil {
			return err
		}
		if err := t.storeActor(key, id, known, who, now); err != nil {
			return err
		}
		created = !known
		a, err = only(actors(t.rows, actorColumns+"WHERE x.id = +?", id))
		return err
	})
	return a, created, err
}
