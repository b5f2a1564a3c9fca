package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// TestDeadline checks that an interaction ends at its deadline and not before, for those that have one.
func TestDeadline(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	i, at := s.asks(path, `{"wait_mode":"block","timeout_secs":60,`+bash[1:])
	_, never := s.asks(path, bash)
	_, paused := s.asks(path, `{"wait_mode":"suspend","workflow_id":"wf_1",`+bash[1:])
	s.clock.Advance(time.Minute - time.Millisecond)
	must(t, s.service.ExpireDue(t.Context()))
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" {
		t.Errorf("a millisecond early: %s", got.State)
	}
	s.clock.Advance(time.Millisecond)
	must(t, s.service.ExpireDue(t.Context()))
	got := s.call(s.operator, "GET", at, "").interaction(t)
	if got.State != "canceled" || got.CancelReason != "expired" || !got.ResolvedAt.Equal(i.ExpiresAt.Time) || *got.ResolvedBy != (api.Actor{Kind: "system", Name: "Sayso"}) {
		t.Errorf("at the deadline: %+v by %+v", got, got.ResolvedBy)
	}
	before := s.writes()
	s.clock.Advance(1000 * time.Hour)
	must(t, s.service.ExpireDue(t.Context()))
	for _, at := range []string{never, paused} {
		if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "open" || got.ExpiresAt != nil {
			t.Errorf("%s without a deadline: %+v", got.WaitMode, got)
		}
	}
	if s.writes() != before {
		t.Error("something was written")
	}
}

// TestAnswerAfterTheDeadline checks that an answer which is recorded before the deadline was carried out wins.
func TestAnswerAfterTheDeadline(t *testing.T) {
	s := newSite(t)
	_, at := s.asks(askable(s), `{"timeout_secs":1,`+bash[1:])
	s.clock.Advance(time.Hour)
	if got := s.call(s.operator, "POST", at+"/resolve", allow); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
	must(t, s.service.ExpireDue(t.Context()))
	if got := s.call(s.operator, "GET", at, "").interaction(t); got.State != "resolved" {
		t.Errorf("it is %s", got.State)
	}
}

// TestAnswerAtTheDeadline has an answer and the deadline come at the same moment, 300 times over. One of them wins, and everybody is told
// the same: who answered, who reads, who lists, who waits, and the log.
func TestAnswerAtTheDeadline(t *testing.T) {
	const rounds = 300
	s := newSite(t)
	path := askable(s)
	outcomes := map[string]int{}
	for round := range rounds {
		i, at := s.asks(path, `{"wait_mode":"block","timeout_secs":30,`+bash[1:])
		waiting := s.wait(s.agent, at)
		s.clock.Advance(i.ExpiresAt.Sub(s.clock.Now()))
		var answered answer
		var errs [2]error
		start := make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() {
			<-start
			if round%2 == 1 { // as far away as the answer, so that either may be first
				_, errs[0] = s.try("", "GET", "/healthz", "")
			}
			errs[0] = errors.Join(errs[0], s.service.ExpireDue(t.Context()))
		})
		both.Go(func() { <-start; answered, errs[1] = s.try(s.operator, "POST", at+"/resolve", denied) })
		close(start)
		both.Wait()
		must(t, errs[0])
		must(t, errs[1])

		end := answered.interaction(t)
		if answered.status == http.StatusConflict {
			var told struct{ Interaction api.Interaction }
			read(t, answered, &told)
			end = told.Interaction
		}
		outcome := end.State + end.CancelReason
		outcomes[outcome]++
		told := map[string]api.Interaction{
			"read":   s.call(s.operator, "GET", at, "").interaction(t),
			"waited": waiting.ends().interaction(t),
			"listed": page[api.Interaction](t, s.call(s.operator, "GET", path+"/interactions?order=desc&limit=1", "")).Data[0],
		}
		if answered.status != map[string]int{"resolved": http.StatusOK, "canceledexpired": http.StatusConflict}[outcome] {
			t.Errorf("%s: %d %s", outcome, answered.status, answered.body)
		}
		for who, got := range told {
			if got.ID != i.ID || got.State+got.CancelReason != outcome || sameEnd(got) != sameEnd(end) {
				t.Errorf("whoever answered was told %s %s, whoever %s %s", outcome, sameEnd(end), who, sameEnd(got))
			}
		}
		s.logged(t, i.ID, outcome)
	}
	t.Log(outcomes)
	if r, err := s.store.Verify(t.Context(), s.project.ID); err != nil || r.Entries != 2*rounds {
		t.Errorf("audit: %d entries, %v", r.Entries, err)
	}
}

// sameEnd is what tells one end from another.
func sameEnd(i api.Interaction) string {
	text, _ := json.Marshal([]any{i.Resolution, i.ResolvedBy, i.ResolvedAt, i.ResolvedByInputID, i.Decision})
	return string(text)
}

// logged checks that the log and the audit hold this one outcome.
func (s *site) logged(t *testing.T, id, outcome string) {
	t.Helper()
	history, err := s.store.History(t.Context(), interaction.ID(id))
	must(t, err)
	counts := map[interaction.EventKind]int{}
	for _, e := range history {
		counts[e.Kind]++
	}
	answered, expired := 1, 0
	if outcome == "canceledexpired" {
		answered, expired = 0, 1
	}
	if counts[interaction.AnsweredEvent] != answered || counts[interaction.AgentInputEvent] != answered || counts[interaction.ExpiredEvent] != expired || counts[interaction.ToolResultEvent] != 1 {
		t.Errorf("%s, and the log holds %v", outcome, counts)
	}
	if n := s.audited(id); n != 2 {
		t.Errorf("%s, and %d audit entries", outcome, n)
	}
	const action = `SELECT count(*) FROM audit_entries WHERE CAST(entry AS TEXT) LIKE '%"action":"' || ? || '"%' AND CAST(entry AS TEXT) LIKE '%' || ? || '%'`
	if n := s.number(action, map[bool]string{true: "interaction_answered", false: "interaction_expired"}[answered == 1], id); n != 1 {
		t.Errorf("%s, and %d audit entries say so", outcome, n)
	}
}
