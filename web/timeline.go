package web

import (
	"context"
	"slices"
	"strings"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// timelineAtOnce is how many events of a conversation a page shows.
const timelineAtOnce = 100

// timeline makes entries of events. A result stands with its call where both are in view; an interaction stands where it ended.
type timeline struct {
	server  *Server
	p       presenter
	ctx     context.Context
	who     interaction.Principal
	in      interaction.Project
	results map[interaction.ID]interaction.Event // of calls, among the events
	called  map[interaction.ID]bool              // calls that one of the events shows
}

func (s *Server) timeline(ctx context.Context, who interaction.Principal, in interaction.Project) *timeline {
	return &timeline{
		server: s, p: s.presenter(in, who), ctx: ctx, who: who, in: in,
		results: map[interaction.ID]interaction.Event{}, called: map[interaction.ID]bool{},
	}
}

// entries are those of the events that have something to show.
func (t *timeline) entries(events []interaction.Event) (list []views.Entry, err error) {
	for _, e := range events {
		if e.Kind == interaction.ToolResultEvent {
			t.results[e.ToolCallID] = e
		}
	}
	for _, e := range events {
		entry, shown, err := t.entry(e)
		if err != nil {
			return nil, err
		}
		if shown {
			list = append(list, entry)
		}
	}
	return list, nil
}

func (t *timeline) entry(e interaction.Event) (entry views.Entry, shown bool, err error) {
	entry = views.Entry{Sequence: e.Sequence, At: e.At, Now: t.p.now}
	switch {
	case slices.Contains(interaction.LifecycleEvents, e.Kind):
		entry.Card, err = t.card(e)
	case e.Kind == interaction.AgentInputEvent && e.InteractionID != "":
		return entry, false, nil // the card tells
	case e.Kind == interaction.AgentInputEvent:
		entry.Message, entry.Divider = inputEntry(e.Told())
	case e.Kind == interaction.ModelOutputEvent:
		entry.Output, err = t.output(e.Told())
	default:
		entry.Result, err = t.lone(e)
		return entry, entry.Result != nil, err
	}
	return entry, true, err
}

func (t *timeline) card(e interaction.Event) (*views.Card, error) {
	cards, err := t.server.present(t.ctx, t.p, []interaction.Record{*e.Record})
	if err != nil {
		return nil, err
	}
	return &cards[0], nil
}

// inputEntry is a message, or the divider that a control makes.
func inputEntry(told interaction.Told) (*views.Message, *views.Divider) {
	in := told.AgentInput
	by := display.Line(in.By.Name)
	switch in.Control {
	case interaction.StopControl:
		return nil, &views.Divider{Word: "Stopped", By: by, Canceled: in.Canceled}
	case interaction.ArchiveControl:
		return nil, &views.Divider{Word: "Archived", By: by, Canceled: in.Canceled}
	}
	m := &views.Message{From: by, Channel: string(in.By.Channel), Steering: in.Mode == interaction.Steering, Superseded: in.Canceled}
	for _, block := range in.Content {
		m.Text = append(m.Text, block.Text)
	}
	return m, nil
}

func (t *timeline) output(told interaction.Told) (*views.Output, error) {
	o := &views.Output{}
	if told.StopReason != "" && !slices.Contains(ordinaryStops, told.StopReason) {
		o.StopReason = told.StopReason
	}
	for _, b := range told.Content {
		switch {
		case b.Call != nil:
			call, err := t.call(b.Call.ID)
			if err != nil {
				return nil, err
			}
			o.Blocks = append(o.Blocks, views.Block{Call: &call})
		case strings.TrimSpace(b.Text) == "":
		case b.Type == interaction.ReasoningBlock:
			o.Blocks = append(o.Blocks, views.Block{Reasoning: b.Text})
		default:
			o.Blocks = append(o.Blocks, views.Block{Text: b.Text})
		}
	}
	return o, nil
}

// ordinaryStops are reasons to stop that mean that the agent had said what it wanted, as the model providers spell them.
var ordinaryStops = []string{"end_turn", "tool_use", "stop", "tool_calls", "stop_sequence"}

// call is a tool call as it stands now, with its result if that is among the events.
func (t *timeline) call(id interaction.ID) (views.Call, error) {
	call, err := t.server.service.Call(t.ctx, id)
	if err != nil {
		return views.Call{}, err
	}
	t.called[id] = true
	out := t.p.call(call)
	if e, ok := t.results[id]; ok {
		out.Result = t.result(call, e)
	}
	return out, nil
}

// lone is a result that stands apart: its call is not among the events. What only says how its interaction ended is left out, since the card does.
func (t *timeline) lone(e interaction.Event) (*views.Result, error) {
	if t.called[e.ToolCallID] {
		return nil, nil
	}
	call, err := t.server.service.Call(t.ctx, e.ToolCallID)
	if err != nil {
		return nil, err
	}
	if call.InteractionID != "" {
		told, err := t.byItsEnd(call, e.Told().Outcome)
		if told || err != nil {
			return nil, err
		}
	}
	return t.result(call, e), nil
}

// byItsEnd says whether the end of its interaction is all that a result tells.
func (t *timeline) byItsEnd(call interaction.Call, outcome interaction.ToolCallOutcome) (bool, error) {
	if outcome != interaction.ToolCallSucceeded {
		return outcome != interaction.ToolCallFailed, nil
	}
	r, err := t.server.service.Get(t.ctx, t.who, interaction.Ref{Project: t.in.ID, ID: call.InteractionID})
	if err != nil {
		return false, err
	}
	i, err := r.Interaction()
	return i.Kind == interaction.QuestionKind && i.State == interaction.Resolved, err
}

func (t *timeline) result(call interaction.Call, e interaction.Event) *views.Result {
	told := e.Told()
	texts := make([]string, len(told.Content))
	for n, b := range told.Content {
		texts[n] = b.Text
	}
	return &views.Result{
		CallID: string(call.ID), Name: display.Line(call.Name), Outcome: string(told.Outcome), Text: shortened(strings.Join(texts, "\n")), At: e.At,
	}
}

// shortened shows a text, up to what a page holds of one.
func shortened(s string) display.Text {
	if len(s) > shownAtOnce {
		s = beginning(s, shownAtOnce) + "\n…"
	}
	return display.Show(s)
}

// callVersion orders the states of a call: it only moves on. One that was told as ready may still be asked about, and then be ready again.
func callVersion(c interaction.Call) int64 {
	switch {
	case c.State == interaction.ToolCallCompleted:
		return 4
	case c.State == interaction.ToolCallReady && c.InteractionID != "":
		return 3
	case c.State == interaction.ToolCallReady:
		return 1
	}
	return 2
}

func (p presenter) call(c interaction.Call) views.Call {
	out := views.Call{
		ID: string(c.ID), Version: callVersion(c), Name: display.Line(c.Name), Gist: display.Line(gist(c.Input)),
		State: views.CallState(c.State), Outcome: string(c.Outcome),
	}
	if title, asks := c.AsksQuestion(); asks {
		out.Gist = display.Line(title)
	}
	if string(c.Input) != "{}" {
		out.Input = shortened(string(c.Input))
	}
	if c.InteractionID != "" {
		out.URL = p.interactionURL(c.InteractionID)
	}
	return out
}

// gistMost is how much of an input is shown in a line.
const gistMost = 200

// gist is the first text of an input, which mostly says what it is about: a command, a path, a question; or else its beginning.
func gist(input []byte) string {
	request, err := interaction.PermissionRequest(interaction.ToolCall{Input: input})
	text := string(input)
	if err == nil && len(request.Context) > 0 {
		text = request.Context[0].Value
	}
	return firstLine(text)
}

// firstLine is the beginning of a text, for a place that has one line.
func firstLine(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > gistMost {
		line, more = beginning(line, gistMost), true
	}
	if more {
		line += " …"
	}
	return line
}

// waiting presents what the agent has not taken yet.
func (p presenter) waiting(agent interaction.Agent, inputs []interaction.Input, canWrite bool) views.Waiting {
	w := views.Waiting{Version: agent.Version, CanWrite: canWrite && agent.State == interaction.AgentActive, Now: p.now}
	first := len(inputs) - len(queued(inputs))
	for n, in := range inputs {
		at := p.agentURL(agent.ID) + "/inputs/" + string(in.ID)
		shown := views.WaitingInput{
			ID: string(in.ID), Text: shortened(messageText(in)), From: display.Line(in.By.Name), At: in.At, Steering: in.Mode == interaction.Steering,
			First: n == first, Last: n == len(inputs)-1, CancelURL: at + "/cancel", PromoteURL: at + "/promote", DemoteURL: at + "/demote",
			FrontURL: at + "/move?position=front",
		}
		if n > first {
			shown.UpURL = at + "/move?position=before&anchor=" + string(inputs[n-1].ID)
		}
		if n >= first && n < len(inputs)-1 {
			shown.DownURL = at + "/move?position=after&anchor=" + string(inputs[n+1].ID)
		}
		w.Inputs = append(w.Inputs, shown)
	}
	return w
}

func queued(inputs []interaction.Input) (list []interaction.Input) {
	for _, in := range inputs {
		if in.Mode == interaction.Queued {
			list = append(list, in)
		}
	}
	return list
}

func messageText(in interaction.Input) string {
	texts := make([]string, len(in.Content))
	for n, b := range in.Content {
		texts[n] = b.Text
	}
	return strings.Join(texts, "\n")
}
