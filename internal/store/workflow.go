package store

import (
	"context"
	"encoding/json"

	"sayso/internal/interaction"
)

// pause stores the workflow that an interaction pauses, if it does.
func (t *tx) pause(at place, i interaction.Interaction) error {
	w := i.Pauses()
	if w == nil {
		return nil
	}
	checkpoint, err := json.Marshal(w.Checkpoint)
	if err != nil {
		return err
	}
	result, err := t.exec(`INSERT INTO workflows (project, agent, id, state, interaction, checkpoint, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (project, id) DO UPDATE SET state = excluded.state, interaction = excluded.interaction,
		checkpoint = excluded.checkpoint, updated_at = excluded.updated_at WHERE workflows.agent = excluded.agent`,
		at.project, at.agent, w.ID, w.State, at.interaction, string(checkpoint), ms(w.UpdatedAt))
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		err = interaction.Errorf(interaction.Conflict, "workflow_id: this workflow is another agent's.")
	}
	return err
}

// Workflow gives a workflow of a project.
func (s *Store) Workflow(_ context.Context, project interaction.ID, id string) (w interaction.Workflow, err error) {
	var checkpoint string
	var at int64
	err = s.row(`SELECT w.id, p.id, a.id, w.state, coalesce(i.id, ''), w.checkpoint, w.updated_at
		FROM workflows w JOIN projects p ON p.key = w.project JOIN agents a ON a.key = w.agent LEFT JOIN interactions i ON i.key = w.interaction
		WHERE w.project = (SELECT key FROM projects WHERE id = ?) AND w.id = ?`, []any{project, id},
		&w.ID, &w.ProjectID, &w.AgentID, &w.State, &w.InteractionID, &checkpoint, &at)
	if err != nil {
		return w, err
	}
	w.UpdatedAt = fromMS(at)
	return w, json.Unmarshal([]byte(checkpoint), &w.Checkpoint)
}
