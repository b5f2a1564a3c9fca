package web_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// joining are requests that may take up what was asked before: two of one call, another call, another command, a question.
const (
	call1          = `{"wait_mode":"block","join":{"call_id":"toolu_1"},"tool_call":{"name":"Bash","input":{"command":"ls"},"provider_call_id":"toolu_1"}}`
	call2          = `{"wait_mode":"block","join":{"call_id":"toolu_2"},"tool_call":{"name":"Bash","input":{"command":"ls"},"provider_call_id":"toolu_2"}}`
	noCall         = `{"wait_mode":"block","join":{},"tool_call":{"name":"Bash","input":{"command":"ls"}}}`
	other1         = `{"wait_mode":"block","join":{"call_id":"toolu_1"},"tool_call":{"name":"Bash","input":{"command":"ls -l"},"provider_call_id":"toolu_1"}}`
	never          = `{"wait_mode":"block","tool_call":{"name":"Bash","input":{"command":"ls"},"provider_call_id":"toolu_1"}}`
	joinedQuestion = `{"wait_mode":"block","join":{"call_id":"toolu_1"},"request":{"title":"A?","questions":[{"prompt":"A?","options":[{"label":"x"}]}]}}`
)

// joins asks as the agent, and gives the status and the interaction.
func (s *site) joins(key, path, body string) (int, api.Interaction) {
	s.t.Helper()
	got := s.call(key, "POST", path+"/interactions", body)
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	return got.status, got.interaction(s.t)
}

// leaves has the asker of i be silent until it counts as gone.
func (s *site) leaves(id string) {
	s.t.Helper()
	s.clock.Advance(interaction.AskerGrace)
	s.service.NoticeSilence(s.t.Context())
	s.until(id, "gone", gone)
}

func TestSameCallJoins(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	for _, body := range []string{call1, joinedQuestion} {
		status, first := s.joins(s.agent, path, body)
		if status != http.StatusCreated {
			t.Fatalf("%d", status)
		}
		if status, again := s.joins(s.agent, path, body); status != http.StatusOK || again.ID != first.ID {
			t.Errorf("%d %s, want 200 %s", status, again.ID, first.ID)
		}
	}
	_, first := s.joins(s.agent, path, call1)
	for name, body := range map[string]string{"another call": call2, "no call": noCall, "another command": other1, "one that never joins": never} {
		if status, new := s.joins(s.agent, path, body); status != http.StatusCreated || new.ID == first.ID {
			t.Errorf("%s: %d %s, want a new one", name, status, new.ID)
		}
	}
	// The answer belongs to the call: asked again, it is the same.
	at := path + "/interactions/" + first.ID
	s.call(s.operator, "POST", at+"/resolve", allow)
	for range 2 {
		if status, again := s.joins(s.agent, path, call1); status != http.StatusOK || again.ID != first.ID || again.State != "resolved" {
			t.Errorf("%d %s %s", status, again.ID, again.State)
		}
	}
	s.clock.Advance(interaction.HandOverWithin + time.Second)
	if status, _ := s.joins(s.agent, path, call1); status != http.StatusCreated {
		t.Errorf("%d, want a new one after 10 minutes", status)
	}
}

func TestAskerThatIsGoneIsJoined(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	_, first := s.joins(s.agent, path, call1)
	s.leaves(first.ID)
	if status, again := s.joins(s.agent, path, call2); status != http.StatusOK || again.ID != first.ID {
		t.Errorf("%d %s, want 200 %s", status, again.ID, first.ID)
	}
	p := s.wait(s.agent, path+"/interactions/"+first.ID)
	s.until(first.ID, "back", back)
	if status, new := s.joins(s.agent, path, call2); status != http.StatusCreated || new.ID == first.ID {
		t.Errorf("%d %s: joined one whose asker is there", status, new.ID)
	}
	s.call(s.operator, "POST", path+"/interactions/"+first.ID+"/resolve", allow)
	p.ends()
}

// TestHandOver checks that an answer that reached nobody is handed over once, and not for ever.
func TestHandOver(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	answered := func() api.Interaction {
		_, i := s.joins(s.agent, path, call1)
		s.leaves(i.ID)
		if got := s.call(s.operator, "POST", path+"/interactions/"+i.ID+"/resolve", allow).interaction(t); len(got.Warnings) != 1 {
			t.Errorf("warnings %v", got.Warnings)
		}
		return i
	}
	i := answered()
	s.clock.Advance(interaction.HandOverWithin - time.Second)
	if status, again := s.joins(s.agent, path, call2); status != http.StatusOK || again.ID != i.ID || again.State != "resolved" || again.Delivery.State != "picked_up" {
		t.Errorf("%d %s %s %s", status, again.ID, again.State, again.Delivery.State)
	}
	if status, new := s.joins(s.agent, path, call2); status != http.StatusCreated || new.ID == i.ID {
		t.Errorf("%d: handed over twice", status)
	}

	path = askable(s)
	i = answered()
	s.clock.Advance(interaction.HandOverWithin + time.Second)
	if status, new := s.joins(s.agent, path, call2); status != http.StatusCreated || new.ID == i.ID {
		t.Errorf("%d: handed over too late", status)
	}

	path = askable(s)
	_, ended := s.joins(s.agent, path, call1)
	s.leaves(ended.ID)
	s.call(s.agent, "POST", path+"/interactions/"+ended.ID+"/cancel", "")
	if status, new := s.joins(s.agent, path, call1); status != http.StatusCreated || new.ID == ended.ID {
		t.Errorf("%d: a canceled one was taken up", status)
	}
}

