package interaction

import "encoding/json"

// ToolCall is something an agent wants to do, as it sent it.
type ToolCall struct {
	ID             ID              `json:"-"` // published beside it, as tool_call_id
	Name           string          `json:"name"`
	Input          json.RawMessage `json:"input"` // a JSON object, byte for byte as it came
	ProviderCallID string          `json:"provider_call_id,omitempty"`
}

// ToolCallState is where a tool call stands.
type ToolCallState string

// The states of a tool call.
const (
	ToolCallAwaitingPermission ToolCallState = "awaiting_permission"
	ToolCallReady              ToolCallState = "ready"
	ToolCallWaiting            ToolCallState = "waiting"
	ToolCallCompleted          ToolCallState = "completed"
)

// ToolCallOutcome is how a completed tool call went.
type ToolCallOutcome string

// The outcomes of a completed tool call.
const (
	ToolCallSucceeded ToolCallOutcome = "succeeded"
	ToolCallFailed    ToolCallOutcome = "failed"
	ToolCallDenied    ToolCallOutcome = "denied"
	ToolCallCanceled  ToolCallOutcome = "canceled"
)

// ToolCallMove is a change of a tool call's state.
type ToolCallMove struct {
	ID      ID
	To      ToolCallState
	Outcome ToolCallOutcome // with ToolCallCompleted only
	Result  string          // what its tool_result event says; with ToolCallCompleted only
}
