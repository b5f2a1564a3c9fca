package web_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/interaction"
	"sayso/internal/store"
)

// pending is a call that waits for the end of an interaction.
type pending struct {
	s      *site
	answer chan answer
}

// wait starts a waiting call and returns when the server has begun to watch for it.
func (s *site) wait(key, at string) pending {
	s.t.Helper()
	for len(s.waits.arrived) > 0 {
		<-s.waits.arrived
	}
	p := pending{s, make(chan answer, 1)}
	go func() {
		a, err := s.try(key, "GET", at+"?wait_secs=55", "")
		if err != nil {
			s.t.Error(err)
		}
		p.answer <- a
	}()
	<-s.waits.arrived
	return p
}

// stillWaits checks that there is no answer yet.
func (p pending) stillWaits() {
	p.s.t.Helper()
	select {
	case a := <-p.answer:
		p.s.t.Fatalf("it returned: %d %s", a.status, a.body)
	default:
	}
}

// ends gives the answer, which must come soon.
func (p pending) ends() answer {
	p.s.t.Helper()
	select {
	case a := <-p.answer:
		return a
	case <-time.After(30 * time.Second):
		p.s.t.Fatal("it waits although it has ended")
		return answer{}
	}
}

// TestWaitReturnsAtOnce checks that nobody waits for what has ended, and that without wait_secs nobody waits at all.
func TestWaitReturnsAtOnce(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	_, open := s.asks(path, bash)
	_, resolved := s.asks(path, bash)
	s.call(s.operator, "POST", resolved+"/resolve", denied)
	_, canceled := s.asks(path, bash)
	s.call(s.agent, "POST", canceled+"/cancel", "")
	start := time.Now()
	for at, state := range map[string]string{
		open: "open", open + "?wait_secs=0": "open", resolved + "?wait_secs=55": "resolved", canceled + "?wait_secs=55": "canceled", resolved: "resolved",
	} {
		if got := s.call(s.agent, "GET", at, "").interaction(t); got.State != state {
			t.Errorf("%s: %s, want %s", at, got.State, state)
		}
	}
	if took := time.Since(start); took > 25*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestWaitReturnsWhenTheTimeIsUp checks that a call waits as long as it says, and then gives what is still open.
func TestWaitReturnsWhenTheTimeIsUp(t *testing.T) {
	s := newSite(t)
	_, at := s.asks(askable(s), bash)
	start := time.Now()
	got := s.call(s.agent, "GET", at+"?wait_secs=1", "")
	if took := time.Since(start); got.interaction(t).State != "open" || took < time.Second || took > 20*time.Second {
		t.Errorf("after %v: %d %s", took, got.status, got.body)
	}
}

// TestWaitReturnsOnTheEnd checks that everybody who waits is told how it ended, whoever waits and however it ends.
func TestWaitReturnsOnTheEnd(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		name, ask string
		end       func(at string)
		state     string
		reason    string
	}{
		{"an answer", bash, func(at string) { s.call(s.operator, "POST", at+"/resolve", denied) }, "resolved", ""},
		{"an answer to a question", question, func(at string) { s.call(s.operator, "POST", at+"/resolve", allow) }, "resolved", ""},
		{"a withdrawal", bash, func(at string) { s.call(s.agent, "POST", at+"/cancel", "") }, "canceled", "asker_canceled"},
		{"a deadline", `{"timeout_secs":5,` + bash[1:], func(string) {
			s.clock.Advance(5 * time.Second)
			must(t, s.service.ExpireDue(t.Context()))
		}, "canceled", "expired"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, at := s.asks(askable(s), c.ask)
			waiting := []pending{s.wait(s.agent, at), s.wait(s.operator, at), s.wait(s.bound(i.AgentID), at), s.wait(s.agent, at)}
			for _, p := range waiting {
				p.stillWaits()
			}
			c.end(at)
			for _, p := range waiting {
				if got := p.ends().interaction(t); got.State != c.state || got.CancelReason != c.reason || got.ResolvedAt == nil || got.ID != i.ID {
					t.Errorf("told %+v", got)
				}
			}
		})
	}
}

