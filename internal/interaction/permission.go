package interaction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// PermissionQuestions is the one question of every permission: option 0 allows, option 1 denies and takes a reason.
var PermissionQuestions = []Question{{
	Prompt:  "Allow this tool call?",
	Options: []Option{{Label: "Allow"}, {Label: "Deny", AllowsText: true}},
}}

// The options of a permission.
const (
	AllowOption = 0
	DenyOption  = 1
)

// contextLabels are the input fields that a person sees under a name of their own; other fields keep their key.
var contextLabels = map[string]string{"command": "Command", "machine": "Machine", "shell": "Shell", "cwd": "Working directory"}

// PermissionRequest is the form of a permission: all of the tool's input is shown as evidence, in its order, nothing cut.
// A string is shown verbatim, any other value as the JSON that came, indented by two spaces.
func PermissionRequest(call ToolCall) (Request, error) {
	context, err := inputContext(call.Input)
	if err != nil {
		return Request{}, err
	}
	return Request{Title: "Permission requested for " + call.Name, Context: context, Questions: PermissionQuestions}, nil
}

func inputContext(input []byte) ([]ContextItem, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("tool input: %w", err)
	}
	var items []ContextItem
	for dec.More() {
		item, err := contextItem(dec)
		if err != nil {
			return nil, fmt.Errorf("tool input: %w", err)
		}
		items = append(items, item)
	}
	return items, nil
}

// contextItem reads one field of the input's object.
func contextItem(dec *json.Decoder) (ContextItem, error) {
	key, err := dec.Token()
	if err != nil {
		return ContextItem{}, err
	}
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return ContextItem{}, err
	}
	label := key.(string)
	if known, ok := contextLabels[label]; ok {
		label = known
	}
	value, err := contextValue(raw)
	return ContextItem{Label: label, Value: value}, err
}

func contextValue(raw json.RawMessage) (string, error) {
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	var b bytes.Buffer
	err := json.Indent(&b, raw, "", "  ")
	return b.String(), err
}

// checkInput says what is wrong with a tool's input; it must already be valid JSON.
func checkInput(field string, input []byte) error {
	if len(input) > MaxInputBytes {
		return Errorf(ValidationFailed, "%s: %d bytes are too many; at most %d (512 KiB) are allowed", field, len(input), MaxInputBytes)
	}
	if !isObject(input) {
		return Errorf(ValidationFailed, "%s: must be a JSON object", field)
	}
	return checkDepth(field, input)
}

func checkDepth(field string, value []byte) error {
	if depth(value) > MaxInputDepth {
		return Errorf(ValidationFailed, "%s: nested too deeply; at most %d levels are allowed", field, MaxInputDepth)
	}
	return nil
}

// checkUpdates says what is wrong with permission updates; they must already be valid JSON. nil is the field left out.
func checkUpdates(field string, updates json.RawMessage) error {
	if updates == nil {
		return nil
	}
	var all []json.RawMessage
	other := func(update json.RawMessage) bool { return !isObject(update) }
	if json.Unmarshal(updates, &all) != nil || all == nil || slices.ContainsFunc(all, other) {
		return Errorf(ValidationFailed, "%s: must be an array of objects", field)
	}
	return checkDepth(field, updates)
}

func isObject(input []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(input, " \t\r\n"), []byte("{"))
}

// depth is how deeply the arrays and objects of valid JSON nest.
func depth(input []byte) int {
	deepest, level, inString := 0, 0, false
	for i := 0; i < len(input); i++ {
		switch c := input[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}
