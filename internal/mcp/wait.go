package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
)

const (
	progressEvery  = 10 * time.Second
	withdrawWithin = 5 * time.Second
	createWithin   = 20 * time.Second
	// untilKnown is how long a request is made again that broke off, and may or may not have been recorded.
	untilKnown = 30 * time.Second
	// overdueBy is how long after its deadline a question is waited for while the server, which would end it, is away.
	overdueBy = 30 * time.Second
	// notifyWithin is how long after a connection closed the client may tell that it canceled the call.
	notifyWithin = 2 * time.Second
	// rejoinWithin is how long a connection that closed may mean a broken line, where a closed one is also how a client cancels.
	rejoinWithin = 30 * time.Second
)

// Why a wait ended without an end of the interaction.
var (
	errHeld      = errors.New("the client would not wait any longer")
	errWithdrawn = errors.New("the client canceled the call")
	errLeft      = errors.New("the client is gone")
	errStopping  = errors.New("the server is restarting")
	errOverdue   = errors.New("the server was away at the deadline")
)

// bound is a context of the call that ends when nobody can be answered any more; why is its cause.
func (c *call) bound(ctx context.Context) (context.Context, func()) {
	bound, end := context.WithCancelCause(ctx)
	stops := []func() bool{context.AfterFunc(c.config.Stopping, func() { end(errStopping) })}
	if line := c.line(); line != nil {
		stops = append(stops, context.AfterFunc(line, func() { end(errLeft) }))
	}
	return bound, func() {
		for _, stop := range stops {
			stop()
		}
		end(nil)
	}
}

// why is the reason for which a context of bound has ended.
func (c *call) why(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case !errors.Is(cause, context.Canceled):
		for _, known := range []error{errHeld, errStopping, errOverdue} {
			if errors.Is(cause, known) {
				return known
			}
		}
		return errLeft // the SDK gives what ended the connection
	case c.line() != nil && c.modern():
		return errLeft // a closed request is either
	}
	return errWithdrawn
}

// modern says whether the client speaks the protocol that has no sessions.
func (c *call) modern() bool { return c.request.ProtocolVersion() >= modernProtocol }

const modernProtocol = "2026-07-28"

// limit is how long the call may take; 0: as long as it needs.
func (c *call) limit() time.Duration {
	if c.config.Hold != nil {
		return *c.config.Hold
	}
	return limit(c.client(), c.request.Params.GetProgressToken() != nil, c.config.http, c.native)
}

// tellProgress tells the client from now on, until stop, that it is waited: clients that hear nothing give up.
func (c *call) tellProgress(ctx context.Context) (stop func()) {
	token := c.request.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var told sync.WaitGroup
	c.progress(ctx, token)
	told.Go(func() {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.progress(ctx, token)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); told.Wait() }
}

func (c *call) progress(ctx context.Context, token any) {
	secs := int(time.Since(c.started) / time.Second)
	message := "Waiting for a person to answer in Sayso"
	if secs > 0 {
		message += fmt.Sprintf(", for %d s so far", secs)
	}
	_ = c.request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(secs), Message: message})
}

// open asks, once. A call that breaks off is made again until it is known whether it was recorded.
func (c *call) open(ctx context.Context, ask api.NewInteraction) (i api.Interaction, agent string, err error) {
	if agent, err = c.agentID(ctx); err != nil {
		return i, agent, err
	}
	once := rand.Text()
	err = c.patiently(ctx, func(ctx context.Context) error {
		// What is recorded must be known, so that it can be withdrawn: the end of the call does not break it off.
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), createWithin)
		defer stop()
		i, err = c.backend.CreateInteraction(ctx, agent, once, ask)
		return err
	})
	if err == nil && i.Policy == nil {
		c.remember(i.ID, agent)
	}
	return i, agent, err
}

