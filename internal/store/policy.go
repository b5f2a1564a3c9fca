package store

import (
	"encoding/json"
	"fmt"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// decided records what a policy decided, and its audit entry. Nobody is told.
func (t *tx) decided(at place, d interaction.Decided) error {
	sequence, err := t.next(at.project)
	if err != nil {
		return err
	}
	record := d.AppendJSON(nil)
	err = t.run("INSERT INTO policy_decisions (project, sequence, agent, id, record, at) VALUES (?, ?, ?, ?, ?, ?)",
		at.project, sequence, at.agent, d.ID, record, ms(d.At))
	if err != nil {
		return err
	}
	return t.seal(at, audit.Entry{
		Sequence: sequence, At: d.At.Format(interaction.TimeFormat), Project: string(d.ProjectID), Agent: string(d.AgentID),
		Action: interaction.DecidedByPolicy, Digest: d.Digest, Record: audit.RecordHash(record),
		Actor:  audit.Actor{Kind: "policy", Credential: string(d.Asker)},
		Policy: &audit.Policy{Decision: string(d.Ruling), Source: d.Source, Pattern: d.Pattern, Subject: d.Subject},
	})
}

// decidedBefore gives a decision to whoever asks for the same once more: what it was told then.
func (t *tx) decidedBefore(id interaction.ID) (*interaction.Decided, error) {
	var record []byte
	if err := t.row("SELECT record FROM policy_decisions WHERE id = ?", []any{id}, &record); err != nil {
		return nil, err
	}
	var told struct {
		Decision interaction.Ruling `json:"decision"`
		Source   string             `json:"source"`
		Pattern  string             `json:"pattern"`
		Message  string             `json:"message"`
	}
	if err := json.Unmarshal(record, &told); err != nil {
		return nil, fmt.Errorf("stored decision %s: %w", id, err)
	}
	v := interaction.Verdict{Ruling: told.Decision, Source: told.Source, Pattern: told.Pattern, Message: told.Message}
	return &interaction.Decided{ID: id, Verdict: v}, nil
}
