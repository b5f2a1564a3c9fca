package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// actorTenant is where the names come from that answered_by gives: nobody has proved them.
const actorTenant = "sayso-mcp"

// records is the result of interactions_list.
type records struct {
	Count        int            `json:"count"`
	Interactions []inbox.Record `json:"interactions"`
}

// answeredRecord is the result of interactions_answer.
type answeredRecord struct {
	Interaction inbox.Record `json:"interaction"`
	Warnings    []string     `json:"warnings,omitempty"`
}

func (c *call) listInteractions(ctx context.Context) *sdk.CallToolResult {
	c.in.only(listArguments...)
	every, agent, limit := c.in.flag("all"), strings.TrimSpace(c.in.text("agent_id")), 50
	if n := c.in.number("limit"); n != nil {
		if limit = *n; limit < 1 || limit > 500 {
			c.in.fail("limit: 1 to 500 are allowed")
		}
	}
	if c.in.err != nil {
		return c.fault(c.in.err)
	}
	list, err := c.interactions(ctx, every, agent, limit)
	if err != nil {
		return c.fault(err)
	}
	out := records{Count: len(list), Interactions: []inbox.Record{}}
	keys := map[string]string{}
	for _, i := range list {
		r, err := c.record(ctx, keys, i)
		if err != nil {
			return c.fault(err)
		}
		out.Interactions = append(out.Interactions, r)
	}
	return structured(success{c.tool, out}, false)
}

// interactions are the newest ones, oldest first.
func (c *call) interactions(ctx context.Context, every bool, agent string, limit int) (list []api.Interaction, err error) {
	query := url.Values{"order": {"desc"}, "limit": {"100"}}
	if !every {
		query.Set("state", "open")
	}
	if agent != "" {
		id, err := c.agentNamed(ctx, agent)
		if err != nil {
			return nil, err
		}
		query.Set("agent_id", id)
	}
	for {
		page, err := c.config.Inbox.Interactions(ctx, query)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Data...)
		if page.NextCursor == nil || len(list) >= limit {
			break
		}
		query.Set("cursor", *page.NextCursor)
	}
	list = list[:min(len(list), limit)]
	slices.Reverse(list)
	return list, nil
}

// agentNamed is the id of the agent with an id or key.
func (c *call) agentNamed(ctx context.Context, name string) (string, error) {
	if strings.HasPrefix(name, "agt_") {
		return name, nil
	}
	page, err := c.config.Inbox.Agents(ctx, url.Values{"key": {name}})
	if err != nil {
		return "", err
	}
	if len(page.Data) == 0 {
		return "", fmt.Errorf("agent_id: there is no agent %q", name)
	}
	return page.Data[0].ID, nil
}

func (c *call) record(ctx context.Context, keys map[string]string, i api.Interaction) (r inbox.Record, err error) {
	if keys[i.AgentID] == "" {
		a, err := c.config.Inbox.Agent(ctx, i.AgentID)
		if err != nil {
			return r, err
		}
		keys[i.AgentID] = a.Key
	}
	return inbox.RecordOf(i, keys[i.AgentID]), nil
}

func (c *call) answerInteraction(ctx context.Context) *sdk.CallToolResult {
	c.in.only(answerArguments...)
	id := strings.TrimSpace(c.in.text("id"))
	if id == "" {
		c.in.fail("id: must be given")
	}
	if c.in.err != nil {
		return c.fault(c.in.err)
	}
	i, err := c.config.Inbox.Find(ctx, id)
	switch {
	case isStatus(err, http.StatusNotFound):
		return c.fault(fmt.Errorf("interaction '%s' not found", id))
	case err != nil:
		return c.fault(err)
	case i.State != "open":
		return c.notPending(i)
	}
	answer, err := c.answer(i)
	if err != nil {
		return c.fault(err)
	}
	end, err := c.config.Inbox.Resolve(ctx, i.AgentID, i.ID, answer)
	var late *api.Error
	switch {
	case errors.As(err, &late) && late.Interaction != nil:
		return c.notPending(*late.Interaction)
	case err != nil:
		return c.fault(err)
	case end.Replayed: // somebody else was faster, with the same answer
		return c.notPending(end)
	}
	r, err := c.record(ctx, map[string]string{}, end)
	if err != nil {
		return c.fault(err)
	}
	return structured(success{c.tool, answeredRecord{r, end.Warnings}}, false)
}

func (c *call) notPending(i api.Interaction) *sdk.CallToolResult {
	return c.fault(fmt.Errorf("interaction '%s' is not pending (status: %s)", i.ID, inbox.Status(i)))
}

