package agents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sayso/internal/api"
)

// How long one try to tell something may take, and, when the agent itself is stopped, to say that it no longer waits.
const (
	tellWithin     = 20 * time.Second
	withdrawWithin = 2 * time.Second
)

// surely tries until it is known to have worked, through restarts of the server. It is not broken off when ctx ends: what is recorded must be
// known, so that it can be withdrawn.
func (s *story) surely(ctx context.Context, try func(ctx context.Context, once string) error) error {
	once := rand.Text()
	return api.Again(ctx, s.Tried, func() error {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
		defer stop()
		return try(ctx, once)
	})
}

// conflict says whether the server refused because of what happened meanwhile.
func conflict(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Status == http.StatusConflict
}

// report tells what the agent says and does.
func (s *story) report(ctx context.Context, stopReason string, blocks ...api.ContentBlock) (r api.Reported, err error) {
	event := api.NewEvent{EventKind: "model_output", ContentBlocks: blocks, StopReason: stopReason}
	err = s.surely(ctx, func(ctx context.Context, once string) error {
		r, err = s.Client.Report(ctx, s.agent, once, event)
		return err
	})
	if conflict(err) { // the only reason for which a report is refused
		err = errArchived
	}
	return r, err
}

// says tells something, here and in the conversation.
func (s *story) says(ctx context.Context, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	s.Say("%s", text)
	_, err := s.report(ctx, "end_turn", api.Text(strings.TrimSpace(text))...)
	return err
}

// did tells of something, after what led to it, and keeps it for the summary.
func (s *story) did(ctx context.Context, what string, after ...string) error {
	s.Say("  %s", what)
	s.done = append(s.done, what)
	_, err := s.report(ctx, "", api.Text(strings.Join(append(after, what), " "))...)
	return err
}

// call makes a tool call: why, what is said of it, and the call.
func (s *story) call(ctx context.Context, thought, said, tool, input, permission string) (api.Call, error) {
	blocks := []api.ContentBlock{{Type: "text", Text: said}, {Type: "tool_call", Name: tool, Input: json.RawMessage(input), Permission: permission}}
	if thought != "" {
		blocks = append([]api.ContentBlock{{Type: "reasoning", Text: thought}}, blocks...)
	}
	r, err := s.report(ctx, "tool_use", blocks...)
	if err != nil {
		return api.Call{}, err
	}
	return r.ToolCalls[0], nil
}

// finish tells what became of a call. One that was canceled meanwhile was canceled by a person who stopped the agent.
func (s *story) finish(ctx context.Context, call, outcome, result string) error {
	err := s.surely(ctx, func(ctx context.Context, once string) error {
		_, err := s.Client.Finish(ctx, s.agent, call, once, api.Result{Outcome: outcome, ContentBlocks: api.Text(result)})
		return err
	})
	if conflict(err) {
		return errStopped
	}
	return err
}

// open asks without a call, and does not wait for the answer.
func (s *story) open(ctx context.Context, form *api.Request, patience time.Duration) (i api.Interaction, err error) {
	secs := max(1, int(patience/time.Second))
	ask := api.NewInteraction{Request: form, WaitMode: "block", TimeoutSecs: &secs}
	err = s.surely(ctx, func(ctx context.Context, once string) error {
		i, err = s.Client.CreateInteraction(ctx, s.agent, once, ask)
		return err
	})
	if conflict(err) {
		err = errArchived
	}
	return i, err
}

// glance is how long the agent looks at what it waits for before it looks for messages again.
const glance = 5 * time.Second

// await waits until an interaction ends: for an hour, then it is withdrawn. Meanwhile it replies to messages that cannot wait. What ends the
// agent is an error.
func (s *story) await(ctx context.Context, id string) (api.Interaction, error) {
	i, err := s.watch(ctx, id, time.Now().Add(s.Longest))
	switch {
	case ctx.Err() != nil:
		s.leave(ctx, id)
		return i, ctx.Err()
	case errors.Is(err, errStopped):
		s.leave(ctx, id)
		return i, err
	case err != nil:
		return i, err
	case i.State == "open":
		return s.withdraw(ctx, id)
	}
	return i, ending(i)
}

