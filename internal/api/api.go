// Package api is the REST contract as Go sees it: the types on the wire, the error body, the OpenAPI document, and a client.
//
// It imports nothing of ours, so that a program which speaks to Sayso needs this package and no other. The server's handlers are in
// package web; tests hold their answers against the types here and against openapi.yaml.
package api

import (
	_ "embed"
	"encoding/json"
	"time"
)

// Document is the OpenAPI 3.1 document that GET /api/openapi.yaml serves.
//
//go:embed openapi.yaml
var Document []byte

// Agent is one agent.
type Agent struct {
	ID               string            `json:"id"`
	OrgID            string            `json:"org_id"`
	ProjectID        string            `json:"project_id"`
	Name             string            `json:"name"`
	Key              string            `json:"key"`
	Profile          string            `json:"profile,omitempty"`
	PermissionMode   string            `json:"permission_mode,omitempty"` // of its client, as the configuration wants it
	Metadata         map[string]string `json:"metadata,omitempty"`
	Destination      *Destination      `json:"destination,omitempty"`
	State            string            `json:"state"`
	CreatedAt        Time              `json:"created_at"`
	UpdatedAt        Time              `json:"updated_at"`
	ArchivedAt       *Time             `json:"archived_at,omitempty"`
	StoppedAt        *Time             `json:"stopped_at,omitempty"`
	LastSeenAt       *Time             `json:"last_seen_at,omitempty"`
	OpenInteractions int               `json:"open_interactions"`
}

// AgentBody is how one agent comes.
type AgentBody struct {
	Agent Agent `json:"agent"`
}

// NewAgent creates an agent.
type NewAgent struct {
	Name        string            `json:"name"`
	Key         string            `json:"key,omitempty"`
	Profile     string            `json:"profile,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Destination *Destination      `json:"destination,omitempty"`
}

// AgentPatch changes an agent; what is left out stays.
type AgentPatch struct {
	Name        *string            `json:"name,omitempty"`
	Metadata    *map[string]string `json:"metadata,omitempty"`
	Destination *Destination       `json:"destination,omitempty"`
}

// Destination is where an integration shows an interaction.
type Destination struct {
	IntegrationID       string `json:"integration_id"`
	IntegrationTargetID string `json:"integration_target_id,omitempty"`
	HandlerKey          string `json:"handler_key,omitempty"`
	Conversation        string `json:"conversation,omitempty"`
}

// ToolCall is something an agent wants to do. Input is a JSON object and is kept byte for byte.
type ToolCall struct {
	Name           string          `json:"name"`
	Input          json.RawMessage `json:"input,omitempty"`
	ProviderCallID string          `json:"provider_call_id,omitempty"`
}

// Request is the form shown to a person.
type Request struct {
	Title     string        `json:"title"`
	Context   []ContextItem `json:"context,omitempty"`
	Questions []Question    `json:"questions"`
}

// ContextItem is one labelled piece of evidence.
type ContextItem struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// Question asks for one option, or with Multiple for at least one.
type Question struct {
	Prompt   string   `json:"prompt"`
	Header   string   `json:"header,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
	Options  []Option `json:"options"`
}

// Option is one possible answer.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	AllowsText  bool   `json:"allows_text,omitempty"`
}

// NewInteraction asks: ToolCall makes it a permission, Request a question.
type NewInteraction struct {
	ToolCall    *ToolCall       `json:"tool_call,omitempty"`
	Request     *Request        `json:"request,omitempty"`
	WaitMode    string          `json:"wait_mode,omitempty"`
	TimeoutSecs *int            `json:"timeout_secs,omitempty"`
	WorkflowID  string          `json:"workflow_id,omitempty"`
	TaskID      string          `json:"task_id,omitempty"`
	Destination *Destination    `json:"destination,omitempty"`
	Suggestions json.RawMessage `json:"suggestions,omitempty"`
	// Action says in words what a tool call is for; it is shown beside the call.
	Action string `json:"action,omitempty"`
	// Join has the same request of an asker that is gone taken up again, instead of asking twice; nil: never.
	Join *Join `json:"join,omitempty"`
	// Checkpoint is where the workflow goes on that a suspended request pauses.
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"`
}

// Join takes up an interaction that this agent opened with Join before and that asks exactly the same: one with the same call id, an open one
// whose asker is gone, or one that was answered while its asker was gone, once.
type Join struct {
	CallID string `json:"call_id,omitempty"` // the agent's own id of the call, which stays the same when the call is made again
}

// Checkpoint is what it takes to go on with a paused workflow.
type Checkpoint struct {
	Provider  string `json:"provider,omitempty"` // the agent's program
	SessionID string `json:"session_id,omitempty"`
	CWD       string `json:"cwd,omitempty"`
	Phase     string `json:"phase,omitempty"`
}

