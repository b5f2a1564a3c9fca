package web_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// TestSend checks what is made of a message, and by whom it is said to be.
func TestSend(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	for _, c := range []struct {
		name, body string
		mode       string
		by         api.Actor
		text       []string
	}{
		{"nothing said about delivery", said(" Hello.\n "), "queued", api.Actor{Kind: "api_key", Name: "operator", Channel: "api"}, []string{" Hello.\n "}},
		{"queued", said("Then this.", `,"delivery_mode":"queued"`), "queued", api.Actor{Kind: "api_key", Name: "operator", Channel: "api"}, []string{"Then this."}},
		{"steering", said("Now this.", steering), "steering", api.Actor{Kind: "api_key", Name: "operator", Channel: "api"}, []string{"Now this."}},
		{"several blocks", `{"content_blocks":[{"type":"text","text":"a"},{"type":"text","text":"` + smile + `"}]}`, "queued", api.Actor{Kind: "api_key", Name: "operator", Channel: "api"}, []string{"a", smile}},
		{"for somebody", said("Hi.", `,"actor":{"provider_user_id":" U1 ","display_name":" Dana "}`), "queued", api.Actor{Kind: "external", Name: "Dana", Channel: "api"}, []string{"Hi."}},
		{"for somebody without a name", said("Hi.", `,"actor":{"provider_user_id":"U2"}`), "queued", api.Actor{Kind: "external", Name: "U2", Channel: "api"}, []string{"Hi."}},
		{"flag false", said("Hi.", `,"cancel_open_interactions":false`), "queued", api.Actor{Kind: "api_key", Name: "operator", Channel: "api"}, []string{"Hi."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.sends(path, c.body)
			var text []string
			for _, b := range got.ContentBlocks {
				text = append(text, b.Text)
			}
			if external := c.by.Kind == "external"; external != (got.ActorID != "") || got.ActorID != got.Actor.ActorID {
				t.Errorf("actor_id %q, actor %+v", got.ActorID, got.Actor)
			}
			got.Actor.ActorID = ""
			if diff := cmp.Diff(c.by, got.Actor); diff != "" {
				t.Errorf("actor (-want +got):\n%s", diff)
			}
			if got.AgentID != agent || got.State != "received" || got.DeliveryMode != c.mode || got.InputKind != "content" || !slices.Equal(text, c.text) || !got.QueuedAt.Equal(s.clock.Now()) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestSendOnce checks the Idempotency-Key of a message: the same again gives the message as it now is.
func TestSendOnce(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	_, other := s.newAgent("other")
	first := s.call(s.operator, "POST", path+"/inputs", hello, "Idempotency-Key", "k")
	again := s.call(s.operator, "POST", path+"/inputs", hello, "Idempotency-Key", "k")
	if first.status != 201 || again.status != 200 || string(first.body) != string(again.body) {
		t.Errorf("%d %s, again %d %s", first.status, first.body, again.status, again.body)
	}
	for name, c := range map[string]struct{ at, body string }{"another body": {path, said("Else.")}, "another agent": {other, hello}} {
		s.refusal(name, "idempotency_key_conflict", "Idempotency-Key", func() answer {
			return s.call(s.operator, "POST", c.at+"/inputs", c.body, "Idempotency-Key", "k")
		})
	}
	s.takes(path)
	var late api.InputBody
	read(t, s.call(s.operator, "POST", path+"/inputs", hello, "Idempotency-Key", "k"), &late)
	if late.Input.State != "resolved" || len(s.waiting(path)) != 0 || len(s.waiting(other)) != 0 {
		t.Errorf("after it was taken: %+v, waiting %v", late.Input, s.waiting(path))
	}
}

// TestSendOnceInParallel sends the same steering message with the same key at once: one message comes of it, and it supersedes once.
func TestSendOnceInParallel(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	i, _ := s.asks(path, bash)
	made, bodies := 0, map[string]bool{}
	for _, got := range atOnce(t, 100, func(int) (answer, error) {
		return s.try(s.operator, "POST", path+"/inputs", said("Stop.", supersede), "Idempotency-Key", "k")
	}) {
		if bodies[string(got.body)] = true; got.status == http.StatusCreated {
			made++
		} else if got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if n := s.number("SELECT count(*) FROM inputs"); made != 1 || len(bodies) != 1 || n != 1 {
		t.Errorf("%d were told that they made it, of %d messages, and there are %d", made, len(bodies), n)
	}
	s.agrees(t, s.gets(path, i.ID))
}

// TestMalformedParts checks that ids in the other places of a path are looked at too.
func TestMalformedParts(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	letters := repeated("a", 26)
	for _, at := range []string{"/inputs/%s/cancel", "/inputs/%s/move", "/inputs/%s/promote_to_steering", "/inputs/%s/demote_to_queued", "/tool-calls/%s/result"} {
		name, prefix, body := "input", "ain_", "{}"
		switch {
		case strings.HasPrefix(at, "/tool"):
			name, prefix, body = "call", "tcl_", result("failed", "")
		case strings.HasSuffix(at, "move"):
			body = `{"position":"front"}`
		}
		for _, bad := range []string{"x", "int_" + letters, prefix + letters[1:], prefix + letters + "a", prefix + strings.ToUpper(letters), prefix + letters[1:] + "1", letters, prefix, "%20" + prefix + letters} {
			s.refusal(at+" "+bad, "validation_failed", name+": ", func() answer { return s.call(s.operator, "POST", path+fmt.Sprintf(at, bad), body) })
		}
		s.refusal(at, "not_found", "", func() answer { return s.call(s.operator, "POST", path+fmt.Sprintf(at, prefix+letters), body) })
	}
	s.refusal("a malformed anchor", "validation_failed", "anchor_input_id", func() answer {
		return s.call(s.operator, "POST", path+"/inputs/ain_"+letters+"/move", `{"position":"before","anchor_input_id":"ain_x"}`)
	})
}

// TestReplayElsewhere checks that a replay is no way around what a caller may know of: the agent must be where the path says.
func TestReplayElsewhere(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	second := s.secondProject()
	s.call(s.operator, "POST", path+"/inputs", hello, "Idempotency-Key", "k")
	s.call(s.operator, "POST", path+"/events", says, "Idempotency-Key", "e")
	s.call(s.operator, "POST", path+"/interactions", bash, "Idempotency-Key", "i")
	for place, c := range map[string][2]string{"/inputs": {hello, "k"}, "/events": {says, "e"}, "/interactions": {bash, "i"}} {
		got := s.call(s.operator, "POST", "/api/v1/orgs/default/projects/"+second.project+"/agents/"+agent+place, c[0], "Idempotency-Key", c[1])
		if got.status != http.StatusNotFound {
			t.Errorf("%s of an agent of another project, replayed: %d %s", place, got.status, got.body)
		}
	}
}

// TestSupersede checks what a steering message does to what is open, and to nothing else.
func TestSupersede(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	_, other := s.newAgent("other")
	elsewhere, _ := s.asks(other, bash)
	ended, endedAt := s.asks(path, bash)
	end := s.call(s.operator, "POST", endedAt+"/resolve", allow)
	calls := s.calls(path, toolCall("Bash", `{"command":"a"}`), toolCall("ls", `{}`, permission("always_allow")), toolCall("ask_question", `{"questions":[{"prompt":"P"}]}`))
	form, _ := s.asks(path, question)
	queued := s.sends(path, said("Later."))
	open := []string{calls[0].InteractionID, calls[2].InteractionID, form.ID}

	s.refusal("queued", "invalid_request", "cancel_open_interactions", func() answer {
		return s.call(s.operator, "POST", path+"/inputs", said("No.", `,"cancel_open_interactions":true`))
	})
	s.refusal("said to be queued", "invalid_request", "cancel_open_interactions", func() answer {
		return s.call(s.operator, "POST", path+"/inputs", said("No.", `,"cancel_open_interactions":true,"delivery_mode":"queued"`))
	})
	s.sends(path, said("Mind the tests.", steering))
	for _, id := range open {
		if got := s.gets(path, id); got.State != "open" {
			t.Errorf("a steering message without the flag: %s is %s", id, got.State)
		}
	}

	before := len(s.conversation(path))
	s.clock.Advance(time.Second)
	sent := s.call(s.operator, "POST", path+"/inputs", said("Stop pushing.", supersede, `,"actor":{"provider_user_id":"U1","display_name":"Dana"}`), "Idempotency-Key", "once", "Sayso-Channel", "chat")
	var in api.InputBody
	read(t, sent, &in)
	for _, id := range open {
		got := s.gets(path, id)
		by := api.Actor{Kind: "external", Name: "Dana", ActorID: in.Input.ActorID, Channel: "chat"}
		if got.State != "canceled" || got.CancelReason != "superseded_by_input" || got.ResolvedByInputID != in.Input.ID || got.ResolvedBy == nil || *got.ResolvedBy != by || !got.ResolvedAt.Equal(s.clock.Now()) || got.Resolution != nil {
			t.Errorf("superseded: %+v", got)
		}
	}
	for id, want := range map[string]string{calls[0].ID: "completed canceled", calls[1].ID: "ready", calls[2].ID: "completed canceled", ended.ToolCallID: "ready"} {
		if got := s.stands(path, id); got != want {
			t.Errorf("call %s is %s, want %s", id, got, want)
		}
	}
	want := []string{"tool_result canceled " + calls[0].ID, "tool_result canceled " + calls[2].ID}
	if got := told(s.conversation(path)[before:]); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if got := s.gets(other, elsewhere.ID); got.State != "open" {
		t.Errorf("of another agent: %s", got.State)
	}
	if got := s.call(s.operator, "GET", endedAt, ""); string(got.body) != string(end.body) {
		t.Errorf("what had ended is now %s, and was %s", got.body, end.body)
	}
	if got := s.waiting(path); !slices.Equal(got, []string{queued.ID}) {
		t.Errorf("backlog %v, want %s", got, queued.ID)
	}

	late, _ := s.asks(path, bash)
	again := s.call(s.operator, "POST", path+"/inputs", said("Stop pushing.", supersede, `,"actor":{"provider_user_id":"U1","display_name":"Dana"}`), "Idempotency-Key", "once", "Sayso-Channel", "chat")
	if got := s.gets(path, late.ID); again.status != 200 || string(again.body) != string(sent.body) || got.State != "open" {
		t.Errorf("the same again: %d %s; what was asked meanwhile is %s", again.status, again.body, got.State)
	}
	s.refusal("the key for another message", "idempotency_key_conflict", "", func() answer {
		return s.call(s.operator, "POST", path+"/inputs", said("Else.", supersede), "Idempotency-Key", "once")
	})
	s.verified()
}

// TestSupersedeNothing checks that nothing open is no hindrance.
func TestSupersedeNothing(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	if in := s.sends(path, said("Go.", supersede)); in.State != "received" || in.DeliveryMode != "steering" {
		t.Errorf("%+v", in)
	}
}

// TestBacklog walks the queued messages in pages of each small size, in both orders, also after they were moved.
func TestBacklog(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	if list := page[api.Input](t, s.call(s.operator, "GET", path+"/inputs/backlog", "")); list.Data == nil || len(list.Data) != 0 || list.NextCursor != nil {
		t.Errorf("an empty backlog: %+v", list)
	}
	var ids []string
	for n := range 7 {
		ids = append(ids, s.sends(path, said(fmt.Sprint(n))).ID)
		s.sends(path, said("steers", steering))
	}
	walk(t, s, path+"/inputs/backlog?", ids, func(in api.Input) string { return in.ID })
	s.moves(path, ids[6], `{"position":"front"}`)
	s.moves(path, ids[0], `{"position":"back"}`)
	ids = []string{ids[6], ids[1], ids[2], ids[3], ids[4], ids[5], ids[0]}
	walk(t, s, path+"/inputs/backlog?", ids, func(in api.Input) string { return in.ID })
}

func (s *site) moves(path, id, to string) {
	s.t.Helper()
	if got := s.call(s.operator, "POST", path+"/inputs/"+id+"/move", to); got.status != http.StatusOK || strings.TrimSpace(string(got.body)) != `{"ok":true}` {
		s.t.Errorf("move: %d %s", got.status, got.body)
	}
}

// TestMove goes through the places that a message can be moved to.
func TestMove(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	_, elsewhere := s.newAgent("other")
	var ids []string
	for _, text := range []string{"a", "b", "c", "d"} {
		ids = append(ids, s.sends(path, said(text)).ID)
	}
	order := func() (text string) {
		for _, id := range s.waiting(path) {
			text += string("abcd"[slices.Index(ids, id)])
		}
		return text
	}
	anchored := func(where string, n int) string {
		return fmt.Sprintf(`{"position":%q,"anchor_input_id":%q}`, where, ids[n])
	}
	for _, c := range []struct {
		what int
		to   string
		want string
	}{
		{0, `{"position":"front"}`, "abcd"},
		{0, `{"position":"back"}`, "bcda"},
		{2, `{"position":"front"}`, "cbda"},
		{0, anchored("before", 2), "acbd"},
		{0, anchored("before", 2), "acbd"},
		{3, anchored("after", 0), "adcb"},
		{3, anchored("after", 1), "acbd"},
		{0, anchored("before", 3), "cbad"},
		{2, anchored("after", 3), "badc"},
	} {
		if s.moves(path, ids[c.what], c.to); order() != c.want {
			t.Errorf("%s to %s: %s, want %s", ids[c.what], c.to, order(), c.want)
		}
	}

	taken := s.takes(path)
	if taken.ID != ids[1] {
		t.Errorf("taken %s, want the one in front", taken.ID)
	}
	foreign := s.sends(elsewhere, hello).ID
	unknown := "ain_" + repeated("a", 26)
	move := func(id, to string) func() answer {
		return func() answer { return s.call(s.operator, "POST", path+"/inputs/"+id+"/move", to) }
	}
	s.refusal("no anchor", "invalid_request", "anchor_input_id", move(ids[0], `{"position":"before"}`))
	s.refusal("an anchor at the front", "invalid_request", "anchor_input_id", move(ids[0], anchored("front", 2)))
	s.refusal("beside itself", "invalid_request", "anchor_input_id", move(ids[0], anchored("after", 0)))
	s.refusal("beside an unknown one", "not_found", "", move(ids[0], `{"position":"after","anchor_input_id":"`+unknown+`"}`))
	s.refusal("beside another agent's", "not_found", "", move(ids[0], `{"position":"after","anchor_input_id":"`+foreign+`"}`))
	s.refusal("beside one that was taken", "state_transition_conflict", "", move(ids[0], anchored("after", 1)))
	s.refusal("one that was taken", "state_transition_conflict", "", move(ids[1], `{"position":"front"}`))
	s.refusal("one that was taken, meaning first", "invalid_request", "", move(ids[1], `{"position":"before"}`))
	s.refusal("an unknown one, shape first", "validation_failed", "position", move(unknown, `{"position":"up"}`))
	s.refusal("an unknown one", "not_found", "", move(unknown, `{"position":"before"}`))
	s.refusal("another agent's", "not_found", "", move(foreign, `{"position":"front"}`))
}

// TestChangesOfAnInput goes through cancel, promote and demote, and every state in which an input may be.
func TestChangesOfAnInput(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	_, elsewhere := s.newAgent("other")
	make := map[string]func() string{
		"queued":   func() string { return s.sends(path, hello).ID },
		"steering": func() string { return s.sends(path, said("Hi.", steering)).ID },
		"canceled": func() string {
			id := s.sends(path, hello).ID
			s.call(s.operator, "POST", path+"/inputs/"+id+"/cancel", "")
			return id
		},
		"taken":     func() string { s.sends(path, said("Hi.", steering)); return s.takes(path).ID },
		"unknown":   func() string { return "ain_" + repeated("a", 26) },
		"elsewhere": func() string { return s.sends(elsewhere, hello).ID },
		"response": func() string {
			_, at := s.asks(path, bash)
			return s.call(s.operator, "POST", at+"/resolve", allow).interaction(t).ResolvedByInputID
		},
		"control": func() string {
			s.asks(path, bash)
			return s.stops(path).Event.AgentInput.ID
		},
	}
	const gone, no = "state_transition_conflict", "not_found"
	for change, want := range map[string]map[string]string{
		"cancel":              {"queued": "canceled", "steering": "canceled", "canceled": "canceled", "taken": gone, "unknown": no, "elsewhere": no, "response": gone, "control": gone},
		"promote_to_steering": {"queued": "steering", "steering": "steering", "canceled": gone, "taken": gone, "unknown": no, "elsewhere": no, "response": gone, "control": gone},
		"demote_to_queued":    {"queued": "queued", "steering": "queued", "canceled": gone, "taken": gone, "unknown": no, "elsewhere": no, "response": gone, "control": gone},
	} {
		for kind, end := range want {
			id := make[kind]()
			at := path + "/inputs/" + id + "/" + change
			if end == gone || end == no {
				s.refusal(change+" "+kind, end, "", func() answer { return s.call(s.operator, "POST", at, "") })
				continue
			}
			before := s.writes()
			for again := range 2 {
				if got := s.call(s.operator, "POST", at, ""); got.status != 200 || strings.TrimSpace(string(got.body)) != `{"ok":true}` {
					t.Errorf("%s %s: %d %s", change, kind, got.status, got.body)
				}
				if changed := s.writes() != before; changed != (again == 0 && kind != end) {
					t.Errorf("%s %s, time %d: written is %v", change, kind, again, changed)
				}
				before = s.writes()
			}
			var now string
			must(t, s.database().QueryRow("SELECT CASE state WHEN 'received' THEN delivery_mode ELSE state END FROM inputs WHERE id = ?", id).Scan(&now))
			if now != end {
				t.Errorf("%s %s: it is %s, want %s", change, kind, now, end)
			}
		}
	}
}

// TestPromote checks that promoting supersedes what is open when it is told to, once.
func TestPromote(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	id := s.sends(path, said("Stop.", `,"actor":{"provider_user_id":"U1"}`)).ID
	at := path + "/inputs/" + id + "/promote_to_steering"
	i, _ := s.asks(path, bash)
	s.call(s.operator, "POST", at, "{}")
	if got := s.gets(path, i.ID); got.State != "open" {
		t.Errorf("promoted without the flag: %s", got.State)
	}
	s.call(s.operator, "POST", path+"/inputs/"+id+"/demote_to_queued", "")
	if got := s.call(s.operator, "POST", at, `{"cancel_open_interactions":true}`); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	got := s.gets(path, i.ID)
	if got.CancelReason != "superseded_by_input" || got.ResolvedByInputID != id || got.ResolvedBy.Name != "operator" || s.stands(path, i.ToolCallID) != "completed canceled" {
		t.Errorf("promoted with the flag: %+v", got)
	}
	late, _ := s.asks(path, bash)
	s.refusal("already steering", "", "", func() answer { return s.call(s.operator, "POST", at, `{"cancel_open_interactions":true}`) })
	if got := s.gets(path, late.ID); got.State != "open" {
		t.Errorf("a repeated call ended what was asked meanwhile: %s", got.State)
	}
	s.verified()
}

// TestClaim checks what a runtime gets, and when.
func TestClaim(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	if got := s.call(s.agent, "POST", path+"/inputs/claim", ""); got.status != 200 || strings.TrimSpace(string(got.body)) != "{}" {
		t.Errorf("nothing there: %d %s", got.status, got.body)
	}
	first, second := s.sends(path, said("first")), s.sends(path, said("second"))
	steer, steer2 := s.sends(path, said("steer", steering)), s.sends(path, said("steer 2", steering))
	i, at := s.asks(path, bash)
	take := func(what string, want *api.Input) {
		t.Helper()
		before := len(s.conversation(path))
		got := s.takes(path)
		log := s.conversation(path)[before:]
		if want == nil {
			if got != nil || len(log) != 0 {
				t.Errorf("%s: %+v, and said %v", what, got, log)
			}
			return
		}
		want.State = "resolved"
		if got == nil {
			t.Fatalf("%s: nothing, want %s", what, want.ID)
		}
		if diff := cmp.Diff(*want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if len(log) != 1 || log[0].EventKind != "agent_input" || !cmp.Equal(log[0].AgentInput, got) {
			t.Errorf("%s: the log says %+v", what, log)
		}
	}
	take("steering goes first", &steer)
	take("steering in order", &steer2)
	take("queued waits while something is open", nil)
	s.call(s.operator, "POST", at+"/resolve", allow)
	take("queued after the answer", &first)
	s.asks(path, question)
	take("queued waits for a form", nil)
	s.stops(path)
	take("after a stop", &second)
	take("nothing left", nil)
	if got := s.gets(path, i.ID); got.State != "resolved" {
		t.Errorf("claiming changed %+v", got)
	}
}

// claims starts a claim that waits, and returns when the server has begun to watch for it.
func (s *site) claims(path, query, body string) pending {
	s.t.Helper()
	for len(s.waits.arrived) > 0 {
		<-s.waits.arrived
	}
	p := pending{s, make(chan answer, 1)}
	go func() {
		a, err := s.try(s.agent, "POST", path+"/inputs/claim"+query, body)
		if err != nil {
			s.t.Error(err)
		}
		p.answer <- a
	}()
	<-s.waits.arrived
	return p
}

func (a answer) input(t testing.TB) *api.Input {
	t.Helper()
	var body api.InputBody
	read(t, a, &body)
	return body.Input
}

// TestClaimWaits checks what ends the wait of a claim, whether it is asked for in the query or in the body.
func TestClaimWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		held bool // there is a queued message, and something open that holds it back
		end  func(s *site, path, open string)
		want string // the text that comes, or the code of the error
	}{
		{"a message", false, func(s *site, path, _ string) { s.sends(path, said("it")) }, "it"},
		{"a steering message", true, func(s *site, path, _ string) { s.sends(path, said("steer", steering)) }, "steer"},
		{"an answer", true, func(s *site, _, open string) { s.call(s.operator, "POST", open+"/resolve", allow) }, "held"},
		{"a withdrawal", true, func(s *site, _, open string) { s.call(s.agent, "POST", open+"/cancel", "") }, "held"},
		{"a stop", true, func(s *site, path, _ string) { s.stops(path) }, "held"},
		{"promotion", true, func(s *site, path, _ string) {
			s.call(s.operator, "POST", path+"/inputs/"+s.waiting(path)[0]+"/promote_to_steering", "")
		}, "held"},
		{"superseding", true, func(s *site, path, _ string) { s.sends(path, said("steer", supersede)) }, "steer"},
		{"archive", true, func(s *site, path, _ string) { s.call(s.operator, "POST", path+"/archive", "") }, "conflict"},
		{"the end of the server", true, func(s *site, _, _ string) { s.stopWaiting.Do(s.service.Close) }, "service_unavailable"},
	} {
		for how, ask := range map[string][2]string{"query": {"?wait_secs=55", ""}, "body": {"", `{"wait_secs":55}`}} {
			t.Run(c.name+" in the "+how, func(t *testing.T) {
				s := newSite(t)
				_, path := s.newAgent("swe")
				open := ""
				if c.held {
					_, open = s.asks(path, bash)
					s.sends(path, said("held"))
				}
				p := s.claims(path, ask[0], ask[1])
				p.stillWaits()
				c.end(s, path, open)
				got := p.ends()
				if got.status != http.StatusOK {
					if got.code() != c.want {
						t.Errorf("%d %s, want %s", got.status, got.body, c.want)
					}
				} else if in := got.input(t); in == nil || in.ContentBlocks[0].Text != c.want {
					t.Errorf("%s, want %q", got.body, c.want)
				}
			})
		}
	}
}

// hasty is a watcher that has lost count at first, as one does when too much happens at once.
type hasty struct {
	*waits
	lost atomic.Int64
}

func (h *hasty) WatchAgent(id interaction.ID) (<-chan struct{}, func()) {
	if h.lost.Add(1) > 3 {
		return h.waits.WatchAgent(id)
	}
	closed := make(chan struct{})
	close(closed)
	return closed, func() {}
}

// TestClaimWaitsOn checks that a claim is not sent away because much happens.
func TestClaimWaitsOn(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	service := interaction.NewService(s.store, &hasty{waits: s.waits}, s.logger, s.clock.Now)
	got := make(chan *interaction.Input, 1)
	go func() {
		p := interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_x", ProjectID: s.project.ID}
		in, err := service.Claim(context.Background(), p, s.project, interaction.ID(agent), time.Minute, interaction.Once{})
		if err != nil {
			t.Error(err)
		}
		got <- in
	}()
	<-s.waits.arrived
	sent := s.sends(path, hello)
	if in := <-got; in == nil || string(in.ID) != sent.ID {
		t.Errorf("claimed %+v, want %s", in, sent.ID)
	}
}

// TestClaimTimesOut checks that a claim waits no longer than it says, and that a body may say nothing.
func TestClaimTimesOut(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	for _, c := range []struct {
		query, body string
		least       time.Duration
	}{{"?wait_secs=1", "", time.Second}, {"", `{"wait_secs":1}`, time.Second}, {"", `{"wait_secs":0}`, 0}, {"", `{}`, 0}, {"?wait_secs=0", `{}`, 0}} {
		start := time.Now()
		got := s.call(s.agent, "POST", path+"/inputs/claim"+c.query, c.body)
		if took := time.Since(start); strings.TrimSpace(string(got.body)) != "{}" || took < c.least || took > 20*time.Second {
			t.Errorf("%s %s: %d %s after %v", c.query, c.body, got.status, got.body, took)
		}
	}
	for _, c := range []struct{ query, body, says string }{
		{"?wait_secs=56", "", "0 to 55"}, {"?wait_secs=-1", "", "0 to 55"}, {"?wait_secs=x", "", "wait_secs"}, {"?wait_secs=", "", "wait_secs"}, {"?wait_secs=1&wait_secs=1", "", "twice"},
		{"", `{"wait_secs":56}`, "0 to 55"}, {"", `{"wait_secs":-1}`, "0 to 55"}, {"", `{"wait_secs":1.5}`, "whole number"}, {"", `{"wait_secs":"1"}`, "wait_secs"}, {"", `{"wait_secs":null}`, "null"},
		{"?wait_secs=1", `{"wait_secs":1}`, "twice"}, {"?limit=1", "", "limit"}, {"", `{"bogus":1}`, "bogus"}, {"", `[]`, "an object is expected"}, {"", `{"wait_secs":1}{}`, "JSON"},
	} {
		s.refusal(c.query+c.body, "validation_failed", c.says, func() answer {
			return s.call(s.agent, "POST", path+"/inputs/claim"+c.query, c.body)
		})
	}
}

// TestClaimers checks that runtimes which claim at once get each message once, and none twice.
func TestClaimers(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	var claimers []pending
	for range 5 {
		claimers = append(claimers, s.claims(path, "?wait_secs=55", ""))
	}
	want := map[string]bool{}
	for n := range claimers {
		want[s.sends(path, said(fmt.Sprint(n))).ID] = true
	}
	got := map[string]bool{}
	for _, p := range claimers {
		got[p.ends().input(t).ID] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-sent +claimed):\n%s", diff)
	}
	if got := s.takes(path); got != nil {
		t.Errorf("one more: %+v", got)
	}
}

// TestClaimOnce checks that a claim whose answer was lost can be repeated, and takes nothing more.
func TestClaimOnce(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	if got := s.takes(path, "Idempotency-Key", "k"); got != nil {
		t.Errorf("nothing there: %+v", got)
	}
	first, second := s.sends(path, said("first")), s.sends(path, said("second"))
	for range 3 {
		if got := s.takes(path, "Idempotency-Key", "k"); got == nil || got.ID != first.ID || got.State != "resolved" {
			t.Errorf("claimed %+v, want %s", got, first.ID)
		}
	}
	if got := s.waiting(path); !slices.Equal(got, []string{second.ID}) {
		t.Errorf("waiting %v, want %s", got, second.ID)
	}
	if got := s.takes(path, "Idempotency-Key", "k2"); got.ID != second.ID {
		t.Errorf("claimed %+v, want %s", got, second.ID)
	}
}

// TestStop checks what a stop ends, in which order the log says so, and what stays.
func TestStop(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	calls := s.calls(path,
		toolCall("first", `{}`, permission("always_allow")), toolCall("second", `{}`), toolCall("third", `{}`, permission("always_deny")),
		toolCall("ask_question", `{"questions":[{"prompt":"P"}]}`), toolCall("fifth", `{}`, permission("always_allow")), toolCall("sixth", `{}`))
	s.call(s.operator, "POST", path+"/interactions/"+calls[5].InteractionID+"/resolve", allow)
	form, _ := s.asks(path, question)
	asked, _ := s.asks(path, bash)
	queued, steer := s.sends(path, said("later")), s.sends(path, said("now", steering))
	done := s.calls(path, toolCall("done", `{}`, permission("always_allow")))[0]
	s.call(s.agent, "POST", path+"/tool-calls/"+done.ID+"/result", result("succeeded", "ok"))
	before := len(s.conversation(path))
	lifecycle := len(s.lifecycle(""))
	s.clock.Advance(time.Second)

	got := s.stops(path)
	if !got.Affected || !got.RuntimeCancelRequested || got.Event == nil || got.ActorID != "" {
		t.Fatalf("stop: %+v", got)
	}
	in := got.Event.AgentInput
	if in == nil || in.InputKind != "control" || in.Control != "stop" || in.DeliveryMode != "immediate" || in.State != "resolved" || in.Actor.Name != "operator" {
		t.Errorf("the control is %+v", in)
	}
	want := []string{"agent_input stop"}
	for _, c := range []string{calls[0].ID, calls[1].ID, calls[3].ID, calls[4].ID, calls[5].ID, asked.ToolCallID} {
		want = append(want, "tool_result canceled "+c)
		if now := s.stands(path, c); now != "completed canceled" {
			t.Errorf("call %s is %s", c, now)
		}
	}
	log := s.conversation(path)[before:]
	if diff := cmp.Diff(want, told(log)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(log) > 0 && !cmp.Equal(log[0], *got.Event) {
		t.Errorf("the log says %+v, the answer %+v", log[0], *got.Event)
	}
	ids := []string{calls[1].InteractionID, calls[3].InteractionID, asked.ID, form.ID}
	for _, id := range ids {
		if i := s.gets(path, id); i.State != "canceled" || i.CancelReason != "agent_canceled" || i.ResolvedByInputID != in.ID || i.ResolvedBy.Name != "operator" || !i.ResolvedAt.Equal(s.clock.Now()) {
			t.Errorf("stopped: %+v", i)
		}
	}
	var ended []string
	for _, e := range s.lifecycle("")[lifecycle:] {
		if ended = append(ended, e.InteractionID); e.EventKind != "interaction_canceled" || e.CancelReason != "agent_canceled" {
			t.Errorf("lifecycle: %+v", e)
		}
	}
	if !slices.Equal(ended, ids) {
		t.Errorf("lifecycle events of %v, want %v", ended, ids)
	}
	if a, b := s.inputState(steer.ID), s.inputState(queued.ID); a != "canceled" || b != "received" {
		t.Errorf("steering is %s, queued %s", a, b)
	}
	if a, b := s.stands(path, done.ID), s.stands(path, calls[2].ID); a != "completed succeeded" || b != "completed denied" {
		t.Errorf("what had ended is %s and %s", a, b)
	}
	s.idle(path)
	s.verified()
}

// idle checks that there is nothing to stop.
func (s *site) idle(path string) {
	s.t.Helper()
	s.refusal("stop of an idle agent", "", "", func() answer {
		got := s.call(s.operator, "POST", path+"/cancel", "{}")
		if want := `{"event":null,"runtime_cancel_requested":false,"affected":false}`; got.status != 200 || strings.TrimSpace(string(got.body)) != want {
			s.t.Errorf("stop of an idle agent: %d %s, want %s", got.status, got.body, want)
		}
		return got
	})
}

// TestStopWhatItWorksOn checks what counts as work: an agent that was handed something and has not spoken since is at work, one that has is not.
func TestStopWhatItWorksOn(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		do   func(path string)
		work bool
	}{
		"nothing at all":      {func(string) {}, false},
		"a queued message":    {func(path string) { s.sends(path, hello) }, false},
		"a steering message":  {func(path string) { s.sends(path, said("Go.", steering)) }, true},
		"a message it took":   {func(path string) { s.sends(path, hello); s.takes(path) }, true},
		"a message it heard":  {func(path string) { s.reports(path, heard) }, true},
		"what it said":        {func(path string) { s.sends(path, hello); s.takes(path); s.reports(path, says) }, false},
		"a ready call":        {func(path string) { s.calls(path, toolCall("ls", "{}", permission("always_allow"))) }, true},
		"an open permission":  {func(path string) { s.asks(path, bash) }, true},
		"an open form":        {func(path string) { s.asks(path, question) }, true},
		"an answered form":    {func(path string) { _, at := s.asks(path, question); s.call(s.operator, "POST", at+"/resolve", allow) }, true},
		"a withdrawn request": {func(path string) { _, at := s.asks(path, bash); s.call(s.agent, "POST", at+"/cancel", "") }, false},
	} {
		path := askable(s)
		c.do(path)
		if c.work {
			if got := s.stops(path); got.Event == nil || !got.Affected || !got.RuntimeCancelRequested {
				t.Errorf("%s: %+v", name, got)
			}
		}
		s.idle(path)
	}
}

const heard = `{"events":[{"event_kind":"user_message","content_blocks":[{"type":"text","text":"Hi."}]}]}`

// TestArchive checks what archiving ends, that it is for good, and what can still be read.
func TestArchive(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	call := s.calls(path, toolCall("Bash", `{}`), toolCall("ls", `{}`, permission("always_allow")))
	form, formAt := s.asks(path, question)
	queued, steer := s.sends(path, said("later")), s.sends(path, said("now", steering))
	s.clock.Advance(time.Second)
	first := s.call(s.operator, "POST", path+"/archive", "")
	got := first.agent(t)
	if first.status != 200 || got.State != "archived" || got.ArchivedAt == nil || !got.ArchivedAt.Equal(s.clock.Now()) || got.OpenInteractions != 0 {
		t.Errorf("%d %s", first.status, first.body)
	}
	for _, id := range []string{call[0].InteractionID, form.ID} {
		if i := s.gets(path, id); i.State != "canceled" || i.CancelReason != "agent_archived" || i.ResolvedByInputID == "" {
			t.Errorf("%+v", i)
		}
	}
	want := []string{"model_output", "agent_input archive", "tool_result canceled " + call[0].ID, "tool_result canceled " + call[1].ID}
	if diff := cmp.Diff(want, told(s.conversation(path))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if a, b := s.inputState(steer.ID), s.inputState(queued.ID); a != "canceled" || b != "canceled" {
		t.Errorf("steering is %s, queued %s", a, b)
	}
	s.clock.Advance(time.Second)
	s.refusal("again", "", "", func() answer {
		again := s.call(s.operator, "POST", path+"/archive", "{}")
		if again.status != 200 || string(again.body) != string(first.body) {
			t.Errorf("again: %d %s, first %s", again.status, again.body, first.body)
		}
		return again
	})
	for name, c := range map[string]struct{ key, method, at, body, code string }{
		"ask":     {s.agent, "POST", "/interactions", bash, "conflict"},
		"send":    {s.operator, "POST", "/inputs", hello, "conflict"},
		"steer":   {s.operator, "POST", "/inputs", said("x", supersede), "conflict"},
		"report":  {s.agent, "POST", "/events", says, "conflict"},
		"claim":   {s.agent, "POST", "/inputs/claim", "", "conflict"},
		"wait":    {s.agent, "POST", "/inputs/claim?wait_secs=55", "", "conflict"},
		"result":  {s.agent, "POST", "/tool-calls/" + call[1].ID + "/result", result("succeeded", ""), "conflict"},
		"answer":  {s.operator, "POST", strings.TrimPrefix(formAt, path) + "/resolve", allow, "idempotency_key_conflict"},
		"promote": {s.operator, "POST", "/inputs/" + queued.ID + "/promote_to_steering", "", "state_transition_conflict"},
		"stop":    {s.operator, "POST", "/cancel", "", ""},
	} {
		s.refusal(name, c.code, "", func() answer { return s.call(c.key, c.method, path+c.at, c.body) })
	}
	for _, at := range []string{"", "/events", "/tool-calls", "/interactions", "/inputs/backlog", "/interactions/" + form.ID} {
		if got := s.call(s.operator, "GET", path+at, ""); got.status != 200 {
			t.Errorf("read %s: %d %s", at, got.status, got.body)
		}
	}
	for state, want := range map[string]int{"archived": 1, "active": 0} {
		list := page[api.Agent](t, s.call(s.operator, "GET", project+"/agents?state="+state, ""))
		if n := len(list.Data); n != want || n == 1 && list.Data[0].ID != agent {
			t.Errorf("listed as %s: %v", state, list.Data)
		}
	}
	s.verified()
}

// TestTooManyWait checks that there is a bound to what waits, and that it is told as such.
func TestTooManyWait(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	s.sends(path, hello)
	s.settle()
	s.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO inputs (agent, id, kind, delivery_mode, state, queued_at, position, content, author)
		SELECT agent, id || i, kind, delivery_mode, state, queued_at, i, content, author FROM n, inputs WHERE position = 1`, interaction.MaxWaiting)
	s.refusal("one more", "rate_limited", "", func() answer { return s.call(s.operator, "POST", path+"/inputs", hello) })
	s.takes(path)
	s.sends(path, hello)
}

// TestOrderOfChecksInAConversation sends requests with more than one thing wrong; see TestOrderOfChecks.
func TestOrderOfChecksInAConversation(t *testing.T) {
	s := newSite(t)
	readOnly := s.newKey(interaction.OperatorPrincipal, "read", interaction.ScopeRead)
	_, path := s.newAgent("swe")
	_, gone := s.newAgent("gone")
	s.call(s.operator, "POST", gone+"/archive", "")
	unknown := project + "/agents/agt_" + repeated("a", 26)
	elsewhere := "/api/v1/orgs/default/projects/none" + path[len(project):]
	badFlag := said("x", `,"cancel_open_interactions":true`)
	blank := said(" ")
	for _, c := range []struct{ name, key, at, body, code string }{
		{"no key, no shape", "", path + "/inputs", "[]", "unauthorized"},
		{"no key, unknown", "", unknown + "/cancel", "", "unauthorized"},
		{"send: shape, unknown", s.operator, unknown + "/inputs", blank, "validation_failed"},
		{"send: shape, no project", s.operator, elsewhere + "/inputs", blank, "validation_failed"},
		{"send: shape, forbidden", readOnly, path + "/inputs", blank, "validation_failed"},
		{"send: shape, archived", s.operator, gone + "/inputs", blank, "validation_failed"},
		{"send: unknown, meaning", s.operator, unknown + "/inputs", badFlag, "not_found"},
		{"send: forbidden, meaning", readOnly, path + "/inputs", badFlag, "forbidden"},
		{"send: agents may not", s.agent, path + "/inputs", badFlag, "forbidden"},
		{"send: meaning, archived", s.operator, gone + "/inputs", badFlag, "invalid_request"},
		{"report: shape, unknown", s.agent, unknown + "/events", `{"events":[]}`, "validation_failed"},
		{"report: shape, no project", s.agent, elsewhere + "/events", `{"events":[]}`, "validation_failed"},
		{"report: shape, forbidden", readOnly, path + "/events", `{"events":[]}`, "validation_failed"},
		{"report: shape, archived", s.agent, gone + "/events", `{"events":[]}`, "validation_failed"},
		{"report: forbidden, archived", readOnly, gone + "/events", says, "forbidden"},
		{"result: shape, unknown call", s.agent, path + "/tool-calls/tcl_" + repeated("a", 26) + "/result", `{"outcome":"denied","content_blocks":[]}`, "validation_failed"},
		{"result: shape, no project", s.agent, elsewhere + "/tool-calls/tcl_" + repeated("a", 26) + "/result", `{"outcome":"denied","content_blocks":[]}`, "validation_failed"},
		{"result: unknown call", s.agent, path + "/tool-calls/tcl_" + repeated("a", 26) + "/result", result("failed", ""), "not_found"},
		{"result: malformed call", s.agent, path + "/tool-calls/x/result", result("failed", ""), "validation_failed"},
		{"result: forbidden", readOnly, path + "/tool-calls/tcl_" + repeated("a", 26) + "/result", result("failed", ""), "forbidden"},
		{"claim: shape, unknown", s.agent, unknown + "/inputs/claim?wait_secs=99", "", "validation_failed"},
		{"claim: forbidden, archived", readOnly, gone + "/inputs/claim", "", "forbidden"},
		{"stop: shape, unknown", s.operator, unknown + "/cancel", `{"a":1}`, "validation_failed"},
		{"archive: forbidden", s.agent, path + "/archive", "", "forbidden"},
	} {
		s.refusal(c.name, c.code, "", func() answer { return s.call(c.key, "POST", c.at, c.body) })
	}
}

// TestStoppedAt checks that an agent's own key learns of a stop where it waits for nothing.
func TestStoppedAt(t *testing.T) {
	s := newSite(t)
	id, path := s.newAgent("swe")
	key := s.bound(id)
	if a := s.call(key, "GET", path, "").agent(t); a.StoppedAt != nil {
		t.Errorf("a new agent was stopped at %v", a.StoppedAt)
	}
	s.call(s.operator, "POST", path+"/cancel", "")
	if a := s.call(key, "GET", path, "").agent(t); a.StoppedAt != nil {
		t.Errorf("an idle agent was stopped at %v", a.StoppedAt)
	}
	s.asks(path, bash)
	s.clock.Advance(time.Second)
	s.call(s.operator, "POST", path+"/cancel", "")
	if a := s.call(key, "GET", path, "").agent(t); a.StoppedAt == nil || !a.StoppedAt.Equal(s.clock.Now()) {
		t.Errorf("it was stopped at %v, want %v", a.StoppedAt, s.clock.Now())
	}
}
