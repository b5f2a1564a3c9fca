package interaction

import (
	"encoding/json"
	"strconv"
	"time"
)

// How inputs, tool calls and events are published. What is said in an event is encoded once, when it is appended to the log.

// AppendJSON writes the input as REST gives it.
func (in Input) AppendJSON(b []byte) []byte { return in.append(b, nil) }

// append adds the resolution of a response, as its interaction has it.
func (in Input) append(b []byte, resolution json.RawMessage) []byte {
	o := object{b: append(b, '{')}
	o.text("id", string(in.ID))
	o.text("agent_id", string(in.AgentID))
	o.text("state", string(in.State))
	o.text("delivery_mode", string(in.Mode))
	o.text("input_kind", string(in.Kind))
	o.text("actor_id", string(in.By.ActorID))
	o.name("actor")
	o.b = in.By.appendJSON(o.b)
	o.text("interaction_id", string(in.InteractionID))
	o.raw("resolution", resolution)
	if in.Kind == ContentInput {
		o.name("content_blocks")
		o.b = AppendContent(o.b, in.Content)
	}
	o.text("control", string(in.Control))
	o.number("canceled_interactions", in.Canceled)
	o.time("queued_at", in.At)
	return append(o.b, '}')
}

// AppendContent writes content blocks.
func AppendContent(b []byte, content []ContentBlock) []byte {
	return appendList(b, content, ContentBlock.appendJSON)
}

// body is what the event of in carries.
func (in Input) body() string {
	return string(append(in.AppendJSON([]byte(`{"agent_input":`)), '}'))
}

// responseBody is what the event of a response carries: it is read from how the interaction ended.
func (r Record) responseBody() []byte {
	var end struct {
		End
		Resolution json.RawMessage `json:"resolution"`
	}
	if err := json.Unmarshal(r.End, &end); err != nil {
		return []byte(`{}`) // unreachable unless the stored record is damaged, which Verify tells
	}
	in := Input{ID: end.InputID, AgentID: r.AgentID, Kind: ResponseInput, Mode: Immediate, State: InputResolved, InteractionID: r.ID, By: end.By, At: end.At}
	return append(in.append([]byte(`{"agent_input":`), end.Resolution), '}')
}

// AppendJSON writes the call as REST gives it.
func (c Call) AppendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("id", string(c.ID))
	o.text("agent_id", string(c.AgentID))
	o.text("name", c.Name)
	o.raw("input", c.Input)
	o.text("provider_call_id", c.ProviderCallID)
	o.text("interaction_id", string(c.InteractionID))
	o.text("state", string(c.State))
	o.text("outcome", string(c.Outcome))
	o.time("created_at", c.CreatedAt)
	return append(o.b, '}')
}

// resultBody is what a tool_result carries.
func resultBody(call ID, outcome ToolCallOutcome, content []ContentBlock) string {
	o := object{b: []byte{'{'}}
	o.text("tool_call_id", string(call))
	o.text("outcome", string(outcome))
	o.name("content_blocks")
	return string(append(AppendContent(o.b, content), '}'))
}

// outputBody is what a model_output carries.
func outputBody(content []ContentBlock, stopReason string) string {
	o := object{b: []byte{'{'}}
	o.name("content_blocks")
	o.b = AppendContent(o.b, content)
	o.text("stop_reason", stopReason)
	return string(append(o.b, '}'))
}

// Told is what an event of a conversation says, decoded.
type Told struct {
	AgentInput struct {
		Mode     DeliveryMode   `json:"delivery_mode"`
		Kind     InputKind      `json:"input_kind"`
		By       Actor          `json:"actor"`
		Content  []ContentBlock `json:"content_blocks"`
		Control  Control        `json:"control"`
		Canceled int            `json:"canceled_interactions"`
	} `json:"agent_input"`
	ToolCallID ID              `json:"tool_call_id"`
	Outcome    ToolCallOutcome `json:"outcome"`
	Content    []ContentBlock  `json:"content_blocks"`
	StopReason string          `json:"stop_reason"`
}

// told decodes what e says. A response says nothing here: its record does.
func (e Event) told() (t Told) {
	if e.Body != "" {
		_ = json.Unmarshal([]byte(e.Body), &t) // it was encoded by us
	}
	return t
}

// Told decodes what an event of a conversation says.
func (e Event) Told() Told { return e.told() }