// TestWaitForOneOnly checks that the end of one interaction wakes nobody who waits for another.
func TestWaitForOneOnly(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	one, oneAt := s.asks(path, bash)
	_, twoAt := s.asks(path, bash)
	first, second := s.wait(s.agent, oneAt), s.wait(s.agent, twoAt)
	s.call(s.operator, "POST", oneAt+"/resolve", allow)
	if got := first.ends().interaction(t); got.ID != one.ID || got.State != "resolved" {
		t.Errorf("told %+v", got)
	}
	second.stillWaits()
	s.call(s.operator, "POST", twoAt+"/resolve", deny)
	if got := second.ends().interaction(t); got.State != "resolved" || got.Resolution.Answers[0].OptionIndices[0] != 1 {
		t.Errorf("told %+v", got)
	}
}

// TestWaitEndsWithTheServer checks that a server that stops sends everybody away to ask the next one.
func TestWaitEndsWithTheServer(t *testing.T) {
	s := newSite(t)
	_, at := s.asks(askable(s), bash)
	p := s.wait(s.agent, at)
	s.stopWaiting.Do(s.service.Close)
	if got := p.ends(); got.status != http.StatusServiceUnavailable || got.code() != "service_unavailable" || got.header.Get("Retry-After") != "1" {
		t.Errorf("%d %s %v", got.status, got.body, got.header)
	}
}

// TestPickedUp checks that an answer counts as picked up when the asker has read it, and by nobody else's reading.
func TestPickedUp(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(s *site, i api.Interaction, at string)
		mark bool
	}{
		{"nobody", func(*site, api.Interaction, string) {}, false},
		{"an operator", func(s *site, _ api.Interaction, at string) { s.call(s.operator, "GET", at, "") }, false},
		{"an operator who waits", func(s *site, _ api.Interaction, at string) { s.call(s.operator, "GET", at+"?wait_secs=55", "") }, false},
		{"an operator who lists", func(s *site, i api.Interaction, _ string) {
			s.call(s.operator, "GET", project+"/agents/"+i.AgentID+"/interactions", "")
			s.call(s.operator, "GET", project+"/interactions", "")
		}, false},
		{"another agent, who may not", func(s *site, _ api.Interaction, at string) {
			s.call(s.newKey(interaction.AgentPrincipal, "other"), "GET", at, "")
		}, false},
		{"the asker", func(s *site, _ api.Interaction, at string) { s.call(s.agent, "GET", at, "") }, true},
		{"the asker, who waits", func(s *site, _ api.Interaction, at string) { s.call(s.agent, "GET", at+"?wait_secs=55", "") }, true},
		{"the key of the agent", func(s *site, i api.Interaction, at string) { s.call(s.bound(i.AgentID), "GET", at, "") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			i, at := s.asks(askable(s), bash)
			s.call(s.agent, "GET", at, "") // while it is open
			end := s.call(s.operator, "POST", at+"/resolve", allow).interaction(t)
			if end.Delivery.State != "waiting" {
				t.Errorf("answered: %+v", end.Delivery)
			}
			s.clock.Advance(time.Second)
			c.read(s, i, at)
			if !c.mark {
				s.clock.Advance(time.Minute)
				s.asks(askable(s), bash) // a write behind any that the reading may have caused
				if got := s.call(s.operator, "GET", at, "").interaction(t).Delivery; got.State != "waiting" || got.PickedUpAt != nil {
					t.Errorf("delivery %+v", got)
				}
				return
			}
			s.until(i.ID, "picked up", pickedUp)
			readAt := s.clock.Now()
			s.clock.Advance(time.Minute)
			s.call(s.agent, "GET", at, "")
			s.call(s.agent, "POST", askable(s)+"/interactions", bash)
			got := s.call(s.operator, "GET", at, "").interaction(t).Delivery
			if got.State != "picked_up" || got.PickedUpAt == nil || !got.PickedUpAt.Equal(readAt) {
				t.Errorf("delivery %+v, want picked up at the first reading, %v", got, readAt)
			}
		})
	}
}

