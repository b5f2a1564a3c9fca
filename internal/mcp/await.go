package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// awaitAnswer goes on waiting for what was asked before. A call that is canceled withdraws nothing: it only asked whether there is an answer.
func (c *call) awaitAnswer(ctx context.Context) *sdk.CallToolResult {
	c.in.only(awaitArguments...)
	id := strings.TrimSpace(c.in.text("interaction_id"))
	secs := c.in.number("timeout_secs")
	if id == "" {
		c.in.fail("interaction_id: must be given; it came with the answer of %s or %s", c.names.ask, c.names.approve)
	}
	if secs != nil && (*secs < 0 || *secs > 3600) {
		c.in.fail("timeout_secs: 0 to 3600 are allowed")
	}
	if c.in.err != nil {
		return c.fault(c.in.err)
	}
	agent := c.askedBy(id)
	if agent == "" {
		var err error
		if agent, err = c.agentID(ctx); err != nil {
			return c.fault(err)
		}
	}
	i, err := c.backend.Interaction(ctx, agent, id, 0)
	if err != nil {
		return c.fault(err)
	}
	if i, err = c.awaitAtMost(ctx, agent, i, secs); err != nil {
		return c.unfinished(i, err, nil)
	}
	return c.ended(i)
}

func (c *call) awaitAtMost(ctx context.Context, agent string, i api.Interaction, secs *int) (api.Interaction, error) {
	if secs == nil || i.State != "open" {
		err := c.await(ctx, agent, &i)
		return i, err
	}
	if *secs == 0 {
		return i, errHeld
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer time.AfterFunc(time.Duration(*secs)*time.Second, func() { end(errHeld) }).Stop()
	err := c.await(ctx, agent, &i)
	if err != nil && errors.Is(context.Cause(ctx), errHeld) {
		return i, errHeld
	}
	return i, err
}

// ended is the result of what has ended, whichever tool asked it.
func (c *call) ended(i api.Interaction) *sdk.CallToolResult {
	switch {
	case i.Kind == "permission" && i.ToolCall != nil:
		return structured(c.verdict(i, i.ToolCall.Input, nil), false)
	case inbox.Flat(i):
		return c.answered(i, nil, nil)
	}
	texts := make([]string, len(i.Request.Questions))
	for n, q := range i.Request.Questions {
		texts[n] = q.Prompt
	}
	return c.answered(i, texts, nil)
}
