package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// promptQuestion has a person answer Claude Code's own questions, which come as a permission prompt. They are never allowed without answers:
// the agent would be told that the person said nothing.
func (c *call) promptQuestion(ctx context.Context, a approval) *sdk.CallToolResult {
	in := argumentsOf(a.original)
	raw := in.raw("questions")
	form, texts, err := questionsForm("questions", raw)
	if err = firstOf(in.err, err); err != nil {
		return c.unreadable(err)
	}
	new := api.NewInteraction{Request: &form, Join: c.join(a)}
	warnings := c.waits(&new)
	if c.in.err != nil {
		return c.refuse(c.in.err)
	}
	i, agent, err := c.open(ctx, new)
	switch {
	case isStatus(err, 400):
		return c.unreadable(err)
	case err != nil:
		return c.refuse(err)
	case new.WaitMode != block && i.State == "open":
		return c.later(i, warnings)
	}
	if err = c.await(ctx, agent, &i); err != nil {
		c.withdrawn(ctx, agent, i.ID, err)
		return c.unanswerable(i, err, warnings)
	}
	return bare(c.promptVerdict(i, a.original, texts, warnings), false)
}

// unreadable is the answer for questions that cannot be shown.
func (c *call) unreadable(err error) *sdk.CallToolResult {
	why := reason(err)
	return bare(verdict{Tool: c.tool, Error: why, Behavior: "deny", Message: "These questions cannot be shown to a person: " + why}, false)
}

// promptVerdict is the answer for questions that have ended.
func (c *call) promptVerdict(i api.Interaction, original json.RawMessage, texts, warnings []string) verdict {
	if i.State != "resolved" {
		return c.denyUnanswered(i, warnings)
	}
	result := answeredPrompt{ID: i.ID, Answers: map[string]string{}, AnsweredBy: inbox.AnsweredBy(i), Source: "human", Warnings: warnings}
	if i.Decision != nil {
		result.Response = i.Decision.Response
	}
	for n, q := range i.Request.Questions {
		if chosen := inbox.ChosenTexts(q, i.Resolution.Answers[n]); len(chosen) > 0 {
			result.Answers[texts[n]] = strings.Join(chosen, ", ")
		}
	}
	if len(result.Answers) == 0 && result.Response == "" {
		return c.denyByPerson(i, fmt.Sprintf("%s answered none of the questions.", result.AnsweredBy), warnings)
	}
	return verdict{Tool: c.tool, Result: result, Behavior: "allow", UpdatedInput: inbox.WithAnswers(original, encode(result.Answers), result.Response)}
}
