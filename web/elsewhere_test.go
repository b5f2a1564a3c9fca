package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sayso/internal/api"
)

// told1 is the call of call1 and other1 as what a program prints tells it.
var told1 = toolCall("Bash", `{"command":"ls"}`, `,"provider_call_id":"toolu_1"`, permission("elsewhere"))

// TestAskedElsewhere has a call told and asked about, in either order: it is one call with one interaction, whose result marks the answer as
// reported.
func TestAskedElsewhere(t *testing.T) {
	for _, order := range []string{"told first", "asked first", "answered first"} {
		t.Run(order, func(t *testing.T) {
			s := newSite(t)
			path := askable(s)
			var told api.Call
			tell := func() { told = s.calls(path, told1)[0] }
			if order == "told first" {
				if tell(); told.State != "ready" || told.InteractionID != "" {
					t.Errorf("told: %+v", told)
				}
			}
			_, i := s.joins(s.agent, path, call1)
			at := path + "/interactions/" + i.ID
			if order == "asked first" {
				if tell(); told.State != "awaiting_permission" || told.InteractionID != i.ID {
					t.Errorf("told: %+v", told)
				}
			}
			if got := s.stands(path, i.ToolCallID); got != "awaiting_permission" {
				t.Errorf("asked: %s", got)
			}
			s.refusal("a result before the answer", "conflict", "waits for permission", func() answer {
				return s.call(s.agent, "POST", path+"/tool-calls/"+i.ToolCallID+"/result", result("succeeded", "x"))
			})
			s.call(s.operator, "POST", at+"/resolve", allow)
			if order == "answered first" {
				tell()
			}
			if told.ID != i.ToolCallID {
				t.Errorf("the call that was told is %s, the card's is %s", told.ID, i.ToolCallID)
			}
			if got := s.call(s.agent, "POST", path+"/tool-calls/"+told.ID+"/result", result("succeeded", "a.txt")); got.status != http.StatusCreated {
				t.Fatalf("%d %s", got.status, got.body)
			}
			end := s.gets(path, i.ID)
			if end.Delivery.State != "reported" || end.Delivery.Outcome != "succeeded" {
				t.Errorf("the card's answer is %+v", end.Delivery)
			}
			if n := s.number("SELECT count(*) FROM tool_calls"); n != 1 {
				t.Errorf("%d calls", n)
			}
			s.onceDone(t, told.ID)
			s.verified()
		})
	}
}

// TestAskedElsewhereDenied: the denial is the call's end, whichever came first.
func TestAskedElsewhereDenied(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	told := s.calls(path, told1)[0]
	_, i := s.joins(s.agent, path, call1)
	s.call(s.operator, "POST", path+"/interactions/"+i.ID+"/resolve", denied)
	if again := s.calls(path, told1)[0]; again.ID != told.ID || s.stands(path, told.ID) != "completed denied" {
		t.Errorf("%+v is %s", again, s.stands(path, told.ID))
	}
}

// TestAskedElsewhereIsAnother lists what is not the same call, and has one of its own.
func TestAskedElsewhereIsAnother(t *testing.T) {
	for name, ask := range map[string]string{
		"another input": other1, "another id": call2, "one that does not join": never,
	} {
		s := newSite(t)
		path := askable(s)
		_, i := s.joins(s.agent, path, ask)
		told := s.calls(path, told1)[0]
		if told.ID == i.ToolCallID || told.InteractionID != "" {
			t.Errorf("%s: %+v", name, told)
		}
	}
	s := newSite(t)
	path := askable(s)
	_, i := s.joins(s.agent, path, call1)
	s.call(s.agent, "POST", path+"/interactions/"+i.ID+"/cancel", "")
	told := s.calls(path, told1)[0]
	if told.ID == i.ToolCallID || told.State != "ready" {
		t.Errorf("a canceled one: %+v", told)
	}
	key := s.newKey("agent", "another")
	if told := s.call(key, "POST", path+"/events", output(told1)); strings.Contains(string(told.body), i.ToolCallID) {
		t.Errorf("another key's: %s", told.body)
	}
	s.refusal("elsewhere without an id", "validation_failed", "provider_call_id: must be given with permission elsewhere", func() answer {
		return s.call(s.agent, "POST", path+"/events", output(toolCall("ls", "{}", permission("elsewhere"))))
	})
}

// TestAskedElsewhereByPolicy: what is told opens nothing and is not audited, since whoever asks meets the policy; what a policy denies stays so.
func TestAskedElsewhereByPolicy(t *testing.T) {
	s := newRuledSite(t)
	_, path := s.newAgent("swe")
	var got []string
	for _, tool := range []string{"Read", "Slow", "git.commit", "git.push"} {
		call := s.calls(path, toolCall(tool, "{}", `,"provider_call_id":"`+tool+`"`, permission("elsewhere")))[0]
		got = append(got, strings.TrimSpace(call.State+" "+call.Outcome+call.InteractionID))
	}
	if want := []string{"ready", "ready", "ready", "completed denied"}; !slices.Equal(got, want) || len(s.entries()) != 1 {
		t.Errorf("%q, %d entries", got, len(s.entries()))
	}
}

// TestHookReportsTheAnswer: what a hook tells has run was asked about through a permission prompt; the answer is marked as reported.
func TestHookReportsTheAnswer(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("shop")
	prompt := strings.ReplaceAll(call1, "toolu_1", "toolu_9")
	_, i := s.joins(s.agent, path, prompt)
	s.call(s.operator, "POST", path+"/interactions/"+i.ID+"/resolve", allow)
	ran := `{"session_id":"s9","cwd":"/shop","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_9","tool_response":"a.txt"}`
	if got := s.call(s.agent, "POST", "/hooks/claude?agent=shop", ran); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if end := s.gets(path, i.ID); end.Delivery.State != "reported" || s.stands(path, i.ToolCallID) != "completed succeeded" {
		t.Errorf("%+v, the call is %s", end.Delivery, s.stands(path, i.ToolCallID))
	}
}
