// Package live fans what was committed out to whoever is watching in this process.
//
// A [Hub] has topics; a subscriber of a topic gets everything that is published to it from then on, in order. Publishing never waits: a
// subscriber that does not read in time has its channel closed, and is expected to come back and read the present state, which is in the
// database. So one slow reader costs others nothing, and memory stays bounded.
//
// The hub knows nothing of what it carries. Only the follower of the store publishes.
package live

import "sync"

// Hub fans values out by topic. Its zero value is ready; all methods may be called at once from anywhere.
type Hub[T any] struct {
	mu     sync.RWMutex
	topics map[string]map[*Subscription[T]]struct{}
}

// Subscription is one subscriber of one topic.
type Subscription[T any] struct {
	// C gives what is published. It is closed when the subscriber was too slow, or was stopped.
	C     <-chan T
	c     chan T
	hub   *Hub[T]
	topic string
}

// Subscribe starts a subscription that may lag behind by up to buffer values.
func (h *Hub[T]) Subscribe(topic string, buffer int) *Subscription[T] {
	c := make(chan T, buffer)
	s := &Subscription[T]{C: c, c: c, hub: h, topic: topic}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics == nil {
		h.topics = map[string]map[*Subscription[T]]struct{}{}
	}
	if h.topics[topic] == nil {
		h.topics[topic] = map[*Subscription[T]]struct{}{}
	}
	h.topics[topic][s] = struct{}{}
	return s
}

// Stop ends the subscription. It may be called more than once.
func (s *Subscription[T]) Stop() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.drop(s)
}

// drop needs the lock. A subscription that is already gone stays so.
func (h *Hub[T]) drop(s *Subscription[T]) {
	of := h.topics[s.topic]
	if _, there := of[s]; !there {
		return
	}
	delete(of, s)
	if len(of) == 0 {
		delete(h.topics, s.topic)
	}
	close(s.c)
}

// Publish gives v to the subscribers of topic.
func (h *Hub[T]) Publish(topic string, v T) {
	h.mu.RLock()
	slow := h.offer(topic, v)
	h.mu.RUnlock()
	if slow == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range slow {
		h.drop(s)
	}
}

// offer needs the lock, and gives those that had no room.
func (h *Hub[T]) offer(topic string, v T) (slow []*Subscription[T]) {
	for s := range h.topics[topic] {
		select {
		case s.c <- v:
		default:
			slow = append(slow, s)
		}
	}
	return slow
}

// Drop ends every subscription of topic, for when what comes next cannot be published: who is told nothing comes back and looks.
func (h *Hub[T]) Drop(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.topics[topic] {
		h.drop(s)
	}
}

// Watched says whether a topic has subscribers, so that nothing is made that nobody gets.
func (h *Hub[T]) Watched(topic string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.topics[topic]) > 0
}
