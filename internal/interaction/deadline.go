package interaction

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// The server owns deadlines: they are kept when the asker has died, and those that fell due while the server was down end at its start.

const (
	dueAtOnce  = 100             // interactions looked up per round
	idleCheck  = 5 * time.Minute // a look at the store when no deadline is known
	afterFault = time.Second     // a pause, so that a store that fails is not asked without end
	tick       = time.Second     // a look at the clock: timers stand still while a machine sleeps
)

// Start ends what fell due while nobody ran, and begins to watch for the askers on the line. Call it once, before anybody can ask or
// answer. An interaction that cannot be ended is logged, and holds nothing else up.
func (s *Service) Start(ctx context.Context) error {
	if err := s.ExpireDue(ctx); err != nil {
		s.log.Error("expire", slog.Any("err", err))
	}
	waiting, err := s.store.OnTheLine(ctx)
	for _, id := range waiting {
		s.askers.expect(id, s.Time())
	}
	return err
}

// Run keeps deadlines and notices askers that are gone, until ctx is done.
func (s *Service) Run(ctx context.Context) {
	clock := time.NewTicker(tick)
	defer clock.Stop()
	next := s.nextDeadline(ctx)
	timer := time.NewTimer(s.until(next))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.deadlines:
			next = s.nextDeadline(ctx)
		case <-timer.C:
			next = s.keep(ctx)
		case <-clock.C:
			s.NoticeSilence(ctx)
			if !s.now().Before(next) {
				next = s.keep(ctx)
			}
		}
		timer.Reset(s.until(next))
	}
}

// keep ends what is due, and gives the time at which to look again.
func (s *Service) keep(ctx context.Context) time.Time {
	if err := s.ExpireDue(ctx); err != nil {
		if ctx.Err() == nil {
			s.log.Error("expire", slog.Any("err", err))
		}
		return s.now().Add(afterFault)
	}
	return s.nextDeadline(ctx)
}

// lookAgain has Run look at the next deadline again.
func (s *Service) lookAgain() {
	select {
	case s.deadlines <- struct{}{}:
	default:
	}
}

// nextDeadline is when Run has something to do. A store that cannot tell is asked again soon.
func (s *Service) nextDeadline(ctx context.Context) time.Time {
	at, err := s.store.NextDeadline(ctx)
	if err != nil {
		return s.now().Add(afterFault)
	}
	if at.IsZero() {
		return s.now().Add(idleCheck)
	}
	return at
}

func (s *Service) until(at time.Time) time.Duration {
	return min(max(at.Sub(s.now()), 0), idleCheck)
}

// ExpireDue ends every open interaction whose deadline has passed. One that cannot be ended does not keep the others; the error joins
// them all.
func (s *Service) ExpireDue(ctx context.Context) error {
	failed := map[ID]error{}
	for {
		due, err := s.store.Due(ctx, s.Time(), dueAtOnce)
		if err != nil {
			return err
		}
		if !s.expireAll(ctx, due, failed) {
			break
		}
	}
	var all []error
	for id, err := range failed {
		all = append(all, fmt.Errorf("%s: %w", id, err))
	}
	return errors.Join(all...)
}

// expireAll says whether it ended any.
func (s *Service) expireAll(ctx context.Context, due []ID, failed map[ID]error) (any bool) {
	for _, id := range due {
		if failed[id] != nil {
			continue
		}
		if err := s.expire(ctx, id); err != nil {
			failed[id] = err
			continue
		}
		any = true
	}
	return any
}

func (s *Service) expire(ctx context.Context, id ID) error {
	_, _, err := s.ended(s.store.Update(ctx, id, nil, func(_ Record, i Interaction, _ ID) (Change, error) {
		return i.Expire(s.Time())
	}))
	return err
}

// NoticeSilence marks the askers that have not been heard of for AskerGrace.
func (s *Service) NoticeSilence(ctx context.Context) {
	for _, id := range s.askers.silent(s.Time()) {
		if r, err := s.store.Interaction(ctx, id); err == nil && r.State != Open {
			s.askers.forget(id)
			continue
		}
		s.markAsker(id)
	}
}

// markAsker records whether the asker is gone, as it will be known when the record is written: it may come back meanwhile.
func (s *Service) markAsker(id ID) {
	s.store.MarkAsker(id, func() time.Time { return s.askers.goneSince(id) })
}
