package web

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// newEvents is a report as it comes. Which members of a block go together depends on its type.
type newEvents struct {
	Events []struct {
		EventKind     string     `json:"event_kind"`
		ContentBlocks []newBlock `json:"content_blocks"`
		StopReason    string     `json:"stop_reason"`
	} `json:"events"`
}

type newBlock struct {
	Type           string         `json:"type"`
	Text           *string        `json:"text"`
	Name           *string        `json:"name"`
	Input          jsontext.Value `json:"input"`
	ProviderCallID *string        `json:"provider_call_id"`
	Permission     *string        `json:"permission"`
}

// block says which member is missing, or belongs to another type.
func (b newBlock) block(field string) (interaction.ContentBlock, error) {
	out := interaction.ContentBlock{Type: interaction.BlockType(b.Type)}
	isCall := out.Type == interaction.ToolCallBlock
	for _, member := range []struct {
		name         string
		there, wants bool
	}{
		{"text", b.Text != nil, !isCall}, {"name", b.Name != nil, isCall}, {"input", b.Input != nil, isCall},
		{"provider_call_id", b.ProviderCallID != nil, isCall}, {"permission", b.Permission != nil, isCall},
	} {
		if member.there && !member.wants {
			return out, interaction.Errorf(interaction.ValidationFailed, "%s.%s: does not go with type %q", field, member.name, clip(b.Type))
		}
	}
	switch {
	case !isCall && b.Text == nil:
		return out, interaction.Errorf(interaction.ValidationFailed, "%s.text: is missing", field)
	case !isCall:
		out.Text = *b.Text
		return out, nil
	case b.Name == nil:
		return out, interaction.Errorf(interaction.ValidationFailed, "%s.name: is missing", field)
	}
	out.Call = &interaction.ToolCall{Name: *b.Name, Input: []byte(b.Input), ProviderCallID: given(b.ProviderCallID)}
	out.Permission = interaction.PermissionMode(given(b.Permission))
	return out, nil
}

