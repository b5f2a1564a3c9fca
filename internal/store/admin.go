package store

import (
	"context"
	"database/sql"
	"math"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// administered records what was done to the settings of a project, and its audit entry.
func (t *tx) administered(e interaction.AdminEvent) error {
	var project int64
	if err := t.row("SELECT key FROM projects WHERE id = ?", []any{e.ProjectID}, &project); err != nil {
		return err
	}
	sequence, err := t.next(project)
	if err != nil {
		return err
	}
	record := e.AppendJSON(nil)
	err = t.run("INSERT INTO admin_events (project, sequence, id, record, at) VALUES (?, ?, ?, ?, ?)", project, sequence, e.ID, record, ms(e.At))
	if err != nil {
		return err
	}
	return t.seal(place{project: project, projectID: e.ProjectID}, audit.Entry{
		Sequence: sequence, At: e.At.Format(interaction.TimeFormat), Project: string(e.ProjectID),
		Action: string(e.Action), Record: audit.RecordHash(record),
		Actor:  audit.Actor{Kind: string(e.By.Kind), Name: e.By.Name, ID: string(e.By.ActorID), Credential: string(e.Credential), Channel: string(e.By.Channel)},
		Target: &audit.Target{Kind: e.Subject.Kind, ID: string(e.Subject.ID), Name: e.Subject.Name},
	})
}

// AdminEvents are what was done to the settings of a project; see [interaction.Store].
func (s *Store) AdminEvents(_ context.Context, project interaction.ID, before int64, limit int) (list []interaction.AdminEvent, err error) {
	if before == 0 {
		before = math.MaxInt64
	}
	err = s.rows(adminEventsBefore, []any{project, before, limit}, func(rows *sql.Rows) error {
		var sequence int64
		var record []byte
		if err := rows.Scan(&sequence, &record); err != nil {
			return err
		}
		e, err := interaction.ReadAdminEvent(record)
		e.Sequence = sequence
		list = append(list, e)
		return err
	})
	return list, err
}

const adminEventsBefore = `SELECT sequence, record FROM admin_events
	WHERE project = (SELECT key FROM projects WHERE id = ?) AND sequence < +? ORDER BY sequence DESC LIMIT +?`
