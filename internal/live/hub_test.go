package live

import (
	"sync"
	"testing"
)

func TestHubOrder(t *testing.T) {
	var h Hub[int]
	s := h.Subscribe("a", 10)
	other := h.Subscribe("b", 10)
	for n := range 5 {
		h.Publish("a", n)
	}
	for want := range 5 {
		if got := <-s.C; got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	if len(other.C) != 0 {
		t.Error("another topic's subscriber got something")
	}
}

func TestSlowSubscriberIsDropped(t *testing.T) {
	var h Hub[int]
	slow, quick := h.Subscribe("a", 1), h.Subscribe("a", 10)
	for n := range 3 {
		h.Publish("a", n)
	}
	if got := <-slow.C; got != 0 {
		t.Errorf("got %d, want what fitted", got)
	}
	if _, ok := <-slow.C; ok {
		t.Error("the slow one was not dropped")
	}
	if len(quick.C) != 3 {
		t.Errorf("the quick one got %d, want 3", len(quick.C))
	}
	slow.Stop() // again is fine
	quick.Stop()
	if h.Watched("a") {
		t.Error("nobody is left, and the topic is watched")
	}
}

// TestHubAtOnce is for the race detector.
func TestHubAtOnce(t *testing.T) {
	var h Hub[int]
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			s := h.Subscribe("a", 2)
			for range 10 {
				h.Publish("a", 1)
			}
			s.Stop()
			for range s.C { // ends: it is closed
			}
		})
	}
	wait.Wait()
}

// TestDrop checks that a topic's subscribers are sent away, and nobody else's.
func TestDrop(t *testing.T) {
	var h Hub[int]
	one, two, other := h.Subscribe("a", 2), h.Subscribe("a", 2), h.Subscribe("b", 2)
	h.Publish("a", 1)
	h.Drop("a")
	h.Drop("nobody's")
	h.Publish("a", 2)
	for _, s := range []*Subscription[int]{one, two} {
		if got := <-s.C; got != 1 {
			t.Errorf("got %d, want what came before", got)
		}
		if _, ok := <-s.C; ok {
			t.Error("it was not sent away")
		}
		s.Stop() // again is fine
	}
	h.Publish("b", 3)
	if h.Watched("a") || len(other.C) != 1 {
		t.Errorf("a is watched: %v; another topic got %d", h.Watched("a"), len(other.C))
	}
}
