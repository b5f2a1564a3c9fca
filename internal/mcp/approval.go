package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// approval is what request_approval was asked.
type approval struct {
	tool, action string // tool is the name of what is to be allowed
	original     json.RawMessage
	callID       string // as it was given
	suggestions  json.RawMessage
}

// requestApproval asks for permission. A native call is answered with a verdict whatever happens.
func (c *call) requestApproval(ctx context.Context) *sdk.CallToolResult {
	c.native = c.in.raw("input") != nil
	a, err := c.approval()
	switch {
	case err != nil:
		return c.refuse(err)
	case c.native && a.tool == "AskUserQuestion":
		return c.promptQuestion(ctx, a)
	}
	q, told := c.openApproval(ctx, a)
	if told != nil {
		return told
	}
	return c.verdictOf(ctx, q, a.input(), c.await(ctx, q.agent, &q.i))
}

// openApproval asks. What needs no waiting is told at once.
func (c *call) openApproval(ctx context.Context, a approval) (q *asked, told *sdk.CallToolResult) {
	new := api.NewInteraction{
		ToolCall:    &api.ToolCall{Name: a.tool, Input: a.original, ProviderCallID: a.callID},
		Action:      a.action,
		Suggestions: a.suggestions,
		Join:        c.join(a),
	}
	warnings := c.waits(&new)
	if c.in.err != nil {
		return nil, c.refuse(c.in.err)
	}
	i, agent, err := c.open(ctx, new)
	switch {
	case err != nil:
		return nil, c.refuse(err)
	case i.Policy != nil:
		return nil, c.byPolicy(a, *i.Policy)
	case new.WaitMode != block && i.State == "open":
		return nil, c.later(i, warnings)
	}
	return &asked{i: i, agent: agent, warnings: warnings}, nil
}

// verdictOf is the result of what was waited for. err is why it has not ended.
func (c *call) verdictOf(ctx context.Context, q *asked, input json.RawMessage, err error) *sdk.CallToolResult {
	if err != nil {
		c.withdrawn(ctx, q.agent, q.i.ID, err)
		return c.unanswerable(q.i, err, q.warnings)
	}
	return bare(c.verdict(q.i, input, q.warnings), false)
}

// approval reads the arguments.
func (c *call) approval() (a approval, err error) {
	name, action := c.in.text("tool_name"), strings.TrimSpace(c.in.text("action"))
	if strings.TrimSpace(name) != name {
		c.in.fail("tool_name: leading and trailing blanks are not allowed, got %q", name)
	}
	switch {
	case name == "" && action == "":
		c.in.fail("tool_name: give the name of the tool, or an action")
	case name == "":
		a.tool = action
	default:
		a.tool, a.action = name, action
	}
	if a.original = c.in.raw("input"); a.original == nil {
		a.original = c.in.raw("arguments")
	}
	a.callID, a.suggestions = c.in.text("tool_use_id"), c.in.raw("suggestions")
	return a, c.in.err
}

// join takes up the same call again. Its id must be the client's: a model that calls by itself could give the same one again, and have one
// answer count for many calls.
func (c *call) join(a approval) *api.Join {
	id := c.callID()
	if id == "" && c.native {
		id = a.callID
	}
	return &api.Join{CallID: id}
}

// input is what was to be allowed, whole.
func (a approval) input() json.RawMessage {
	if a.original == nil {
		return json.RawMessage("{}")
	}
	return a.original
}

func (c *call) allow(input json.RawMessage, result decided) verdict {
	return verdict{Tool: c.tool, Result: result, Behavior: "allow", UpdatedInput: input}
}

func (c *call) deny(message string, result any) verdict {
	return verdict{Tool: c.tool, Result: result, Behavior: "deny", Message: message}
}

func (c *call) byPolicy(a approval, p api.PolicyDecision) *sdk.CallToolResult {
	if p.Source == "own_tool" {
		return bare(c.allow(a.input(), decided{Decision: "allow", Source: p.Source}), false)
	}
	if p.Decision == "allow" {
		return bare(c.allow(a.input(), decided{Decision: "allow", Source: "policy", Message: p.Message}), false)
	}
	message := p.Message
	if message == "" {
		message = fmt.Sprintf("The approval policy denies %s (%s %s).", a.tool, p.Source, p.Pattern)
	}
	return bare(c.deny(message, decided{Decision: "deny", Source: "policy", Message: message}), false)
}

