package interaction

import (
	"encoding/json"
	"testing"
)

// spoken is a conversation of which only the calls are known.
type spoken struct {
	Conversation
	unfinished []Call
	asked      map[string][]Call // by digest and id
}

func (c spoken) Unfinished() ([]Call, error) { return c.unfinished, nil }
func (c spoken) AskedAs(digest, id string) ([]Call, error) {
	return c.asked[digest+" "+id], nil
}

// TestTakenOver: an ask takes over the call that was told under its id, and no other.
func TestTakenOver(t *testing.T) {
	told := Call{ToolCall: ToolCall{ID: "tcl_told", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), ProviderCallID: "toolu_1"}, AgentID: "agt_1", Creator: "key_1", State: ToolCallReady}
	asker := Principal{Kind: AgentPrincipal, ID: "key_1"}
	for name, c := range map[string]struct {
		change func(*Call, *Ask, *Principal)
		want   ID
	}{
		"the same":           {func(*Call, *Ask, *Principal) {}, "tcl_told"},
		"the agent's key":    {func(_ *Call, _ *Ask, p *Principal) { p.ID, p.AgentID = "key_2", "agt_1" }, "tcl_told"},
		"another's key":      {func(_ *Call, _ *Ask, p *Principal) { p.ID = "key_2" }, ""},
		"another tool":       {func(_ *Call, a *Ask, _ *Principal) { a.ToolCall.Name = "Read" }, ""},
		"another input":      {func(_ *Call, a *Ask, _ *Principal) { a.ToolCall.Input = json.RawMessage(`{"command":"ls -l"}`) }, ""},
		"another call":       {func(_ *Call, a *Ask, _ *Principal) { a.Join.CallID = "toolu_2" }, ""},
		"no id":              {func(c *Call, a *Ask, _ *Principal) { c.ProviderCallID, a.Join.CallID = "", "" }, ""},
		"it never joins":     {func(_ *Call, a *Ask, _ *Principal) { a.Join = nil }, ""},
		"it has a card":      {func(c *Call, _ *Ask, _ *Principal) { c.InteractionID = "int_1" }, ""},
		"a question, a form": {func(_ *Call, a *Ask, _ *Principal) { a.ToolCall = nil }, ""},
	} {
		call, ask, p := told, Ask{ToolCall: &ToolCall{Name: "Bash", Input: told.Input, ProviderCallID: "toolu_1"}, Join: &Join{CallID: "toolu_1"}}, asker
		c.change(&call, &ask, &p)
		got, err := ask.takenOver(spoken{unfinished: []Call{call}}, p)
		var id ID
		if got.ToolCall != nil {
			id = got.ToolCall.ID
		}
		if err != nil || id != c.want {
			t.Errorf("%s: %q %v, want %q", name, id, err, c.want)
		}
		if ask.ToolCall != nil && ask.ToolCall.ID != "" {
			t.Errorf("%s: the caller's own ask was changed", name)
		}
	}
}

// TestAskedElsewhere: what is told is the call of the interaction about it, unless that was canceled or is not the teller's.
func TestAskedElsewhere(t *testing.T) {
	call := ToolCall{Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), ProviderCallID: "toolu_1"}
	form, err := PermissionRequest(call)
	if err != nil {
		t.Fatal(err)
	}
	digest := Head{Kind: PermissionKind, Request: form, ToolCall: &call}.digest()
	asker := Principal{Kind: AgentPrincipal, ID: "key_1"}
	of := func(id ID, creator ID, outcome ToolCallOutcome) Call {
		return Call{ToolCall: ToolCall{ID: id}, AgentID: "agt_1", Creator: creator, Outcome: outcome}
	}
	for name, c := range map[string]struct {
		asked []Call
		want  ID
	}{
		"none":              {nil, ""},
		"one":               {[]Call{of("tcl_1", "key_1", "")}, "tcl_1"},
		"the newest":        {[]Call{of("tcl_2", "key_1", ""), of("tcl_1", "key_1", "")}, "tcl_2"},
		"denied":            {[]Call{of("tcl_1", "key_1", ToolCallDenied)}, "tcl_1"},
		"canceled":          {[]Call{of("tcl_1", "key_1", ToolCallCanceled)}, ""},
		"another's":         {[]Call{of("tcl_1", "key_2", "")}, ""},
		"another's, and it": {[]Call{of("tcl_2", "key_2", ""), of("tcl_1", "key_1", "")}, "tcl_1"},
	} {
		got, err := call.askedElsewhere(spoken{asked: map[string][]Call{digest + " toolu_1": c.asked}}, asker)
		if err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
	}
}
