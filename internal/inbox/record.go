// Package inbox is an interaction in the words of an inbox: the record with Animus's names, which programs that read an Animus inbox know,
// the answers in words, and the options that make room for an answer in a person's own words.
//
// The command line and the MCP tools give the same records, since both take them from here. It does no I/O.
package inbox

import (
	"encoding/json"
	"strings"

	"sayso/internal/api"
)

// Record is an interaction as the operator's commands give it: with Animus's names, which programs that read an Animus inbox know.
type Record struct {
	ID        string     `json:"id"`
	Kind      string     `json:"kind"`
	AgentID   string     `json:"agent_id"` // the agent's own key, not our id of it
	Status    string     `json:"status"`
	Question  string     `json:"question,omitempty"`
	Action    string     `json:"action,omitempty"`
	Options   []string   `json:"options,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	// Context is what a question came with. Animus has none; that of a permission is in its arguments.
	Context       []api.ContextItem `json:"context,omitempty"`
	ToolName      string            `json:"tool_name,omitempty"`
	Arguments     json.RawMessage   `json:"arguments,omitempty"`
	Answer        *string           `json:"answer,omitempty"`
	AnswerMessage string            `json:"answer_message,omitempty"`
	Answers       map[string]any    `json:"answers,omitempty"`
	Response      string            `json:"response,omitempty"`
	AnsweredBy    string            `json:"answered_by,omitempty"`
	AnsweredAt    *api.Time         `json:"answered_at,omitempty"`
	Suspended     bool              `json:"suspended"`
	TimeoutSecs   int               `json:"timeout_secs,omitempty"`
	CreatedAt     api.Time          `json:"created_at"`
}

// Question is one of several questions.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header,omitempty"`
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multi_select"`
}

// Option is one option that the agent gave.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// RecordOf is i, asked by the agent with a key.
func RecordOf(i api.Interaction, agentKey string) Record {
	r := Record{
		ID: i.ID, Kind: i.Kind, AgentID: agentKey, Status: Status(i), Suspended: i.WaitMode == "suspend", TimeoutSecs: i.TimeoutSecs,
		CreatedAt: i.CreatedAt,
	}
	if i.Kind == "question" {
		r.Context = i.Request.Context
	}
	switch {
	case i.Kind == "permission" && i.ToolCall != nil:
		r.Action, r.ToolName, r.Arguments = Action(i), i.ToolCall.Name, i.ToolCall.Input
	case Flat(i):
		q := i.Request.Questions[0]
		r.Question = q.Prompt
		for _, o := range offered(q) {
			r.Options = append(r.Options, o.Label)
		}
	default:
		r.Question = i.Request.Title
		for _, q := range i.Request.Questions {
			r.Questions = append(r.Questions, questionRecord(q))
		}
	}
	if r.Status == "answered" {
		r.answered(i)
	}
	return r
}

// Status is the state of i in Animus's words.
func Status(i api.Interaction) string {
	switch {
	case i.State == "open":
		return "pending"
	case i.State == "resolved":
		return "answered"
	case i.CancelReason == "expired":
		return "expired"
	}
	return "canceled"
}

// Action says what is to be allowed, in the asker's words if it gave some.
func Action(i api.Interaction) string {
	for _, item := range i.Request.Context {
		if item.Label == "Action" {
			return item.Value
		}
	}
	return "use tool " + i.ToolCall.Name
}

// Flat says whether i is one plain question, whose answer is a text; any other form is structured.
func Flat(i api.Interaction) bool {
	if i.Kind != "question" || i.ToolCall != nil || len(i.Request.Questions) != 1 {
		return false
	}
	q := i.Request.Questions[0]
	for _, o := range q.Options {
		if o.Description != "" {
			return false
		}
	}
	return q.Header == "" && !q.Multiple
}

// Free says whether o is the option of any other answer, which stands in every form for the text that is typed.
func Free(o api.Option) bool { return o == FreeOption || o == FreeAnswer }

// offered are the options that the agent itself gave.
func offered(q api.Question) (options []api.Option) {
	for _, o := range q.Options {
		if !Free(o) {
			options = append(options, o)
		}
	}
	return options
}

func questionRecord(q api.Question) Question {
	r := Question{Question: q.Prompt, Header: q.Header, MultiSelect: q.Multiple, Options: []Option{}}
	for _, o := range offered(q) {
		r.Options = append(r.Options, Option{o.Label, o.Description})
	}
	return r
}

// answered fills in what was decided, and by whom.
func (r *Record) answered(i api.Interaction) {
	r.AnsweredBy, r.AnsweredAt = AnsweredBy(i), i.ResolvedAt
	if i.Decision != nil {
		r.AnswerMessage, r.Response = i.Decision.Note, i.Decision.Response
	}
	var answer string
	switch {
	case i.Kind == "permission":
		answer = "deny"
		if Allowed(i) {
			answer = "allow"
		} else {
			r.AnswerMessage = i.Resolution.Answers[0].Text
		}
	case Flat(i):
		answer = AnswerText(i.Request.Questions[0], i.Resolution.Answers[0])
	default:
		r.Answers = AnswersOf(i.Request, i.Resolution.Answers)
		answer = InWords(i.Request, i.Resolution.Answers, r.Response)
	}
	r.Answer = &answer
}

// AnswersOf are the answers by the text of the question; one that was left open is left out.
func AnswersOf(form api.Request, answers []api.Answer) map[string]any {
	all := map[string]any{}
	for n, q := range form.Questions {
		chosen := ChosenTexts(q, answers[n])
		switch {
		case len(chosen) == 0:
		case q.Multiple:
			all[q.Prompt] = chosen
		default:
			all[q.Prompt] = chosen[0]
		}
	}
	return all
}

// ChosenTexts are what was chosen for q: labels, and the text in the place of the free option.
func ChosenTexts(q api.Question, a api.Answer) (texts []string) {
	for _, index := range a.OptionIndices {
		if o := q.Options[index]; !Free(o) || a.Text != "" {
			texts = append(texts, optionText(o, a.Text))
		}
	}
	return texts
}

// InWords are the answers to several questions in one text.
func InWords(form api.Request, answers []api.Answer, response string) string {
	var parts []string
	for n, q := range form.Questions {
		if chosen := ChosenTexts(q, answers[n]); len(chosen) > 0 {
			parts = append(parts, q.Prompt+" "+strings.Join(chosen, ", "))
		}
	}
	if response != "" {
		parts = append(parts, response)
	}
	return strings.Join(parts, "\n")
}