// TestJoinRace has the same asked many times at once: there is one card, and of an answer that waits for its asker one call gets it.
func TestJoinRace(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	ids := s.atOnce(20, path, call1)
	if len(ids) != 1 {
		t.Errorf("%d interactions, want one", len(ids))
	}
	for id := range ids {
		s.leaves(id)
		s.call(s.operator, "POST", path+"/interactions/"+id+"/resolve", allow)
	}
	got := s.atOnce(20, path, noCall)
	for id := range ids {
		if got[id] != 1 {
			t.Errorf("the answer was handed over %d times", got[id])
		}
	}
}

// atOnce asks n times at once, and counts the interactions that it gets.
func (s *site) atOnce(n int, path, body string) map[string]int {
	var mu sync.Mutex
	var asking sync.WaitGroup
	ids := map[string]int{}
	for range n {
		asking.Go(func() {
			got, err := s.try(s.agent, "POST", path+"/interactions", body)
			if err != nil {
				s.t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			ids[got.interaction(s.t).ID]++
		})
	}
	asking.Wait()
	return ids
}

// TestStrangersDoNotJoin checks that nobody takes up what another credential asked, or what another agent asked.
func TestStrangersDoNotJoin(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	_, first := s.joins(s.agent, path, call1)
	s.leaves(first.ID)
	bound := s.bound(strings.TrimPrefix(path, project+"/agents/"))
	if status, again := s.joins(bound, path, call1); status != http.StatusOK || again.ID != first.ID {
		t.Errorf("the agent's own key: %d %s, want 200 %s", status, again.ID, first.ID)
	}
	stranger := s.newKey(interaction.AgentPrincipal, "stranger")
	if status, new := s.joins(stranger, path, call1); status != http.StatusCreated || new.ID == first.ID {
		t.Errorf("another key: %d %s", status, new.ID)
	}
	if status, new := s.joins(s.agent, askable(s), call1); status != http.StatusCreated || new.ID == first.ID {
		t.Errorf("another agent: %d %s", status, new.ID)
	}
}

// TestSuspended checks the workflow that a suspended request pauses, and that its session finds the request again.
func TestSuspended(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	body := `{"wait_mode":"suspend","workflow_id":"wf_1","checkpoint":{"provider":"claude-code","session_id":"s1","cwd":"/src"},"join":{},` + bash[1:]
	_, i := s.joins(s.agent, path, body)
	w, err := s.store.Workflow(t.Context(), s.project.ID, "wf_1")
	must(t, err)
	want := interaction.Checkpoint{Provider: "claude-code", SessionID: "s1", CWD: "/src", InteractionID: interaction.ID(i.ID), BlockedReason: i.Request.Title}
	if w.State != interaction.WorkflowPaused || string(w.InteractionID) != i.ID || w.Checkpoint != want || string(w.AgentID) != i.AgentID {
		t.Errorf("%+v", w)
	}
	if status, again := s.joins(s.agent, path, body); status != http.StatusOK || again.ID != i.ID {
		t.Errorf("%d %s", status, again.ID)
	}
	s.call(s.operator, "POST", path+"/interactions/"+i.ID+"/resolve", allow)
	if status, again := s.joins(s.agent, path, body); status != http.StatusOK || again.State != "resolved" {
		t.Errorf("%d %s", status, again.State)
	}
	if status, _ := s.joins(s.agent, path, body); status != http.StatusCreated {
		t.Errorf("%d, want to be asked anew", status)
	}
	if got := s.call(s.agent, "POST", askable(s)+"/interactions", body); got.status != http.StatusConflict {
		t.Errorf("another agent's workflow: %d %s", got.status, got.body)
	}
	if _, err := s.store.Workflow(t.Context(), s.project.ID, "wf_2"); interaction.CodeOf(err) != interaction.NotFound {
		t.Errorf("an unknown workflow: %v", err)
	}
}

// TestAction checks what is said of a call in words.
func TestAction(t *testing.T) {
	s := newSite(t)
	i, _ := s.asks(askable(s), `{"action":" clean up ",`+bash[1:])
	last := i.Request.Context[len(i.Request.Context)-1]
	if last != (api.ContextItem{Label: "Action", Value: "clean up"}) {
		t.Errorf("%+v", i.Request.Context)
	}
	for body, code := range map[string]string{
		`{"action":" ",` + bash[1:]:                               "validation_failed",
		strings.Replace(joinedQuestion, `{`, `{"action":"x",`, 1): "invalid_request",
		`{"checkpoint":{},` + bash[1:]:                            "invalid_request",
		`{"join":{"call_id":" "},` + bash[1:]:                     "validation_failed",
		`{"join":{"call":"x"},` + bash[1:]:                        "validation_failed",
	} {
		if got := s.call(s.agent, "POST", askable(s)+"/interactions", body); got.code() != code {
			t.Errorf("%s: %d %s, want %s", body, got.status, got.body, code)
		}
	}
}
