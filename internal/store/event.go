package store

import (
	"context"
	"database/sql"
	"fmt"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// log appends events to the log, and gives the sequence of the last.
func (t *tx) log(at place, list ...interaction.Event) (sequence int64, err error) {
	for _, e := range list {
		if sequence, err = t.next(at.project); err != nil {
			return 0, err
		}
		if err := t.event(at, sequence, e); err != nil {
			return 0, err
		}
	}
	return sequence, nil
}

// event appends to the log.
func (t *tx) event(at place, sequence int64, e interaction.Event) error {
	return t.run(`INSERT INTO events (project, sequence, agent, id, kind, interaction, input_id, tool_call, body, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at.project, sequence, at.agent, e.ID, e.Kind, at.interaction, textOrNull(e.InputID), textOrNull(e.ToolCallID), textOrNull(e.Body), ms(e.At))
}

// publish appends the audit entry of a lifecycle event, and has followers told after the commit.
func (t *tx) publish(at place, kind interaction.EventKind, sequence int64, r interaction.Record, i interaction.Interaction) error {
	t.changes = append(t.changes, Change{Kind: kind, Sequence: sequence, Record: r})
	head, err := t.head(at.project)
	if err != nil {
		return err
	}
	canonical, hash, err := auditEntry(kind, sequence, r, i).Seal(head.audit)
	if err != nil {
		return err
	}
	head.audit = hash
	return t.run("INSERT INTO audit_entries (project, sequence, entry, hash) VALUES (?, ?, ?, ?)", at.project, sequence, canonical, hash[:])
}

func auditEntry(kind interaction.EventKind, sequence int64, r interaction.Record, i interaction.Interaction) audit.Entry {
	e := audit.Entry{
		Sequence: sequence, At: r.CreatedAt.Format(interaction.TimeFormat), Project: string(r.ProjectID), Agent: string(r.AgentID),
		Interaction: string(r.ID), Action: string(kind), Digest: i.Digest, Record: audit.RecordHash(r.Head),
		Actor: audit.Actor{Kind: "asker", Credential: string(i.Creator)},
	}
	if end := i.End; end != nil {
		e.At, e.Record = end.At.Format(interaction.TimeFormat), audit.RecordHash(r.End)
		e.Actor = audit.Actor{
			Kind: string(end.By.Kind), Name: end.By.Name, ID: string(end.By.ActorID), Credential: string(end.Credential), Channel: string(end.By.Channel),
		}
	}
	return e
}

// Verify checks a project's whole audit chain, and that every final interaction agrees with its entry. It reads one state of the database,
// whatever is written meanwhile. It gives the number of entries; the error names the first that does not hold.
func (s *Store) Verify(ctx context.Context, project interaction.ID) (n int, err error) {
	t, err := s.read.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer t.Rollback()
	var v verification
	if err := v.entries(t, project); err != nil {
		return v.chain.N, err
	}
	return v.chain.N, v.complete(t, project)
}

// verification walks through a project's entries.
type verification struct {
	chain audit.Chain
	ended int // entries that are of the end they name
}

func (v *verification) entries(t *sql.Tx, project interaction.ID) error {
	rows, err := t.Query(`SELECT a.entry, a.hash, a.sequence, i.id, i.state, r.head, e.record, coalesce(e.sequence, 0) FROM audit_entries a
		JOIN events v ON v.project = a.project AND v.sequence = a.sequence
		JOIN interactions i ON i.key = v.interaction JOIN requests r ON r.interaction = i.key LEFT JOIN ends e ON e.interaction = i.key
		WHERE a.project = (SELECT key FROM projects WHERE id = ?) ORDER BY a.key`, project)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := v.entry(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (v *verification) entry(rows *sql.Rows) error {
	var canonical, hash, head, end []byte
	var sequence, endSequence int64
	var id string
	var state interaction.State
	if err := rows.Scan(&canonical, &hash, &sequence, &id, &state, &head, &end, &endSequence); err != nil {
		return err
	}
	entry, err := v.chain.Append(canonical, audit.Hash(hash))
	if err != nil {
		return err
	}
	leads, ends := leadsTo[interaction.EventKind(entry.Action)]
	if !ends {
		return entry.Agrees(sequence, id, head)
	}
	if state != leads || endSequence != sequence {
		return fmt.Errorf("audit entry with sequence %d: interaction %s is %s, which is not how it was recorded to end", sequence, id, state)
	}
	v.ended++
	return entry.Agrees(sequence, id, end)
}

// leadsTo is the state in which an action leaves an interaction for ever.
var leadsTo = map[interaction.EventKind]interaction.State{
	interaction.AnsweredEvent: interaction.Resolved, interaction.CanceledEvent: interaction.Canceled, interaction.ExpiredEvent: interaction.Canceled,
}

// complete checks that nothing is there that no entry tells of: no entry cut off, no end slipped in.
func (v *verification) complete(t *sql.Tx, project interaction.ID) error {
	const q = `SELECT coalesce(p.audit_head, x''), (SELECT count(*) FROM audit_entries a WHERE a.project = p.key),
		(SELECT count(*) FROM interactions i WHERE i.project = p.key AND i.state <> 'open'),
		(SELECT count(*) FROM ends e JOIN interactions i ON i.key = e.interaction WHERE i.project = p.key)
		FROM projects p WHERE p.id = ?`
	var head []byte
	var written, final, ends int
	if err := t.QueryRow(q, project).Scan(&head, &written, &final, &ends); err != nil {
		return found(err)
	}
	if final != v.ended || ends != v.ended {
		return fmt.Errorf("%d interactions are final and %d have an end, but %d ends are in the audit log", final, ends, v.ended)
	}
	return v.chain.Complete(written, head)
}

// History is what the log holds about one interaction.
func (s *Store) History(_ context.Context, id interaction.ID) (list []interaction.Event, err error) {
	const q = `SELECT v.id, v.kind, coalesce(v.input_id, ''), coalesce(v.tool_call, ''), coalesce(v.body, ''), v.at FROM events v
		WHERE v.interaction = (SELECT key FROM interactions WHERE id = ?) ORDER BY v.sequence`
	err = s.rows(q, []any{id}, func(rows *sql.Rows) error {
		e := interaction.Event{InteractionID: id}
		var at int64
		err := rows.Scan(&e.ID, &e.Kind, &e.InputID, &e.ToolCallID, &e.Body, &at)
		e.At = fromMS(at)
		list = append(list, e)
		return err
	})
	return list, err
}
