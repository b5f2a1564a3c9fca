package store

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"sayso/internal/interaction"
)

// quiet watches nothing.
type quiet struct{}

func (quiet) Watch(interaction.ID) (<-chan interaction.Record, func()) { return nil, func() {} }

func (quiet) WatchAgent(interaction.ID) (<-chan struct{}, func()) { return nil, func() {} }

// kept runs a test in a bubble of its own time, with a service that keeps deadlines on a real database.
func kept(t *testing.T, test func(t *testing.T, s *Store, service *interaction.Service, agent interaction.Agent)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(context.Background(), folder, Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		must(t, err)
		service := interaction.NewService(s, quiet{}, s.log, time.Now)
		ctx, stop := context.WithCancel(context.Background())
		must(t, service.Start(ctx))
		done := make(chan struct{})
		go func() { service.Run(ctx); close(done) }()
		test(t, s, service, newAgent(t, s))
		stop()
		<-done
		must(t, s.Close())
	})
}

// asks goes through the service, as askers do.
func asks(t *testing.T, s *Store, service *interaction.Service, agent interaction.Agent, ask interaction.Ask) interaction.ID {
	t.Helper()
	p, err := s.Project(context.Background(), "default", "default")
	must(t, err)
	asker := interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_asker", ProjectID: p.ID}
	ask.ToolCall = &interaction.ToolCall{Name: "Bash"}
	r, _, err := service.Create(context.Background(), asker, p, agent.ID, ask, interaction.Once{})
	must(t, err)
	return r.ID
}

func (s *Store) now(t *testing.T, id interaction.ID) interaction.Record {
	t.Helper()
	r, err := s.Interaction(context.Background(), id)
	must(t, err)
	return r
}

// later lets the bubble's time pass.
func later(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestDeadlinesAreKept(t *testing.T) {
	kept(t, func(t *testing.T, s *Store, service *interaction.Service, agent interaction.Agent) {
		long, short := 60, 10
		first := asks(t, s, service, agent, interaction.Ask{TimeoutSecs: &long})
		second := asks(t, s, service, agent, interaction.Ask{TimeoutSecs: &short}) // nearer than the one that Run waits for
		never := asks(t, s, service, agent, interaction.Ask{})
		later(9900 * time.Millisecond)
		if r := s.now(t, second); r.State != interaction.Open {
			t.Errorf("it ended early: %s", r.State)
		}
		later(300 * time.Millisecond)
		if r := s.now(t, second); r.State != interaction.Canceled {
			t.Errorf("0.2 s after its deadline it is %s", r.State)
		}
		if r := s.now(t, first); r.State != interaction.Open {
			t.Errorf("another one's deadline ended it: %s", r.State)
		}
		later(time.Minute)
		if r := s.now(t, first); r.State != interaction.Canceled {
			t.Errorf("after its deadline the first is %s", r.State)
		}
		later(24 * time.Hour)
		if r := s.now(t, never); r.State != interaction.Open {
			t.Errorf("one without a deadline is %s", r.State)
		}
	})
}

// TestOneThatCannotEndHoldsNothingUp spoils a stored request: the others still end in time, and a start succeeds.
func TestOneThatCannotEndHoldsNothingUp(t *testing.T) {
	kept(t, func(t *testing.T, s *Store, service *interaction.Service, agent interaction.Agent) {
		secs := 10
		bad := asks(t, s, service, agent, interaction.Ask{TimeoutSecs: &secs})
		good := asks(t, s, service, agent, interaction.Ask{TimeoutSecs: &secs})
		s.heads.drop(bad)
		must(t, s.writer.do(context.Background(), func(x *tx) error {
			for _, statement := range []string{"DROP TRIGGER requests_immutable", "UPDATE requests SET head = x'7b' WHERE interaction = 1"} {
				if err := x.run(statement); err != nil {
					return err
				}
			}
			return nil
		}))
		later(11 * time.Second)
		if r := s.now(t, good); r.State != interaction.Canceled {
			t.Errorf("the good one is %s", r.State)
		}
		if err := service.Start(context.Background()); err != nil {
			t.Errorf("start: %v", err)
		}
	})
}

// TestSilence: an asker on the line that is not heard of is gone after AskerGrace, and one that polls is never on the line.
func TestSilence(t *testing.T) {
	kept(t, func(t *testing.T, s *Store, service *interaction.Service, agent interaction.Agent) {
		blocks := asks(t, s, service, agent, interaction.Ask{WaitMode: interaction.Block})
		polls := asks(t, s, service, agent, interaction.Ask{})
		later(interaction.AskerGrace - time.Second)
		if since := s.now(t, blocks).Delivery.AskerGoneSince; !since.IsZero() {
			t.Errorf("gone since %s before the grace is over", since)
		}
		later(3 * time.Second)
		if s.now(t, blocks).Delivery.AskerGoneSince.IsZero() {
			t.Error("not noticed as gone")
		}
		if !s.now(t, polls).Delivery.AskerGoneSince.IsZero() {
			t.Error("one that comes back by itself is told gone")
		}
	})
}