// Interaction is one request to a person, and what became of it.
type Interaction struct {
	ID                string       `json:"id"`
	OrgID             string       `json:"org_id"`
	ProjectID         string       `json:"project_id"`
	AgentID           string       `json:"agent_id"`
	Kind              string       `json:"interaction_kind"`
	State             string       `json:"state"`
	Request           Request      `json:"request"`
	Resolution        *Resolution  `json:"resolution,omitempty"`
	ResolvedByInputID string       `json:"resolved_by_input_id,omitempty"`
	CreatedAt         Time         `json:"created_at"`
	ResolvedAt        *Time        `json:"resolved_at,omitempty"`
	ResolvedBy        *Actor       `json:"resolved_by,omitempty"`
	CancelReason      string       `json:"cancel_reason,omitempty"`
	ToolCallID        string       `json:"tool_call_id,omitempty"`
	ToolCall          *ToolCall    `json:"tool_call,omitempty"`
	WaitMode          string       `json:"wait_mode"`
	WorkflowID        string       `json:"workflow_id,omitempty"`
	TaskID            string       `json:"task_id,omitempty"`
	TimeoutSecs       int          `json:"timeout_secs,omitempty"`
	ExpiresAt         *Time        `json:"expires_at,omitempty"`
	Digest            string       `json:"digest"`
	Decision          *Decision    `json:"decision,omitempty"`
	Delivery          Delivery     `json:"delivery"`
	Destination       *Destination `json:"destination,omitempty"`
	Warnings          []string     `json:"warnings,omitempty"` // in the answer of a resolve only
	// Policy, in the answer of a create only, says that a policy decided at once: nothing was opened, and there is nothing else here.
	Policy   *PolicyDecision `json:"policy,omitempty"`
	Replayed bool            `json:"-"` // the same answer was recorded before; in the answer of a resolve only
}

// Resolution is what the person chose, one answer per question.
type Resolution struct {
	Answers []Answer `json:"answers"`
}

// Answer is what was chosen for one question.
type Answer struct {
	OptionIndices []int  `json:"option_indices"`
	Text          string `json:"text,omitempty"`
}

// Actor is who ended an interaction.
type Actor struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	ActorID string `json:"actor_id,omitempty"`
	Channel string `json:"channel,omitempty"`
}

// Decision is what came with an answer.
type Decision struct {
	Note               string          `json:"note,omitempty"`
	UpdatedInput       json.RawMessage `json:"updated_input,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updated_permissions,omitempty"`
	Response           string          `json:"response,omitempty"`
}

// Delivery is how far the answer got to the agent.
type Delivery struct {
	State      string `json:"state"`
	PickedUpAt *Time  `json:"picked_up_at,omitempty"`
	ReportedAt *Time  `json:"reported_at,omitempty"`
	Outcome    string `json:"outcome,omitempty"`
}

// Resolve answers an interaction.
type Resolve struct {
	Answers            []Answer        `json:"answers"`
	Actor              *External       `json:"actor,omitempty"`
	Digest             string          `json:"digest,omitempty"`
	Note               string          `json:"note,omitempty"`
	UpdatedInput       json.RawMessage `json:"updated_input,omitempty"`
	Remember           bool            `json:"remember,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updated_permissions,omitempty"`
	Response           string          `json:"response,omitempty"`
}

// External is a person that a relaying service speaks for.
type External struct {
	ProviderUserID   string            `json:"provider_user_id"`
	ProviderTenantID string            `json:"provider_tenant_id,omitempty"`
	DisplayName      string            `json:"display_name,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
}

// List is one page of a list. NextCursor is nil on the last one.
type List[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

// Me is who a credential is.
type Me struct {
	Kind      string   `json:"kind"`
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	ProjectID string   `json:"project_id,omitempty"`
	AgentID   string   `json:"agent_id,omitempty"`
	Scopes    []string `json:"scopes"`
}

// Org is a tenant: projects belong to it, and nothing of it is seen from another.
type Org struct {
	ID        string `json:"id"`
	Slug      string `json:"slug"`
	Name      string `json:"name"`
	CreatedAt Time   `json:"created_at"`
}

// Project is where agents and their interactions live.
type Project struct {
	ID        string `json:"id"`
	OrgID     string `json:"org_id"`
	Slug      string `json:"slug"`
	Name      string `json:"name"`
	CreatedAt Time   `json:"created_at"`
}

// NewOrg creates an org and its first project, which is default unless another is named.
type NewOrg struct {
	Slug    string      `json:"slug"`
	Name    string      `json:"name"`
	Project *NewProject `json:"project,omitempty"`
}

// NewProject creates a project.
type NewProject struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// OrgCreated is an org with its first project.
type OrgCreated struct {
	Org     Org     `json:"org"`
	Project Project `json:"project"`
}

// ProjectBody is how one project comes.
type ProjectBody struct {
	Project Project `json:"project"`
}

// Orgs are all that there are.
type Orgs struct {
	Data []Org `json:"data"`
}

// Projects are those of an org.
type Projects struct {
	Data []Project `json:"data"`
}

// SignInLink is a one-time link that signs the owner in.
type SignInLink struct {
	URL       string `json:"url"`
	ExpiresAt Time   `json:"expires_at"`
}

// Error is the body of every failure, and the error that the client returns.
type Error struct {
	Message string `json:"error"` // for people
	Code    string `json:"code"`  // stable
	// Interaction is how it ended, with the 409 of a resolve.
	Interaction *Interaction `json:"interaction,omitempty"`

	Status     int           `json:"-"`
	RetryAfter time.Duration `json:"-"` // what the server asks to wait; 0: nothing
}

func (e *Error) Error() string { return e.Message }

// Time is a moment as the contract writes it: RFC 3339, UTC, with milliseconds.
type Time struct{ time.Time }

// MarshalJSON writes the contract's form.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
}
