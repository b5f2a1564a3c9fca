package interaction

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Report is what a runtime's report became.
type Report struct {
	Events []Event
	Calls  []Call // as they are now
}

// CheckReport says what is wrong with the shape of a report: ValidationFailed.
func CheckReport(events []NewEvent) error {
	_, err := normalisedReport(events)
	return err
}

// normalisedReport fills in what may be left out; the first thing wrong is ValidationFailed.
func normalisedReport(events []NewEvent) ([]NewEvent, error) {
	if n := len(events); n < 1 || n > MaxReported {
		return nil, Errorf(ValidationFailed, "events: 1 to %d are allowed, got %d", MaxReported, n)
	}
	out := make([]NewEvent, len(events))
	for n, e := range events {
		var err error
		if out[n], err = e.normalised(fmt.Sprintf("events[%d]", n)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e NewEvent) normalised(field string) (NewEvent, error) {
	if e.Kind != ModelOutputEvent && e.Kind != UserMessage {
		return e, Errorf(ValidationFailed, "%s.event_kind: %q is not allowed; allowed are model_output and user_message", field, clip(string(e.Kind)))
	}
	if e.Kind == UserMessage && e.StopReason != "" {
		return e, Errorf(ValidationFailed, "%s.stop_reason: goes with model_output only", field)
	}
	if e.Kind == UserMessage {
		return e, checkMessage(field+".content_blocks", e.Content)
	}
	content := make([]ContentBlock, len(e.Content))
	for n, b := range e.Content {
		if b.Call != nil && b.Call.Input == nil {
			call := *b.Call
			call.Input = json.RawMessage("{}")
			b.Call = &call
		}
		content[n] = b
	}
	e.Content = content
	return e, firstError(
		verbatim(field+".stop_reason", e.StopReason, maxIdentity),
		checkContent(field+".content_blocks", e.Content, 1, TextBlock, ReasoningBlock, ToolCallBlock),
	)
}

// Report appends what a runtime tells of its agent, all of it or nothing. A tool call that a person is to decide on opens an
// interaction; what the agent's policy or the call's own permission decides is ready, or denied, at once.
func (s *Service) Report(ctx context.Context, p Principal, in Project, agent ID, events []NewEvent, once Once) (r Report, created bool, err error) {
	if events, err = normalisedReport(events); err != nil {
		return r, false, err
	}
	first, again, err := s.converse(ctx, agent, once, func(a Agent) error { return p.runs(in, a) }, func(c Conversation) (Turn, ID, error) {
		w := reporter{in: c, agent: c.Agent(), by: p, now: s.Time(), verdict: func(call ToolCall) Verdict { return s.verdict(in, c.Agent(), &call) }}
		if err := w.agent.active(); err != nil {
			return nil, "", err
		}
		if err := w.all(events); err != nil {
			return nil, "", err
		}
		already, err := c.OpenOf(p.ID)
		if err == nil && w.opened > 0 {
			err = s.hasRoom(already + w.opened - 1)
		}
		if err != nil {
			return nil, "", err
		}
		first, err := firstEvent(c)
		return w.turn, first, err
	})
	if err != nil {
		return r, false, err
	}
	s.seen(agent)
	r, err = s.reported(ctx, agent, first, len(events))
	return r, !again, err
}

// reported reads back the events of a report, which stand in the log one after another, and their calls as they are now.
func (s *Service) reported(ctx context.Context, agent, first ID, count int) (r Report, err error) {
	if r.Events, err = s.eventsFrom(ctx, agent, first, count, AgentInputEvent, ModelOutputEvent); err != nil {
		return r, err
	}
	for _, e := range r.Events {
		for _, b := range e.Told().Content {
			if b.Call == nil {
				continue
			}
			call, err := s.store.Call(ctx, b.Call.ID)
			if err != nil {
				return r, err
			}
			r.Calls = append(r.Calls, call)
		}
	}
	return r, nil
}

// reporter makes the turn of a report.
type reporter struct {
	in      Conversation
	agent   Agent
	by      Principal
	now     time.Time
	verdict func(ToolCall) Verdict
	turn    Turn
	opened  int
}

func (w *reporter) all(events []NewEvent) error {
	for _, e := range events {
		if err := w.event(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *reporter) event(e NewEvent) error {
	if e.Kind == UserMessage {
		in := Input{ID: NewID(InputPrefix, w.now), AgentID: w.agent.ID, Kind: ContentInput, Mode: Immediate, Content: e.Content, By: w.by.actor(), At: w.now}
		w.turn = append(w.turn, in.delivered(w.now)...)
		return nil
	}
	var calls Turn
	content := make([]ContentBlock, len(e.Content))
	for n, b := range e.Content {
		content[n] = b
		if b.Call == nil {
			continue
		}
		call, steps, err := w.reported(*b.Call, b.Permission)
		if err != nil {
			return err
		}
		content[n].Call = &call
		calls = append(calls, steps...)
	}
	output := Event{ID: NewID(EventPrefix, w.now), Kind: ModelOutputEvent, At: w.now, Body: outputBody(content, e.StopReason)}
	w.turn = append(append(w.turn, output), calls...)
	return nil
}

// reported is a call with its id: that of the interaction about it, if another door has opened one, else its own.
func (w *reporter) reported(call ToolCall, mode PermissionMode) (ToolCall, Turn, error) {
	if mode == Elsewhere {
		asked, err := call.askedElsewhere(w.in, w.by)
		if err != nil || asked != "" {
			call.ID = asked
			return call, nil, err
		}
	}
	call.ID = NewID(ToolCallPrefix, w.now)
	steps, err := w.call(call, mode)
	return call, steps, err
}

// DeniedByMode is what an agent is told of a call that its own permission mode denies.
const DeniedByMode = "Denied by the tool's permission mode (always_deny); nobody was asked."

// call decides what becomes of a tool call.
func (w *reporter) call(call ToolCall, mode PermissionMode) (Turn, error) {
	v := w.verdict(call)
	ruling, byPolicy := v.under(mode)
	asks := ruling == RuleAsk || call.asksQuestion()
	if !asks && !byPolicy {
		return w.settled(call, ruling, DeniedByMode), nil
	}
	ask, err := askOf(call)
	if err != nil {
		return nil, err
	}
	if !asks {
		decided := decidedOn(ask, v, w.agent, w.by.ID, w.now)
		return append(Turn{decided}, w.settled(call, ruling, v.Message)...), nil
	}
	w.opened++
	return Turn{Opened{New(ask, w.agent, w.by.ID, w.now)}}, nil
}

// settled is a call about which nobody is asked; denied says why, if it is.
func (w *reporter) settled(call ToolCall, ruling Ruling, denied string) Turn {
	made := Call{ToolCall: call, AgentID: w.agent.ID, Creator: w.by.ID, State: ToolCallReady, CreatedAt: w.now}
	if ruling == RuleAllow {
		return Turn{made}
	}
	move := ToolCallMove{ID: call.ID, To: ToolCallCompleted, Outcome: ToolCallDenied, Result: denied}
	return Turn{made.completed(ToolCallDenied), toolResult("", move, w.now)}
}

// Finish records what became of a tool call. It is for the credential that made the call, or its agent's.
func (s *Service) Finish(ctx context.Context, p Principal, in Project, agent, id ID, r Result, once Once) (call Call, e Event, created bool, err error) {
	if err := r.Check(); err != nil {
		return call, e, false, err
	}
	event, again, err := s.converse(ctx, agent, once, func(a Agent) error { return p.runs(in, a) }, func(c Conversation) (Turn, ID, error) {
		call, err := c.Call(id)
		if err != nil {
			return nil, "", err
		}
		if !p.made(call) {
			return nil, "", errNotFound()
		}
		if err := call.mayFinish(); err != nil {
			return nil, "", err
		}
		guard, err := guardOf(c, call)
		if err != nil {
			return nil, "", err
		}
		first, err := firstEvent(c)
		return call.finished(r, guard, p, s.Time()), first, err
	})
	if err != nil {
		return call, e, false, err
	}
	s.seen(agent)
	list, err := s.eventsFrom(ctx, agent, event, 1, ToolResultEvent)
	if err != nil {
		return call, e, false, err
	}
	call, err = s.store.Call(ctx, id)
	return call, list[0], !again, err
}

func guardOf(c Conversation, call Call) (*Interaction, error) {
	if call.InteractionID == "" {
		return nil, nil
	}
	i, err := c.Interaction(call.InteractionID)
	return &i, err
}

// made says whether p may report on c: an agent key that is bound to no agent on what it made only.
func (p Principal) made(c Call) bool {
	return !p.IsAgent() || p.AgentID == c.AgentID || p.ID == c.Creator
}
