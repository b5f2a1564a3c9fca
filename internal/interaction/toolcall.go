package interaction

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// ToolCall is something an agent wants to do, as it sent it.
type ToolCall struct {
	ID             ID              `json:"-"` // published beside it, as tool_call_id
	Name           string          `json:"name"`
	Input          json.RawMessage `json:"input"` // a JSON object, byte for byte as it came
	ProviderCallID string          `json:"provider_call_id,omitempty"`
}

// Call is a tool call of a conversation, and where it stands.
type Call struct {
	ToolCall
	AgentID       ID
	InteractionID ID // the interaction it opened; "": none
	Creator       ID // the credential that reported it
	State         ToolCallState
	Outcome       ToolCallOutcome // of a completed one
	CreatedAt     time.Time
}

// ToolCallState is where a tool call stands.
type ToolCallState string

// The states of a tool call.
const (
	ToolCallAwaitingPermission ToolCallState = "awaiting_permission"
	ToolCallReady              ToolCallState = "ready"   // it may run
	ToolCallWaiting            ToolCallState = "waiting" // for the answer to its question
	ToolCallCompleted          ToolCallState = "completed"
)

// ToolCallStates are all of them.
var ToolCallStates = []ToolCallState{ToolCallAwaitingPermission, ToolCallReady, ToolCallWaiting, ToolCallCompleted}

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

// completed is c as it ended.
func (c Call) completed(outcome ToolCallOutcome) Call {
	c.State, c.Outcome = ToolCallCompleted, outcome
	return c
}

// canceled ends a call that no open interaction guards, and tells of it.
func (c Call) canceled(why CancelReason, now time.Time) Turn {
	move := ToolCallMove{ID: c.ID, To: ToolCallCompleted, Outcome: ToolCallCanceled, Result: canceledText(why)}
	return Turn{c.completed(ToolCallCanceled), toolResult(c.InteractionID, move, now)}
}

func canceledText(why CancelReason) string { return "The request was canceled: " + string(why) + "." }

// Result is what a runtime reports of a tool call.
type Result struct {
	Outcome ToolCallOutcome // succeeded or failed
	Content []ContentBlock  // text only; may be empty
}

// Check says what is wrong with the shape of r: ValidationFailed.
func (r Result) Check() error {
	if r.Outcome != ToolCallSucceeded && r.Outcome != ToolCallFailed {
		return Errorf(ValidationFailed, "outcome: %q is not allowed here; allowed are succeeded and failed", clip(string(r.Outcome)))
	}
	return checkContent("content_blocks", r.Content, 0, TextBlock)
}

// mayFinish says whether a result can be reported: a call that waits for permission has not run, and one that is completed stays so.
func (c Call) mayFinish() error {
	switch c.State {
	case ToolCallReady, ToolCallWaiting:
		return nil
	case ToolCallCompleted:
		return Errorf(Conflict, "This tool call is completed already (%s); the first result stays.", c.Outcome)
	}
	return Errorf(Conflict, "This tool call waits for permission; it must not run before a person allows it.")
}

// finished is the turn that completes c with r. An interaction that is open for it ends with it.
func (c Call) finished(r Result, guard *Interaction, p Principal, now time.Time) Turn {
	result := Event{ID: NewID(EventPrefix, now), Kind: ToolResultEvent, InteractionID: c.InteractionID, ToolCallID: c.ID, At: now, Body: resultBody(c.ID, r.Outcome, r.Content)}
	t := Turn{c.completed(r.Outcome), result}
	switch {
	case guard == nil:
	case guard.State == Open:
		end := p.end(now)
		end.CancelReason = ToolCallDone
		c := guard.ended(end, CanceledEvent)
		c.ToolCall, c.Events = nil, nil // the call has its own end
		t = append(t, c)
	case guard.State == Resolved:
		t = append(t, Reported{Interaction: *guard, At: now, Outcome: r.Outcome})
	}
	return t
}

// check says what is wrong with a tool call as its sender wrote it.
func (c ToolCall) check(field string) error {
	name, err := line(field+".name", c.Name, MaxToolName)
	if err != nil {
		return err
	}
	if name != c.Name {
		return Errorf(ValidationFailed, "%s.name: leading and trailing blanks are not allowed, got %q", field, clip(c.Name))
	}
	if err := verbatim(field+".provider_call_id", c.ProviderCallID, maxProviderCall); err != nil {
		return err
	}
	return checkInput(field+".input", c.Input)
}

// AskQuestion is the tool whose call is a question rather than something to permit.
const AskQuestion = "ask_question"

func (c ToolCall) asksQuestion() bool { return c.Name == AskQuestion }

// AsksQuestion says whether the call asks a person something rather than being something to permit, and the title of what it asks.
func (c ToolCall) AsksQuestion() (title string, asks bool) {
	if !c.asksQuestion() {
		return "", false
	}
	form, err := c.question("input")
	return form.Title, err == nil
}

// question is the form of a call of ask_question: its questions, each with the option of any other answer. What is wrong with its input
// is ValidationFailed; field says where the input is.
func (c ToolCall) question(field string) (Request, error) {
	var in members
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return Request{}, err // unreachable: it was checked to be an object
	}
	var questions []members
	if err := in.read(field, "questions", &questions); err != nil {
		return Request{}, err
	}
	r := Request{Title: "Question"} // until the questions are known to be good
	for n, q := range questions {
		form, err := q.question(fmt.Sprintf("%s.questions[%d]", field, n))
		if err != nil {
			return Request{}, err
		}
		r.Questions = append(r.Questions, form)
	}
	form, err := r.Normalised()
	if err != nil {
		return form, Errorf(ValidationFailed, "%s", strings.Replace(AsError(err).Message, "request", field, 1))
	}
	form.Title = questionsTitle(form.Questions)
	return form, nil
}

// members are those of an object that an agent wrote. A struct would also take names in another case, which its tool would not.
type members map[string]json.RawMessage

// read reads one member; one that is missing leaves into as it is.
func (m members) read(field, name string, into any) error {
	raw, there := m[name]
	if !there {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &Error{Code: ValidationFailed, Message: field + "." + name + `: has the wrong type; ask_question takes {"questions":[{"prompt","multiple"?,"options":[{"label"}]}]}`, Err: err}
	}
	return nil
}

func (m members) question(field string) (q Question, err error) {
	var options []members
	if err := firstError(m.read(field, "prompt", &q.Prompt), m.read(field, "multiple", &q.Multiple), m.read(field, "options", &options)); err != nil {
		return q, err
	}
	if n := len(options); n >= MaxOptions {
		return q, Errorf(ValidationFailed, "%s.options: at most %d are allowed, beside the one of any other answer; got %d", field, MaxOptions-1, n)
	}
	for n, o := range options {
		var option Option
		if err := o.read(fmt.Sprintf("%s.options[%d]", field, n), "label", &option.Label); err != nil {
			return q, err
		}
		q.Options = append(q.Options, option)
	}
	q.Options = append(q.Options, Option{Label: "Other", AllowsText: true})
	return q, nil
}

// questionsTitle is the first line of the first prompt, and how many more there are.
func questionsTitle(questions []Question) string {
	first, _, _ := strings.Cut(questions[0].Prompt, "\n")
	more := ""
	if n := len(questions) - 1; n > 0 {
		more = fmt.Sprintf(" (+%d more)", n)
	}
	title := []rune(strings.TrimSpace(first))
	if room := MaxTitle - length(more); len(title) > room {
		title = title[:room]
	}
	return strings.TrimSpace(string(title)) + more
}
