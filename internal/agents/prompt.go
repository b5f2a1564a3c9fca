package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// prompt is the input of Claude Code's AskUserQuestion: questions of an agent to its user.
type prompt struct {
	Questions []struct {
		Question    string `json:"question"`
		Header      string `json:"header"`
		MultiSelect bool   `json:"multiSelect"`
		Options     []struct {
			Label       string `json:"label"`
			Description string `json:"description"`
			Preview     string `json:"preview"`
		} `json:"options"`
	} `json:"questions"`
}

const titleMost = 300

// form shows the questions to a person, each with the option of any other answer, as Claude Code itself does.
func (p prompt) form() (form api.Request, err error) {
	if len(p.Questions) == 0 {
		return form, errors.New("there are no questions")
	}
	seen := map[string]bool{}
	for n, q := range p.Questions {
		if seen[q.Question] {
			return form, fmt.Errorf("questions[%d] has the same text as one before it, so their answers could not be told apart", n)
		}
		seen[q.Question] = true
		question := api.Question{Prompt: q.Question, Header: q.Header, Multiple: q.MultiSelect}
		free := false
		for _, o := range q.Options {
			isOther := strings.EqualFold(strings.TrimSpace(o.Label), other.Label)
			free = free || isOther
			question.Options = append(question.Options, api.Option{Label: o.Label, Description: o.Description, AllowsText: isOther})
			if o.Preview != "" {
				form.Context = append(form.Context, api.ContextItem{Label: clip("Preview: "+o.Label, 200), Value: o.Preview})
			}
		}
		if !free {
			question.Options = append(question.Options, other)
		}
		form.Questions = append(form.Questions, question)
	}
	form.Title = p.title()
	return form, nil
}

func (p prompt) title() string {
	line, _, _ := strings.Cut(strings.TrimSpace(p.Questions[0].Question), "\n")
	more := ""
	if n := len(p.Questions) - 1; n > 0 {
		more = fmt.Sprintf(" (+%d more)", n)
	}
	return clip(line, titleMost-len(more)) + more
}

func clip(s string, most int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), most)])
}

// verdict is the answers as Claude Code takes them. The call is never allowed without: the agent would be told that the person said nothing.
func (p prompt) verdict(i api.Interaction, input json.RawMessage) Verdict {
	if i.State != "resolved" {
		return unanswered(i)
	}
	v := Verdict{Decision: "allow", Source: "human", InteractionID: i.ID}
	var answers []member
	for n, q := range i.Request.Questions {
		if answer, ok := answered(i, n); ok && len(inbox.ChosenTexts(q, answer)) > 0 {
			answers = append(answers, member{p.Questions[n].Question, encode(strings.Join(inbox.ChosenTexts(q, answer), ", "))})
		}
	}
	response := ""
	if i.Decision != nil {
		response = i.Decision.Response
	}
	if len(answers) == 0 && response == "" {
		v.Decision, v.Message = "deny", inbox.AnsweredBy(i)+" answered none of the questions."
		return v
	}
	v.UpdatedInput = inbox.WithAnswers(input, object(answers), response)
	return v
}

// member is one field of an object whose order is kept.
type member struct {
	name  string
	value json.RawMessage
}

func object(members []member) json.RawMessage {
	b := []byte{'{'}
	for n, m := range members {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encode(m.name)...), ':'), m.value...)
	}
	return append(b, '}')
}
