package agents

import (
	"context"
	"errors"
	"fmt"
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
	// Longest is how long it waits for an answer to anything else, and then goes on as if denied; 0: an hour.
	Longest time.Duration
	// Linger is how long it still reads what people write when its story is told; 0: it does not.
	Linger time.Duration
}

// How a Demo ends before its story does.
var (
	errStopped  = errors.New("stopped by a person")
	errArchived = errors.New("archived")
)

// Run plays the agent's part to its end, or until ctx is done; then it withdraws what it waits for.
func (d Demo) Run(ctx context.Context) error {
	agent, err := d.enter(ctx)
	if err != nil {
		return err
	}
	s := &story{Demo: d.complete(), agent: agent.ID}
	err = s.tell(ctx)
	switch {
	case errors.Is(err, errStopped):
		err = s.says(ctx, "I was told to stop, so I stop here. What I had not begun stays as it is.")
	case errors.Is(err, errArchived):
	default:
		return err
	}
	if errors.Is(err, errArchived) {
		s.Say("I was archived, so I end here.")
		return nil
	}
	return err
}

// enter says who it is. An archived agent never works again, so after one comes another.
func (d Demo) enter(ctx context.Context) (agent api.Agent, err error) {
	name, key := "Demo agent", "demo"
	for n := 2; ; n++ {
		agent, err = d.Client.CreateAgent(ctx, api.NewAgent{Name: name, Key: key})
		if err != nil || agent.State != "archived" {
			return agent, err
		}
		name, key = fmt.Sprintf("Demo agent %d", n), fmt.Sprintf("demo-%d", n)
	}
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
	if d.Longest == 0 {
		d.Longest = time.Hour
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