// answer reads the arguments as an answer to i, bound to what i was when it was read.
func (c *call) answer(i api.Interaction) (answer api.Resolve, err error) {
	decision, by := c.in.text("decision"), strings.TrimSpace(c.in.text("answered_by"))
	if by == "" {
		by = "human"
	}
	if i.Kind == "permission" {
		answer = c.decision(decision)
	} else {
		answer = c.answers(i, decision)
	}
	answer.Digest = i.Digest
	answer.Actor = &api.External{ProviderUserID: by, ProviderTenantID: actorTenant, DisplayName: by}
	return answer, c.in.err
}

func (c *call) decision(decision string) (answer api.Resolve) {
	for _, name := range []string{"text", "answers", "response"} {
		if c.in.raw(name) != nil {
			c.in.fail("%s: is for questions; this is a permission, which takes a decision", name)
		}
	}
	message := c.in.text("message")
	switch decision {
	case "allow":
		return api.Resolve{
			Answers: []api.Answer{{OptionIndices: []int{0}}}, Note: message, Remember: c.in.flag("remember"),
			UpdatedInput: c.in.raw("updated_input"), UpdatedPermissions: c.in.raw("updated_permissions"),
		}
	case "deny":
		for _, name := range []string{"remember", "updated_input", "updated_permissions"} {
			if c.in.raw(name) != nil {
				c.in.fail("%s: goes with allow only", name)
			}
		}
		return api.Resolve{Answers: []api.Answer{{OptionIndices: []int{1}, Text: message}}}
	}
	c.in.fail("decision: must be allow or deny")
	return answer
}

func (c *call) answers(i api.Interaction, decision string) (answer api.Resolve) {
	if decision != "" {
		c.in.fail("decision: is for permissions; this is a question, which takes text or answers")
	}
	for _, name := range []string{"message", "remember", "updated_input", "updated_permissions"} {
		if c.in.raw(name) != nil {
			c.in.fail("%s: is for permissions", name)
		}
	}
	given := map[string]promptAnswer{}
	c.in.read("answers", &given, "an object of strings or arrays of strings, by the text of the question")
	answer.Response = c.in.text("response")
	if text := c.in.text("text"); strings.TrimSpace(text) != "" {
		if first := i.Request.Questions[0].Prompt; len(i.Request.Questions) == 1 && len(given) == 0 {
			given[first] = promptAnswer{text}
		} else if answer.Response == "" {
			answer.Response = text
		}
	}
	if len(given) == 0 && strings.TrimSpace(answer.Response) == "" {
		c.in.fail("text: give a text, or answers by question")
	}
	for n, q := range i.Request.Questions {
		a, err := given[q.Prompt].to(q)
		if err != nil {
			c.in.fail("answers[%q]: %v", i.Request.Questions[n].Prompt, err)
		}
		delete(given, q.Prompt)
		answer.Answers = append(answer.Answers, a)
	}
	for unknown := range given {
		c.in.fail("answers[%q]: there is no such question", unknown)
	}
	return answer
}

// promptAnswer is the answer to one question: labels, or words of its own.
type promptAnswer []string

func (p *promptAnswer) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		*p = make(promptAnswer, 1)
		return json.Unmarshal(raw, &(*p)[0])
	}
	return json.Unmarshal(raw, (*[]string)(p))
}

// to is p as an answer to q. What is no label is the person's own words, for which there is one option; a question that is left open has it
// without words.
func (p promptAnswer) to(q api.Question) (a api.Answer, err error) {
	free := slices.IndexFunc(q.Options, func(o api.Option) bool { return o.AllowsText })
	var words []string
	for _, text := range p {
		index := slices.IndexFunc(q.Options, func(o api.Option) bool { return o.Label == strings.TrimSpace(text) })
		if index < 0 {
			index, words = free, append(words, strings.TrimSpace(text))
		}
		if index < 0 {
			return a, fmt.Errorf("%q is not an option; the options are %s", text, labels(q))
		}
		if !slices.Contains(a.OptionIndices, index) {
			a.OptionIndices = append(a.OptionIndices, index)
		}
	}
	if len(a.OptionIndices) == 0 {
		if free < 0 {
			return a, fmt.Errorf("must be answered; the options are %s", labels(q))
		}
		a.OptionIndices = []int{free}
	}
	slices.Sort(a.OptionIndices)
	a.Text = strings.Join(words, ", ")
	return a, nil
}

func labels(q api.Question) string {
	quoted := make([]string, len(q.Options))
	for n, o := range q.Options {
		quoted[n] = fmt.Sprintf("%q", o.Label)
	}
	return strings.Join(quoted, ", ")
}
