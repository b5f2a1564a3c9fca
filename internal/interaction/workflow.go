package interaction

import "time"

// Workflow is a unit of work of an agent that can be paused while a person is asked, and gone on with later. Its id is the caller's own text.
// For now one is known from the moment it pauses.
type Workflow struct {
	ID            string
	ProjectID     ID
	AgentID       ID
	State         WorkflowState
	InteractionID ID // what a paused one waits for
	Checkpoint    Checkpoint
	UpdatedAt     time.Time
}

// WorkflowState is where a workflow stands.
type WorkflowState string

// The states of a workflow.
const (
	WorkflowRunning   WorkflowState = "running"
	WorkflowPaused    WorkflowState = "paused"
	WorkflowCompleted WorkflowState = "completed"
	WorkflowFailed    WorkflowState = "failed"
	WorkflowCanceled  WorkflowState = "canceled"
)

// Checkpoint is what it takes to go on with a paused workflow.
type Checkpoint struct {
	Provider      string `json:"provider,omitempty"` // the agent's program
	SessionID     string `json:"session_id,omitempty"`
	CWD           string `json:"cwd,omitempty"`
	Phase         string `json:"phase,omitempty"`
	InteractionID ID     `json:"interaction_id,omitempty"`
	BlockedReason string `json:"blocked_reason,omitempty"`
}

const maxPath = 4096

func (c *Checkpoint) check() error {
	if c == nil {
		return nil
	}
	return firstError(
		verbatim("checkpoint.provider", c.Provider, maxIdentity), verbatim("checkpoint.session_id", c.SessionID, maxIdentity),
		verbatim("checkpoint.cwd", c.CWD, maxPath), verbatim("checkpoint.phase", c.Phase, maxIdentity),
	)
}

// Pauses is the workflow that i pauses, nil if it pauses none.
func (i Interaction) Pauses() *Workflow {
	if i.WaitMode != Suspend {
		return nil
	}
	w := Workflow{
		ID: i.WorkflowID, ProjectID: i.ProjectID, AgentID: i.AgentID, State: WorkflowPaused, InteractionID: i.ID, UpdatedAt: i.CreatedAt,
	}
	if i.Checkpoint != nil {
		w.Checkpoint = *i.Checkpoint
	}
	w.Checkpoint.InteractionID, w.Checkpoint.BlockedReason = i.ID, i.Request.Title
	return &w
}
