package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"sayso/internal/interaction"
)

const (
	recordColumns = recordSelect + "interactions i" + recordTables
	recordSelect  = `SELECT i.key, i.project, i.agent, i.id, i.state, i.created_at, i.creator, i.sequence, r.head, r.suggestions,
	e.record, e.sequence, ` + deliveryColumns + ` FROM `
	recordTables = ` JOIN requests r ON r.interaction = i.key
	LEFT JOIN ends e ON e.interaction = i.key
	LEFT JOIN deliveries d ON d.interaction = i.key `
)

// row is a row of recordColumns, before its project and agent are named.
type row struct {
	interaction.Record
	project, agent int64
}

func scanRow(scan func(...any) error) (row, error) {
	var r row
	var created int64
	var ended sql.NullInt64
	var d delivery
	err := scan(&r.Key, &r.project, &r.agent, &r.ID, &r.State, &created, &r.Creator, &r.Version, &r.Head, (*[]byte)(&r.Suggestions),
		&r.End, &ended, &d.gone, &d.picked, &d.reported, &d.outcome, &d.sequence)
	if err != nil {
		return r, found(err)
	}
	r.CreatedAt = fromMS(created)
	r.Version = max(r.Version, ended.Int64, d.sequence.Int64)
	r.Delivery = d.delivery()
	return r, nil
}

// openColumns is recordColumns of open interactions, without what they cannot have: an end, and an answer on its way. Pages of these are what is
// read most, and each column of each row has its price.
const openColumns = `SELECT i.key, i.project, i.agent, i.id, i.created_at, i.creator, i.sequence, r.head, r.suggestions, d.gone_since, d.sequence
	FROM interactions i JOIN requests r ON r.interaction = i.key
	LEFT JOIN deliveries d ON d.interaction = i.key `

func scanOpen(scan func(...any) error) (row, error) {
	r := row{Record: interaction.Record{State: interaction.Open}}
	var created int64
	var gone, delivered sql.NullInt64
	err := scan(&r.Key, &r.project, &r.agent, &r.ID, &created, &r.Creator, &r.Version, &r.Head, (*[]byte)(&r.Suggestions), &gone, &delivered)
	r.CreatedAt = fromMS(created)
	r.Version = max(r.Version, delivered.Int64)
	r.Delivery.AskerGoneSince = fromNull(gone)
	return r, err
}

// named fills in the public ids of project and agent.
func (s *Store) named(read reader, r row) (interaction.Record, error) {
	var err error
	if r.ProjectID, err = s.projects.of(read, r.project); err == nil {
		r.AgentID, err = s.agents.of(read, r.agent)
	}
	return r.Record, err
}

// Interaction gives one interaction.
func (s *Store) Interaction(_ context.Context, id interaction.ID) (interaction.Record, error) {
	stmt, err := s.query(recordColumns + "WHERE i.id = +?")
	if err != nil {
		return interaction.Record{}, err
	}
	r, err := scanRow(stmt.QueryRow(id).Scan)
	if err != nil {
		return r.Record, err
	}
	return s.named(s.row, r)
}

// Interactions lists interactions by (created_at, id).
func (s *Store) Interactions(_ context.Context, f interaction.Filter) ([]interaction.Record, error) {
	q, scan := listQuery(f)
	if f.Words != "" {
		q, scan = newQuery(recordSelect+searchedInteractions+recordTables), scanRow
		if err := s.searched(q, f.Words); err != nil {
			return nil, err
		}
		q.filter(f)
		q.searchPage(f.Page)
	}
	found := make([]row, 0, f.Limit+1)
	err := s.rows(q.text(), q.args, func(rows *sql.Rows) error {
		r, err := scan(rows.Scan)
		found = append(found, r)
		return err
	})
	list := make([]interaction.Record, len(found))
	for n := 0; n < len(found) && err == nil; n++ {
		list[n], err = s.named(s.row, found[n])
	}
	return list, err
}

