package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// Two things that exclude each other arrive at once, again and again. Whichever is first, everything that is stored agrees on it.

const raceRounds = 300

// races calls both at once, and gives what each was told.
func (s *site) races(first, second func() (answer, error)) (a, b answer) {
	s.t.Helper()
	got := atOnce(s.t, 2, func(n int) (answer, error) {
		if n == 0 {
			return first()
		}
		return second()
	})
	return got[0], got[1]
}

// posts is a call for a race.
func (s *site) posts(key, at, body string) func() (answer, error) {
	return func() (answer, error) { return s.try(key, "POST", at, body) }
}

// agrees checks that the end of an interaction is the same wherever it is told: in itself, its call, the log, the inputs and the audit log.
func (s *site) agrees(t *testing.T, i api.Interaction) {
	t.Helper()
	history, err := s.store.History(t.Context(), interaction.ID(i.ID))
	must(t, err)
	count := map[interaction.EventKind]int{}
	for _, e := range history {
		count[e.Kind]++
	}
	answered := 0
	if i.State == "resolved" {
		answered = 1
	}
	if count[interaction.CreatedEvent] != 1 || count[interaction.AnsweredEvent] != answered || count[interaction.CanceledEvent] != 1-answered || count[interaction.AgentInputEvent] != answered {
		t.Errorf("%s, and its events are %v", i.State, count)
	}
	if n := s.number("SELECT count(*) FROM inputs WHERE interaction = (SELECT key FROM interactions WHERE id = ?)", i.ID); n != answered {
		t.Errorf("%s, and %d inputs", i.State, n)
	}
	if n := s.audited(i.ID); n != 2 {
		t.Errorf("%d audit entries", n)
	}
	s.onceDone(t, i.ToolCallID)
}

// onceDone checks that a call has one result if it is completed, and none if it is not.
func (s *site) onceDone(t *testing.T, call string) {
	t.Helper()
	const differ = `SELECT count(*) FROM tool_calls c WHERE id = ? AND (state = 'completed') <>
		(SELECT count(*) FROM events WHERE tool_call = c.id AND kind = 'tool_result' AND json_extract(body, '$.outcome') = c.outcome)`
	results := s.number("SELECT count(*) FROM events WHERE tool_call = ? AND kind = 'tool_result'", call)
	if n := s.number(differ, call); n != 0 || results > 1 {
		t.Errorf("call %s has %d results, and its state says otherwise", call, results)
	}
}

// tally counts how races went, so that a log shows whether there was one at all.
type tally map[string]int

// TestRaceOfStopAndAnswer checks that what a stop and an answer both want to end is ended by one of them.
func TestRaceOfStopAndAnswer(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	went := tally{}
	for round := range raceRounds {
		body := []string{allow, deny}[round%2]
		asked, at := s.asks(path, bash)
		stopped, answered := s.races(s.posts(s.operator, path+"/cancel", ""), s.posts(s.operator, at+"/resolve", body))
		i := s.gets(path, asked.ID)
		var stop api.Stopped
		read(t, stopped, &stop)
		if stopped.status != 200 || !stop.Affected || stop.Event == nil {
			t.Errorf("round %d: stop: %d %s", round, stopped.status, stopped.body)
		}
		call := s.stands(path, asked.ToolCallID)
		switch {
		case answered.status == http.StatusOK && i.State == "resolved" && (body == allow && call == "completed canceled" || body == deny && call == "completed denied"):
			went["answer"]++
		case answered.code() == "idempotency_key_conflict" && i.State == "canceled" && i.CancelReason == "agent_canceled" && i.ResolvedByInputID == stop.Event.AgentInput.ID && call == "completed canceled":
			went["stop"]++
		default:
			t.Errorf("round %d: answer: %d %s; it is %+v, its call %s", round, answered.status, answered.body, i, call)
		}
		s.agrees(t, i)
		if round%50 == 49 {
			_, path = s.newAgent(fmt.Sprint("swe ", round))
		}
	}
	s.verified()
	t.Log(went)
}

// TestRaceOfSupersedeAndAnswer checks the same of a steering message and an answer.
func TestRaceOfSupersedeAndAnswer(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	went := tally{}
	for round := range raceRounds {
		asked, at := s.asks(path, bash)
		sent, answered := s.races(s.posts(s.operator, path+"/inputs", said("Stop.", supersede)), s.posts(s.operator, at+"/resolve", denied))
		i, in, call := s.gets(path, asked.ID), sent.input(t), s.stands(path, asked.ToolCallID)
		if sent.status != http.StatusCreated || s.inputState(in.ID) != "received" {
			t.Errorf("round %d: sent: %d %s", round, sent.status, sent.body)
		}
		switch {
		case answered.status == http.StatusOK && i.State == "resolved" && i.ResolvedByInputID != in.ID && call == "completed denied":
			went["answer"]++
		case answered.code() == "idempotency_key_conflict" && i.CancelReason == "superseded_by_input" && i.ResolvedByInputID == in.ID && call == "completed canceled":
			went["message"]++
		default:
			t.Errorf("round %d: answer: %d %s; it is %+v, its call %s", round, answered.status, answered.body, i, call)
		}
		s.agrees(t, i)
		if got := s.takes(path); got == nil || got.ID != in.ID {
			t.Errorf("round %d: the agent then got %+v", round, got)
		}
		if round%50 == 49 {
			_, path = s.newAgent(fmt.Sprint("swe ", round))
		}
	}
	s.verified()
	t.Log(went)
}

