package interaction

import "time"

// EventKind says what an event in the log is.
type EventKind string

// Kinds of the conversation: what the agent's timeline consists of.
const (
	AgentInputEvent  EventKind = "agent_input"
	ModelOutputEvent EventKind = "model_output"
	ToolResultEvent  EventKind = "tool_result"
)

// Kinds of the lifecycle log: what notifiers and event readers see.
const (
	CreatedEvent  EventKind = "interaction_created"
	AnsweredEvent EventKind = "interaction_answered"
	ExpiredEvent  EventKind = "interaction_expired"
	CanceledEvent EventKind = "interaction_canceled"
)

// Kinds that only tell pages and streams what moved. They are not in the log.
const (
	DeliveryMoved EventKind = "delivery" // an answer got further, or an asker is gone or back
	ToolCallMoved EventKind = "tool_call_update"
	InputsMoved   EventKind = "inputs" // what waits for the agent
	AgentMoved    EventKind = "agent"
)

// The events that each kind of reader sees.
var (
	ConversationEvents = []EventKind{AgentInputEvent, ModelOutputEvent, ToolResultEvent}
	LifecycleEvents    = []EventKind{CreatedEvent, AnsweredEvent, ExpiredEvent, CanceledEvent}
	// TimelineEvents are a conversation as a page shows it: an interaction stands where it ended.
	TimelineEvents = []EventKind{AgentInputEvent, ModelOutputEvent, ToolResultEvent, AnsweredEvent, ExpiredEvent, CanceledEvent}
)

// Event is one entry of a project's log.
type Event struct {
	ID            ID
	Sequence      int64 // given by the store, in commit order
	AgentID       ID
	Kind          EventKind
	InteractionID ID
	InputID       ID // of an agent_input
	ToolCallID    ID // of a tool_result
	// Body is a JSON object of what is published beside the fields above. That of a response, and of a lifecycle event, is made of the
	// interaction's record when it is read.
	Body string
	At   time.Time

	Record    *Record // as it is now: of a lifecycle event, and of the agent_input that is a response; when read
	AgentName string  // of a lifecycle event; when read
}

// EventFilter describes events of a project, or of one agent in it.
type EventFilter struct {
	Project ID
	Agent   ID // "": of all
	Kinds   []EventKind
	// After and Before bound the sequence, both exclusive; 0 does not. With Before, those nearest to it are given; the order is
	// that of the log all the same.
	After, Before int64
	// NoAnswers leaves out the inputs that are answers: on a timeline, the interaction that they ended stands for them.
	NoAnswers bool
	Limit     int
}

// The sizes of a page of events.
const (
	DefaultEventLimit = 100
	MaxEventLimit     = 500
)

// NewEvent is what a runtime reports.
type NewEvent struct {
	Kind       EventKind // ModelOutputEvent, or UserMessage
	Content    []ContentBlock
	StopReason string
}

// UserMessage is what a runtime reports when a person spoke to the agent where it runs. It becomes an agent_input.
const UserMessage EventKind = "user_message"

// MaxReported is how many events may be reported at once.
const MaxReported = 100
