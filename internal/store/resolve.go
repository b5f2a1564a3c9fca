package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sayso/internal/interaction"
)

// Update carries out what change makes of an interaction; see [interaction.Store].
func (s *Store) Update(ctx context.Context, id interaction.ID, who *interaction.External, change func(interaction.Record, interaction.Interaction, interaction.ID) (interaction.Change, error)) (r interaction.Record, replay bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		at, before, i, err := t.find(s, id)
		if err != nil {
			return err
		}
		actor, known, err := t.actorID(at.project, who, i.CreatedAt)
		if err != nil {
			return err
		}
		c, err := change(before, i, actor)
		if err != nil {
			return err
		}
		if replay = c.Replay; replay {
			r = before
			return nil
		}
		if who != nil {
			if err := t.storeActor(at.project, actor, known, *who, c.After.End.At); err != nil {
				return err
			}
		}
		r, err = t.end(at, before, c)
		return err
	})
	if err == nil {
		s.heads.drop(id)
	}
	return r, replay, err
}

// actorID is the id of an external person: the one on record, or a new one.
func (t *tx) actorID(project int64, who *interaction.External, now time.Time) (id interaction.ID, known bool, err error) {
	if who == nil {
		return "", false, nil
	}
	err = t.row("SELECT id FROM actors WHERE project = ? AND tenant = ? AND user = ?",
		[]any{project, who.ProviderTenantID, who.ProviderUserID}, &id)
	if interaction.CodeOf(err) == interaction.NotFound {
		return interaction.NewID(interaction.ActorPrefix, now), false, nil
	}
	return id, err == nil, err
}

func (t *tx) end(at place, r interaction.Record, c interaction.Change) (interaction.Record, error) {
	i := c.After
	r = r.WithEnd(i)
	if err := t.close(at, i); err != nil {
		return r, err
	}
	if err := t.effects(at, c); err != nil {
		return r, err
	}
	if err := t.log(at, c.Events...); err != nil {
		return r, err
	}
	var err error
	if r.Version, err = t.next(at.project); err != nil {
		return r, err
	}
	lifecycle := interaction.Event{ID: interaction.NewID(interaction.EventPrefix, i.End.At), Kind: c.Lifecycle, At: i.End.At}
	if err := t.event(at, r.Version, lifecycle); err != nil {
		return r, err
	}
	if err := t.insertEnd(at, r, *i.End); err != nil {
		return r, err
	}
	return r, t.publish(at, c.Lifecycle, r.Version, r, i)
}

// close decides the winner: only an open interaction can be ended, and only once.
func (t *tx) close(at place, i interaction.Interaction) error {
	result, err := t.exec("UPDATE interactions SET state = ?, cancel_reason = ? WHERE key = ? AND state = 'open'",
		i.State, textOrNull(i.End.CancelReason), at.interaction)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("end interaction %s: %d rows were open (%w)", i.ID, n, err) // unreachable unless bug in this package
	}
	return nil
}

func (t *tx) insertEnd(at place, r interaction.Record, end interaction.End) error {
	answered := r.State == interaction.Resolved
	return t.run(`INSERT INTO ends (interaction, record, answered, ended_at, actor_kind, actor_name, actor_id, credential, proved_by, sequence)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at.interaction, r.End, answered, ms(end.At), end.By.Kind, end.By.Name, textOrNull(end.By.ActorID), end.Credential, end.ProvedBy, r.Version)
}

// effects writes what the end brings about: the input and the tool call.
func (t *tx) effects(at place, c interaction.Change) error {
	if in := c.Input; in != nil {
		err := t.run(`INSERT INTO inputs (agent, interaction, id, kind, delivery_mode, state, actor, queued_at)
			VALUES (?, ?, ?, 'interaction_response', 'immediate', 'resolved', ?, ?)`, at.agent, at.interaction, in.ID, textOrNull(in.By.ActorID), ms(in.At))
		if err != nil {
			return err
		}
	}
	if call := c.ToolCall; call != nil {
		t.tell(at, Change{Kind: interaction.ToolCallMoved, ToolCall: *call})
		return t.run("UPDATE tool_calls SET state = ?, outcome = ? WHERE interaction = ?", call.To, textOrNull(call.Outcome), at.interaction)
	}
	return nil
}

func (t *tx) storeActor(project int64, id interaction.ID, known bool, who interaction.External, at time.Time) error {
	var metadata []byte
	if len(who.Metadata) > 0 {
		var err error
		if metadata, err = json.Marshal(who.Metadata); err != nil {
			return err
		}
	}
	if known { // what is not given now stays as it was
		return t.run("UPDATE actors SET display_name = coalesce(nullif(?, ''), display_name), metadata = coalesce(nullif(?, ''), metadata) WHERE id = ?",
			who.DisplayName, string(metadata), id)
	}
	return t.run("INSERT INTO actors (project, id, tenant, user, display_name, metadata, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		project, id, who.ProviderTenantID, who.ProviderUserID, who.DisplayName, string(metadata), ms(at))
}
