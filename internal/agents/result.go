package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sayso/internal/api"
)

// shownMost is how much of a text goes into the conversation, in bytes.
const shownMost = 64 << 10

// shown is a text as the conversation takes it.
func shown(text string) string {
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	if len(text) <= shownMost {
		return text
	}
	cut := shownMost
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n… (%d more bytes)", text[:cut], len(text)-cut)
}

// result is what came of a call that h tells of.
func (h Hook) result() api.Result {
	text, failed := outcomeOf(h.Response)
	if h.Event == PostToolUseFailure || h.Error != "" {
		text, failed = strings.TrimSpace(h.Error+"\n"+text), true
	}
	return resultOf(text, failed)
}

func resultOf(text string, failed bool) api.Result {
	r := api.Result{Outcome: "succeeded"}
	if failed {
		r.Outcome = "failed"
	}
	if text = shown(text); text != "" {
		r.ContentBlocks = api.Text(text)
	}
	return r
}

// outcomeOf reads what a tool answered: a text, blocks of text, what a command printed, or anything else, which is shown as the JSON it is.
func outcomeOf(response json.RawMessage) (text string, failed bool) {
	var s string
	var blocks []struct{ Text string }
	var printed struct {
		Stdout, Stderr *string
		Interrupted    bool
		IsError        bool `json:"is_error"`
		Content        json.RawMessage
		Success        *bool
	}
	switch {
	case len(response) == 0 || string(response) == "null":
		return "", false
	case json.Unmarshal(response, &s) == nil:
		return s, false
	case json.Unmarshal(response, &blocks) == nil && len(blocks) > 0 && blocks[0].Text != "":
		for _, b := range blocks {
			text += b.Text + "\n"
		}
		return strings.TrimSpace(text), false
	case json.Unmarshal(response, &printed) != nil:
		return string(response), false
	}
	failed = printed.Interrupted || printed.IsError || printed.Success != nil && !*printed.Success
	switch {
	case printed.Stdout != nil || printed.Stderr != nil:
		return strings.TrimSpace(value(printed.Stdout) + "\n" + value(printed.Stderr)), failed
	case printed.Content != nil:
		text, _ = outcomeOf(printed.Content)
		return text, failed
	}
	return string(response), failed
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