// patiently tries until it works or fails for good, for as long as a server may be away.
func (c *call) patiently(ctx context.Context, try func(context.Context) error) error {
	var last error
	patience := c.config.Patience
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	since := time.Now()
	err := api.Again(ctx, func(err error) {
		if err != nil && !api.NeverSent(err) {
			patience = max(patience, untilKnown)
		}
		if last = err; err != nil && time.Since(since) >= patience {
			stop()
		}
	}, func() error { return try(ctx) })
	if err != nil && last != nil && ctx.Err() != nil {
		return last
	}
	return err
}

// await waits for the end of what was opened, and has i be what came of it. An error is the reason why it has not ended. Many wait here at once,
// and what their functions hold is on as many stacks: so i is handed on by its address, and what comes before and after is apart.
func (c *call) await(ctx context.Context, agent string, i *api.Interaction) error {
	if i.State != "open" {
		return nil
	}
	waiting, end := context.WithCancelCause(ctx)
	defer end(nil)
	if most := c.limit(); most > 0 {
		left := most - time.Since(c.started)
		defer time.AfterFunc(left, func() { end(errHeld) }).Stop()
	}
	if i.TimeoutSecs > 0 {
		defer time.AfterFunc(time.Duration(i.TimeoutSecs)*time.Second+overdueBy, func() { end(errOverdue) }).Stop()
	}
	defer c.config.left.arrive(i.ID)()
	ended, err := c.backend.Await(waiting, agent, i.ID, c.tried)
	if err == nil {
		*i = ended
		return nil
	}
	if waiting.Err() == nil {
		return err
	}
	return c.why(waiting)
}

func (c *call) tried(err error) {
	if err != nil {
		c.config.Log.Info("the server is away; waiting for it to come back", "err", err)
	}
}

// withdrawn takes back what nobody waits for any more, if err says that the client did. Where a closed connection may have been a broken one
// it is left open for a while, for the client to come back.
func (c *call) withdrawn(ctx context.Context, agent, id string, err error) {
	ctx = context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, errWithdrawn):
		c.withdraw(ctx, agent, id)
	case errors.Is(err, errLeft) && c.line() != nil && !c.modern():
		if c.canceledToo() {
			c.withdraw(ctx, agent, id)
		}
	case errors.Is(err, errLeft) && c.line() != nil:
		c.config.left.unlessBack(id, rejoinWithin, c.config.Stopping, func() { c.withdraw(ctx, agent, id) })
	}
}

// canceledToo waits a moment for the notification of a client that cancels, which comes by another connection than the one it has closed.
func (c *call) canceledToo() bool {
	if errors.Is(context.Cause(c.line()), errSessionEnded) {
		return false
	}
	timer := time.NewTimer(notifyWithin)
	defer timer.Stop()
	select {
	case <-c.session.Done():
		return errors.Is(context.Cause(c.session), context.Canceled)
	case <-c.config.Stopping.Done():
	case <-timer.C:
	}
	return false
}

func (c *call) withdraw(ctx context.Context, agent, id string) {
	ctx, stop := context.WithTimeout(ctx, withdrawWithin)
	defer stop()
	if _, err := c.backend.Cancel(ctx, agent, id); err != nil && !isStatus(err, http.StatusConflict) {
		c.config.Log.Warn("withdraw", "interaction", id, "err", err)
	}
}

func isStatus(err error, status int) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Status == status
}

// departures knows who waits for what, so that a question whose asker left is told from one whose asker came back.
type departures struct {
	mu      sync.Mutex
	waiting map[string]int
}

func newDepartures() *departures { return &departures{waiting: map[string]int{}} }

// arrive notes a wait, until leave.
func (d *departures) arrive(id string) (leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[id]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.waiting[id]--; d.waiting[id] == 0 {
			delete(d.waiting, id)
		}
	}
}

// unlessBack calls do after d, unless somebody waits for id then, or the server stops before.
func (d *departures) unlessBack(id string, after time.Duration, stopping context.Context, do func()) {
	go func() {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-stopping.Done():
			return
		}
		d.mu.Lock()
		back := d.waiting[id] > 0
		d.mu.Unlock()
		if !back {
			do()
		}
	}()
}
