package store

import (
	"context"
	"database/sql"
	"fmt"
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
	head.audit = hash
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

// Verify checks a project's whole audit chain, and that every final interaction and every decision by policy agrees with its entry. It reads one state of the database,
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
	chain   audit.Chain
	ended   int // entries that are of the end they name
	decided int // entries that are of the decision by policy that they name

	administered int // entries that are of the admin event that they name
}

func (v *verification) entries(t *sql.Tx, project interaction.ID) error {
	rows, err := t.Query(`SELECT a.entry, a.hash, a.sequence, coalesce(i.id, ''), coalesce(i.state, ''), r.head, e.record, coalesce(e.sequence, 0), d.record, m.record
		FROM audit_entries a LEFT JOIN events v ON v.project = a.project AND v.sequence = a.sequence
		LEFT JOIN interactions i ON i.key = v.interaction LEFT JOIN requests r ON r.interaction = i.key LEFT JOIN ends e ON e.interaction = i.key
		LEFT JOIN policy_decisions d ON d.project = a.project AND d.sequence = a.sequence
		LEFT JOIN admin_events m ON m.project = a.project AND m.sequence = a.sequence
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
	var canonical, hash, head, end, decision, done []byte
	var sequence, endSequence int64
	var id string
	var state interaction.State
	if err := rows.Scan(&canonical, &hash, &sequence, &id, &state, &head, &end, &endSequence, &decision, &done); err != nil {
		return err
	}
	entry, err := v.chain.Append(canonical, audit.Hash(hash))
	if err != nil {
		return err
	}
	if entry.Action == interaction.DecidedByPolicy {
		v.decided++
		return entry.Agrees(sequence, "", decision)
	}
	if entry.Subject != nil {
		v.administered++
		return entry.Agrees(sequence, "", done)
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
		(SELECT count(*) FROM ends e JOIN interactions i ON i.key = e.interaction WHERE i.project = p.key),
		(SELECT count(*) FROM policy_decisions d WHERE d.project = p.key), (SELECT count(*) FROM admin_events m WHERE m.project = p.key)
		FROM projects p WHERE p.id = ?`
	var head []byte
	var written, final, ends, decided, administered int
	if err := t.QueryRow(q, project).Scan(&head, &written, &final, &ends, &decided, &administered); err != nil {
		return found(err)
	}
	if decided != v.decided {
		return fmt.Errorf("%d decisions by policy are stored, but %d are in the audit log", decided, v.decided)
	}
	if administered != v.administered {
		return fmt.Errorf("%d changes of the settings are stored, but %d are in the audit log", administered, v.administered)
	}
	if final != v.ended || ends != v.ended {
		return fmt.Errorf("%d interactions are final and %d have an end, but %d ends are in the audit log", final, ends, v.ended)
	}
	return v.chain.Complete(written, head)
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
