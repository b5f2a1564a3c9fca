package store

import (
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