// watch looks at an interaction and at messages in turn, until it ends or the time is up.
func (s *story) watch(ctx context.Context, id string, until time.Time) (api.Interaction, error) {
	for {
		in, err := s.claim(ctx, 0)
		if err != nil {
			return api.Interaction{}, err
		}
		patience := min(glance, time.Until(until))
		if in != nil {
			patience = 0
		}
		i, err := s.look(ctx, id, patience)
		if err != nil || i.State != "open" {
			s.unread = in // what it means depends on how the interaction ended
			return i, err
		}
		if in == nil && !time.Now().Before(until) {
			return i, nil
		}
		if in == nil {
			continue
		}
		if err := s.reply(ctx, *in); err != nil {
			return i, err
		}
	}
}

func (s *story) look(ctx context.Context, id string, wait time.Duration) (i api.Interaction, err error) {
	err = api.Again(ctx, s.Tried, func() error {
		i, err = s.Client.Interaction(ctx, s.agent, id, wait)
		return err
	})
	return i, err
}

// ending is the error that ends the agent with i.
func ending(i api.Interaction) error {
	switch i.CancelReason {
	case "agent_canceled":
		return errStopped
	case "agent_archived":
		return errArchived
	}
	return nil
}

// withdraw takes a request back, and gives how it ended: an answer that came first stands.
func (s *story) withdraw(ctx context.Context, id string) (i api.Interaction, err error) {
	err = api.Again(ctx, s.Tried, func() error {
		i, err = s.Client.Cancel(ctx, s.agent, id)
		return err
	})
	var late *api.Error
	if errors.As(err, &late) && late.Interaction != nil {
		i, err = *late.Interaction, nil
	}
	if err != nil {
		return i, err
	}
	return i, ending(i)
}

// leave withdraws a request because the agent itself is being stopped. If that does not get through, it stays open.
func (s *story) leave(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer stop()
	_, _ = s.Client.Cancel(ctx, s.agent, id)
}

// decision is what became of a request for permission.
type decision struct {
	allowed    bool
	superseded bool
	told       string
}

// may asks for permission to make a call, and waits. Anything but an Allow is a no.
func (s *story) may(ctx context.Context, call api.Call) (decision, error) {
	switch {
	case call.InteractionID == "" && call.State == "ready": // a policy decided
		return decision{allowed: true, told: "Allowed without asking anybody."}, nil
	case call.InteractionID == "":
		return decision{told: "Denied without asking anybody."}, nil
	}
	i, err := s.await(ctx, call.InteractionID)
	if err != nil {
		return decision{}, err
	}
	return decided(i), nil
}

func decided(i api.Interaction) decision {
	answer, ok := answered(i, 0)
	switch {
	case !ok:
		return decision{superseded: superseded(i), told: "Not allowed: " + silence(i) + "."}
	case answer.OptionIndices[0] == 0:
		return decision{allowed: true, told: permitted(i.Decision)}
	case answer.Text == "":
		return decision{told: "No, without a reason."}
	}
	return decision{told: "No: " + strings.TrimRight(answer.Text, ".") + "."}
}

func superseded(i api.Interaction) bool { return i.CancelReason == "superseded_by_input" }

// permitted tells of an Allow and of what came with it.
func permitted(d *api.Decision) string {
	switch {
	case d == nil:
		return "Allowed."
	case d.UpdatedInput != nil:
		return "Allowed, as changed to " + string(d.UpdatedInput) + "."
	case d.Note != "":
		return "Allowed: " + strings.TrimRight(d.Note, ".") + "."
	}
	return "Allowed."
}

// silence tells how a request ended that nobody answered.
func silence(i api.Interaction) string {
	switch i.CancelReason {
	case "expired", "asker_canceled": // which the agent does itself when it has waited long enough
		return "nobody answered in time"
	case "superseded_by_input":
		return "your message took its place"
	}
	return "the request was canceled"
}

// answered gives the answer to question q, if there is one.
func answered(i api.Interaction, q int) (api.Answer, bool) {
	if i.Resolution == nil || len(i.Resolution.Answers) <= q || len(i.Resolution.Answers[q].OptionIndices) == 0 {
		return api.Answer{}, false
	}
	return i.Resolution.Answers[q], true
}
