package inbox

import (
	"fmt"
	"strings"

	"sayso/internal/api"
)

// The option that takes what no other does, and the one of a question without options.
var (
	FreeOption = api.Option{Label: "Other", AllowsText: true}
	FreeAnswer = api.Option{Label: "Answer", AllowsText: true}
)

// titleMost is what a title may have, in characters.
const titleMost = 300

// Choices are the options that were given and the free one.
func Choices(labels []string) (options []api.Option) {
	for _, label := range labels {
		options = append(options, api.Option{Label: label})
	}
	if options == nil {
		return []api.Option{FreeAnswer}
	}
	return append(options, FreeOption)
}

// Title is the first line of a question, as far as a title may go.
func Title(question string) string { return titled(question, "") }

// QuestionsTitle is the title of a form: that of its first question, and how many more there are.
func QuestionsTitle(questions []api.Question) string {
	more := ""
	if n := len(questions) - 1; n > 0 {
		more = fmt.Sprintf(" (+%d more)", n)
	}
	return titled(questions[0].Prompt, more)
}

func titled(question, more string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(question), "\n")
	runes := []rune(line)
	return strings.TrimSpace(string(runes[:min(len(runes), titleMost-len(more))])) + more
}

// Allowed says whether a person allowed i. Only a plain Allow is one.
func Allowed(i api.Interaction) bool {
	if i.Kind != "permission" || i.State != "resolved" || i.Resolution == nil || len(i.Resolution.Answers) != 1 {
		return false
	}
	chosen := i.Resolution.Answers[0].OptionIndices
	return len(chosen) == 1 && chosen[0] == 0
}

// AnswerText is the answer to a question in words: the labels, with a text in the place of a label that only stood for it.
func AnswerText(q api.Question, a api.Answer) string {
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
	case o.Label == FreeAnswer.Label, o.Label == FreeOption.Label && text != "":
		return text
	case text != "":
		return o.Label + ": " + text
	}
	return o.Label
}

// AnsweredBy is the name of who ended i.
func AnsweredBy(i api.Interaction) string {
	if i.ResolvedBy == nil || i.ResolvedBy.Name == "" {
		return "somebody"
	}
	return i.ResolvedBy.Name
}

// CancelText says why an interaction ended without an answer.
func CancelText(reason string) string {
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
