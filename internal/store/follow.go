package store

import (
	"sync"

	"sayso/internal/interaction"
)

// Change is one committed change: an event of the log, or something that moved beside it.
type Change struct {
	Kind           interaction.EventKind
	Project, Agent interaction.ID
	Sequence       int64                    // of an event; of a delivery, its version
	Record         interaction.Record       // of a lifecycle event and a delivery: as it stood after the change
	ToolCall       interaction.ToolCallMove // of a tool call that moved
}

// Of says whether the change is one of an interaction, as Record then tells.
func (c Change) Of() bool { return c.Record.ID != "" }

// Follow has tell called with every change that is committed from now on, in commit order, until stop is called. tell runs on a
// goroutine of its own and delays nobody; changes that came together come together.
func (s *Store) Follow(tell func([]Change)) (stop func()) { return s.writer.followers.add(tell) }

type followers struct {
	mu  sync.Mutex
	all map[*follower]struct{}
}

type follower struct {
	mu      sync.Mutex
	pending []Change
	wake    chan struct{}
	done    chan struct{}
}

func (f *followers) add(tell func([]Change)) (stop func()) {
	one := &follower{wake: make(chan struct{}, 1), done: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[*follower]struct{}{}
	}
	f.all[one] = struct{}{}
	go one.loop(tell)
	return func() { f.remove(one) }
}

func (f *followers) remove(one *follower) {
	f.mu.Lock()
	_, known := f.all[one]
	delete(f.all, one)
	f.mu.Unlock()
	if known {
		close(one.wake)
	}
	<-one.done
}

func (f *followers) close() {
	f.mu.Lock()
	all := f.all
	f.all = nil
	f.mu.Unlock()
	for one := range all {
		close(one.wake)
		<-one.done
	}
}

func (f *followers) tell(changes []Change) {
	if len(changes) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for one := range f.all {
		one.put(changes)
	}
}

func (f *follower) put(changes []Change) {
	f.mu.Lock()
	f.pending = append(f.pending, changes...)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *follower) loop(tell func([]Change)) {
	defer close(f.done)
	for range f.wake {
		f.mu.Lock()
		changes := f.pending
		f.pending = nil
		f.mu.Unlock()
		if len(changes) > 0 {
			tell(changes)
		}
	}
}
