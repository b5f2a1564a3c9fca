package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"sayso/internal/interaction"
)

// Converse carries out what change makes of one agent's conversation; see [interaction.Store].
func (s *Store) Converse(ctx context.Context, agent interaction.ID, once interaction.Once, change func(interaction.Conversation) (interaction.Turn, interaction.ID, error)) (resource interaction.ID, again bool, err error) {
	var wrote conversation
	err = s.writer.do(ctx, func(t *tx) error {
		if resource, err = t.already(once); err != nil || resource != "" {
			again = resource != ""
			return err
		}
		again = false
		at, a, err := t.asker(agent)
		if err != nil {
			return err
		}
		wrote = conversation{store: s, tx: t, at: at, agent: a}
		var turn interaction.Turn
		if turn, resource, err = change(&wrote); err != nil {
			return err
		}
		if err := wrote.write(turn); err != nil || resource == "" {
			return err
		}
		return t.remember(once, resource, time.Now())
	})
	if err == nil {
		wrote.settle()
	}
	return resource, again, err
}

// conversation is one agent's conversation inside a transaction. It implements [interaction.Conversation].
type conversation struct {
	store  *Store
	tx     *tx
	at     place
	agent  interaction.Agent
	opened []head
	ended  []interaction.ID
}

// settle brings the kept heads up to date with what was committed.
func (c *conversation) settle() {
	for _, h := range c.opened {
		c.store.heads.keep(h)
	}
	for _, id := range c.ended {
		c.store.heads.drop(id)
	}
}

func (c *conversation) Agent() interaction.Agent { return c.agent }

const openInteractions = "SELECT id FROM interactions WHERE agent = ? AND state = 'open' ORDER BY key"

