package auth

import (
	"context"
	"slices"
	"sync"
	"time"

	"sayso/internal/interaction"
)

// recheckEvery is how often the keys of calls that go on are looked at again. What is revoked in this process is told at once; this finds what
// another process has revoked. Together with what is remembered it takes less than a second.
const recheckEvery = 500 * time.Millisecond

// hold is a call that goes on while its credential may end.
type hold struct{ lookAgain func() }

// HoldKey is ctx for a call of p that takes long: it ends when the key does, and then its cause is Unauthorized. It also ends when the key may
// do other things than p. Call release when the call is over.
func (g *Gate) HoldKey(ctx context.Context, secret string, p interaction.Principal) (held context.Context, release func()) {
	held, end := context.WithCancelCause(ctx)
	h := HashOf(secret)
	let := g.keys.hold(h, func() {
		now, err := g.keyOf(context.WithoutCancel(ctx), h)
		if interaction.CodeOf(err) == interaction.Unauthorized || err == nil && !same(now, p) {
			end(errBadKey())
		}
	})
	leave := g.checking.join(g.Recheck)
	return held, func() { let(); leave(); end(nil) }
}

// same says whether two principals of one key may do the same.
func same(a, b interaction.Principal) bool {
	return a.ProjectID == b.ProjectID && a.AgentID == b.AgentID && slices.Equal(a.Scopes, b.Scopes)
}

// WatchSession has changed called, until stop, whenever a session has ended in this process or may be worth another look. It must not wait.
func (g *Gate) WatchSession(h Hash, changed func()) (stop func()) { return g.sessions.hold(h, changed) }

// Recheck looks again at the keys of all calls that go on. It is done by itself every half a second while there are any.
func (g *Gate) Recheck() {
	for _, h := range g.keys.allHeld() {
		g.keys.tell(h)
	}
}

// hold notes a call, and has it look once, for what has happened since its credential was looked at.
func (m *memory) hold(h Hash, lookAgain func()) (release func()) {
	one := &hold{lookAgain}
	m.mu.Lock()
	if m.held[h] == nil {
		m.held[h] = map[*hold]struct{}{}
	}
	m.held[h][one] = struct{}{}
	m.mu.Unlock()
	lookAgain()
	return func() { m.release(h, one) }
}

func (m *memory) release(h Hash, one *hold) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.held[h], one)
	if len(m.held[h]) == 0 {
		delete(m.held, h)
	}
}

// tell has the calls that hold a secret look at it again.
func (m *memory) tell(h Hash) {
	m.mu.Lock()
	var all []*hold
	for one := range m.held[h] {
		all = append(all, one)
	}
	m.mu.Unlock()
	for _, one := range all {
		one.lookAgain()
	}
}

func (m *memory) allHeld() (all []Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for h := range m.held {
		all = append(all, h)
	}
	return all
}

// checking runs one clock for all calls that go on, while there are any.
type checking struct {
	mu    sync.Mutex
	calls int
	stop  chan struct{}
}

// join has check called at each tick, until the last that joined has left.
func (c *checking) join(check func()) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; c.calls == 1 {
		c.stop = make(chan struct{})
		go tick(c.stop, check)
	}
	return c.leave
}

func (c *checking) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls--; c.calls == 0 {
		close(c.stop)
	}
}

func tick(stop <-chan struct{}, check func()) {
	clock := time.NewTicker(recheckEvery)
	defer clock.Stop()
	for {
		select {
		case <-stop:
			return
		case <-clock.C:
			check()
		}
	}
}
