package cli

import (
	"context"
	"errors"
	"time"

	"sayso/internal/api"
)

// awayMost is how long a server may be away before a command that waits for it gives up.
const awayMost = 2 * time.Minute

var errAway = errors.New("the server is away")

// outage follows whether the server can be reached while a command waits.
type outage struct {
	*program
	client *api.Client
	giveUp func(error)
	since  time.Time // when it was first found away; zero: it is there
	last   time.Time // when it was last tried
}

// tried is told of each try, as [api.Client.Await] takes it.
func (o *outage) tried(err error) { o.note(err, time.Now()) }

func (o *outage) note(err error, now time.Time) {
	if err == nil || o.heldSince(err, now) {
		o.since = time.Time{}
	}
	o.last = now
	if err == nil {
		return
	}
	if o.since.IsZero() {
		o.since = now
		o.notice("the server is away; waiting for it to come back (%s)", err)
	}
	if now.Sub(o.since) >= o.patience {
		o.giveUp(errAway)
	}
	o.rediscover(o.client)
}

// pause waits before the next try.
func (o *outage) pause(ctx context.Context) error {
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// heldSince says whether the try that failed had been held by the server for a while: the outage before it was over then.
func (o *outage) heldSince(err error, now time.Time) bool {
	const longerThanAnyPause = 10 * time.Second
	return !api.NeverSent(err) && !o.last.IsZero() && now.Sub(o.last) > longerThanAnyPause
}
