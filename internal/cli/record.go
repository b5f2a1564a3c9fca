package cli

import (
	"encoding/json"
	"strings"

	"sayso/internal/api"
)

// record is an interaction as the operator's commands give it: with Animus's names, which programs that read an Animus inbox know.
type record struct {
	ID        string           `json:"id"`
	Kind      string           `json:"kind"`
	AgentID   string           `json:"agent_id"` // the agent's own key, not our id of it
	Status    string           `json:"status"`
	Question  string           `json:"question,omitempty"`
	Action    string           `json:"action,omitempty"`
	Options   []string         `json:"options,omitempty"`
	Questions []recordQuestion `json:"questions,omitempty"`
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

// recordQuestion is one of several questions.
type recordQuestion struct {
	Question    string         `json:"question"`
	Header      string         `json:"header,omitempty"`
	Options     []recordOption `json:"options"`
	MultiSelect bool           `json:"multi_select"`
}

type recordOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// recordOf is i, asked by the agent with a key.
func recordOf(i api.Interaction, agentKey string) record {
	r := record{
		ID: i.ID, Kind: i.Kind, AgentID: agentKey, Status: status(i), Suspended: i.WaitMode == "suspend", TimeoutSecs: i.TimeoutSecs,
		CreatedAt: i.CreatedAt,
	}
	if i.Kind == "question" {
		r.Context = i.Request.Context
	}
	switch {
	case i.Kind == "permission" && i.ToolCall != nil:
		r.Action, r.ToolName, r.Arguments = action(i), i.ToolCall.Name, i.ToolCall.Input
	case flat(i):
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

// status is the state of i in Animus's words.
func status(i api.Interaction) string {
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

// action says what is to be allowed, in the asker's words if it gave some.
func action(i api.Interaction) string {
	for _, item := range i.Request.Context {
		if item.Label == "Action" {
			return item.Value
		}
	}
	return "use tool " + i.ToolCall.Name
}

// flat says whether i is one plain question, whose answer is a text; any other form is structured.
func flat(i api.Interaction) bool {
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

// free says whether o is the option of any other answer, which stands in every form for the text that is typed.
func free(o api.Option) bool { return o == freeOption || o == freeAnswer }

// offered are the options that the agent itself gave.
func offered(q api.Question) (options []api.Option) {
	for _, o := range q.Options {
		if !free(o) {
			options = append(options, o)
		}
	}
	return options
}

func questionRecord(q api.Question) recordQuestion {
	r := recordQuestion{Question: q.Prompt, Header: q.Header, MultiSelect: q.Multiple, Options: []recordOption{}}
	for _, o := range offered(q) {
		r.Options = append(r.Options, recordOption{o.Label, o.Description})
	}
	return r
}

// answered fills in what was decided, and by whom.
func (r *record) answered(i api.Interaction) {
	r.AnsweredBy, r.AnsweredAt = answeredBy(i), i.ResolvedAt
	if i.Decision != nil {
		r.AnswerMessage, r.Response = i.Decision.Note, i.Decision.Response
	}
	var answer string
	switch {
	case i.Kind == "permission":
		d := decision(i)
		answer = d.Decision
		if d.Decision == "deny" {
			r.AnswerMessage = i.Resolution.Answers[0].Text
		}
	case flat(i):
		answer = answerText(i.Request.Questions[0], i.Resolution.Answers[0])
	default:
		r.Answers = answersOf(i.Request, i.Resolution.Answers)
		answer = inWords(i.Request, i.Resolution.Answers, r.Response)
	}
	r.Answer = &answer
}

// answersOf are the answers by the text of the question; one that was left open is left out.
func answersOf(form api.Request, answers []api.Answer) map[string]any {
	all := map[string]any{}
	for n, q := range form.Questions {
		chosen := chosenTexts(q, answers[n])
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

// chosenTexts are what was chosen for q: labels, and the text in the place of the free option.
func chosenTexts(q api.Question, a api.Answer) (texts []string) {
	for _, index := range a.OptionIndices {
		if o := q.Options[index]; !free(o) || a.Text != "" {
			texts = append(texts, optionText(o, a.Text))
		}
	}
	return texts
}

// inWords are the answers to several questions in one text.
func inWords(form api.Request, answers []api.Answer, response string) string {
	var parts []string
	for n, q := range form.Questions {
		if chosen := chosenTexts(q, answers[n]); len(chosen) > 0 {
			parts = append(parts, q.Prompt+" "+strings.Join(chosen, ", "))
		}
	}
	if response != "" {
		parts = append(parts, response)
	}
	return strings.Join(parts, "\n")
}
