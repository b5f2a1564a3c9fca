package cli

import (
	"encoding/json"
	"strings"

	"sayso/internal/api"
)

// outcome is what a request came to, as --json gives it.
type outcome struct {
	Interaction  api.Interaction `json:"interaction"`
	Answer       *string         `json:"answer,omitempty"`
	Decision     string          `json:"decision,omitempty"`
	Message      string          `json:"message,omitempty"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
}

// unanswered is the failure of a request that ended without an answer; nil if it has one.
func unanswered(i api.Interaction) error {
	switch {
	case i.State == "resolved" && i.Resolution != nil && len(i.Resolution.Answers) > 0:
		return nil
	case i.CancelReason == "expired":
		return fail(exitTimedOut, "ask again, or wait longer with --timeout-secs",
			"nobody answered %s within %d s; silence is not consent", i.ID, i.TimeoutSecs)
	}
	return fail(exitCanceled, "", "%s was canceled: %s", i.ID, cancelText(i.CancelReason))
}

func cancelText(reason string) string {
	if text, ok := cancelTexts[reason]; ok {
		return text + " (" + reason + ")"
	}
	return reason
}

var cancelTexts = map[string]string{
	"superseded_by_input": "a newer message to the agent took its place",
	"agent_canceled":      "the agent was told to stop",
	"agent_archived":      "the agent was archived",
	"tool_call_completed": "the tool call ended without it",
	"asker_canceled":      "the agent that asked withdrew it",
}

// answerText is the answer to a question in words: the labels, with a text in the place of a label that only stood for it.
func answerText(q api.Question, a api.Answer) string {
	var parts []string
	for _, index := range a.OptionIndices {
		if index >= 0 && index < len(q.Options) {
			parts = append(parts, optionText(q.Options[index], a.Text))
		}
	}
	return strings.Join(parts, ", ")
}

func optionText(o api.Option, text string) string {
	switch {
	case !o.AllowsText:
		return o.Label
	case o.Label == freeAnswer.Label, o.Label == freeOption.Label && text != "":
		return text
	case text != "":
		return o.Label + ": " + text
	}
	return o.Label
}

// decision is the answer to a permission. Only a plain Allow is one; a denial always has a reason.
func decision(i api.Interaction) outcome {
	o := outcome{Interaction: i, Decision: "deny"}
	if i.Decision != nil {
		o.Message = i.Decision.Note
	}
	answer := i.Resolution.Answers[0]
	if len(answer.OptionIndices) == 1 && answer.OptionIndices[0] == 0 {
		o.Decision = "allow"
		if i.Decision != nil {
			o.UpdatedInput = i.Decision.UpdatedInput
		}
		return o
	}
	if o.Message = answer.Text; o.Message == "" {
		o.Message = "denied by " + answeredBy(i) + ", without a reason"
	}
	return o
}

func answeredBy(i api.Interaction) string {
	if i.ResolvedBy == nil || i.ResolvedBy.Name == "" {
		return "somebody"
	}
	return i.ResolvedBy.Name
}