// TestCanceledIsNotPickedUp checks that there is no answer to pick up.
func TestCanceledIsNotPickedUp(t *testing.T) {
	s := newSite(t)
	_, at := s.asks(askable(s), bash)
	s.call(s.agent, "POST", at+"/cancel", "")
	s.call(s.agent, "GET", at, "")
	s.asks(askable(s), bash)
	if got := s.call(s.operator, "GET", at, "").interaction(t).Delivery; got.State != "waiting" || got.PickedUpAt != nil {
		t.Errorf("delivery %+v", got)
	}
}

func gone(c store.Change) bool { return c.Record.Delivery.State() == interaction.DeliveryAskerGone }

func back(c store.Change) bool {
	return c.Kind == interaction.DeliveryMoved && c.Record.Delivery.State() == interaction.DeliveryWaiting
}

// TestAskerGone follows an asker on the line: it is gone after 30 seconds of silence, back when it waits again, and whoever answers
// meanwhile is warned, until the answer was picked up.
func TestAskerGone(t *testing.T) {
	s := newSite(t)
	i, at := s.asks(askable(s), `{"wait_mode":"block","timeout_secs":3600,`+bash[1:])
	delivery := func() api.Delivery { return s.call(s.operator, "GET", at, "").interaction(t).Delivery }

	s.clock.Advance(interaction.AskerGrace - time.Millisecond)
	s.service.NoticeSilence(t.Context())
	s.settle()
	if d := delivery(); d.State != "waiting" {
		t.Errorf("after almost 30 s: %+v", d)
	}
	s.clock.Advance(time.Millisecond)
	s.service.NoticeSilence(t.Context())
	s.until(i.ID, "gone after 30 s", gone)
	if d := delivery(); d.State != "asker_gone" {
		t.Errorf("after 30 s: %+v", d)
	}

	p := s.wait(s.agent, at)
	s.until(i.ID, "back when it waits", back)
	s.clock.Advance(time.Hour / 2)
	s.service.NoticeSilence(t.Context())
	s.settle()
	if d := delivery(); d.State != "waiting" {
		t.Errorf("while it waits, however long: %+v", d)
	}
	if got := s.call(s.operator, "POST", at+"/resolve", allow).interaction(t); got.Warnings != nil {
		t.Errorf("warned of an asker who waits: %v", got.Warnings)
	}
	if got := p.ends().interaction(t); got.State != "resolved" || got.Warnings != nil {
		t.Errorf("told %+v", got)
	}
}

// TestDroppedConnection checks that an asker whose connection breaks is gone 30 seconds later, and that its interaction stays open.
func TestDroppedConnection(t *testing.T) {
	s := newSite(t)
	i, at := s.asks(askable(s), `{"wait_mode":"block",`+bash[1:])
	ctx, drop := context.WithCancel(t.Context())
	broken := make(chan error)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+at+"?wait_secs=55", nil)
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+s.agent)
			_, err = noRedirects.Do(req)
		}
		broken <- err
	}()
	for arrived := ""; arrived != i.ID; {
		arrived = string(<-s.waits.arrived)
	}
	drop()
	if err := <-broken; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for found := false; !found; { // when the server notices cannot be seen from outside
		s.clock.Advance(interaction.AskerGrace)
		s.service.NoticeSilence(t.Context())
		var more chan struct{}
		if found, more = s.log.find(i.ID, gone); !found {
			select {
			case <-more:
			case <-time.After(time.Millisecond):
			}
		}
	}
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" || got.Delivery.State != "asker_gone" {
		t.Errorf("%s, %+v", got.State, got.Delivery)
	}
}