// listQuery is the query for f, and how its rows are read. Each of its forms goes through an index in its order, and a test asserts the
// plans; kind, resolved_by and the state resolved pick from the rows that pass by, so a rare one of these may pass many.
func listQuery(f interaction.Filter) (q *query, scan func(func(...any) error) (row, error)) {
	q, scan = newQuery(recordColumns), scanRow
	if f.State == interaction.Open && f.ResolvedBy == "" {
		q, scan = newQuery(openColumns), scanOpen
	}
	q.filter(f)
	q.page("i", f.Page)
	return q, scan
}

// filter adds the conditions of f on interactions.
func (q *query) filter(f interaction.Filter) {
	if f.Agent != "" {
		q.where("i.agent = (SELECT key FROM agents WHERE id = ?)", f.Agent)
	}
	q.where("i.project = (SELECT key FROM projects WHERE id = ?)", f.Project)
	q.anyAgent(f.Agents)
	q.state(f)
	q.equal("i.kind", string(f.Kind))
	q.equal("i.cancel_reason", string(f.CancelReason))
	if f.ResolvedBy != "" {
		q.where("(e.actor_name = +? OR e.actor_id = +?)", f.ResolvedBy, f.ResolvedBy)
	}
	q.time("i.created_at >= +?", f.CreatedAfter)
	q.time("i.created_at < +?", f.CreatedBefore)
}

// state is written out rather than bound: only so does SQLite see that a partial index covers it.
func (q *query) state(f interaction.Filter) {
	switch {
	case f.CancelReason != "" || f.State == interaction.Canceled:
		q.where("i.state = 'canceled'")
	case f.State == interaction.Open:
		q.where("i.state = 'open'")
	case f.State == interaction.Resolved:
		q.where("i.state = 'resolved'")
	case f.Ended:
		q.where("i.state <> 'open'")
	}
	if f.CancelReason != "" && f.State != "" && f.State != interaction.Canceled {
		q.where("0")
	}
}

// anyAgent picks from the rows that pass by. There are few open ones, which is what it is for.
func (q *query) anyAgent(agents []interaction.ID) {
	var each []string
	var args []any
	for _, id := range agents {
		each = append(each, "i.agent = (SELECT key FROM agents WHERE id = ?)")
		args = append(args, id)
	}
	if len(each) > 0 {
		q.where("("+strings.Join(each, " OR ")+")", args...)
	}
}

func (q *query) time(condition string, at time.Time) {
	if !at.IsZero() {
		q.where(condition, ms(at))
	}
}

// CountOpen counts the open interactions of a project.
func (s *Store) CountOpen(_ context.Context, project interaction.ID) (n int, err error) {
	err = s.row("SELECT count(*) FROM interactions WHERE project = (SELECT key FROM projects WHERE id = ?) AND state = 'open'", []any{project}, &n)
	return n, err
}

// Create stores a new interaction; see [interaction.Store].
func (s *Store) Create(ctx context.Context, agent interaction.ID, once interaction.Once, open func(interaction.Conversation) (interaction.Step, error)) (made interaction.Asked, created bool, err error) {
	var new head
	err = s.writer.do(ctx, func(t *tx) error {
		created = false
		id, err := t.already(once)
		if err != nil {
			return err
		}
		if id != "" {
			made, err = t.made(s, id)
			return err
		}
		at, a, err := t.asker(agent)
		if err != nil {
			return err
		}
		if j := once.Joining; j != nil && !j.Anew(a) {
			if made.Record, err = t.join(s, at, j); err != nil {
				return err
			}
		}
		if created = once.Joining == nil || made.ID == ""; !created {
			return t.remember(once, made.ID, once.Joining.Now)
		}
		new, made, err = t.create(&conversation{store: s, tx: t, at: at, agent: a}, open)
		if err != nil {
			return err
		}
		if d := made.Decided; d != nil {
			return t.remember(once, d.ID, d.At)
		}
		if err := t.insertAsk(at, made.Record, once.Joining); err != nil {
			return err
		}
		return t.remember(once, made.ID, made.CreatedAt)
	})
	if created = created && err == nil; created && made.Decided == nil {
		s.heads.keep(new)
	}
	return made, created, err
}

