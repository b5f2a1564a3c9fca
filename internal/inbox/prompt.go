package inbox

import (
	"bytes"
	"encoding/json"
)

// WithAnswers is the input of Claude Code's AskUserQuestion as it came, and the answers to it: an object by the text of the question, and a
// response to them as a whole, "" for none. What the agent wrote in their place is left out: it is the person who answers.
func WithAnswers(input, answers json.RawMessage, response string) json.RawMessage {
	b := []byte{'{'}
	dec := json.NewDecoder(bytes.NewReader(input))
	_, _ = dec.Token() // it was read before
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			break // unreachable: it was read before
		}
		switch name {
		case "answers", "response", "annotations":
		default:
			b = append(append(append(b, encode(name.(string))...), ':'), value...)
			b = append(b, ',')
		}
	}
	b = append(append(b, `"answers":`...), answers...)
	if response != "" {
		b = append(append(b, `,"response":`...), encode(response)...)
	}
	return append(b, '}')
}

// encode is a text as a JSON string, with the characters of markup as they are.
func encode(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