// TestAnswerToNobody checks the warning that comes with an answer when the asker is gone.
func TestAnswerToNobody(t *testing.T) {
	s := newSite(t)
	i, at := s.asks(askable(s), `{"wait_mode":"block",`+bash[1:])
	s.clock.Advance(interaction.AskerGrace)
	s.service.NoticeSilence(t.Context())
	s.until(i.ID, "gone", gone)
	first := s.call(s.operator, "POST", at+"/resolve", allow)
	if got := first.interaction(t); first.status != http.StatusOK || got.State != "resolved" || len(got.Warnings) != 1 || got.Delivery.State != "asker_gone" {
		t.Errorf("%d %s", first.status, first.body)
	}
	if again := s.call(s.operator, "POST", at+"/resolve", allow); string(again.body) != string(first.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.Warnings != nil {
		t.Errorf("read with warnings: %v", got.Warnings)
	}
	s.call(s.agent, "GET", at, "")
	s.until(i.ID, "picked up", pickedUp)
	if got := s.call(s.operator, "POST", at+"/resolve", allow).interaction(t); got.Warnings != nil || got.Delivery.State != "picked_up" {
		t.Errorf("again, after it was picked up: %v, %+v", got.Warnings, got.Delivery)
	}
}

// TestOnlyBlockCanBeGone checks that an asker who is not on the line is not missed.
func TestOnlyBlockCanBeGone(t *testing.T) {
	s := newSite(t)
	for name, ask := range map[string]string{
		"poll": bash, "poll with a deadline": `{"timeout_secs":3600,` + bash[1:], "suspend": `{"wait_mode":"suspend","workflow_id":"wf_1",` + bash[1:],
	} {
		_, at := s.asks(askable(s), ask)
		s.call(s.agent, "GET", at, "")
		s.clock.Advance(time.Minute)
		s.service.NoticeSilence(t.Context())
		s.settle()
		got := s.call(s.operator, "POST", at+"/resolve", allow).interaction(t)
		if got.Delivery.State != "waiting" || got.Warnings != nil {
			t.Errorf("%s: %+v, warnings %v", name, got.Delivery, got.Warnings)
		}
	}
}

// TestGoneAgain checks that the silence counts from the end of the last wait, also after a restart of the server.
func TestGoneAgain(t *testing.T) {
	s := newSite(t)
	i, at := s.asks(askable(s), `{"wait_mode":"block","timeout_secs":3600,`+bash[1:])
	s.clock.Advance(20 * time.Second)
	s.call(s.agent, "GET", at+"?wait_secs=1", "") // the clock stands still meanwhile
	s.clock.Advance(20 * time.Second)
	s.service.NoticeSilence(t.Context())
	s.settle()
	if d := s.call(s.operator, "GET", at, "").interaction(t).Delivery; d.State != "waiting" {
		t.Errorf("20 s after the last wait: %+v", d)
	}

	next := interaction.NewService(s.store, s.waits, s.logger, s.clock.Now)
	must(t, next.Start(t.Context()))
	s.clock.Advance(interaction.AskerGrace - time.Millisecond)
	next.NoticeSilence(t.Context())
	s.settle()
	if d := s.call(s.operator, "GET", at, "").interaction(t).Delivery; d.State != "waiting" {
		t.Errorf("almost 30 s after the restart: %+v", d)
	}
	s.clock.Advance(time.Millisecond)
	next.NoticeSilence(t.Context())
	s.until(i.ID, "gone 30 s after the restart", gone)
}

// TestLastSeen checks that an agent is seen when its asker asks, reads or waits, and not when somebody else does.
func TestLastSeen(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	seen := func() *api.Time {
		s.settle()
		return s.call(s.operator, "GET", path, "").agent(t).LastSeenAt
	}
	if got := seen(); got != nil {
		t.Errorf("seen at %v, and has done nothing", got)
	}
	var at string
	for _, c := range []struct {
		name string
		do   func()
		seen bool
	}{
		{"asks", func() { _, at = s.asks(path, bash) }, true},
		{"reads", func() { s.call(s.agent, "GET", at, "") }, true},
		{"is read of", func() { s.call(s.operator, "GET", at, "") }, false},
		{"is listed", func() { s.call(s.operator, "GET", path+"/interactions", "") }, false},
		{"is answered", func() { s.call(s.operator, "POST", at+"/resolve", allow) }, false},
		{"waits", func() { s.call(s.agent, "GET", at+"?wait_secs=55", "") }, true},
	} {
		s.clock.Advance(time.Minute) // seeing is written no more often than every 15 seconds
		now := s.clock.Now()
		c.do()
		if got := seen(); got == nil || got.Equal(now) != c.seen {
			t.Errorf("%s at %v, seen at %v", c.name, now, got)
		}
	}
}
