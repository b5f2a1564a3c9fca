package interaction

import (
	"context"
	"time"
)

// The server owns deadlines: they are kept when the asker has died, and those that fell due while the server was down end at its start.

const (
	dueAtOnce    = 100             // interactions expired per round
	idleCheck    = 5 * time.Minute // a look at the clock when no deadline is known, in case the clock jumped
	presenceTick = time.Second
)

// Run expires interactions and notices askers that are gone, until ctx is done. Overdue ones have ended when ready is called.
func (s *Service) Run(ctx context.Context, ready func()) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	ready()
	presence := time.NewTicker(presenceTick)
	defer presence.Stop()
	deadline := time.NewTimer(s.untilNext(ctx))
	defer deadline.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-presence.C:
			s.NoticeSilence()
		case <-s.deadlines:
			deadline.Reset(s.untilNext(ctx))
		case <-deadline.C:
			if err := s.ExpireDue(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("expire", "err", err)
			}
			deadline.Reset(s.untilNext(ctx))
		}
	}
}

func (s *Service) start(ctx context.Context) error {
	if err := s.ExpireDue(ctx); err != nil {
		return err
	}
	waiting, err := s.store.OnTheLine(ctx)
	for _, id := range waiting {
		s.askers.expect(id, s.Time())
	}
	return err
}

// keepDeadlines has Run look at the next deadline again.
func (s *Service) keepDeadlines() {
	select {
	case s.deadlines <- struct{}{}:
	default:
	}
}

// untilNext is how long Run may sleep. A store that cannot tell is asked again soon.
func (s *Service) untilNext(ctx context.Context) time.Duration {
	at, err := s.store.NextDeadline(ctx)
	if err != nil {
		return time.Second
	}
	if at.IsZero() {
		return idleCheck
	}
	return min(max(at.Sub(s.now()), 0), idleCheck)
}

// ExpireDue ends every open interaction whose deadline has passed.
func (s *Service) ExpireDue(ctx context.Context) error {
	for {
		due, err := s.store.Due(ctx, s.Time(), dueAtOnce)
		if err != nil || len(due) == 0 {
			return err
		}
		for _, id := range due {
			if err := s.expire(ctx, id); err != nil {
				return err
			}
		}
	}
}

func (s *Service) expire(ctx context.Context, id ID) error {
	_, _, err := s.ended(s.store.Update(ctx, id, nil, func(_ Record, i Interaction, _ ID) (Change, error) {
		return i.Expire(s.Time())
	}))
	return err
}

// NoticeSilence marks the askers that have not been heard of for AskerGrace.
func (s *Service) NoticeSilence() {
	for id, since := range s.askers.silent(s.Time()) {
		s.store.MarkAsker(id, since)
	}
}
