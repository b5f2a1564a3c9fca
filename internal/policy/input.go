package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// InputRule looks at one field of a tool's input.
type InputRule struct {
	Tool  string // pattern of the subject
	Field string // name of a top-level field
	Deny  []string
	Allow []string
}

// Check says what a rule is missing.
func (r InputRule) Check() error {
	switch {
	case r.Tool == "":
		return errors.New("tool: is missing; name the tool whose input the rule looks into")
	case r.Field == "":
		return errors.New("field: is missing; name the field of the input that the rule looks at")
	case r.Deny == nil && r.Allow == nil:
		return errors.New("deny: is missing, and so is allow; give patterns for at least one")
	}
	return nil
}

// inputs are the fields of a call's input.
type inputs struct {
	subject string
	raw     json.RawMessage
	read    bool
	fields  map[string][]json.RawMessage
}

// denied gives the deny pattern that something in a field matches: the field itself, or, since a command may come as a list of words, any
// text in it and the words of a list put together.
func (in *inputs) denied(rules []InputRule) (pattern string, ok bool) {
	for _, r := range rules {
		if len(r.Deny) == 0 || !Match(r.Tool, in.subject) {
			continue
		}
		for _, value := range in.values(r.Field) {
			for _, text := range texts(value) {
				if pattern, ok := matching(r.Deny, text); ok {
					return pattern, true
				}
			}
		}
	}
	return "", false
}

// allowed gives the allow pattern that a field matches. The field must be there once, and a text that a shell takes as one command.
func (in *inputs) allowed(rules []InputRule) (pattern string, ok bool) {
	for _, r := range rules {
		if len(r.Allow) == 0 || !Match(r.Tool, in.subject) {
			continue
		}
		values := in.values(r.Field)
		var text *string
		if len(values) != 1 || json.Unmarshal(values[0], &text) != nil || text == nil || controls(*text) {
			continue
		}
		if pattern, ok := matching(r.Allow, *text); ok {
			return pattern, true
		}
	}
	return "", false
}

// values are what a field holds: one value, or none; several if a careless sender gave it twice.
func (in *inputs) values(field string) []json.RawMessage {
	if !in.read {
		in.read, in.fields = true, fieldsOf(in.raw)
	}
	return in.fields[field]
}

// fieldsOf reads the top level of an object; anything else, and what is broken, has no fields.
func fieldsOf(raw json.RawMessage) map[string][]json.RawMessage {
	if !json.Valid(raw) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	fields := map[string][]json.RawMessage{}
	for dec.More() {
		var value json.RawMessage
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil // unreachable: it is valid
		}
		fields[name] = append(fields[name], value)
	}
	return fields
}

// texts are all texts in a value, numbers and truths as they are written, and for a list of texts those together too.
func texts(raw json.RawMessage) []string {
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return nil
	}
	return textsIn(value)
}

func textsIn(value any) (out []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case json.Number:
		return []string{value.String()}
	case bool:
		return []string{strconv.FormatBool(value)}
	case []any:
		var words []string
		for _, item := range value {
			if word, ok := item.(string); ok {
				words = append(words, word)
			}
			out = append(out, textsIn(item)...)
		}
		if len(words) > 1 {
			out = append(out, strings.Join(words, " "))
		}
	case map[string]any:
		for _, item := range value {
			out = append(out, textsIn(item)...)
		}
	}
	return out
}

// controls says whether a shell may take text as more than one command, or write or read a file for it.
func controls(text string) bool {
	return strings.ContainsAny(text, ";&|<>)`\n\r") || strings.Contains(text, "$(")
}
