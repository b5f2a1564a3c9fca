package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// Format is the dialect in which a client calls its hooks.
type Format string

// The formats.
const (
	ClaudeFormat  Format = "claude"
	CodexFormat   Format = "codex"  // Claude Code's shape; an answer that says more than allow or deny is refused
	GeminiFormat  Format = "gemini" // BeforeTool only
	GenericFormat Format = "generic"
)

// Formats are all of them.
var Formats = []Format{ClaudeFormat, CodexFormat, GeminiFormat, GenericFormat}

// The events that a hook is called for. Others are answered without an opinion.
const (
	PermissionRequest  = "PermissionRequest"
	PreToolUse         = "PreToolUse"
	BeforeTool         = "BeforeTool" // Gemini's PreToolUse
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	UserPromptSubmit   = "UserPromptSubmit"
	Stop               = "Stop"
	SessionEnd         = "SessionEnd"
	Notification       = "Notification"
)

// Hook is one call of a hook: what a client is about to do, or did.
type Hook struct {
	Event            string          `json:"hook_event_name"`
	Session          string          `json:"session_id"`
	CWD              string          `json:"cwd"`
	Tool             string          `json:"tool_name"`
	Input            json.RawMessage `json:"tool_input"` // as it came
	CallID           string          `json:"tool_use_id"`
	Suggestions      json.RawMessage `json:"permission_suggestions"`
	Response         json.RawMessage `json:"tool_response"`
	Error            string          `json:"error"`
	Prompt           string          `json:"prompt"`
	Message          string          `json:"message"`
	NotificationType string          `json:"notification_type"`
	Last             string          `json:"last_assistant_message"`
}

// ReadHook reads what a client sends to a hook. What it does not know it leaves aside, since clients grow.
func ReadHook(f Format, body []byte) (h Hook, err error) {
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("what the hook was given is not a JSON object as %s sends it: %w", f, err)
	}
	if h.Event == "" && f == GenericFormat {
		h.Event = PreToolUse
	}
	if h.Event == "" {
		return h, fmt.Errorf("hook_event_name is missing, so this is not what %s sends to a hook", f)
	}
	for _, raw := range []*json.RawMessage{&h.Input, &h.Suggestions, &h.Response} {
		if string(*raw) == "null" {
			*raw = nil
		}
	}
	if h.Input == nil {
		h.Input = json.RawMessage("{}")
	}
	if h.Gates() && strings.TrimSpace(h.Tool) == "" {
		return h, fmt.Errorf("tool_name is missing, so nobody can tell what %s is about", h.Event)
	}
	return h, nil
}

// Gates says whether the client does what it says only if the hook lets it.
func (h Hook) Gates() bool {
	return slices.Contains([]string{PermissionRequest, PreToolUse, BeforeTool}, h.Event)
}

// asksQuestions says whether the call is one of Claude Code's questions to its user. They are answered by changing its input.
func (h Hook) asksQuestions(f Format) bool {
	return h.Tool == "AskUserQuestion" && (f == ClaudeFormat || f == GenericFormat)
}

// ownTool says whether the call is of a tool of ours that asks a person itself. Those that answer are never among them.
func (h Hook) ownTool() bool {
	rest, ours := strings.CutPrefix(h.Tool, "mcp__sayso__")
	return ours && slices.Contains([]string{
		"ask", "request_approval", "await_answer", "animus_agent_ask", "animus_agent_request_approval", "animus_agent_await",
	}, rest)
}

// Verdict is the answer of a hook.
type Verdict struct {
	Decision           string          `json:"decision,omitempty"` // allow, deny; "": no opinion, the client goes on as if there were no hook
	Source             string          `json:"source,omitempty"`   // human, policy, own_tool, timeout, canceled, unavailable
	InteractionID      string          `json:"interaction_id,omitempty"`
	Message            string          `json:"message,omitempty"` // why, with a deny always
	UpdatedInput       json.RawMessage `json:"updated_input,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updated_permissions,omitempty"`
}

// Reply is what the hook answers in the words of its client.
func (v Verdict) Reply(f Format, h Hook) []byte {
	switch {
	case v.Decision == "" || !h.Gates():
		return []byte("{}")
	case f == GenericFormat:
		return encode(v)
	case f == CodexFormat || f == GeminiFormat:
		v = v.plain()
	}
	switch {
	case f == GeminiFormat:
		return encode(geminiReply{v.Decision, v.Message})
	case f == CodexFormat && h.Event == PreToolUse && v.Decision == "allow":
		return []byte("{}") // Codex takes an allow there with a changed input only; without an opinion it goes on
	case h.Event == PermissionRequest:
		return specific(permissionReply{h.Event, permissionDecision{v.Decision, v.UpdatedInput, v.UpdatedPermissions, v.denial()}})
	}
	return specific(toolReply{h.Event, v.Decision, v.Message, v.UpdatedInput})
}