// made is what an earlier request with the same key made.
func (t *tx) made(s *Store, id interaction.ID) (made interaction.Asked, err error) {
	if id.WellFormed(interaction.InteractionPrefix) {
		made.Record, err = t.record(s, id)
		return made, err
	}
	made.Decided, err = t.decidedBefore(id)
	return made, err
}

func (t *tx) create(c *conversation, open func(interaction.Conversation) (interaction.Step, error)) (new head, made interaction.Asked, err error) {
	step, err := open(c)
	if err != nil {
		return new, made, err
	}
	switch step := step.(type) {
	case interaction.Opened:
		new, err = t.insertInteraction(c.at, step.Interaction)
		return new, interaction.Asked{Record: new.record}, err
	case interaction.Decided:
		return new, interaction.Asked{Decided: &step}, t.decided(c.at, step)
	}
	return new, made, fmt.Errorf("an ask became a %T", step) // unreachable unless bug in package interaction
}

// openOf counts what one asker has open for an agent.
func (t *tx) openOf(agent int64, creator interaction.ID) (n int, err error) {
	err = t.row("SELECT count(*) FROM interactions WHERE agent = ? AND state = 'open' AND creator = ?", []any{agent, creator}, &n)
	return n, err
}

func (t *tx) insertInteraction(at place, i interaction.Interaction) (head, error) {
	r, err := t.insertRows(&at, i)
	i.Version = r.Version
	return head{at, r, i}, err
}

func (t *tx) insertRows(at *place, i interaction.Interaction) (interaction.Record, error) {
	r := interaction.NewRecord(i)
	var err error
	if r.Version, err = t.next(at.project); err != nil {
		return r, err
	}
	r.Key, err = t.insert(`INSERT INTO interactions (project, agent, id, kind, wait_mode, creator, created_at, expires_at, sequence)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at.project, at.agent, i.ID, i.Kind, i.WaitMode, i.Creator, ms(i.CreatedAt), msOrNull(i.ExpiresAt), r.Version)
	if err != nil {
		return r, err
	}
	at.interaction = r.Key
	if err := t.run("INSERT INTO requests (interaction, head, suggestions) VALUES (?, ?, ?)", r.Key, r.Head, nullBytes(i.Suggestions)); err != nil {
		return r, err
	}
	if err := t.insertGuarded(*at, i); err != nil {
		return r, err
	}
	if err := t.pause(*at, i); err != nil {
		return r, err
	}
	event := interaction.Event{ID: interaction.NewID(interaction.EventPrefix, i.CreatedAt), Kind: interaction.CreatedEvent, At: i.CreatedAt}
	if err := t.event(*at, r.Version, event); err != nil {
		return r, err
	}
	return r, t.publish(*at, interaction.CreatedEvent, r.Version, r, i)
}

// insertGuarded stores the tool call that i opened for, if there is one. One that was told before now waits for i.
func (t *tx) insertGuarded(at place, i interaction.Interaction) error {
	if i.ToolCall == nil {
		return nil
	}
	state := i.CallState()
	t.tell(at, Change{Kind: interaction.ToolCallMoved, ToolCall: interaction.ToolCallMove{ID: i.ToolCallID, To: state}})
	return t.run(`INSERT INTO tool_calls (agent, interaction, id, state, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET interaction = excluded.interaction, state = excluded.state`,
		at.agent, at.interaction, i.ToolCallID, state, ms(i.CreatedAt))
}

func nullBytes(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// place is where in the tables a change belongs.
type place struct {
	project, agent, interaction int64
	projectID, agentID          interaction.ID
}

// record reads one interaction inside the transaction.
func (t *tx) record(s *Store, id interaction.ID) (interaction.Record, error) {
	_, r, err := t.locate(s, id)
	return r, err
}

func (t *tx) locate(s *Store, id interaction.ID) (place, interaction.Record, error) {
	stmt, err := t.w.stmt(recordColumns + "WHERE i.id = +?")
	if err != nil {
		return place{}, interaction.Record{}, err
	}
	r, err := scanRow(stmt.QueryRow(id).Scan)
	if err != nil {
		return place{}, r.Record, err
	}
	record, err := s.named(t.row, r)
	return place{r.project, r.agent, r.Key, record.ProjectID, record.AgentID}, record, err
}
