package interaction

import (
	"encoding/json"
	"time"
)

// Answers is what a person decided, as it came.
type Answers struct {
	Answers            []Answer
	Digest             string // of what was decided on; "" is not checked
	Note               string
	UpdatedInput       json.RawMessage
	Remember           bool // also approve the suggestions that are meant to be remembered
	UpdatedPermissions json.RawMessage
	Response           string
	External           *External // the person a relaying service speaks for; nil: the caller itself
}

// Change is everything that one change of an interaction writes, in one transaction.
type Change struct {
	After     Interaction
	Input     *Input
	ToolCall  *ToolCallMove
	Events    []Event   // of the conversation, in order
	Lifecycle EventKind // what the lifecycle log says
	Replay    bool      // the same answer again: nothing is written
}

// Checked is a with its texts trimmed; what is wrong with its shape, whatever it answers, is ValidationFailed.
func (a Answers) Checked() (Answers, error) {
	if err := CheckAnswers(a.Answers); err != nil {
		return a, err
	}
	var err [3]error
	a.Note, err[0] = optionalLine("note", a.Note, maxNote)
	a.Response, err[1] = optionalLine("response", a.Response, maxResponse)
	a.External, err[2] = a.External.normalised("actor.")
	return a, firstError(err[0], err[1], err[2], a.checkRaw())
}

func (a Answers) checkRaw() error {
	if a.UpdatedInput != nil {
		if err := checkInput("updated_input", a.UpdatedInput); err != nil {
			return err
		}
	}
	return checkUpdates("updated_permissions", a.UpdatedPermissions)
}

// Resolve ends i with a person's answer. The order of the checks is the contract's: who, what was decided on, what it means, whether
// it is still open. An agent's credential is refused, whoever calls. The same answer again is a Replay; any other to one that
// ended is a conflict that carries how it ended.
func (i Interaction) Resolve(a Answers, p Principal, actorID ID, now time.Time) (Change, error) {
	if !p.Can(ScopeResolve) {
		return Change{}, forbidden("answer interactions")
	}
	if a.Digest != "" && a.Digest != i.Digest {
		return Change{}, &Error{Code: StateTransition, Message: "digest: what was decided on is not what this interaction asks.", Final: &i}
	}
	answers, err := normaliseAnswers(i.Questions(), a.Answers)
	if err != nil {
		return Change{}, err
	}
	if err := p.Guest.mayGive(i, a, answers); err != nil {
		return Change{}, err
	}
	decision, err := i.decision(a, answers)
	if err != nil {
		return Change{}, err
	}
	if i.State != Open {
		return i.again(answers, decision)
	}
	end := p.end(now)
	end.Answers, end.InputID, end.Decision = answers, NewID(InputPrefix, now), decision
	if a.External != nil {
		end.By = p.person(a.External, actorID)
	}
	return i.resolved(end), nil
}

// again is a resolve of what has already ended: a replay, or a conflict.
func (i Interaction) again(answers []Answer, d Decision) (Change, error) {
	if i.State == Resolved && sameAnswers(answers, i.End.Answers) && d.same(i.End.Decision) {
		return Change{After: i, Replay: true}, nil
	}
	message := "Already answered by " + i.End.By.Name + "; the first answer stays."
	if i.State == Canceled {
		message = "Already canceled (" + string(i.End.CancelReason) + "); it can no longer be answered."
	}
	return Change{}, &Error{Code: IdempotencyKey, Message: message, Final: &i}
}

// decision is what is stored beside the answers. What goes with Allow only, or with a question only, is refused elsewhere.
func (i Interaction) decision(a Answers, answers []Answer) (Decision, error) {
	allows := i.Kind == PermissionKind && answers[0].OptionIndices[0] == AllowOption
	if field := a.allowOnly(); field != "" && !allows {
		return Decision{}, Errorf(InvalidRequest, "%s: goes with Allow only", field)
	}
	if a.Response != "" && i.Kind != QuestionKind {
		return Decision{}, Errorf(InvalidRequest, "response: goes with questions only")
	}
	d := Decision{Note: a.Note, UpdatedInput: a.UpdatedInput, UpdatedPermissions: a.UpdatedPermissions, Response: a.Response}
	if a.Remember {
		d.UpdatedPermissions = joinArrays(remembered(i.Suggestions), a.UpdatedPermissions)
	}
	return d, nil
}

