package interaction

import (
	"encoding/json"
	"time"
)

// The bounds of a deadline in seconds, and the one of an asker on the line that names none.
const (
	MinTimeoutSecs     = 1
	MaxTimeoutSecs     = 3600
	DefaultTimeoutSecs = 600
)

// Ask is what an asker gives to create an interaction: a tool call for a permission, or a form for a question.
type Ask struct {
	ToolCall    *ToolCall
	Request     *Request
	WaitMode    WaitMode // "": Poll
	TimeoutSecs *int     // nil: DefaultTimeoutSecs for Block, no deadline for the others
	WorkflowID  string
	TaskID      string
	Destination *Destination
	Suggestions json.RawMessage
	Action      string      // what a tool call is for, in words; it is shown beside the call
	Join        *Join       // nil: it is always asked anew
	Checkpoint  *Checkpoint // of the workflow that it pauses

	asksByCall bool // the tool call is itself a question
}

// Normalised is a with its defaults filled in and its form trimmed. The first thing wrong is a ValidationFailed error naming the
// field and what is allowed. Whether its parts go together is another matter, which comes later: see meaning.
func (a Ask) Normalised() (Ask, error) {
	if (a.ToolCall == nil) == (a.Request == nil) {
		return a, Errorf(ValidationFailed, "give either tool_call (for a permission) or request (for a question), and not both")
	}
	if a.WaitMode == "" {
		a.WaitMode = Poll
	}
	err := firstError(
		a.checkWait(), checkUpdates("suggestions", a.Suggestions), a.Destination.check(),
		verbatim("workflow_id", a.WorkflowID, maxIdentity), verbatim("task_id", a.TaskID, maxIdentity), a.Join.check(), a.Checkpoint.check(),
	)
	if err != nil {
		return a, err
	}
	if a.ToolCall != nil {
		return a.withToolCall()
	}
	form, err := a.Request.Normalised()
	a.Request = &form
	return a, err
}

func (a Ask) checkWait() error {
	if a.WaitMode != Block && a.WaitMode != Suspend && a.WaitMode != Poll {
		return Errorf(ValidationFailed, "wait_mode: %q is unknown; allowed are block, suspend and poll", clip(string(a.WaitMode)))
	}
	if t := a.TimeoutSecs; t != nil && (*t < MinTimeoutSecs || *t > MaxTimeoutSecs) {
		return Errorf(ValidationFailed, "timeout_secs: %d is out of range; %d to %d are allowed", *t, MinTimeoutSecs, MaxTimeoutSecs)
	}
	return nil
}

// meaning says which parts of a normalised ask do not go together: InvalidRequest.
func (a Ask) meaning() error {
	switch {
	case a.WaitMode == Suspend && a.WorkflowID == "":
		return Errorf(InvalidRequest, "wait_mode: suspend pauses a workflow, so workflow_id must be given")
	case a.WaitMode == Suspend && a.TimeoutSecs != nil:
		return Errorf(InvalidRequest, "timeout_secs: a suspended request never expires; leave it out, or use block or poll")
	case a.Checkpoint != nil && a.WaitMode != Suspend:
		return Errorf(InvalidRequest, "checkpoint: goes with wait_mode suspend only")
	case a.Action != "" && a.ToolCall == nil:
		return Errorf(InvalidRequest, "action: goes with a tool_call only")
	case a.Suggestions != nil && a.ToolCall == nil:
		return Errorf(InvalidRequest, "suggestions: go with a tool_call only")
	}
	return nil
}

// withToolCall fills in the input and makes the form that shows it.
func (a Ask) withToolCall() (Ask, error) {
	call := *a.ToolCall
	if call.Input == nil {
		call.Input = json.RawMessage("{}")
	}
	if err := call.check("tool_call"); err != nil {
		return a, err
	}
	form, err := PermissionRequest(call)
	if err != nil {
		return a, err
	}
	if a.Action, err = optionalLine("action", a.Action, maxAction); a.Action != "" {
		form.Context = append(form.Context, ContextItem{Label: "Action", Value: a.Action})
	}
	a.ToolCall, a.Request = &call, &form
	return a, err
}

// timeout is how long until the deadline, in seconds; 0: there is none.
func (a Ask) timeout() int {
	if a.TimeoutSecs != nil {
		return *a.TimeoutSecs
	}
	if a.WaitMode == Block {
		return DefaultTimeoutSecs
	}
	return 0
}

// New is the open interaction that a normalised ask becomes.
func New(a Ask, agent Agent, creator ID, now time.Time) Interaction {
	head := Head{
		ID: NewID(InteractionPrefix, now), OrgID: agent.OrgID, ProjectID: agent.ProjectID, AgentID: agent.ID,
		Kind: a.kind(), Request: *a.Request, CreatedAt: now,
		WaitMode: a.WaitMode, WorkflowID: a.WorkflowID, TaskID: a.TaskID, TimeoutSecs: a.timeout(), Destination: a.Destination,
	}
	if head.Destination == nil {
		head.Destination = agent.Destination
	}
	if a.ToolCall != nil {
		call := *a.ToolCall
		if call.ID == "" {
			call.ID = NewID(ToolCallPrefix, now)
		}
		head.ToolCall, head.ToolCallID = &call, call.ID
	}
	if head.TimeoutSecs > 0 {
		head.ExpiresAt = now.Add(time.Duration(head.TimeoutSecs) * time.Second)
	}
	head.Digest = head.digest()
	return Interaction{Head: head, Creator: creator, Suggestions: a.Suggestions, Checkpoint: a.Checkpoint, State: Open}
}

func (a Ask) kind() Kind {
	if a.ToolCall == nil || a.asksByCall {
		return QuestionKind
	}
	return PermissionKind
}

// askOf is the ask of a checked tool call: its question for ask_question, else for permission.
func askOf(call ToolCall) (Ask, error) {
	a := Ask{ToolCall: &call, WaitMode: Poll, asksByCall: call.asksQuestion()}
	form, err := PermissionRequest(call)
	if a.asksByCall {
		form, err = call.question("input")
	}
	a.Request = &form
	return a, err
}
