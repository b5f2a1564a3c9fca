package interaction

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func secs(n int) *int { return &n }

// TestAskNormalised checks the defaults that an ask gets, and what is refused of its shape.
func TestAskNormalised(t *testing.T) {
	call := &ToolCall{Name: "Bash"}
	form := &Request{Title: " T ", Context: []ContextItem{{Label: " L ", Value: " V "}}, Questions: []Question{{Prompt: " P ", Options: []Option{{Label: " O "}}}}}
	long := strings.Repeat("é", 200)
	for _, c := range []struct {
		name string
		ask  Ask
		says string // "": it is taken
		mode WaitMode
		secs int // of the deadline
	}{
		{"a call", Ask{ToolCall: call}, "", Poll, 0},
		{"a form", Ask{Request: form}, "", Poll, 0},
		{"block", Ask{ToolCall: call, WaitMode: Block}, "", Block, DefaultTimeoutSecs},
		{"block for a second", Ask{ToolCall: call, WaitMode: Block, TimeoutSecs: secs(1)}, "", Block, 1},
		{"poll for an hour", Ask{ToolCall: call, WaitMode: Poll, TimeoutSecs: secs(3600)}, "", Poll, 3600},
		{"suspend", Ask{ToolCall: call, WaitMode: Suspend}, "", Suspend, 0},
		{"ids at the limit", Ask{ToolCall: call, WorkflowID: long, TaskID: long, Destination: &Destination{IntegrationID: long}}, "", Poll, 0},
		{"suggestions", Ask{ToolCall: call, Suggestions: json.RawMessage(`[{"a":1e9999}]`)}, "", Poll, 0},
		{"nothing", Ask{}, "either tool_call", "", 0},
		{"both", Ask{ToolCall: call, Request: form}, "not both", "", 0},
		{"another mode", Ask{ToolCall: call, WaitMode: "later"}, "wait_mode", "", 0},
		{"no time", Ask{ToolCall: call, TimeoutSecs: secs(0)}, "timeout_secs: 0", "", 0},
		{"too long", Ask{ToolCall: call, TimeoutSecs: secs(3601)}, "1 to 3600", "", 0},
		{"a blank workflow", Ask{ToolCall: call, WorkflowID: " "}, "workflow_id: must not be blank", "", 0},
		{"a workflow too long", Ask{ToolCall: call, WorkflowID: long + "é"}, "workflow_id: 201 characters", "", 0},
		{"a workflow too long with its blanks", Ask{ToolCall: call, WorkflowID: long + " "}, "workflow_id: 201 characters", "", 0},
		{"NUL in a task", Ask{ToolCall: call, TaskID: "a\x00"}, "task_id: the NUL", "", 0},
		{"a destination of nothing", Ask{ToolCall: call, Destination: &Destination{Conversation: "#x"}}, "destination.integration_id", "", 0},
		{"no tool", Ask{ToolCall: &ToolCall{}}, "tool_call.name", "", 0},
		{"a tool with blanks", Ask{ToolCall: &ToolCall{Name: "Bash "}}, "tool_call.name: leading and trailing", "", 0},
		{"an input that is no object", Ask{ToolCall: &ToolCall{Name: "Bash", Input: json.RawMessage(`[]`)}}, "tool_call.input: must be a JSON object", "", 0},
		{"suggestions that are no list", Ask{ToolCall: call, Suggestions: json.RawMessage(`{}`)}, "suggestions: must be an array", "", 0},
		{"suggestions that are null", Ask{ToolCall: call, Suggestions: json.RawMessage(`null`)}, "suggestions: must be an array", "", 0},
		{"a suggestion that is no object", Ask{ToolCall: call, Suggestions: json.RawMessage(`[{},null]`)}, "suggestions: must be an array of objects", "", 0},
		{"suggestions too deep", Ask{ToolCall: call, Suggestions: json.RawMessage(`[{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}]`)}, "64 levels", "", 0},
		{"no title", Ask{Request: &Request{Questions: form.Questions}}, "request.title", "", 0},
		{"no questions", Ask{Request: &Request{Title: "T"}}, "request.questions: 1 to 20", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.ask.Normalised()
			if c.says != "" {
				if CodeOf(err) != ValidationFailed || !strings.Contains(AsError(err).Message, c.says) {
					t.Errorf("%v, want %s that says %s", err, ValidationFailed, c.says)
				}
				return
			}
			if err != nil || got.WaitMode != c.mode || got.timeout() != c.secs || got.Request == nil {
				t.Errorf("mode %s, %d s, %v", got.WaitMode, got.timeout(), err)
			}
			if c.ask.WorkflowID != got.WorkflowID || c.ask.TaskID != got.TaskID {
				t.Error("an id was changed")
			}
		})
	}
	if form.Title != " T " || call.Input != nil {
		t.Error("what was given was changed")
	}
	got, err := Ask{Request: form}.Normalised()
	want := Request{Title: "T", Context: []ContextItem{{Label: "L", Value: "V"}}, Questions: []Question{{Prompt: "P", Options: []Option{{Label: "O"}}}}}
	if diff := cmp.Diff(want, *got.Request); err != nil || diff != "" {
		t.Errorf("the form, %v (-want +got):\n%s", err, diff)
	}
}

// TestAskMeaning checks which parts go together. It is asked only of those who may ask.
func TestAskMeaning(t *testing.T) {
	call := &ToolCall{Name: "Bash"}
	for _, c := range []struct {
		name string
		ask  Ask
		says string
	}{
		{"suspend with a workflow", Ask{ToolCall: call, WaitMode: Suspend, WorkflowID: "wf_1"}, ""},
		{"suspend without one", Ask{ToolCall: call, WaitMode: Suspend}, "workflow_id"},
		{"suspend with a deadline", Ask{ToolCall: call, WaitMode: Suspend, WorkflowID: "wf_1", TimeoutSecs: secs(1)}, "timeout_secs"},
		{"suggestions with a call", Ask{ToolCall: call, Suggestions: json.RawMessage(`[]`)}, ""},
		{"suggestions with a form", Ask{Request: &Request{}, Suggestions: json.RawMessage(`[]`)}, "suggestions"},
	} {
		err := c.ask.meaning()
		if (err == nil) != (c.says == "") || err != nil && (CodeOf(err) != InvalidRequest || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// TestNewInteraction checks that the time of the ask is that of the interaction, and of its deadline.
func TestNewInteraction(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ask, err := Ask{ToolCall: &ToolCall{Name: "Bash"}, WaitMode: Block}.Normalised()
	if err != nil {
		t.Fatal(err)
	}
	agent := Agent{ID: "agt_1", ProjectID: "proj_1", OrgID: "org_1", Destination: &Destination{IntegrationID: "slack"}}
	i := New(ask, agent, "key_1", now)
	if i.State != Open || i.End != nil || i.Creator != "key_1" || i.CreatedAt != now || i.ExpiresAt != now.Add(10*time.Minute) || i.Destination.IntegrationID != "slack" {
		t.Errorf("%+v", i)
	}
	if string(i.ToolCall.Input) != "{}" || i.ToolCallID != i.ToolCall.ID || ask.ToolCall.ID != "" {
		t.Errorf("tool call %+v, of the ask %+v", i.ToolCall, ask.ToolCall)
	}
}