func (c *conversation) Open() (list []interaction.Interaction, err error) {
	ids, err := collect[interaction.ID](c.tx.rows, openInteractions, c.at.agent)
	for _, id := range ids {
		_, _, i, err := c.tx.find(c.store, id)
		if err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, err
}

func (c *conversation) OpenOf(creator interaction.ID) (int, error) {
	return c.tx.openOf(c.at.agent, creator)
}

func (c *conversation) Waiting() ([]interaction.Input, error) {
	return inputs(c.tx.rows, waitingInputs, c.at.agent)
}

func (c *conversation) Unfinished() ([]interaction.Call, error) {
	return calls(c.tx.rows, unfinishedCalls, c.at.agent)
}

func (c *conversation) AskedAs(digest, callID string) ([]interaction.Call, error) {
	return calls(c.tx.rows, askedAs, c.at.agent, digest, callID)
}

func (c *conversation) Input(id interaction.ID) (interaction.Input, error) {
	return only(inputs(c.tx.rows, inputColumns+"WHERE n.id = +? AND n.agent = +?", id, c.at.agent))
}

func (c *conversation) Call(id interaction.ID) (interaction.Call, error) {
	return only(calls(c.tx.rows, callColumns+"WHERE c.id = +? AND c.agent = +?", id, c.at.agent))
}

func (c *conversation) Interaction(id interaction.ID) (interaction.Interaction, error) {
	_, _, i, err := c.tx.find(c.store, id)
	return i, err
}

func (c *conversation) Last() (interaction.Event, error) {
	f := interaction.EventFilter{Agent: c.agent.ID, Kinds: interaction.ConversationEvents, Before: math.MaxInt64, Limit: 1}
	list, err := events(c.tx.rows, f)
	if err != nil || len(list) == 0 {
		return interaction.Event{}, err
	}
	return list[0], nil
}

func (c *conversation) NextSequence() (int64, error) {
	h, err := c.tx.head(c.at.project)
	if err != nil {
		return 0, err
	}
	return h.sequence + 1, nil
}

func (c *conversation) Actor(who *interaction.External, now time.Time) (interaction.ID, error) {
	id, known, err := c.tx.actorID(c.at.project, who, now)
	if err != nil || who == nil {
		return id, err
	}
	return id, c.tx.storeActor(c.at.project, id, known, *who, now)
}

// write carries out a turn, step by step.
func (c *conversation) write(turn interaction.Turn) error {
	for _, step := range turn {
		if err := c.step(step); err != nil {
			return err
		}
	}
	return nil
}

func (c *conversation) step(step interaction.Step) error {
	switch step := step.(type) {
	case interaction.Agent:
		return c.setAgent(step)
	case interaction.Input:
		return c.setInput(step)
	case interaction.Call:
		return c.setCall(step)
	case interaction.Event:
		return c.append(step)
	case interaction.Opened:
		return c.open(step)
	case interaction.Change:
		return c.end(step)
	case interaction.Reported:
		return c.reported(step)
	case interaction.Decided:
		return c.tx.decided(c.at, step)
	}
	return fmt.Errorf("a turn holds a %T", step) // unreachable unless bug in package interaction
}

func (c *conversation) setAgent(a interaction.Agent) error {
	err := c.tx.run("UPDATE agents SET state = ?, archived_at = ?, stopped_at = ?, updated_at = ? WHERE key = ?",
		a.State, msOrNull(a.ArchivedAt), msOrNull(a.StoppedAt), ms(a.UpdatedAt), c.at.agent)
	if err != nil {
		return err
	}
	return c.moved(interaction.AgentMoved)
}

// moved gives the agent a new version, and has followers told. Nothing in the log says so.
func (c *conversation) moved(kind interaction.EventKind) error {
	version, err := c.tx.next(c.at.project)
	if err != nil {
		return err
	}
	c.tell(Change{Kind: kind, Sequence: version})
	return c.tx.run("UPDATE agents SET version = ? WHERE key = ?", version, c.at.agent)
}

// setInput stores an input, or what changed of one that waited.
func (c *conversation) setInput(in interaction.Input) error {
	author, err := json.Marshal(in.By)
	if err != nil {
		return err
	}
	err = c.tx.run(`INSERT INTO inputs (agent, id, kind, delivery_mode, state, actor, queued_at, position, content, control, author, canceled)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET delivery_mode = excluded.delivery_mode, state = excluded.state, position = excluded.position,
		canceled = excluded.canceled`,
		c.at.agent, in.ID, in.Kind, in.Mode, in.State, textOrNull(in.By.ActorID), ms(in.At), in.Position, contentJSON(in),
		textOrNull(in.Control), string(author), in.Canceled)
	if err != nil || in.Mode == interaction.Immediate {
		return err
	}
	return c.moved(interaction.InputsMoved)
}

func contentJSON(in interaction.Input) any {
	if in.Kind != interaction.ContentInput {
		return nil
	}
	return string(interaction.AppendContent(nil, in.Content))
}

// setCall stores a call that opens no interaction, or where one now stands.
func (c *conversation) setCall(call interaction.Call) error {
	c.tell(Change{Kind: interaction.ToolCallMoved, ToolCall: interaction.ToolCallMove{ID: call.ID, To: call.State, Outcome: call.Outcome}})
	return c.tx.run(`INSERT INTO tool_calls (agent, id, state, outcome, created_at, call, creator) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, outcome = excluded.outcome`,
		c.at.agent, call.ID, call.State, textOrNull(call.Outcome), ms(call.CreatedAt), string(call.ToolCall.AppendJSON(nil)), call.Creator)
}

func (c *conversation) append(e interaction.Event) error {
	at := c.at
	if e.InteractionID != "" {
		if err := c.tx.row("SELECT key FROM interactions WHERE id = ?", []any{e.InteractionID}, &at.interaction); err != nil {
			return err
		}
	}
	return c.tx.log(at, e)
}

func (c *conversation) open(o interaction.Opened) error {
	h, err := c.tx.insertInteraction(c.at, o.Interaction)
	c.opened = append(c.opened, h)
	return err
}

func (c *conversation) end(change interaction.Change) error {
	at, before, _, err := c.tx.find(c.store, change.After.ID)
	if err != nil {
		return err
	}
	c.ended = append(c.ended, change.After.ID)
	_, err = c.tx.end(at, before, change)
	return err
}

// reported notes how far the answer got; whoever reports has picked it up.
func (c *conversation) reported(r interaction.Reported) error {
	at, record, err := c.tx.locate(c.store, r.Interaction.ID)
	if err != nil {
		return err
	}
	d := &record.Delivery
	if d.PickedUpAt.IsZero() {
		d.PickedUpAt = r.At
	}
	d.ReportedAt, d.Outcome = r.At, r.Outcome
	return c.tx.setDelivery(at, record)
}

// tell has followers told of what is not in the log.
func (c *conversation) tell(change Change) {
	c.tx.tell(c.at, change)
}

const inputColumns = `SELECT n.id, a.id, n.kind, n.delivery_mode, n.state, n.queued_at, coalesce(n.position, 0), coalesce(n.content, ''),
	coalesce(n.control, ''), n.canceled, coalesce(n.author, ''), coalesce(i.id, '') FROM inputs n JOIN agents a ON a.key = n.agent
	LEFT JOIN interactions i ON i.key = n.interaction `

const (
	waitingInputs = inputColumns + "WHERE n.agent = +? AND n.state = 'received' ORDER BY n.position"
	waitingOf     = inputColumns + "WHERE n.agent = (SELECT key FROM agents WHERE id = ?) AND n.state = 'received' ORDER BY n.position"
)

// lister reads rows: on the read pool, or on the writer's connection inside its transaction.
type lister func(text string, args []any, scan func(*sql.Rows) error) error

func inputs(read lister, text string, args ...any) (list []interaction.Input, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		var in interaction.Input
		var at int64
		var content, author string
		err := rows.Scan(&in.ID, &in.AgentID, &in.Kind, &in.Mode, &in.State, &at, &in.Position, &content, &in.Control, &in.Canceled, &author, &in.InteractionID)
		if err != nil {
			return err
		}
		in.At = fromMS(at)
		list = append(list, in)
		return decode(content, &list[len(list)-1].Content, author, &list[len(list)-1].By)
	})
	return list, err
}