// TestRaceOfArchiveAndCreate checks that nothing is open of an archived agent, nor waits for it, however close it came.
func TestRaceOfArchiveAndCreate(t *testing.T) {
	s := newSite(t)
	went := tally{}
	for round := range raceRounds {
		path := askable(s)
		what, at, body, key := "request", "/interactions", bash, s.agent
		switch round % 3 {
		case 1:
			what, at, body, key = "message", "/inputs", hello, s.operator
		case 2:
			what, at, body = "report", "/events", output(toolCall("Bash", "{}"), toolCall("ls", "{}", permission("always_allow")))
		}
		archived, made := s.races(s.posts(s.operator, path+"/archive", ""), s.posts(key, path+at, body))
		if archived.status != http.StatusOK {
			t.Errorf("round %d: archive: %d %s", round, archived.status, archived.body)
		}
		switch {
		case made.status == http.StatusCreated:
			went[what+" first"]++
		case made.code() == "conflict":
			went["archive before "+what]++
		default:
			t.Errorf("round %d: %s: %d %s", round, what, made.status, made.body)
		}
		a := s.call(s.operator, "GET", path, "").agent(t)
		const left = `SELECT (SELECT count(*) FROM interactions WHERE agent = a.key AND state = 'open') + (SELECT count(*) FROM inputs WHERE agent = a.key AND state = 'received')
			+ (SELECT count(*) FROM tool_calls WHERE agent = a.key AND state <> 'completed') FROM agents a WHERE id = ?`
		if n := s.number(left, a.ID); n != 0 || a.State != "archived" || a.OpenInteractions != 0 {
			t.Errorf("round %d, %s: %+v, and %d things are left of it", round, what, a, n)
		}
		for _, i := range page[api.Interaction](t, s.call(s.operator, "GET", path+"/interactions", "")).Data {
			if i.CancelReason != "agent_archived" {
				t.Errorf("round %d: %+v", round, i)
			}
			s.agrees(t, i)
		}
	}
	s.verified()
	t.Log(went)
}

// TestRaceOfClaimAndCancel checks that a message that was taken back is not handed out, and one that was handed out cannot be taken back.
func TestRaceOfClaimAndCancel(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	went := tally{}
	for round := range raceRounds {
		in := s.sends(path, said("Hi.", []string{"", steering}[round%2]))
		claimed, canceled := s.races(s.posts(s.agent, path+"/inputs/claim", ""), s.posts(s.operator, path+"/inputs/"+in.ID+"/cancel", ""))
		got, state := claimed.input(t), s.inputState(in.ID)
		told := s.number("SELECT count(*) FROM events WHERE agent = (SELECT key FROM agents WHERE id = ?) AND kind = 'agent_input' AND input_id = ?", agent, in.ID)
		switch {
		case got != nil && got.ID == in.ID && canceled.code() == "state_transition_conflict" && state == "resolved" && told == 1:
			went["claim"]++
		case got == nil && claimed.status == 200 && canceled.status == 200 && state == "canceled" && told == 0:
			went["cancel"]++
		default:
			t.Errorf("round %d: claimed %d %s, canceled %d %s; it is %s, and told %d times", round, claimed.status, claimed.body, canceled.status, canceled.body, state, told)
		}
	}
	t.Log(went)
}

// TestRaceOfResultAndStop checks that a call has the one result or the other.
func TestRaceOfResultAndStop(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	went := tally{}
	for round := range raceRounds {
		var call, asked string
		switch round % 3 {
		case 0:
			call = s.calls(path, toolCall("ls", "{}", permission("always_allow")))[0].ID
		case 1:
			i, at := s.asks(path, bash)
			s.call(s.operator, "POST", at+"/resolve", allow)
			call, asked = i.ToolCallID, i.ID
		case 2:
			c := s.calls(path, toolCall("ask_question", `{"questions":[{"prompt":"P"}]}`))[0]
			call, asked = c.ID, c.InteractionID
		}
		done, stopped := s.races(s.posts(s.agent, path+"/tool-calls/"+call+"/result", result("failed", "x")), s.posts(s.operator, path+"/cancel", ""))
		now := s.stands(path, call)
		first := ""
		switch {
		case done.status == http.StatusCreated && now == "completed failed":
			first = "result"
		case done.code() == "conflict" && now == "completed canceled":
			first = "stop"
		default:
			t.Errorf("round %d: result %d %s, stop %d %s; the call is %s", round, done.status, done.body, stopped.status, stopped.body, now)
		}
		went[first]++
		var stop api.Stopped
		if read(t, stopped, &stop); stopped.status != 200 || !stop.Affected {
			t.Errorf("round %d: stop: %d %s", round, stopped.status, stopped.body)
		}
		s.onceDone(t, call)
		if asked == "" {
			continue
		}
		i := s.gets(path, asked)
		switch reason := map[string]string{"result": "tool_call_completed", "stop": "agent_canceled"}[first]; {
		case round%3 == 1 && (i.State != "resolved" || (i.Delivery.State == "reported") != (first == "result")):
			t.Errorf("round %d: %s was first, and the permission is %+v", round, first, i)
		case round%3 == 2 && i.CancelReason != reason:
			t.Errorf("round %d: %s was first, and the question is %+v", round, first, i)
		}
		s.agrees(t, i)
		if round%50 == 49 {
			_, path = s.newAgent(fmt.Sprint("swe ", round))
		}
	}
	s.verified()
	t.Log(went)
}
