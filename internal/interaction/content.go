package interaction

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// BlockType says what a content block is.
type BlockType string

// The types of a content block.
const (
	TextBlock      BlockType = "text"
	ReasoningBlock BlockType = "reasoning" // of a model's output only
	ToolCallBlock  BlockType = "tool_call" // of a model's output only
)

// ContentBlock is one piece of what was said to an agent or by it.
type ContentBlock struct {
	Type       BlockType
	Text       string         // of text and reasoning
	Call       *ToolCall      // of a tool call
	Permission PermissionMode // of a tool call, as its runtime wants it: "" leaves it to the policy, which asks a person unless told otherwise
}

// PermissionMode says of a tool whether a person is to be asked.
type PermissionMode string

// The permission modes.
const (
	AlwaysAllow PermissionMode = "always_allow"
	AlwaysAsk   PermissionMode = "always_ask"
	AlwaysDeny  PermissionMode = "always_deny"

	// Elsewhere says that the agent's program has its own way of asking, which comes to us as an [Ask], or not at all if it need not ask. What is
	// reported here of the call is told only, and opens nothing. See [ToolCall.askedElsewhere].
	Elsewhere PermissionMode = "elsewhere"
)

var permissionModes = []PermissionMode{"", AlwaysAllow, AlwaysAsk, AlwaysDeny, Elsewhere}

// The limits of what is said at once.
const (
	MaxBlocks    = 100
	MaxTextBytes = 512 << 10 // of one block
)

// checkContent says what is wrong with blocks of the given types. A message has something in it; a tool may have printed nothing.
func checkContent(field string, blocks []ContentBlock, least int, types ...BlockType) error {
	if n := len(blocks); n < least || n > MaxBlocks {
		return Errorf(ValidationFailed, "%s: %d to %d blocks are allowed, got %d", field, least, MaxBlocks, n)
	}
	for n, b := range blocks {
		if err := b.check(fmt.Sprintf("%s[%d]", field, n), types); err != nil {
			return err
		}
	}
	return nil
}

func (b ContentBlock) check(field string, types []BlockType) error {
	allowed := false
	for _, t := range types {
		allowed = allowed || t == b.Type
	}
	if !allowed {
		return Errorf(ValidationFailed, "%s.type: %q is not allowed here; allowed are %v", field, clip(string(b.Type)), types)
	}
	if b.Type == ToolCallBlock {
		return b.checkCall(field)
	}
	if hasNUL(b.Text) {
		return Errorf(ValidationFailed, "%s.text: the NUL character is not allowed", field)
	}
	if n := len(b.Text); n > MaxTextBytes {
		return Errorf(ValidationFailed, "%s.text: %d bytes are too many; at most %d (512 KiB) are allowed", field, n, MaxTextBytes)
	}
	return nil
}

func (b ContentBlock) checkCall(field string) error {
	if !slices.Contains(permissionModes, b.Permission) {
		return Errorf(ValidationFailed, "%s.permission: %q is unknown; allowed are always_allow, always_ask, always_deny and elsewhere", field, clip(string(b.Permission)))
	}
	if b.Permission == Elsewhere && b.Call.ProviderCallID == "" {
		return Errorf(ValidationFailed, "%s.provider_call_id: must be given with permission elsewhere; it is how the call is known to whoever asks about it", field)
	}
	if err := b.Call.check(field); err != nil {
		return err
	}
	if !b.Call.asksQuestion() {
		return nil
	}
	_, err := b.Call.question(field + ".input")
	return err
}

// checkMessage says what is wrong with what a person writes to an agent: text, and not blank.
func checkMessage(field string, blocks []ContentBlock) error {
	if err := checkContent(field, blocks, 1, TextBlock); err != nil {
		return err
	}
	for n, b := range blocks {
		if strings.TrimSpace(b.Text) == "" {
			return Errorf(ValidationFailed, "%s[%d].text: must not be blank", field, n)
		}
	}
	return nil
}

func (b ContentBlock) appendJSON(to []byte) []byte {
	o := object{b: append(to, '{')}
	o.text("type", string(b.Type))
	if b.Type != ToolCallBlock {
		o.name("text")
		return append(appendString(o.b, b.Text), '}')
	}
	o.text("tool_call_id", string(b.Call.ID))
	o.text("name", b.Call.Name)
	o.raw("input", b.Call.Input)
	o.text("provider_call_id", b.Call.ProviderCallID)
	o.text("permission", string(b.Permission))
	return append(o.b, '}')
}

// UnmarshalJSON reads what appendJSON wrote.
func (b *ContentBlock) UnmarshalJSON(text []byte) error {
	var in struct {
		Type       BlockType      `json:"type"`
		Text       string         `json:"text"`
		ID         ID             `json:"tool_call_id"`
		Permission PermissionMode `json:"permission"`
		ToolCall
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*b = ContentBlock{Type: in.Type, Text: in.Text, Permission: in.Permission}
	if b.Type == ToolCallBlock {
		in.ToolCall.ID = in.ID
		b.Call = &in.ToolCall
	}
	return nil
}