// allowOnly names the first field given that goes with Allow only.
func (a Answers) allowOnly() string {
	switch {
	case a.Note != "":
		return "note"
	case a.UpdatedInput != nil:
		return "updated_input"
	case a.Remember:
		return "remember"
	case a.UpdatedPermissions != nil:
		return "updated_permissions"
	}
	return ""
}

// remembered are the suggestions that are meant to be kept on the agent's machine, each as it was received; nil if there is none.
func remembered(suggestions json.RawMessage) json.RawMessage {
	var all, kept []json.RawMessage
	if suggestions == nil || json.Unmarshal(suggestions, &all) != nil {
		return nil
	}
	for _, s := range all {
		if destinationOf(s) == "localSettings" {
			kept = append(kept, s)
		}
	}
	return appendArray(kept)
}

// destinationOf reads one member of an update. A map is needed: a struct's would also take names in another case, and the agent would not.
func destinationOf(update json.RawMessage) (destination string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(update, &members) != nil || json.Unmarshal(members["destination"], &destination) != nil {
		return ""
	}
	return destination
}

func joinArrays(a, b json.RawMessage) json.RawMessage {
	var first, second []json.RawMessage
	if a == nil || json.Unmarshal(a, &first) != nil {
		return b
	}
	if b != nil && json.Unmarshal(b, &second) != nil {
		return a
	}
	return appendArray(append(first, second...))
}

// appendArray writes items as they are; nil for none.
func appendArray(items []json.RawMessage) json.RawMessage {
	if len(items) == 0 {
		return nil
	}
	out := []byte{'['}
	for n, item := range items {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

// resolved is the change that ends i with end.
func (i Interaction) resolved(end End) Change {
	i.State, i.End = Resolved, &end
	input := Input{ID: end.InputID, Kind: ResponseInput, Mode: Immediate, State: InputResolved, InteractionID: i.ID, By: end.By, At: end.At}
	c := Change{After: i, Input: &input, Lifecycle: AnsweredEvent}
	c.Events = []Event{{ID: NewID(EventPrefix, end.At), Kind: AgentInputEvent, InteractionID: i.ID, InputID: end.InputID, At: end.At}}
	if i.ToolCall != nil {
		c.moveToolCall(i, end)
	}
	return c
}

// moveToolCall lets the call of an allowed permission go ahead, and completes the one of a denied permission or answered question.
func (c *Change) moveToolCall(i Interaction, end End) {
	move := ToolCallMove{ID: i.ToolCallID, To: ToolCallReady}
	switch {
	case i.Kind == QuestionKind:
		move = ToolCallMove{ID: i.ToolCallID, To: ToolCallCompleted, Outcome: ToolCallSucceeded, Result: i.answersText()}
	case i.Denied():
		move = ToolCallMove{ID: i.ToolCallID, To: ToolCallCompleted, Outcome: ToolCallDenied, Result: i.DenialReason()}
	}
	c.ToolCall = &move
	if move.To == ToolCallCompleted {
		c.Events = append(c.Events, toolResult(i.ID, move, end.At))
	}
}

func toolResult(interaction ID, move ToolCallMove, now time.Time) Event {
	return Event{
		ID: NewID(EventPrefix, now), Kind: ToolResultEvent, InteractionID: interaction, ToolCallID: move.ID, At: now,
		Body: resultBody(move.ID, move.Outcome, []ContentBlock{{Type: TextBlock, Text: move.Result}}),
	}
}

// DefaultDenial is what an agent is told when a person denied without a reason.
const DefaultDenial = "The request was denied. No reason was given."

// DenialReason is why a denied permission was denied, in the person's words or the default ones.
func (i Interaction) DenialReason() string {
	if text := i.End.Answers[0].Text; text != "" {
		return text
	}
	return DefaultDenial
}
