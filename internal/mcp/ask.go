package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// ask asks a question.
func (c *call) ask(ctx context.Context) *sdk.CallToolResult {
	q, told := c.openQuestion(ctx)
	if told != nil {
		return told
	}
	return c.endOf(ctx, q, c.await(ctx, q.agent, &q.i))
}

// asked is what was opened.
type asked struct {
	i        api.Interaction
	agent    string
	texts    []string // of its questions as they came; none for a flat one
	warnings []string
}

// openQuestion asks. What needs no waiting is told at once.
func (c *call) openQuestion(ctx context.Context) (q *asked, told *sdk.CallToolResult) {
	c.in.only(askArguments...)
	form, questions, err := c.askForm()
	if err != nil {
		return nil, c.fault(err)
	}
	new := api.NewInteraction{Request: &form}
	warnings := c.waits(&new)
	if c.in.err != nil {
		return nil, c.fault(c.in.err)
	}
	new.Join = &api.Join{CallID: c.callID()}
	i, agent, err := c.open(ctx, new)
	if err != nil {
		return nil, c.fault(err)
	}
	if new.WaitMode != block && i.State == "open" {
		return nil, structured(success{c.tool, c.pending(i, warnings)}, false)
	}
	return &asked{i, agent, questions, warnings}, nil
}

// endOf is the result of what was waited for. err is why it has not ended.
func (c *call) endOf(ctx context.Context, q *asked, err error) *sdk.CallToolResult {
	if err != nil {
		c.withdrawn(ctx, q.agent, q.i.ID, err)
		return c.unfinished(q.i, err, q.warnings)
	}
	return c.answered(q.i, q.texts, q.warnings)
}

// askForm is the form of a call, and the texts of its questions as they came; none for a flat one.
func (c *call) askForm() (form api.Request, texts []string, err error) {
	flat := c.in.text("question")
	var options []string
	c.in.read("options", &options, "an array of strings")
	if raw := c.in.raw("questions"); raw != nil {
		form, texts, err = questionsForm("questions", raw)
		return form, texts, firstOf(c.in.err, err)
	}
	if strings.TrimSpace(flat) == "" {
		c.in.fail("question: must not be blank; or give questions")
	}
	q := api.Question{Prompt: flat, Options: inbox.Choices(options)}
	return api.Request{Title: inbox.Title(flat), Questions: []api.Question{q}}, nil, c.in.err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// callID is the client's own id of the call, if it tells one: the same call again has the same.
func (c *call) callID() string {
	for _, name := range []string{"claudecode/toolUseId", "callId"} {
		if id, ok := c.request.Params.GetMeta()[name].(string); ok && len(id) <= 200 {
			return id
		}
	}
	return ""
}

// The wait modes.
const (
	block   = "block"
	suspend = "suspend"
	poll    = "poll"
)

// waits fills in how the call waits, and for how long. What was asked for and makes no sense is warned of.
func (c *call) waits(new *api.NewInteraction) (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	new.WorkflowID = pinned(c.config.WorkflowID, c.in.text("workflow_id"))
	new.TaskID = strings.TrimSpace(c.in.text("task_id"))
	inWorkflow := strings.TrimSpace(c.config.WorkflowID) != ""
	new.WaitMode = block
	if inWorkflow {
		new.WaitMode = suspend
	}
	switch wait := strings.TrimSpace(c.in.text("wait")); {
	case wait == "":
	case wait == block, wait == poll, wait == suspend && inWorkflow:
		new.WaitMode = wait
	case wait == suspend:
		warn("wait: suspend needs a workflow that this server is pinned to; waiting here instead")
	default:
		warn("wait: %q is unknown, allowed are block, suspend and poll; taking %s", wait, new.WaitMode)
	}
	new.TimeoutSecs = c.in.number("timeout_secs")
	if new.WaitMode == suspend && new.TimeoutSecs != nil {
		warn("timeout_secs: a suspended request never expires; it is ignored")
		new.TimeoutSecs = nil
	}
	if new.WaitMode == suspend {
		new.Checkpoint = c.checkpoint()
	}
	for _, w := range warnings {
		c.config.Log.Warn(w)
	}
	return warnings
}

// checkpoint is where the paused workflow goes on.
func (c *call) checkpoint() *api.Checkpoint {
	if c.config.Checkpoint == nil {
		return nil
	}
	at := *c.config.Checkpoint
	at.Provider = c.client()
	return &at
}

// pending is what is told of a question that is open still.
func (c *call) pending(i api.Interaction, warnings []string) pending {
	p := pending{Status: "pending", InteractionID: i.ID, WorkflowID: i.WorkflowID, Warnings: warnings}
	if i.WaitMode == suspend {
		p.WorkflowPaused = true
		p.Instruction = "This workflow is paused until a person answers. End your turn now; you are resumed with the answer. Do not act as if it were allowed."
		return p
	}
	p.Instruction = fmt.Sprintf("Nobody has answered yet; the question stays open. Call %s with interaction_id %q to wait for the answer. Until it comes, do not act as if it were allowed.", c.names.await, i.ID)
	return p
}

// unfinished is the result of a wait that ended before the question did.
func (c *call) unfinished(i api.Interaction, err error, warnings []string) *sdk.CallToolResult {
	switch {
	case errors.Is(err, errHeld), errors.Is(err, errStopping):
		return structured(success{c.tool, c.pending(i, warnings)}, false)
	case errors.Is(err, errWithdrawn):
		return structured(failed{Tool: c.tool, Error: "The call was canceled.", InteractionID: i.ID, Canceled: true, CancelReason: "asker_canceled"}, true)
	}
	return structured(failed{Tool: c.tool, Error: reason(err), InteractionID: i.ID}, true)
}

// answered is the result of a question that has ended. texts are those of its questions as they came; none for a flat one.
func (c *call) answered(i api.Interaction, texts []string, warnings []string) *sdk.CallToolResult {
	if i.State != "resolved" || i.Resolution == nil {
		return c.unanswered(i)
	}
	response := ""
	if i.Decision != nil {
		response = i.Decision.Response
	}
	by := inbox.AnsweredBy(i)
	if texts == nil {
		answer := inbox.AnswerText(i.Request.Questions[0], i.Resolution.Answers[0])
		return structured(success{c.tool, answeredFlat{i.ID, answer, by, response, warnings}}, false)
	}
	all := map[string]any{}
	for n, q := range i.Request.Questions {
		switch chosen := inbox.ChosenTexts(q, i.Resolution.Answers[n]); {
		case len(chosen) == 0:
		case q.Multiple:
			all[texts[n]] = chosen
		default:
			all[texts[n]] = chosen[0]
		}
	}
	words := inbox.InWords(i.Request, i.Resolution.Answers, response)
	return structured(success{c.tool, answeredEach{i.ID, all, response, words, by, warnings}}, false)
}

// unanswered is the result of a question that ended without an answer.
func (c *call) unanswered(i api.Interaction) *sdk.CallToolResult {
	if i.CancelReason == "expired" {
		text := fmt.Sprintf("Nobody answered within %d s. Silence is not consent: go on with your best judgement where that is safe, and say what you assumed.", i.TimeoutSecs)
		return structured(failed{Tool: c.tool, Error: text, InteractionID: i.ID, TimedOut: true}, true)
	}
	return structured(failed{Tool: c.tool, Error: canceledText(i), InteractionID: i.ID, Canceled: true, CancelReason: i.CancelReason}, true)
}

func canceledText(i api.Interaction) string {
	return "The question was canceled: " + inbox.CancelText(i.CancelReason) + ". That is no consent."
}

// fault is the result of a call that could not be made.
func (c *call) fault(err error) *sdk.CallToolResult {
	return structured(failed{Tool: c.tool, Error: reason(err)}, true)
}

// reason says what went wrong, to a model.
func reason(err error) string {
	var refused *api.Error
	switch {
	case errors.As(err, &refused):
		return refused.Message
	case api.Unreachable(err):
		return "The Sayso server cannot be reached, so nobody was asked (" + err.Error() + ")."
	case errors.Is(err, errOverdue):
		return "The Sayso server was away at the deadline, so nobody answered."
	}
	return err.Error()
}

// promptOption is an option as a model writes it: a label, or an object.
type promptOption struct{ label, description, preview string }

func (o *promptOption) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &o.label)
	}
	in := argumentsOf(raw)
	o.label, o.description, o.preview = in.text("label"), in.text("description"), in.text("preview")
	return in.err
}

