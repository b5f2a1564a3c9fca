package agents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"sayso/internal/api"
)

// Demo is a coding agent that only pretends to work. Client is all it needs.
type Demo struct {
	Client *api.Client
	Say    func(format string, args ...any) // what it tells meanwhile; nil: it is silent
	Tried  func(error)                      // as [api.Client.Await] takes it; nil: nobody is told
	// Pause waits for d; nil: by the clock.
	Pause func(ctx context.Context, d time.Duration) error
	// Patience is how long its one impatient question stays open; 0: 20 seconds.
	Patience time.Duration
}

// errStopped says that a person told the agent to stop.
var errStopped = errors.New("stopped by a person")

// How long a Demo takes to ask, and, when it is stopped, to say that it no longer waits.
const (
	createWithin   = 20 * time.Second
	withdrawWithin = 2 * time.Second
)

// Run plays the agent's part to its end, or until ctx is done; then it withdraws what it waits for.
func (d Demo) Run(ctx context.Context) error {
	agent, err := d.Client.CreateAgent(ctx, api.NewAgent{Name: "Demo agent", Key: "demo"})
	if err != nil {
		return err
	}
	s := &story{Demo: d.complete(), agent: agent.ID}
	err = s.tell(ctx)
	if errors.Is(err, errStopped) {
		s.Say("I was told to stop, so I stop here.")
		return nil
	}
	return err
}

// complete is d with everything filled in that may be left out.
func (d Demo) complete() Demo {
	if d.Say == nil {
		d.Say = func(string, ...any) {}
	}
	if d.Tried == nil {
		d.Tried = func(error) {}
	}
	if d.Pause == nil {
		d.Pause = pause
	}
	if d.Patience == 0 {
		d.Patience = 20 * time.Second
	}
	return d
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// open asks, and leaves it open. It is not broken off when ctx ends: what is open must be known, so that it can be withdrawn.
func (s *story) open(ctx context.Context, ask api.NewInteraction, patience time.Duration) (api.Interaction, error) {
	secs := max(1, int(patience/time.Second))
	ask.WaitMode, ask.TimeoutSecs = "block", &secs
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), createWithin)
	defer stop()
	return s.Client.CreateInteraction(ctx, s.agent, rand.Text(), ask)
}

// ask asks, and waits for the end.
func (s *story) ask(ctx context.Context, ask api.NewInteraction, patience time.Duration) (api.Interaction, error) {
	i, err := s.open(ctx, ask, patience)
	if err != nil {
		return i, err
	}
	end, err := s.Client.Await(ctx, s.agent, i.ID, s.Tried)
	if ctx.Err() != nil {
		s.leave(ctx, i.ID)
	}
	if end.CancelReason == "agent_canceled" || end.CancelReason == "agent_archived" {
		return end, errStopped
	}
	return end, err
}

// leave withdraws a request because the agent itself is being stopped. If that does not get through, the deadline ends it.
func (s *story) leave(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer stop()
	_, _ = s.Client.Cancel(ctx, s.agent, id)
}

// may asks for permission, and gives what is to be told of the outcome. Anything but an Allow is a no.
func (s *story) may(ctx context.Context, tool, input string) (allowed bool, told string, err error) {
	call := api.ToolCall{Name: tool, Input: json.RawMessage(input)}
	i, err := s.ask(ctx, api.NewInteraction{ToolCall: &call}, time.Hour)
	if err != nil {
		return false, "", err
	}
	answer, ok := answered(i, 0)
	switch {
	case !ok:
		return false, "Not allowed: " + silence(i) + ".", nil
	case answer.OptionIndices[0] == 0:
		return true, permitted(i.Decision), nil
	case answer.Text == "":
		return false, "No, without a reason.", nil
	}
	return false, "No: " + strings.TrimRight(answer.Text, ".") + ".", nil
}

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
	if i.CancelReason == "expired" {
		return "nobody answered in time"
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
