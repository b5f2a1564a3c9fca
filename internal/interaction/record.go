package interaction

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Record is an interaction as it is stored and published: head and end are encoded once, when they come to be, and every later
// reader gets those bytes.
type Record struct {
	Key       int64 // the store's own, in order of creation
	ID        ID
	ProjectID ID
	AgentID   ID
	CreatedAt time.Time
	State     State
	Head      []byte // JSON object of what never changes
	End       []byte // JSON object of how it ended; nil while open
	Delivery  Delivery
	Version   int64

	Creator     ID
	Suggestions json.RawMessage
}

// NewRecord encodes i.
func NewRecord(i Interaction) Record {
	r := Record{
		ID: i.ID, ProjectID: i.ProjectID, AgentID: i.AgentID, CreatedAt: i.CreatedAt, State: i.State, Head: i.Head.appendJSON(nil),
		Delivery: i.Delivery, Version: i.Version, Creator: i.Creator, Suggestions: i.Suggestions,
	}
	return r.WithEnd(i)
}

// WithEnd is r as i ended it; the head stays as it was encoded.
func (r Record) WithEnd(i Interaction) Record {
	r.State = i.State
	if i.End != nil {
		r.End = i.End.appendJSON(nil, i.State)
	}
	return r
}

// Interaction decodes r.
func (r Record) Interaction() (Interaction, error) {
	i := Interaction{State: r.State, Delivery: r.Delivery, Version: r.Version, Creator: r.Creator, Suggestions: r.Suggestions}
	if err := json.Unmarshal(r.Head, &i.Head); err != nil {
		return i, fmt.Errorf("stored interaction %s: head: %w", r.ID, err)
	}
	if i.ToolCall != nil {
		i.ToolCall.ID = i.ToolCallID
	}
	if r.End == nil {
		return i, nil
	}
	var end struct {
		End
		Resolution struct{ Answers []Answer } `json:"resolution"`
	}
	if err := json.Unmarshal(r.End, &end); err != nil {
		return i, fmt.Errorf("stored interaction %s: end: %w", r.ID, err)
	}
	end.End.Answers = end.Resolution.Answers
	i.End = &end.End
	return i, nil
}

// AppendJSON writes the published record.
func (r Record) AppendJSON(b []byte) []byte {
	b = append(b, r.Head[:len(r.Head)-1]...)
	b = append(b, `,"state":`...)
	b = appendString(b, string(r.State))
	if len(r.End) > 2 {
		b = append(b, ',')
		b = append(b, r.End[1:len(r.End)-1]...)
	}
	b = append(b, `,"delivery":`...)
	return append(r.Delivery.appendJSON(b), '}')
}

// MarshalJSON is AppendJSON, for encoders.
func (r Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

func (h Head) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("id", string(h.ID))
	o.text("org_id", string(h.OrgID))
	o.text("project_id", string(h.ProjectID))
	o.text("agent_id", string(h.AgentID))
	o.text("interaction_kind", string(h.Kind))
	o.name("request")
	o.b = h.Request.appendJSON(o.b)
	o.time("created_at", h.CreatedAt)
	o.text("tool_call_id", string(h.ToolCallID))
	if h.ToolCall != nil {
		o.name("tool_call")
		o.b = h.ToolCall.AppendJSON(o.b)
	}
	o.text("wait_mode", string(h.WaitMode))
	o.text("workflow_id", h.WorkflowID)
	o.text("task_id", h.TaskID)
	o.number("timeout_secs", h.TimeoutSecs)
	o.time("expires_at", h.ExpiresAt)
	o.text("digest", h.Digest)
	if h.Destination != nil {
		o.name("destination")
		o.b = h.Destination.appendJSON(o.b)
	}
	return append(o.b, '}')
}

// AppendJSON writes the call as it is published within its interaction.
func (c ToolCall) AppendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("name", c.Name)
	o.raw("input", c.Input)
	o.text("provider_call_id", c.ProviderCallID)
	return append(o.b, '}')
}

func (d Destination) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("integration_id", d.IntegrationID)
	o.text("integration_target_id", d.IntegrationTargetID)
	o.text("handler_key", d.HandlerKey)
	o.text("conversation", d.Conversation)
	return append(o.b, '}')
}

// appendJSON writes the form in canonical order, so that the record and the digest are made of the same bytes.
func (r Request) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	if len(r.Context) > 0 {
		o.name("context")
		o.b = appendList(o.b, r.Context, ContextItem.appendJSON)
	}
	o.name("questions")
	o.b = appendList(o.b, r.Questions, Question.appendJSON)
	o.name("title")
	return append(appendString(o.b, r.Title), '}')
}

