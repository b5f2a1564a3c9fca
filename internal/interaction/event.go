package interaction

import "time"

// EventKind says what an event in the log is.
type EventKind string

// Kinds of the conversation: what the agent's timeline consists of.
const (
	AgentInputEvent EventKind = "agent_input"
	ToolResultEvent EventKind = "tool_result"
)

// Kinds of the lifecycle log: what notifiers and event readers see.
const (
	CreatedEvent  EventKind = "interaction_created"
	AnsweredEvent EventKind = "interaction_answered"
	ExpiredEvent  EventKind = "interaction_expired"
	CanceledEvent EventKind = "interaction_canceled"
)

// DeliveryEvent tells pages that an answer got further, or that an asker is gone or back. It is neither of the kinds above and is not published.
const DeliveryEvent EventKind = "delivery"

// Event is one entry of a project's log. Its sequence is given by the store, in commit order.
type Event struct {
	ID            ID
	Kind          EventKind
	InteractionID ID
	InputID       ID     // of an agent_input
	ToolCallID    ID     // of a tool_result
	Body          string // JSON of a tool_result; empty for the others, whose content is elsewhere
	At            time.Time
}

// Input is something sent to an agent. Here it is always the response that ended an interaction.
type Input struct {
	ID            ID
	InteractionID ID
	ActorID       ID // of an external person; "" otherwise
	At            time.Time
}
