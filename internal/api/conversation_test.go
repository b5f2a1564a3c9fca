package api

import (
	"encoding/json"
	"testing"
)

// TestContentBlockKeepsInput checks that a tool's input leaves as it came, and that an empty text is told.
func TestContentBlockKeepsInput(t *testing.T) {
	for want, block := range map[string]ContentBlock{
		`{"type":"tool_call","name":"Bash","input":{"command":"a && b < c > d"}}`: {Type: "tool_call", Name: "Bash", Input: json.RawMessage(`{"command":"a && b < c > d"}`)},
		`{"type":"text","text":"a && b"}`:                                         {Type: "text", Text: "a && b"},
		`{"type":"reasoning","text":""}`:                                          {Type: "reasoning"},
	} {
		got, err := encode(NewEvents{Events: []NewEvent{{EventKind: "model_output", ContentBlocks: []ContentBlock{block}}}})
		if want := `{"events":[{"event_kind":"model_output","content_blocks":[` + want + `]}]}`; err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
