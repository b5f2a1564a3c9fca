package interaction

import (
	"sync"
	"time"
)

// AskerGrace is how long an asker on the line may be silent before its card says that it is gone.
const AskerGrace = 30 * time.Second

// agentTouchEvery bounds how often an agent's last_seen_at is written.
const agentTouchEvery = 15 * time.Second

// askers knows who waits on the line. A waiting call is the heartbeat; only interactions with the wait mode block have one.
type askers struct {
	mu      sync.Mutex
	byID    map[ID]*asker
	touched map[ID]time.Time // per agent
}

type asker struct {
	calls    int       // waiting now
	lastSeen time.Time // when the last of them left
	gone     bool
}

func newAskers() *askers {
	return &askers{byID: map[ID]*asker{}, touched: map[ID]time.Time{}}
}

// expect starts to watch for the asker of id, from now on.
func (a *askers) expect(id ID, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID[id] == nil {
		a.byID[id] = &asker{lastSeen: now}
	}
}

// arrive notes a waiting call, until leave. back says that the asker was gone before.
func (a *askers) arrive(id ID) (back bool, leave func(now time.Time)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.byID[id]
	if k == nil {
		return false, func(time.Time) {}
	}
	back, k.gone = k.gone, false
	k.calls++
	return back, func(now time.Time) {
		a.mu.Lock()
		defer a.mu.Unlock()
		k.calls--
		k.lastSeen = now
	}
}

// forget stops watching; the interaction ended.
func (a *askers) forget(id ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.byID, id)
}

// silent gives those that are now found to be gone: not heard of for AskerGrace.
func (a *askers) silent(now time.Time) (gone []ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, k := range a.byID {
		if k.calls == 0 && !k.gone && now.Sub(k.lastSeen) >= AskerGrace {
			k.gone = true
			gone = append(gone, id)
		}
	}
	return gone
}

// goneSince is since when the asker of id has been gone; zero: it is not.
func (a *askers) goneSince(id ID) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.byID[id]; k != nil && k.gone {
		return k.lastSeen
	}
	return time.Time{}
}

// touch says whether it is time to write that the agent was seen.
func (a *askers) touch(agent ID, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.touched[agent]) < agentTouchEvery {
		return false
	}
	a.touched[agent] = now
	return true
}