func given(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (n newEvents) events() ([]interaction.NewEvent, error) {
	out := make([]interaction.NewEvent, len(n.Events))
	for e, in := range n.Events {
		out[e] = interaction.NewEvent{Kind: interaction.EventKind(in.EventKind), StopReason: in.StopReason}
		for b, block := range in.ContentBlocks {
			read, err := block.block(fmt.Sprintf("events[%d].content_blocks[%d]", e, b))
			if err != nil {
				return nil, err
			}
			out[e].Content = append(out[e].Content, read)
		}
	}
	return out, nil
}

// reportEvents appends what a runtime tells of its agent.
func (s *Server) reportEvents(c echo.Context) error {
	var in newEvents
	body, err := s.readJSON(c, &in, "/events/*/content_blocks/*/input")
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	events, err := in.events()
	if err != nil {
		return err
	}
	project, agent, err := s.agentInProject(c)
	if err != nil {
		return firstOf(interaction.CheckReport(events), err)
	}
	r, created, err := s.service.Report(c.Request().Context(), principal(c), project, agent, events, once(c, key, "POST events "+string(agent), body))
	if err != nil {
		return err
	}
	return writeJSON(c, createdOr(created), func(b []byte) []byte {
		b = appendAll(append(b, `{"events":`...), r.Events, interaction.Event.AppendJSON)
		return append(appendAll(append(b, `,"tool_calls":`...), r.Calls, interaction.Call.AppendJSON), '}')
	})
}

func appendAll[T any](b []byte, items []T, each func(T, []byte) []byte) []byte {
	b = append(b, '[')
	for n, item := range items {
		if n > 0 {
			b = append(b, ',')
		}
		b = each(item, b)
	}
	return append(b, ']')
}

// writeList answers with one page of a list.
func writeList[T any](c echo.Context, list []T, next *interaction.Cursor, each func(T, []byte) []byte) error {
	return writeJSON(c, http.StatusOK, func(b []byte) []byte {
		b = append(appendAll(append(b, `{"data":`...), list, each), `,"next_cursor":`...)
		if next == nil {
			return append(b, `null}`...)
		}
		return append(quoted(b, next.String()), '}')
	})
}

// eventsAsked reads which part of the log is asked for.
func eventsAsked(q *query) interaction.EventFilter {
	f := interaction.EventFilter{
		After: q.sequence("after_sequence"), Before: q.sequence("before_sequence"),
		Limit: q.number("limit", 1, interaction.MaxEventLimit, interaction.DefaultEventLimit),
	}
	if q.has("after_sequence") && q.has("before_sequence") {
		q.fail("before_sequence: goes without after_sequence; a page is asked for forward or backward")
	}
	if q.has("before_sequence") {
		f.Before = max(f.Before, 1) // nothing is before either
	}
	return f
}

// sequence reads a place in the log.
func (q *query) sequence(name string) int64 {
	if !q.has(name) {
		return 0
	}
	n, err := strconv.ParseUint(q.text(name), 10, 63) // which takes no sign
	if err != nil {
		q.fail("%s: %q is not a sequence; a whole number from 0 is", name, q.text(name))
	}
	return int64(n)
}

func (s *Server) listEvents(c echo.Context) error {
	q := queryOf(c, "after_sequence", "before_sequence", "limit")
	f := eventsAsked(q)
	project, agent, err := s.agentInProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	f.Agent, f.Kinds = agent, interaction.ConversationEvents
	events, more, err := s.service.Events(c.Request().Context(), principal(c), project, f)
	if err != nil {
		return err
	}
	return writeEvents(c, f, events, more, interaction.Event.AppendJSON)
}

func (s *Server) listLifecycle(c echo.Context) error {
	q := queryOf(c, "after_sequence", "before_sequence", "limit")
	f := eventsAsked(q)
	project, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	f.Project = project.ID
	events, more, err := s.service.Lifecycle(c.Request().Context(), principal(c), f)
	if err != nil {
		return err
	}
	return writeEvents(c, f, events, more, s.appendLifecycle)
}

func (s *Server) appendLifecycle(e interaction.Event, b []byte) []byte {
	return e.AppendLifecycle(b, s.config.Command)
}

// writeEvents answers with a part of the log, and where the next one begins.
func writeEvents(c echo.Context, f interaction.EventFilter, events []interaction.Event, more bool, each func(interaction.Event, []byte) []byte) error {
	next, name := f.After, "next_after_sequence"
	if len(events) > 0 {
		next = events[len(events)-1].Sequence
	}
	if f.Before != 0 {
		next, name = f.Before, "next_before_sequence"
		if len(events) > 0 {
			next = events[0].Sequence
		}
	}
	return writeJSON(c, http.StatusOK, func(b []byte) []byte {
		b = appendAll(append(b, `{"data":`...), events, each)
		return fmt.Appendf(b, `,"%s":%d,"has_more":%t}`, name, next, more)
	})
}

func (s *Server) listToolCalls(c echo.Context) error {
	q := queryOf(c, "state", "limit", "cursor", "order")
	f := interaction.CallFilter{State: oneOf(q, "state", interaction.ToolCallStates...), Page: q.page()}
	project, agent, err := s.agentInProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	f.Agent = agent
	calls, next, err := s.service.ToolCalls(c.Request().Context(), principal(c), project, f)
	if err != nil {
		return err
	}
	return writeList(c, calls, next, interaction.Call.AppendJSON)
}

// newResult is a result as it comes.
type newResult struct {
	Outcome       string          `json:"outcome"`
	ContentBlocks []api.TextBlock `json:"content_blocks"`
}

// finishToolCall records what became of a tool call.
func (s *Server) finishToolCall(c echo.Context) error {
	var in newResult
	body, err := s.readJSON(c, &in)
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	if in.ContentBlocks == nil {
		return interaction.Errorf(interaction.ValidationFailed, "content_blocks: is missing; a tool that printed nothing has none: []")
	}
	content, err := textBlocks("content_blocks", in.ContentBlocks)
	if err != nil {
		return err
	}
	id, err := pathID(c, "call", interaction.ToolCallPrefix)
	if err != nil {
		return err
	}
	r := interaction.Result{Outcome: interaction.ToolCallOutcome(in.Outcome), Content: content}
	project, agent, err := s.agentInProject(c)
	if err != nil {
		return firstOf(r.Check(), err)
	}
	call, event, created, err := s.service.Finish(c.Request().Context(), principal(c), project, agent, id, r, once(c, key, "POST result "+string(id), body))
	if err != nil {
		return err
	}
	return writeJSON(c, createdOr(created), func(b []byte) []byte {
		b = append(event.AppendJSON(append(b, `{"event":`...)), `,"tool_call":`...)
		return append(call.AppendJSON(b), '}')
	})
}
