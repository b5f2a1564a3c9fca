package main

import (
	"database/sql/driver"
	"time"

	"sayso/internal/interaction"
)

// The product's rows, as the bare driver writes them.

const (
	insertInteraction = `INSERT INTO interactions (project, agent, id, kind, state, wait_mode, creator, created_at, sequence)
		VALUES (1, ?, ?, 'permission', ?, 'poll', ?, ?, ?)`
	insertRequest  = "INSERT INTO requests (interaction, head) VALUES (?, ?)"
	insertToolCall = "INSERT INTO tool_calls (agent, interaction, id, state, created_at) VALUES (?, ?, ?, ?, ?)"
	insertEvent    = "INSERT INTO events (project, sequence, agent, id, kind, interaction, input_id, at) VALUES (1, ?, ?, ?, ?, ?, ?, ?)"
	insertAudit    = "INSERT INTO audit_entries (project, sequence, entry, hash) VALUES (1, ?, ?, ?)"
	insertInput    = `INSERT INTO inputs (agent, interaction, id, kind, delivery_mode, state, queued_at)
		VALUES (?, ?, ?, 'interaction_response', 'immediate', 'resolved', ?)`
	insertEnd = `INSERT INTO ends (interaction, record, answered, ended_at, actor_kind, actor_name, credential, proved_by, sequence)
		VALUES (?, ?, 1, ?, 'api_key', ?, ?, 'operator_key', ?)`
	insertDelivery = "INSERT INTO deliveries (interaction, picked_up_at, sequence) VALUES (?, ?, ?)"
)

// made is one interaction to be written. The ids in its records are its own where it is read again, and another's where only the work counts.
type made struct {
	key, agent, at   int64
	id, call, input  interaction.ID
	creator, decider interaction.ID
	head, end        []byte
	sequence         int64 // of its creation; its end takes the two after
}

func (b *batch) event(m *made, sequence, key int64, kind interaction.EventKind, input driver.Value) {
	id := interaction.NewID(interaction.EventPrefix, time.UnixMilli(m.at))
	b.exec(insertEvent, sequence, m.agent, string(id), string(kind), key, input, m.at)
}

// create writes a new interaction, and gives its key.
func (b *batch) create(m *made, state interaction.State, call interaction.ToolCallState, entry, hash []byte) int64 {
	b.exec(insertInteraction, m.agent, string(m.id), string(state), string(m.creator), m.at, m.sequence)
	key := b.key
	b.exec(insertRequest, key, m.head)
	b.exec(insertToolCall, m.agent, key, string(m.call), string(call), m.at)
	b.event(m, m.sequence, key, interaction.CreatedEvent, nil)
	b.exec(insertAudit, m.sequence, entry, hash)
	return key
}

// answer writes what an answer appends.
func (b *batch) answer(m *made, key int64, entry, hash []byte) {
	b.exec(insertInput, m.agent, key, string(m.input), m.at)
	b.event(m, m.sequence+1, key, interaction.AgentInputEvent, string(m.input))
	b.event(m, m.sequence+2, key, interaction.AnsweredEvent, nil)
	b.exec(insertEnd, key, m.end, m.at, "operator key of this machine", string(m.decider), m.sequence+2)
	b.exec(insertAudit, m.sequence+2, entry, hash)
}