// AppendJSON writes an event of a conversation as REST and streams give it.
func (e Event) AppendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("id", string(e.ID))
	o.text("agent_id", string(e.AgentID))
	o.name("sequence")
	o.b = strconv.AppendInt(o.b, e.Sequence, 10)
	o.text("event_kind", string(e.Kind))
	o.time("created_at", e.At)
	o.text("interaction_id", string(e.InteractionID))
	body := []byte(e.Body)
	if e.Kind == AgentInputEvent && e.Record != nil {
		body = e.Record.responseBody()
	}
	if len(body) > 2 {
		o.b = append(append(o.b, ','), body[1:len(body)-1]...)
	}
	return append(o.b, '}')
}

// AppendLifecycle writes a lifecycle event as REST and streams give it. command is how a person at a terminal calls this program.
func (e Event) AppendLifecycle(b []byte, command string) []byte {
	i, err := e.Record.Interaction()
	if err != nil {
		return append(b, `{}`...) // unreachable unless the stored record is damaged
	}
	o := object{b: append(b, '{')}
	o.text("id", string(e.ID))
	o.name("sequence")
	o.b = strconv.AppendInt(o.b, e.Sequence, 10)
	o.text("event_kind", string(e.Kind))
	o.time("created_at", e.At)
	o.text("org_id", string(i.OrgID))
	o.text("project_id", string(i.ProjectID))
	o.text("agent_id", string(i.AgentID))
	o.text("agent_name", e.AgentName)
	o.text("interaction_id", string(i.ID))
	o.text("interaction_kind", string(i.Kind))
	o.text("wait_mode", string(i.WaitMode))
	o.text("workflow_id", i.WorkflowID)
	if e.Kind != CreatedEvent {
		o.text("cancel_reason", string(i.End.CancelReason))
		o.name("resolved_by")
		o.b = i.End.By.appendJSON(o.b)
	}
	o.text("summary", i.summary(e))
	o.text("answer_command", command+" "+i.answerCommand())
	return append(o.b, '}')
}

// summary is an event in a line. It quotes what the agent wrote, so it is shown through package display like any such text.
func (i Interaction) summary(e Event) string {
	switch e.Kind {
	case CreatedEvent:
		return e.AgentName + " asks: " + i.Request.Title
	case ExpiredEvent:
		return "Nobody answered " + e.AgentName + " in time: " + i.Request.Title
	case CanceledEvent:
		return "Canceled (" + string(i.End.CancelReason) + "), " + e.AgentName + " had asked: " + i.Request.Title
	}
	return i.End.By.Name + " " + i.answeredWord() + " " + e.AgentName + ": " + i.Request.Title
}

func (i Interaction) answeredWord() string {
	switch {
	case i.Allowed():
		return "allowed"
	case i.Denied():
		return "denied"
	}
	return "answered"
}

// answerCommand is how to answer at a terminal. It holds nothing that the agent wrote: it is copied into a shell.
func (i Interaction) answerCommand() string {
	command := "agent interactions answer " + string(i.ID)
	switch {
	case i.Kind == PermissionKind:
		return command + " --allow"
	case len(i.Request.Questions) == 1:
		return command + " --text 'YOUR ANSWER'"
	}
	for n := range i.Request.Questions {
		command += " --select '" + strconv.Itoa(n+1) + "=YOUR ANSWER'"
	}
	return command
}

// AppendUpdate writes what a stream says of an interaction that was created, or that ended.
func (r Record) AppendUpdate(b []byte) []byte {
	var head struct {
		Kind Kind `json:"interaction_kind"`
	}
	_ = json.Unmarshal(r.Head, &head) // it was encoded by us
	o := object{b: append(b, '{')}
	o.text("interaction_id", string(r.ID))
	o.text("state", string(r.State))
	o.text("interaction_kind", string(head.Kind))
	return append(o.b, '}')
}

// AppendUpdate writes what a stream says of a tool call that moved.
func (m ToolCallMove) AppendUpdate(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("tool_call_id", string(m.ID))
	o.text("state", string(m.To))
	o.text("outcome", string(m.Outcome))
	return append(o.b, '}')
}

// person is how somebody who writes to an agent is told.
func (p Principal) person(who *External, actorID ID) Actor {
	if who == nil {
		return p.actor()
	}
	name := who.Name()
	if p.Guest != nil {
		name = p.Guest.told()
	}
	return Actor{Kind: ExternalActor, Name: name, ActorID: actorID, Channel: p.Channel}
}

// control is the input that stops or archives an agent.
func (p Principal) control(a Agent, c Control, now time.Time) Input {
	return Input{ID: NewID(InputPrefix, now), AgentID: a.ID, Kind: ControlInput, Mode: Immediate, Control: c, By: p.actor(), At: now}
}