// decode reads pairs of a JSON text, which may be missing, and what it goes into.
func decode(pairs ...any) error {
	for n := 0; n < len(pairs); n += 2 {
		if text := pairs[n].(string); text != "" {
			if err := json.Unmarshal([]byte(text), pairs[n+1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// only is the one item of a list; none is NotFound.
func only[T any](list []T, err error) (one T, _ error) {
	if err == nil && len(list) == 0 {
		err = found(sql.ErrNoRows)
	}
	if err != nil {
		return one, err
	}
	return list[0], nil
}

func collect[T any](read lister, text string, args ...any) (list []T, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		var one T
		err := rows.Scan(&one)
		list = append(list, one)
		return err
	})
	return list, err
}

// Waiting are the inputs that no runtime has taken.
func (s *Store) Waiting(_ context.Context, agent interaction.ID) ([]interaction.Input, error) {
	return inputs(s.rows, waitingOf, agent)
}

// Input gives one input.
func (s *Store) Input(_ context.Context, id interaction.ID) (interaction.Input, error) {
	return only(inputs(s.rows, inputColumns+"WHERE n.id = +?", id))
}

const callColumns = `SELECT c.id, a.id, coalesce(i.id, ''), coalesce(c.creator, i.creator, ''), c.state, coalesce(c.outcome, ''), c.created_at,
	coalesce(c.call, ''), r.head FROM tool_calls c JOIN agents a ON a.key = c.agent
	LEFT JOIN interactions i ON i.key = c.interaction LEFT JOIN requests r ON r.interaction = c.interaction `

// askedAs goes from the asks, which are few of one digest, to their calls.
const askedAs = `SELECT c.id, a.id, i.id, coalesce(c.creator, i.creator, ''), c.state, coalesce(c.outcome, ''), c.created_at, coalesce(c.call, ''), r.head
	FROM asks q JOIN tool_calls c ON c.interaction = q.interaction JOIN agents a ON a.key = q.agent
	JOIN interactions i ON i.key = q.interaction JOIN requests r ON r.interaction = q.interaction
	WHERE q.agent = +? AND q.digest = +? AND q.call_id = +? ORDER BY q.interaction DESC`

const unfinishedCalls = callColumns + "WHERE c.agent = +? AND c.state <> 'completed' ORDER BY c.key"

func calls(read lister, text string, args ...any) (list []interaction.Call, err error) {
	err = read(text, args, func(rows *sql.Rows) error {
		c, err := scanCall(rows)
		list = append(list, c)
		return err
	})
	return list, err
}

// scanCall reads a row of callColumns. What the call is stands in its own row, or in the request of the interaction that it opened.
func scanCall(rows *sql.Rows) (c interaction.Call, err error) {
	var created int64
	var call string
	var head []byte
	if err := rows.Scan(&c.ID, &c.AgentID, &c.InteractionID, &c.Creator, &c.State, &c.Outcome, &created, &call, &head); err != nil {
		return c, err
	}
	c.CreatedAt = fromMS(created)
	id, request := c.ID, interaction.Head{ToolCall: &c.ToolCall}
	err = decode(call, &c.ToolCall, string(head), &request)
	c.ToolCall.ID = id
	return c, err
}

// Calls lists an agent's tool calls.
func (s *Store) Calls(_ context.Context, f interaction.CallFilter) ([]interaction.Call, error) {
	q := callQuery(f)
	return calls(s.rows, q.text(), q.args...)
}

func callQuery(f interaction.CallFilter) *query {
	q := newQuery(callColumns)
	q.where("c.agent = (SELECT key FROM agents WHERE id = ?)", f.Agent)
	q.equal("c.state", string(f.State))
	q.page("c", f.Page)
	return q
}

// UnfinishedCalls are the newest calls of an agent that are not completed.
func (s *Store) UnfinishedCalls(_ context.Context, agent interaction.ID, limit int) ([]interaction.Call, error) {
	const q = callColumns + "WHERE c.agent = (SELECT key FROM agents WHERE id = +?) AND c.state <> 'completed' ORDER BY c.key DESC LIMIT +?"
	return calls(s.rows, q, agent, limit)
}

// Call gives one tool call.
func (s *Store) Call(_ context.Context, id interaction.ID) (interaction.Call, error) {
	return only(calls(s.rows, callColumns+"WHERE c.id = +?", id))
}