// verdict is the answer for a permission that has ended.
func (c *call) verdict(i api.Interaction, original json.RawMessage, warnings []string) verdict {
	switch {
	case i.State != "resolved":
		return c.denyUnanswered(i, warnings)
	case !inbox.Allowed(i):
		return c.denyByPerson(i, i.Resolution.Answers[0].Text, warnings)
	}
	v := c.allow(original, decided{ID: i.ID, Decision: "allow", AnsweredBy: inbox.AnsweredBy(i), Source: "human", Warnings: warnings})
	if d := i.Decision; d != nil {
		if d.UpdatedInput != nil {
			v.UpdatedInput = d.UpdatedInput
		}
		v.UpdatedPermissions = d.UpdatedPermissions
		result := v.Result.(decided)
		result.Message = d.Note
		v.Result = result
	}
	return v
}

func (c *call) denyByPerson(i api.Interaction, why string, warnings []string) verdict {
	by := inbox.AnsweredBy(i)
	if why == "" {
		why = "Denied by " + by + ". No reason was given."
	}
	return c.deny(why, decided{ID: i.ID, Decision: "deny", AnsweredBy: by, Source: "human", Message: why, Warnings: warnings})
}

// denyUnanswered is the verdict of what ended without an answer: silence is a no.
func (c *call) denyUnanswered(i api.Interaction, warnings []string) verdict {
	result := decided{ID: i.ID, Decision: "deny", Source: "canceled", CancelReason: i.CancelReason, Warnings: warnings}
	if i.CancelReason == "expired" {
		return c.denyTimeout(i, time.Duration(i.TimeoutSecs)*time.Second, warnings)
	}
	result.Message = "The request was canceled: " + inbox.CancelText(i.CancelReason) + ". It is not allowed; do not act on it."
	return c.deny(result.Message, result)
}

func (c *call) denyTimeout(i api.Interaction, after time.Duration, warnings []string) verdict {
	message := fmt.Sprintf("Nobody answered within %d s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it.", int(after/time.Second))
	return c.deny(message, decided{ID: i.ID, Decision: "deny", Source: "timeout", Message: message, Warnings: warnings})
}

// later is the answer for a permission that is left open. A native call must have a verdict, so it is denied for now.
func (c *call) later(i api.Interaction, warnings []string) *sdk.CallToolResult {
	p := c.pending(i, warnings)
	if !c.native {
		return bare(success{c.tool, p}, false)
	}
	message := fmt.Sprintf("A person was asked and has not answered yet (interaction %s). End your turn now: the answer will come when the session resumes. Do not act on this, and do not try another way.", i.ID)
	if i.WaitMode != suspend {
		message = fmt.Sprintf("A person was asked and has not answered yet (interaction %s). Do not act on this. Call %s with this id to wait for the answer, then try again.", i.ID, c.names.await)
	}
	return bare(c.deny(message, p), false)
}

// unanswerable is the answer for a wait that ended before the question did.
func (c *call) unanswerable(i api.Interaction, err error, warnings []string) *sdk.CallToolResult {
	switch {
	case !c.native && (errors.Is(err, errHeld) || errors.Is(err, errStopping)):
		return bare(success{c.tool, c.pending(i, warnings)}, false)
	case errors.Is(err, errHeld):
		return bare(c.denyTimeout(i, time.Since(c.started), warnings), false)
	case errors.Is(err, errWithdrawn):
		i.CancelReason = "asker_canceled"
		return bare(c.denyUnanswered(i, warnings), false)
	case errors.Is(err, errStopping):
		return c.refuse(fmt.Errorf("the server is restarting; ask again in a moment (the question stays open as %s)", i.ID))
	}
	return c.refuse(err)
}

// refuse is the answer for a call that failed: a deny for a native one, so that a fault never looks like a broken harness or a yes.
func (c *call) refuse(err error) *sdk.CallToolResult {
	why := reason(err)
	if !c.native {
		return bare(failed{Tool: c.tool, Error: why}, true)
	}
	return bare(verdict{Tool: c.tool, Error: why, Behavior: "deny", Message: "Nobody answered, so this is denied (fail closed): " + why}, false)
}
