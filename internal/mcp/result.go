package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// success is the text of a tool that did what it is for.
type success struct {
	Tool   string `json:"tool"`
	Result any    `json:"result"`
}

// failed is the text of one that did not.
type failed struct {
	Tool          string `json:"tool"`
	Error         string `json:"error"`
	InteractionID string `json:"interaction_id,omitempty"`
	TimedOut      bool   `json:"timed_out,omitempty"`
	Canceled      bool   `json:"canceled,omitempty"`
	CancelReason  string `json:"cancel_reason,omitempty"`
}

// verdict is the text of request_approval: the form that Claude Code reads and the one that everybody does, in one object.
type verdict struct {
	Tool               string          `json:"tool"`
	Result             any             `json:"result,omitempty"`
	Error              string          `json:"error,omitempty"`
	Behavior           string          `json:"behavior,omitempty"`
	UpdatedInput       json.RawMessage `json:"updatedInput,omitempty"`
	Message            string          `json:"message,omitempty"`
	UpdatedPermissions json.RawMessage `json:"updatedPermissions,omitempty"`
}

// decided is the result of a verdict.
type decided struct {
	ID           string   `json:"id,omitempty"`
	Decision     string   `json:"decision"`
	AnsweredBy   string   `json:"answered_by,omitempty"`
	Source       string   `json:"source"`
	CancelReason string   `json:"cancel_reason,omitempty"`
	Message      string   `json:"message,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
}

// answeredFlat is the result of a flat question.
type answeredFlat struct {
	ID            string   `json:"id"`
	Answer        string   `json:"answer"`
	AnsweredBy    string   `json:"answered_by"`
	AnswerMessage string   `json:"answer_message,omitempty"`
	Warnings      []string `json:"warnings,omitempty"`
}

// answeredEach is the result of structured questions.
type answeredEach struct {
	ID         string         `json:"id"`
	Answers    map[string]any `json:"answers"`
	Response   string         `json:"response,omitempty"`
	Answer     string         `json:"answer"`
	AnsweredBy string         `json:"answered_by"`
	Warnings   []string       `json:"warnings,omitempty"`
}

// answeredPrompt is the result of Claude Code's own questions.
type answeredPrompt struct {
	ID         string            `json:"id"`
	Answers    map[string]string `json:"answers"`
	Response   string            `json:"response,omitempty"`
	AnsweredBy string            `json:"answered_by"`
	Source     string            `json:"source"`
	Warnings   []string          `json:"warnings,omitempty"`
}

// pending is the result of a question that is open still.
type pending struct {
	Status         string   `json:"status"`
	InteractionID  string   `json:"interaction_id"`
	WorkflowID     string   `json:"workflow_id,omitempty"`
	WorkflowPaused bool     `json:"workflow_paused,omitempty"`
	Instruction    string   `json:"instruction"`
	Warnings       []string `json:"warnings,omitempty"`
}

// encode leaves < > & as they are, and raw values byte for byte.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`{"error":"unreachable unless bug in package mcp"}`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// bare is v as the one text block of a result.
func bare(v any, isError bool) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(encode(v))}}, IsError: isError}
}

// structured is bare with the same as structured content.
func structured(v any, isError bool) *sdk.CallToolResult {
	r := bare(v, isError)
	r.StructuredContent = json.RawMessage(encode(v))
	return r
}
