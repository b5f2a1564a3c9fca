package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sayso/internal/api"
)

// What the tests of a conversation share: how to send, report and look.

// said is the body of a message.
func said(text string, more ...string) string {
	return fmt.Sprintf(`{"content_blocks":[{"type":"text","text":%q}]%s}`, text, strings.Join(more, ""))
}

const (
	steering  = `,"delivery_mode":"steering"`
	supersede = `,"delivery_mode":"steering","cancel_open_interactions":true`
)

// sends sends a message and gives it as it waits.
func (s *site) sends(path, body string, headers ...string) api.Input {
	s.t.Helper()
	a := s.call(s.operator, "POST", path+"/inputs", body, headers...)
	if a.status != http.StatusCreated {
		s.t.Fatalf("send: %d %s", a.status, a.body)
	}
	var sent api.InputBody
	read(s.t, a, &sent)
	return *sent.Input
}

// toolCall is a content block; more are its other members.
func toolCall(name, input string, more ...string) string {
	return fmt.Sprintf(`{"type":"tool_call","name":%q,"input":%s%s}`, name, input, strings.Join(more, ""))
}

func permission(mode string) string { return fmt.Sprintf(`,"permission":%q`, mode) }

// output is a report of one model_output.
func output(blocks ...string) string {
	return `{"events":[{"event_kind":"model_output","content_blocks":[` + strings.Join(blocks, ",") + `]}]}`
}

// reports reports as the agent.
func (s *site) reports(path, body string, headers ...string) (r api.Reported) {
	s.t.Helper()
	a := s.call(s.agent, "POST", path+"/events", body, headers...)
	if a.status != http.StatusCreated {
		s.t.Fatalf("report: %d %s", a.status, a.body)
	}
	read(s.t, a, &r)
	return r
}

// calls reports tool calls, all in one model_output.
func (s *site) calls(path string, blocks ...string) []api.Call {
	s.t.Helper()
	return s.reports(path, output(blocks...)).ToolCalls
}

// takes claims as the agent; nil: there was nothing.
func (s *site) takes(path string, headers ...string) *api.Input {
	s.t.Helper()
	a := s.call(s.agent, "POST", path+"/inputs/claim", "", headers...)
	if a.status != http.StatusOK {
		s.t.Fatalf("claim: %d %s", a.status, a.body)
	}
	var claimed api.InputBody
	read(s.t, a, &claimed)
	return claimed.Input
}

// stops stops the agent.
func (s *site) stops(path string) (stopped api.Stopped) {
	s.t.Helper()
	a := s.call(s.operator, "POST", path+"/cancel", "")
	if a.status != http.StatusOK {
		s.t.Fatalf("stop: %d %s", a.status, a.body)
	}
	read(s.t, a, &stopped)
	return stopped
}

// result is the body of a result.
func result(outcome, text string) string {
	return fmt.Sprintf(`{"outcome":%q,"content_blocks":[{"type":"text","text":%q}]}`, outcome, text)
}

// conversation is the whole log of an agent.
func (s *site) conversation(path string) (all []api.Event) {
	s.t.Helper()
	for after, more := int64(0), true; more; {
		part := events[api.Event](s.t, s.call(s.operator, "GET", fmt.Sprintf("%s/events?limit=500&after_sequence=%d", path, after), ""))
		all, after, more = append(all, part.Data...), *part.NextAfterSequence, part.HasMore
	}
	return all
}

func events[T any](t testing.TB, a answer) (page api.EventPage[T]) {
	t.Helper()
	if err := json.Unmarshal(a.body, &page); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return page
}

// callOf is a tool call as it is listed.
func (s *site) callOf(path, id string) api.Call {
	s.t.Helper()
	list := page[api.Call](s.t, s.call(s.operator, "GET", path+"/tool-calls?limit=100", ""))
	at := slices.IndexFunc(list.Data, func(c api.Call) bool { return c.ID == id })
	if at < 0 {
		s.t.Fatalf("no tool call %s in %v", id, list.Data)
	}
	return list.Data[at]
}

// stands is where a tool call stands, in words.
func (s *site) stands(path, id string) string {
	s.t.Helper()
	c := s.callOf(path, id)
	return strings.TrimSpace(c.State + " " + c.Outcome)
}

// waiting are the ids in the backlog, in its order.
func (s *site) waiting(path string) (ids []string) {
	s.t.Helper()
	for _, in := range page[api.Input](s.t, s.call(s.operator, "GET", path+"/inputs/backlog?limit=100", "")).Data {
		ids = append(ids, in.ID)
	}
	return ids
}

// inputState is how an input really is, which the API shows of those only that wait or are events.
func (s *site) inputState(id string) (state string) {
	s.t.Helper()
	must(s.t, s.database().QueryRow("SELECT state FROM inputs WHERE id = ?", id).Scan(&state))
	return state
}

// gets is how an interaction now is.
func (s *site) gets(path, id string) api.Interaction {
	s.t.Helper()
	return s.call(s.operator, "GET", path+"/interactions/"+id, "").interaction(s.t)
}

// told is a conversation in words: what each event is, and of whom.
func told(list []api.Event) (lines []string) {
	for _, e := range list {
		switch {
		case e.EventKind == "tool_result":
			lines = append(lines, "tool_result "+e.Outcome+" "+e.ToolCallID)
		case e.AgentInput == nil:
			lines = append(lines, e.EventKind)
		case e.AgentInput.Control != "":
			lines = append(lines, "agent_input "+e.AgentInput.Control)
		default:
			lines = append(lines, "agent_input "+e.AgentInput.InputKind+" "+e.AgentInput.ID)
		}
	}
	return lines
}

// refusal checks that something is refused as it should be, and that nothing is written.
func (s *site) refusal(what, code string, says string, do func() answer) {
	s.t.Helper()
	before := s.writes()
	got := do()
	if got.code() != code || !strings.Contains(got.message(), says) {
		s.t.Errorf("%s: %d %.300s, want %s that says %q", what, got.status, got.body, code, says)
	}
	if s.writes() != before {
		s.t.Errorf("%s: something was written", what)
	}
}

// verified checks that the audit log holds together, and agrees with what it tells of.
func (s *site) verified() {
	s.t.Helper()
	if _, err := s.store.Verify(s.t.Context(), s.project.ID); err != nil {
		s.t.Error("audit:", err)
	}
}
