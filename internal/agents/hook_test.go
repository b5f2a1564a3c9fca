package agents_test

import (
	"encoding/json"
	"errors"
	"testing"

	"sayso/internal/agents"
)

// hooked is a call of a hook as its client sends it. The first is captured, the others are like it.
const (
	permissionRequest = `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/home/dev/shop","prompt_id":"p1","permission_mode":"default","effort":{"level":"medium"},` +
		`"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"echo hi > out.txt","n":12345678901234567890},` +
		`"permission_suggestions":[{"type":"addDirectories","directories":["/home/dev/shop"],"destination":"session"}]}`
	preToolUse  = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"}`
	postToolUse = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1","tool_response":{"stdout":"a","stderr":""},"duration_ms":3}`
	beforeTool  = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"BeforeTool","timestamp":"2026-11-30T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	generic     = `{"tool_name":"deploy","tool_input":{"to":"production"}}`
)

// Every answer, byte for byte: clients take nothing else.
func TestReply(t *testing.T) {
	allow := agents.Verdict{Decision: "allow", Source: "human", InteractionID: "int_1"}
	noted := agents.Verdict{Decision: "allow", Source: "human", InteractionID: "int_1", Message: "after the backup"}
	changed := agents.Verdict{Decision: "allow", Source: "human", InteractionID: "int_1", UpdatedInput: json.RawMessage(`{"command":"ls <a> & b","n":12345678901234567890}`)}
	remembered := agents.Verdict{Decision: "allow", Source: "human", InteractionID: "int_1", UpdatedPermissions: json.RawMessage(`[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}]`)}
	deny := agents.Verdict{Decision: "deny", Source: "human", InteractionID: "int_1", Message: "not on a Friday"}
	unavailable := agents.Unasked(errors.New("no server answers at http://127.0.0.1:7777"))
	none := agents.Verdict{}
	for _, c := range []struct {
		name   string
		format agents.Format
		call   string
		v      agents.Verdict
		want   string
	}{
		{"Claude Code: allow", "claude", permissionRequest, allow, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		{"Claude Code: allow with a note", "claude", permissionRequest, noted, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		{"Claude Code: allow another input", "claude", permissionRequest, changed, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"ls <a> & b","n":12345678901234567890}}}}`},
		{"Claude Code: allow and remember", "claude", permissionRequest, remembered, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}]}}}`},
		{"Claude Code: deny", "claude", permissionRequest, deny, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not on a Friday"}}}`},
		{"Claude Code: unreachable", "claude", permissionRequest, unavailable, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Sayso could not ask a person, so this is denied (fail closed): no server answers at http://127.0.0.1:7777. Nobody said no. Do not try another way; tell the user that Sayso cannot be reached."}}}`},
		{"Claude Code: no opinion", "claude", permissionRequest, none, `{}`},
		{"Claude Code, PreToolUse: allow", "claude", preToolUse, allow, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`},
		{"Claude Code, PreToolUse: allow with a note", "claude", preToolUse, noted, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"after the backup"}}`},
		{"Claude Code, PreToolUse: allow another input", "claude", preToolUse, changed, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls <a> & b","n":12345678901234567890}}}`},
		{"Claude Code, PreToolUse: deny", "claude", preToolUse, deny, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not on a Friday"}}`},
		{"Claude Code, PreToolUse: no opinion", "claude", preToolUse, none, `{}`},
		{"Claude Code, PostToolUse", "claude", postToolUse, none, `{}`},
		{"Claude Code, PostToolUse: it is too late for any", "claude", postToolUse, deny, `{}`},
		{"Codex: allow", "codex", permissionRequest, remembered, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		{"Codex: allow another input", "codex", permissionRequest, changed, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Allowed, but only with another input, which this hook cannot pass on: {\"command\":\"ls <a> & b\",\"n\":12345678901234567890}. Make the call again with exactly that input."}}}`},
		{"Codex: deny", "codex", permissionRequest, deny, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not on a Friday"}}}`},
		{"Codex, PreToolUse: allow", "codex", preToolUse, noted, `{}`},
		{"Codex, PreToolUse: deny", "codex", preToolUse, deny, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not on a Friday"}}`},
		{"Gemini: allow", "gemini", beforeTool, noted, `{"decision":"allow"}`},
		{"Gemini: deny", "gemini", beforeTool, deny, `{"decision":"deny","reason":"not on a Friday"}`},
		{"Gemini: allow another input", "gemini", beforeTool, changed, `{"decision":"deny","reason":"Allowed, but only with another input, which this hook cannot pass on: {\"command\":\"ls <a> & b\",\"n\":12345678901234567890}. Make the call again with exactly that input."}`},
		{"Gemini: no opinion", "gemini", beforeTool, none, `{}`},
		{"generic: allow", "generic", generic, noted, `{"decision":"allow","source":"human","interaction_id":"int_1","message":"after the backup"}`},
		{"generic: allow another input", "generic", generic, changed, `{"decision":"allow","source":"human","interaction_id":"int_1","updated_input":{"command":"ls <a> & b","n":12345678901234567890}}`},
		{"generic: deny", "generic", generic, deny, `{"decision":"deny","source":"human","interaction_id":"int_1","message":"not on a Friday"}`},
		{"generic: no opinion", "generic", generic, none, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := agents.ReadHook(c.format, []byte(c.call))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(c.v.Reply(c.format, h)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// What is no call of a hook is said to be none, rather than allowed.
func TestReadHookRefuses(t *testing.T) {
	for _, c := range []struct {
		format agents.Format
		call   string
		want   string
	}{
		{"claude", ``, "what the hook was given is not a JSON object as claude sends it: unexpected end of JSON input"},
		{"claude", `[]`, "what the hook was given is not a JSON object as claude sends it: json: cannot unmarshal array into Go value of type agents.Hook"},
		{"claude", `{"tool_name":"Bash"}`, "hook_event_name is missing, so this is not what claude sends to a hook"},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":" "}`, "tool_name is missing, so nobody can tell what PreToolUse is about"},
		{"generic", `{}`, "tool_name is missing, so nobody can tell what PreToolUse is about"},
	} {
		if _, err := agents.ReadHook(c.format, []byte(c.call)); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v, want %s", c.format, c.call, err, c.want)
		}
	}
}
