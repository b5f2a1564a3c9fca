package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// log appends events of a conversation to the log. A lifecycle event is appended with [tx.event], and told by [tx.publish].
func (t *tx) log(at place, list ...interaction.Event) error {
	for _, e := range list {
		sequence, err := t.next(at.project)
		if err != nil {
			return err
		}
		if err := t.event(at, sequence, e); err != nil {
			return err
		}
		t.tell(at, Change{Kind: e.Kind, Sequence: sequence})
	}
	return nil
}

// tell has followers told after the commit.
func (t *tx) tell(at place, c Change) {
	c.Project, c.Agent = at.projectID, at.agentID
	t.changes = append(t.changes, c)
}

// event appends to the log.
func (t *tx) event(at place, sequence int64, e interaction.Event) error {
	return t.run(`INSERT INTO events (project, sequence, agent, id, kind, interaction, input_id, tool_call, body, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at.project, sequence, at.agent, e.ID, e.Kind, keyOrNull(at.interaction), textOrNull(e.InputID), textOrNull(e.ToolCallID), textOrNull(e.Body), ms(e.At))
}

// publish appends the audit entry of a lifecycle event, and has followers told after the commit.
func (t *tx) publish(at place, kind interaction.EventKind, sequence int64, r interaction.Record, i interaction.Interaction) error {
	t.tell(at, Change{Kind: kind, Sequence: sequence, Record: r})
	return t.seal(at, auditEntry(kind, sequence, r, i))
}

// seal appends an entry to the project's audit chain.
func (t *tx) seal(at place, e audit.Entry) error {
	head, err := t.head(at.project)
	if err != nil {
		return err
	}
	canonical, hash, err := e.Seal(head.audit)
	if err != nil {
		return err
	}
	head.audit, head.entry = hash, e.Sequence
	head.sealed++
	return t.run("INSERT INTO audit_entries (project, sequence, entry, hash) VALUES (?, ?, ?, ?)", at.project, e.Sequence, canonical, hash[:])
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

// History is what the log holds about one interaction.
func (s *Store) History(_ context.Context, id interaction.ID) ([]interaction.Event, error) {
	return scanEvents(s.rows, eventColumns+"WHERE v.interaction = (SELECT key FROM interactions WHERE id = ?) ORDER BY v.sequence", id)
}

const eventColumns = `SELECT v.id, v.sequence, a.id, v.kind, coalesce(i.id, ''), coalesce(v.input_id, ''), coalesce(v.tool_call, ''),
	coalesce(v.body, ''), v.at FROM events v JOIN agents a ON a.key = v.agent LEFT JOIN interactions i ON i.key = v.interaction `

func scanEvents(read lister, text string, args ...any) (list []interaction.Event, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		var e interaction.Event
		var at int64
		err := rows.Scan(&e.ID, &e.Sequence, &e.AgentID, &e.Kind, &e.InteractionID, &e.InputID, &e.ToolCallID, &e.Body, &at)
		e.At = fromMS(at)
		list = append(list, e)
		return err
	})
	return list, err
}

// events are those that f describes, in the order of the log, as they stand there.
func events(read lister, f interaction.EventFilter) ([]interaction.Event, error) {
	q, args := eventQuery(f)
	list, err := scanEvents(read, q, args...)
	if f.Before > 0 {
		slices.Reverse(list)
	}
	return list, err
}

// eventQuery is the query for f: along the index of the agent or of the project.
func eventQuery(f interaction.EventFilter) (text string, args []any) {
	q := newQuery(eventColumns)
	if f.Agent != "" {
		q.where("v.agent = (SELECT key FROM agents WHERE id = ?)", f.Agent)
	} else {
		q.where("v.project = (SELECT key FROM projects WHERE id = ?)", f.Project)
	}
	q.where("v.sequence > +?", f.After)
	kinds := make([]string, len(f.Kinds))
	for n, kind := range f.Kinds {
		kinds[n] = "v.kind = '" + string(kind) + "'"
	}
	q.where("(" + strings.Join(kinds, " OR ") + ")")
	if f.NoAnswers {
		q.where("NOT (v.kind = 'agent_input' AND v.interaction IS NOT NULL)")
	}
	q.tail = " ORDER BY v.sequence"
	if f.Before > 0 {
		q.where("v.sequence < +?", f.Before)
		q.tail += " DESC"
	}
	q.tail += " LIMIT +?"
	return q.text(), append(q.args, f.Limit)
}

// Events are at most f.Limit of those that f describes; see [interaction.Store].
func (s *Store) Events(ctx context.Context, f interaction.EventFilter) ([]interaction.Event, error) {
	list, err := events(s.rows, f)
	for n := 0; n < len(list) && err == nil; n++ {
		err = s.complete(ctx, &list[n])
	}
	return list, err
}

// complete adds what an event says that stands elsewhere: how its interaction is, and what the agent is called.
func (s *Store) complete(ctx context.Context, e *interaction.Event) error {
	lifecycle := slices.Contains(interaction.LifecycleEvents, e.Kind)
	if !lifecycle && (e.Kind != interaction.AgentInputEvent || e.InteractionID == "") {
		return nil
	}
	r, err := s.Interaction(ctx, e.InteractionID)
	if err != nil {
		return err
	}
	e.Record = &r
	if lifecycle {
		e.AgentName, err = s.AgentName(ctx, e.AgentID)
	}
	return err
}
