package api

import "encoding/json"

// ContentBlock is one piece of what was said: text, reasoning, or a tool call.
type ContentBlock struct {
	Type           string          `json:"type"`
	Text           string          `json:"text,omitempty"`
	ToolCallID     string          `json:"tool_call_id,omitempty"` // given by the server
	Name           string          `json:"name,omitempty"`
	Input          json.RawMessage `json:"input,omitempty"`
	ProviderCallID string          `json:"provider_call_id,omitempty"`
	Permission     string          `json:"permission,omitempty"`
}

// MarshalJSON writes the text of a block that has one even when it is empty, and < > & as they are.
func (b ContentBlock) MarshalJSON() ([]byte, error) {
	if b.Type == "tool_call" {
		type call ContentBlock
		return encode(call(b))
	}
	return encode(TextBlock{b.Type, &b.Text})
}

// TextBlock is a content block that holds text.
type TextBlock struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

// Text is content that is one text.
func Text(s string) []ContentBlock { return []ContentBlock{{Type: "text", Text: s}} }

// NewInput is a message for an agent.
type NewInput struct {
	ContentBlocks          []ContentBlock `json:"content_blocks"`
	DeliveryMode           string         `json:"delivery_mode,omitempty"`
	CancelOpenInteractions bool           `json:"cancel_open_interactions,omitempty"`
	Actor                  *External      `json:"actor,omitempty"`
}

// Input is something sent to an agent.
type Input struct {
	ID            string         `json:"id"`
	AgentID       string         `json:"agent_id"`
	State         string         `json:"state"`
	DeliveryMode  string         `json:"delivery_mode"`
	InputKind     string         `json:"input_kind"`
	ActorID       string         `json:"actor_id,omitempty"`
	Actor         Actor          `json:"actor"`
	InteractionID string         `json:"interaction_id,omitempty"`
	Resolution    *Resolution    `json:"resolution,omitempty"`
	ContentBlocks []ContentBlock `json:"content_blocks,omitempty"`
	Control       string         `json:"control,omitempty"`
	Canceled      int            `json:"canceled_interactions,omitempty"`
	QueuedAt      Time           `json:"queued_at"`
}

// InputBody is how one input comes. A claim that found none has none.
type InputBody struct {
	Input *Input `json:"agent_input,omitempty"`
}

// Place is where a waiting input is moved to.
type Place struct {
	Position      string `json:"position"`
	AnchorInputID string `json:"anchor_input_id,omitempty"`
}

// Promotion makes a queued input steer.
type Promotion struct {
	CancelOpenInteractions bool `json:"cancel_open_interactions,omitempty"`
}

// Claim takes the next input.
type Claim struct {
	WaitSecs *int `json:"wait_secs,omitempty"`
}

// Stopped is what became of a stop. Event is nil when there was nothing to stop.
type Stopped struct {
	Event                  *Event `json:"event"`
	RuntimeCancelRequested bool   `json:"runtime_cancel_requested"`
	Affected               bool   `json:"affected"`
	ActorID                string `json:"actor_id,omitempty"`
}

// NewEvents is a report.
type NewEvents struct {
	Events []NewEvent `json:"events"`
}

// NewEvent is something that the agent said or did, or that a person said to it where it runs.
type NewEvent struct {
	EventKind     string         `json:"event_kind"`
	ContentBlocks []ContentBlock `json:"content_blocks"`
	StopReason    string         `json:"stop_reason,omitempty"`
}

// Event is one entry of a conversation.
type Event struct {
	ID            string         `json:"id"`
	AgentID       string         `json:"agent_id"`
	Sequence      int64          `json:"sequence"`
	EventKind     string         `json:"event_kind"`
	CreatedAt     Time           `json:"created_at"`
	InteractionID string         `json:"interaction_id,omitempty"`
	AgentInput    *Input         `json:"agent_input,omitempty"`  // of an agent_input
	ToolCallID    string         `json:"tool_call_id,omitempty"` // of a tool_result
	Outcome       string         `json:"outcome,omitempty"`      // of a tool_result
	ContentBlocks []ContentBlock `json:"content_blocks,omitempty"`
	StopReason    string         `json:"stop_reason,omitempty"`
}

// EventPage is a part of a conversation. One of the two next fields is there, as the page was asked for forward or backward.
type EventPage[T any] struct {
	Data               []T    `json:"data"`
	NextAfterSequence  *int64 `json:"next_after_sequence,omitempty"`
	NextBeforeSequence *int64 `json:"next_before_sequence,omitempty"`
	HasMore            bool   `json:"has_more"`
}

// Call is a tool call, and where it stands.
type Call struct {
	ID             string          `json:"id"`
	AgentID        string          `json:"agent_id"`
	Name           string          `json:"name"`
	Input          json.RawMessage `json:"input"`
	ProviderCallID string          `json:"provider_call_id,omitempty"`
	InteractionID  string          `json:"interaction_id,omitempty"`
	State          string          `json:"state"`
	Outcome        string          `json:"outcome,omitempty"`
	CreatedAt      Time            `json:"created_at"`
}

// Reported is what a report became.
type Reported struct {
	Events    []Event `json:"events"`
	ToolCalls []Call  `json:"tool_calls"`
}

// Result is what became of a tool call.
type Result struct {
	Outcome       string         `json:"outcome"`
	ContentBlocks []ContentBlock `json:"content_blocks"`
}

// ResultBody is a result as it was recorded.
type ResultBody struct {
	Event    Event `json:"event"`
	ToolCall Call  `json:"tool_call"`
}

// LifecycleEvent says that an interaction was created or ended.
type LifecycleEvent struct {
	ID              string `json:"id"`
	Sequence        int64  `json:"sequence"`
	EventKind       string `json:"event_kind"`
	CreatedAt       Time   `json:"created_at"`
	OrgID           string `json:"org_id"`
	ProjectID       string `json:"project_id"`
	AgentID         string `json:"agent_id"`
	AgentName       string `json:"agent_name"`
	InteractionID   string `json:"interaction_id"`
	InteractionKind string `json:"interaction_kind"`
	WaitMode        string `json:"wait_mode"`
	WorkflowID      string `json:"workflow_id,omitempty"`
	CancelReason    string `json:"cancel_reason,omitempty"`
	ResolvedBy      *Actor `json:"resolved_by,omitempty"`
	Summary         string `json:"summary"`
	AnswerCommand   string `json:"answer_command"`
}

// ToolCallUpdate says that a tool call moved.
type ToolCallUpdate struct {
	ToolCallID string `json:"tool_call_id"`
	State      string `json:"state"`
	Outcome    string `json:"outcome,omitempty"`
}

// InteractionUpdate says that an interaction was created, or ended.
type InteractionUpdate struct {
	InteractionID   string `json:"interaction_id"`
	State           string `json:"state"`
	InteractionKind string `json:"interaction_kind"`
}

// StoredActor is an external person as the project knows them.
type StoredActor struct {
	ID               string            `json:"id"`
	ProjectID        string            `json:"project_id"`
	ProviderUserID   string            `json:"provider_user_id"`
	ProviderTenantID string            `json:"provider_tenant_id,omitempty"`
	DisplayName      string            `json:"display_name,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
	CreatedAt        Time              `json:"created_at"`
}

// ActorBody is how one external person comes.
type ActorBody struct {
	Actor StoredActor `json:"actor"`
}

// OK is the answer where there is nothing to tell.
type OK struct {
	OK bool `json:"ok"`
}
