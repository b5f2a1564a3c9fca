package interaction

import (
	"encoding/json"
	"time"
)

// Kind is what an interaction asks for.
type Kind string

// The kinds.
const (
	PermissionKind Kind = "permission"
	QuestionKind   Kind = "question"
)

// State is where an interaction stands.
type State string

// The states. Resolved and Canceled are final and immutable.
const (
	Open     State = "open"
	Resolved State = "resolved"
	Canceled State = "canceled"
)

// CancelReason is why an interaction ended without an answer. Deny is none of them: it is an answer.
type CancelReason string

// The cancel reasons.
const (
	SupersededByInput CancelReason = "superseded_by_input"
	AgentCanceled     CancelReason = "agent_canceled"
	AgentWasArchived  CancelReason = "agent_archived"
	ToolCallDone      CancelReason = "tool_call_completed"
	AskerCanceled     CancelReason = "asker_canceled"
	DeadlinePassed    CancelReason = "expired"
)

// CancelReasons are all of them.
var CancelReasons = []CancelReason{SupersededByInput, AgentCanceled, AgentWasArchived, ToolCallDone, AskerCanceled, DeadlinePassed}

// WaitMode is how the asker waits.
type WaitMode string

// The wait modes.
const (
	Block   WaitMode = "block"   // on the line
	Suspend WaitMode = "suspend" // its workflow pauses and is resumed later
	Poll    WaitMode = "poll"    // it gets an id and comes back
)

// Head is everything about an interaction that never changes. The tags are for reading a stored record; it is written by
// [Head.appendMembers], because the input must survive byte for byte.
type Head struct {
	ID          ID           `json:"id"`
	OrgID       ID           `json:"org_id"`
	ProjectID   ID           `json:"project_id"`
	AgentID     ID           `json:"agent_id"`
	Kind        Kind         `json:"interaction_kind"`
	Request     Request      `json:"request"`
	CreatedAt   time.Time    `json:"created_at"`
	ToolCallID  ID           `json:"tool_call_id"`
	ToolCall    *ToolCall    `json:"tool_call"` // nil for a question that no tool call asked
	WaitMode    WaitMode     `json:"wait_mode"`
	WorkflowID  string       `json:"workflow_id"`
	TaskID      string       `json:"task_id"`
	TimeoutSecs int          `json:"timeout_secs"` // 0: none
	ExpiresAt   time.Time    `json:"expires_at"`   // zero: never
	Digest      string       `json:"digest"`
	Destination *Destination `json:"destination"`
}

// Interaction is one request to a person.
type Interaction struct {
	Head
	Creator     ID              // the credential that asked
	Suggestions json.RawMessage // permission updates the asker proposed, as received: a JSON array, or nil
	Checkpoint  *Checkpoint     // of the workflow that it pauses; known at its creation only
	State       State
	End         *End // nil while open
	Delivery    Delivery
	Version     int64 // the project's sequence at its last change
}

// End is how an interaction ended.
type End struct {
	Answers      []Answer     `json:"-"` // of a resolved one, one per question
	InputID      ID           `json:"resolved_by_input_id"`
	At           time.Time    `json:"resolved_at"`
	By           Actor        `json:"resolved_by"`
	CancelReason CancelReason `json:"cancel_reason"` // of a canceled one
	Decision     Decision     `json:"decision"`

	// Credential and ProvedBy are what the actor acted with. They go into the audit log and are not published.
	Credential ID            `json:"-"`
	ProvedBy   PrincipalKind `json:"-"`
}

// Decision is what came with an answer.
type Decision struct {
	Note               string          `json:"note,omitempty"`                // with Allow
	UpdatedInput       json.RawMessage `json:"updated_input,omitempty"`       // with Allow: run this instead; an object
	UpdatedPermissions json.RawMessage `json:"updated_permissions,omitempty"` // with Allow: remember these; an array
	Response           string          `json:"response,omitempty"`            // to a question as a whole
}

func (d Decision) empty() bool {
	return d.Note == "" && d.UpdatedInput == nil && d.UpdatedPermissions == nil && d.Response == ""
}

func (d Decision) same(o Decision) bool {
	return d.Note == o.Note && d.Response == o.Response &&
		string(d.UpdatedInput) == string(o.UpdatedInput) && string(d.UpdatedPermissions) == string(o.UpdatedPermissions)
}

// Delivery is how far the answer got to the agent. It is the only part of an interaction that changes after its end.
type Delivery struct {
	AskerGoneSince time.Time // zero: the asker is waiting, or was never on the line
	PickedUpAt     time.Time // zero: not yet
	ReportedAt     time.Time // zero: the tool's result was not reported
	Outcome        ToolCallOutcome
}

// DeliveryState is a Delivery in one word.
type DeliveryState string

// The delivery states.
const (
	DeliveryWaiting   DeliveryState = "waiting"
	DeliveryAskerGone DeliveryState = "asker_gone"
	DeliveryPickedUp  DeliveryState = "picked_up"
	DeliveryReported  DeliveryState = "reported"
)

// State is the furthest the answer got.
func (d Delivery) State() DeliveryState {
	switch {
	case !d.ReportedAt.IsZero():
		return DeliveryReported
	case !d.PickedUpAt.IsZero():
		return DeliveryPickedUp
	case !d.AskerGoneSince.IsZero():
		return DeliveryAskerGone
	}
	return DeliveryWaiting
}

// Allowed says whether the interaction is a permission that was allowed.
func (i Interaction) Allowed() bool {
	return i.State == Resolved && i.Kind == PermissionKind && i.End.Answers[0].OptionIndices[0] == AllowOption
}

// Denied says whether the interaction is a permission that was denied. Expired and canceled ones were not.
func (i Interaction) Denied() bool {
	return i.State == Resolved && i.Kind == PermissionKind && !i.Allowed()
}

// CallState is where the tool call of an open interaction stands.
func (i Interaction) CallState() ToolCallState {
	if i.Kind == QuestionKind {
		return ToolCallWaiting
	}
	return ToolCallAwaitingPermission
}

// Questions are what an answer answers.
func (i Interaction) Questions() []Question { return i.Request.Questions }

// Destination is where an integration shows the interaction. It is captured at creation and never changes.
type Destination struct {
	IntegrationID       string `json:"integration_id"`
	IntegrationTargetID string `json:"integration_target_id,omitempty"`
	HandlerKey          string `json:"handler_key,omitempty"`
	Conversation        string `json:"conversation,omitempty"`
}

func (d *Destination) check() error {
	if d == nil {
		return nil
	}
	_, missing := line("destination.integration_id", d.IntegrationID, maxIdentity)
	return firstError(
		missing,
		verbatim("destination.integration_id", d.IntegrationID, maxIdentity),
		verbatim("destination.integration_target_id", d.IntegrationTargetID, maxIdentity),
		verbatim("destination.handler_key", d.HandlerKey, maxIdentity),
		verbatim("destination.conversation", d.Conversation, maxIdentity),
	)
}