// plain is v for a client that can be told allow and deny and nothing else. What a person changed must not run unchanged.
func (v Verdict) plain() Verdict {
	if v.Decision == "allow" && v.UpdatedInput != nil {
		v.Decision = "deny"
		v.Message = "Allowed, but only with another input, which this hook cannot pass on: " + string(v.UpdatedInput) + ". Make the call again with exactly that input."
	}
	if v.Decision == "allow" {
		v.Message = ""
	}
	v.UpdatedInput, v.UpdatedPermissions = nil, nil
	return v
}

func (v Verdict) denial() string {
	if v.Decision == "deny" {
		return v.Message
	}
	return ""
}

type permissionReply struct {
	HookEventName string             `json:"hookEventName"`
	Decision      permissionDecision `json:"decision"`
}

type permissionDecision struct {
	Behavior           string          `json:"behavior"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updatedPermissions,omitempty"`
	Message            string          `json:"message,omitempty"`
}

type toolReply struct {
	HookEventName            string          `json:"hookEventName"`
	PermissionDecision       string          `json:"permissionDecision"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput             json.RawMessage `json:"updatedInput,omitempty"`
}

type geminiReply struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
}

func specific(reply any) []byte {
	return encode(struct {
		Output any `json:"hookSpecificOutput"`
	}{reply})
}

// encode leaves < > & as they are: the input must come back as it was.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("{}") // unreachable: raw parts were read as JSON before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// verdictOf is the verdict on a call whose interaction has ended.
func verdictOf(i api.Interaction) Verdict {
	v := Verdict{Decision: "deny", Source: "human", InteractionID: i.ID}
	answer, ok := answered(i, 0)
	switch {
	case !ok:
		return unanswered(i)
	case answer.OptionIndices[0] != 0:
		v.Message = cmp.Or(answer.Text, "Denied by "+inbox.AnsweredBy(i)+". No reason was given.")
		return v
	}
	v.Decision = "allow"
	if d := i.Decision; d != nil {
		v.Message, v.UpdatedInput, v.UpdatedPermissions = d.Note, d.UpdatedInput, d.UpdatedPermissions
	}
	return v
}

// unanswered is the verdict on what ended without an answer: silence is a no, and is not told as one.
func unanswered(i api.Interaction) Verdict {
	v := Verdict{Decision: "deny", Source: "canceled", InteractionID: i.ID}
	if i.CancelReason == "expired" {
		v.Source = "timeout"
		v.Message = fmt.Sprintf("Nobody answered within %d s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it.", i.TimeoutSecs)
		return v
	}
	v.Message = "The request was canceled: " + cmp.Or(cancelTexts[i.CancelReason], i.CancelReason) + ". It is not allowed; do not act on it."
	return v
}

var cancelTexts = map[string]string{
	"superseded_by_input": "a newer message to the agent took its place",
	"agent_canceled":      "the agent was told to stop",
	"agent_archived":      "the agent was archived",
	"tool_call_completed": "the tool call ended without it",
	"asker_canceled":      "the agent that asked withdrew it",
}

// ruled is the verdict of a policy.
func ruled(p api.PolicyDecision, tool string) Verdict {
	v := Verdict{Decision: "deny", Source: "policy", Message: p.Message}
	if p.Decision == "allow" {
		v.Decision = "allow"
	} else if v.Message == "" {
		v.Message = strings.TrimSpace(fmt.Sprintf("The approval policy denies %s (%s %s", tool, p.Source, p.Pattern)) + ")."
	}
	return v
}

// Unasked is the verdict of a gate that could not ask anybody.
func Unasked(err error) Verdict {
	return Verdict{Decision: "deny", Source: "unavailable", Message: "Sayso could not ask a person, so this is denied (fail closed): " +
		strings.TrimRight(err.Error(), ".") + ". Nobody said no. Do not try another way; tell the user that Sayso cannot be reached."}
}

// Unless is v, or no opinion if only advice is wanted.
func (v Verdict) Unless(advise bool) Verdict {
	if advise && (v.Source == "unavailable" || v.Source == "timeout") {
		return Verdict{}
	}
	return v
}