// questionsForm is the form of structured questions, and their texts as they came.
func questionsForm(field string, raw json.RawMessage) (form api.Request, texts []string, err error) {
	var questions []json.RawMessage
	if json.Unmarshal(raw, &questions) != nil {
		return form, nil, fmt.Errorf("%s: must be an array of questions", field)
	}
	if len(questions) == 0 {
		return form, nil, fmt.Errorf("%s: must not be empty", field)
	}
	seen := map[string]bool{}
	for n, raw := range questions {
		q, text, previews, err := questionForm(raw)
		if err == nil && seen[text] {
			err = errors.New("question: two have the same text, so their answers could not be told apart")
		}
		if err != nil {
			return form, nil, fmt.Errorf("%s[%d].%w", field, n, err)
		}
		seen[text] = true
		form.Questions, form.Context, texts = append(form.Questions, q), append(form.Context, previews...), append(texts, text)
	}
	form.Title = inbox.QuestionsTitle(form.Questions)
	return form, texts, nil
}

func questionForm(raw json.RawMessage) (q api.Question, text string, previews []api.ContextItem, err error) {
	in := argumentsOf(raw)
	text = in.text("question")
	q = api.Question{Prompt: text, Header: in.text("header"), Multiple: in.flag("multi_select") || in.flag("multiSelect")}
	if strings.TrimSpace(text) == "" {
		in.fail("question: must not be blank")
	}
	var options []promptOption
	in.read("options", &options, "an array of objects with a label")
	for _, o := range options {
		q.Options = append(q.Options, api.Option{Label: o.label, Description: o.description})
		if strings.TrimSpace(o.preview) != "" {
			previews = append(previews, api.ContextItem{Label: previewLabel(q, o.label), Value: o.preview})
		}
	}
	q.Options = append(q.Options, inbox.FreeOption)
	return q, text, previews, in.err
}

// previewLabel says what a preview shows, as far as a label may go.
func previewLabel(q api.Question, option string) string {
	const most = 200
	of := q.Header
	if of == "" {
		of = q.Prompt
	}
	runes := []rune("Preview of " + strings.TrimSpace(option) + " (" + strings.TrimSpace(of) + ")")
	return strings.TrimSpace(string(runes[:min(len(runes), most)]))
}
