package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"sayso/internal/interaction"
)

// unindexed are the audit entries behind a place, each with what it is about. What has neither an event nor a decision is none of ours.
const unindexed = `SELECT u.key, u.project, u.hash, coalesce(v.kind, ''),
	coalesce(i.key, 0), coalesce(i.agent, 0), coalesce(i.kind, ''), coalesce(i.state, ''), coalesce(i.created_at, 0), coalesce(r.head, x''),
	e.record, coalesce(e.ended_at, 0), coalesce(e.actor_id, ''), coalesce(n.key, 0), coalesce(n.content, ''),
	coalesce(d.key, 0), coalesce(d.agent, 0), coalesce(d.at, 0), coalesce(d.record, x'')
	FROM audit_entries u LEFT JOIN events v ON v.project = u.project AND v.sequence = u.sequence
	LEFT JOIN interactions i ON i.key = v.interaction LEFT JOIN requests r ON r.interaction = i.key LEFT JOIN ends e ON e.interaction = i.key
	LEFT JOIN inputs n ON n.id = e.record ->> '$.resolved_by_input_id' AND e.record ->> '$.cancel_reason' = 'superseded_by_input'
	LEFT JOIN policy_decisions d ON d.project = u.project AND d.sequence = u.sequence
	WHERE u.key > +? ORDER BY u.key LIMIT +?`

// newcomer is a row of unindexed.
type newcomer struct {
	key, project int64
	hash         []byte
	event        interaction.EventKind

	interaction, agent int64
	kind               interaction.Kind
	record             interaction.Record
	created, ended     int64
	actor              string
	message            int64 // input that superseded it
	said               string

	decision, decisionAgent, decided int64
	decisionRecord                   []byte
}

func (n *newcomer) scan(rows *sql.Rows) error {
	return rows.Scan(&n.key, &n.project, &n.hash, &n.event,
		&n.interaction, &n.agent, &n.kind, &n.record.State, &n.created, &n.record.Head,
		&n.record.End, &n.ended, &n.actor, &n.message, &n.said,
		&n.decision, &n.decisionAgent, &n.decided, &n.decisionRecord)
}

// takeIn takes the next entries of the audit log into the index. more says that there may be more.
func (x *index) takeIn() (more bool, err error) {
	n, err := x.takeInMost(indexBatch)
	return n == indexBatch, err
}

// takeInMost takes in n entries at most, and says how many there were.
func (x *index) takeInMost(most int) (n int, err error) {
	in := intake{index: x}
	in.run("BEGIN")
	defer func() {
		if err != nil || n == 0 {
			in.err = nil
			in.run("ROLLBACK")
		}
	}()
	err = x.store.rows(unindexed, []any{x.position.Load(), most}, func(rows *sql.Rows) error {
		n++
		in.last = newcomer{}
		if err := in.last.scan(rows); err != nil {
			return err
		}
		return in.add(in.last)
	})
	if err != nil || n == 0 {
		return 0, err
	}
	in.run("UPDATE meta SET position = ?, hash = ?", in.last.key, in.last.hash)
	in.run("COMMIT")
	if in.err != nil {
		return 0, in.err
	}
	x.moveTo(in.last.key)
	return n, nil
}

// stmt is a statement of the connection that writes the index, kept prepared.
func (x *index) stmt(text string) (*sql.Stmt, error) {
	if stmt := x.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := x.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	x.stmts[text] = stmt
	return stmt, nil
}

// intake is one transaction of the index. After a failure it does nothing.
type intake struct {
	index *index
	last  newcomer
	err   error
}

func (in *intake) run(text string, args ...any) {
	if stmt := in.stmt(text); stmt != nil {
		_, in.err = stmt.Exec(args...)
	}
}

// stmt is nil after a failure.
func (in *intake) stmt(text string) (stmt *sql.Stmt) {
	if in.err == nil {
		stmt, in.err = in.index.stmt(text)
	}
	return stmt
}

func (in *intake) add(n newcomer) error {
	switch {
	case n.decision != 0:
		in.decision(n)
	case n.event == interaction.CreatedEvent:
		in.asked(n)
	case n.event == interaction.AnsweredEvent || n.event == interaction.CanceledEvent || n.event == interaction.ExpiredEvent:
		in.ended(n)
	}
	return in.err
}

// asked lists an interaction as it was when it was new, whatever became of it: the entry of its end is still to come.
func (in *intake) asked(n newcomer) {
	n.record.State, n.record.End = interaction.Open, nil
	i, err := n.record.Interaction()
	if err != nil {
		in.err = err
		return
	}
	in.run("INSERT INTO listed (key, project, agent, interaction, entry, kind, outcome, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		n.key, n.project, n.agent, n.interaction, n.key, n.kind, i.Outcome(), n.created)
	in.text(n.key, i.RequestText())
}

// ended changes the row of an interaction to how it ended. Its words are stored anew only if something was said at its end.
func (in *intake) ended(n newcomer) {
	i, err := n.record.Interaction()
	if err != nil || in.err != nil {
		in.err = err
		return
	}
	var message []interaction.ContentBlock
	if n.said != "" {
		if err := json.Unmarshal([]byte(n.said), &message); err != nil {
			in.err = err
			return
		}
	}
	var key int64
	if stmt := in.stmt(updateListed); stmt != nil {
		in.err = stmt.QueryRow(n.key, i.Outcome(), i.End.CancelReason, i.End.By.Name, n.actor, i.End.By.Channel, keyOrNull(n.message),
			max(0, n.ended-n.created), n.interaction).Scan(&key)
	}
	if said := i.EndText(message); said != "" {
		in.forget(key)
		in.text(key, i.RequestText()+said)
	}
}

const updateListed = `UPDATE listed SET entry = ?, outcome = ?, reason = ?, who = ?, actor = ?, channel = ?, message = ?, open_ms = ?
	WHERE interaction = ? RETURNING key`

func (in *intake) decision(n newcomer) {
	d, err := interaction.ReadDecided(n.decisionRecord)
	if err != nil {
		in.err = err
		return
	}
	in.run("INSERT INTO listed (key, project, agent, decision, entry, kind, outcome, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		n.key, n.project, n.decisionAgent, n.decision, n.key, interaction.PermissionKind, interaction.OutcomePolicy, n.decided)
	in.text(n.key, d.Text())
}

func (in *intake) text(key int64, text string) {
	if in.index.words {
		in.run("INSERT INTO words (rowid, text) VALUES (?, ?)", key, text)
	}
}

func (in *intake) forget(key int64) {
	if in.index.words {
		in.run("DELETE FROM words WHERE rowid = ?", key)
	}
}