func (c ContextItem) appendJSON(b []byte) []byte {
	b = appendString(append(b, `{"label":`...), c.Label)
	return append(appendString(append(b, `,"value":`...), c.Value), '}')
}

func (q Question) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("header", q.Header)
	o.flag("multiple", q.Multiple)
	o.name("options")
	o.b = appendList(o.b, q.Options, Option.appendJSON)
	o.name("prompt")
	return append(appendString(o.b, q.Prompt), '}')
}

func (p Option) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.flag("allows_text", p.AllowsText)
	o.text("description", p.Description)
	o.name("label")
	return append(appendString(o.b, p.Label), '}')
}

func (e End) appendJSON(b []byte, s State) []byte {
	o := object{b: append(b, '{')}
	if s == Resolved {
		o.name("resolution")
		o.b = append(appendList(append(o.b, `{"answers":`...), e.Answers, Answer.appendJSON), '}')
	}
	o.text("resolved_by_input_id", string(e.InputID))
	o.time("resolved_at", e.At)
	o.name("resolved_by")
	o.b = e.By.appendJSON(o.b)
	o.text("cancel_reason", string(e.CancelReason))
	if !e.Decision.empty() {
		o.name("decision")
		o.b = e.Decision.appendJSON(o.b)
	}
	return append(o.b, '}')
}

func (a Answer) appendJSON(b []byte) []byte {
	b = append(b, `{"option_indices":`...)
	b = appendList(b, a.OptionIndices, func(n int, b []byte) []byte { return strconv.AppendInt(b, int64(n), 10) })
	if a.Text != "" {
		b = appendString(append(b, `,"text":`...), a.Text)
	}
	return append(b, '}')
}

func (a Actor) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("kind", string(a.Kind))
	o.text("name", a.Name)
	o.text("actor_id", string(a.ActorID))
	o.text("channel", string(a.Channel))
	return append(o.b, '}')
}

func (d Decision) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("note", d.Note)
	o.raw("updated_input", d.UpdatedInput)
	o.raw("updated_permissions", d.UpdatedPermissions)
	o.text("response", d.Response)
	return append(o.b, '}')
}

func (d Delivery) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("state", string(d.State()))
	o.time("picked_up_at", d.PickedUpAt)
	o.time("reported_at", d.ReportedAt)
	o.text("outcome", string(d.Outcome))
	return append(o.b, '}')
}

// answersText is the result of a tool call that asked a question.
func (i Interaction) answersText() string {
	b := []byte(`{"answers":[`)
	for q, a := range i.End.Answers {
		if q > 0 {
			b = append(b, ',')
		}
		b = i.Request.Questions[q].appendAnswer(b, q, a)
	}
	return string(append(b, `]}`...))
}

func (q Question) appendAnswer(b []byte, index int, a Answer) []byte {
	b = append(strconv.AppendInt(append(b, `{"question_index":`...), int64(index), 10), `,"question":`...)
	b = append(appendString(b, q.Prompt), `,"selected_options":`...)
	b = appendList(b, a.OptionIndices, func(n int, b []byte) []byte {
		b = append(strconv.AppendInt(append(b, `{"option_index":`...), int64(n), 10), `,"label":`...)
		return append(appendString(b, q.Options[n].Label), '}')
	})
	if a.Text != "" {
		b = appendString(append(b, `,"text":`...), a.Text)
	}
	return append(b, '}')
}

// TimeFormat is how the contract writes times: RFC 3339, UTC, always with milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// object writes the members of a JSON object. A member that is empty is left out.
type object struct {
	b     []byte
	wrote bool
}

func (o *object) name(name string) {
	if o.wrote {
		o.b = append(o.b, ',')
	}
	o.wrote = true
	o.b = append(appendString(o.b, name), ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.b = appendString(o.b, value)
	}
}

func (o *object) raw(name string, value []byte) {
	if value != nil {
		o.name(name)
		o.b = append(o.b, value...)
	}
}

func (o *object) flag(name string, value bool) {
	if value {
		o.name(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) number(name string, value int) {
	if value != 0 {
		o.name(name)
		o.b = strconv.AppendInt(o.b, int64(value), 10)
	}
}

func (o *object) time(name string, t time.Time) {
	if !t.IsZero() {
		o.name(name)
		o.b = append(t.UTC().AppendFormat(append(o.b, '"'), TimeFormat), '"')
	}
}

func appendList[T any](b []byte, items []T, each func(T, []byte) []byte) []byte {
	b = append(b, '[')
	for n, item := range items {
		if n > 0 {
			b = append(b, ',')
		}
		b = each(item, b)
	}
	return append(b, ']')
}
