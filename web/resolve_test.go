package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

const (
	// twoQuestions has a question of each sort.
	twoQuestions = `{"request":{"title":"T","questions":[
		{"prompt":"Which format?","options":[{"label":"Summary"},{"label":"Full"},{"label":"Other","allows_text":true}]},
		{"prompt":"Which parts?","multiple":true,"options":[{"label":"A"},{"label":"B"},{"label":"C"}]}]}}`
	denied = `{"answers":[{"option_indices":[1],"text":"Not now."}]}`
)

// TestResolve checks what an answer makes of an interaction: what is stored, who it was, and what else is written.
func TestResolve(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		name, ask, body string
		headers         []string
		answers         []api.Answer
		decision        *api.Decision
		by              api.Actor
		call            string   // state and outcome of the tool call
		events          []string // after its creation
		result          string   // what the tool's result says
	}{
		{
			name: "allow", ask: bash, body: allow, answers: []api.Answer{{OptionIndices: []int{0}}},
			by: api.Actor{Kind: "api_key", Name: "operator", Channel: "api"}, call: "ready", events: []string{"agent_input", "interaction_answered"},
		},
		{
			name: "allow, with all that goes with it", ask: bash, headers: []string{"Sayso-Channel", "cli"},
			body:     `{"answers":[{"option_indices":[0],"text":"  "}],"note":" n\n","updated_input":{ "command" : "ls" },"updated_permissions":[ {"a" : 1.10} ],"remember":false}`,
			answers:  []api.Answer{{OptionIndices: []int{0}}},
			decision: &api.Decision{Note: "n", UpdatedInput: json.RawMessage(`{ "command" : "ls" }`), UpdatedPermissions: json.RawMessage(`[ {"a" : 1.10} ]`)},
			by:       api.Actor{Kind: "api_key", Name: "operator", Channel: "cli"}, call: "ready", events: []string{"agent_input", "interaction_answered"},
		},
		{
			name: "deny with a reason", ask: bash, body: `{"answers":[{"option_indices":[1],"text":" \tNot now.\u3000"}]}`, headers: []string{"Sayso-Channel", "mcp"},
			answers: []api.Answer{{OptionIndices: []int{1}, Text: "Not now."}}, by: api.Actor{Kind: "api_key", Name: "operator", Channel: "mcp"},
			call: "completed denied", events: []string{"agent_input", "tool_result", "interaction_answered"}, result: "Not now.",
		},
		{
			name: "deny without one", ask: bash, body: deny, headers: []string{"Sayso-Channel", "chat"},
			answers: []api.Answer{{OptionIndices: []int{1}}}, by: api.Actor{Kind: "api_key", Name: "operator", Channel: "chat"},
			call: "completed denied", events: []string{"agent_input", "tool_result", "interaction_answered"}, result: interaction.DefaultDenial,
		},
		{
			name: "answers to a form", ask: twoQuestions, body: `{"answers":[{"option_indices":[2],"text":" a table "},{"option_indices":[2,0]}],"response":" Keep it short. "}`,
			answers:  []api.Answer{{OptionIndices: []int{2}, Text: "a table"}, {OptionIndices: []int{0, 2}}},
			decision: &api.Decision{Response: "Keep it short."}, by: api.Actor{Kind: "api_key", Name: "operator", Channel: "api"},
			events: []string{"agent_input", "interaction_answered"},
		},
		{
			name: "in the name of somebody", ask: bash, body: `{"answers":[{"option_indices":[0]}],"actor":{"provider_user_id":" U1 ","display_name":" Dana "}}`,
			answers: []api.Answer{{OptionIndices: []int{0}}}, by: api.Actor{Kind: "external", Name: "Dana", Channel: "api"},
			call: "ready", events: []string{"agent_input", "interaction_answered"},
		},
		{
			name: "in the name of somebody nameless", ask: bash, body: `{"answers":[{"option_indices":[0]}],"actor":{"provider_user_id":"U2"}}`,
			answers: []api.Answer{{OptionIndices: []int{0}}}, by: api.Actor{Kind: "external", Name: "U2", Channel: "api"},
			call: "ready", events: []string{"agent_input", "interaction_answered"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, at := s.asks(askable(s), c.ask)
			s.clock.Advance(time.Second)
			got := s.call(s.operator, "POST", at+"/resolve", c.body, c.headers...)
			i := got.interaction(t)
			if got.status != http.StatusOK || got.header["Idempotent-Replayed"] != nil || !interaction.ID(i.ResolvedByInputID).WellFormed("ain") {
				t.Fatalf("%d %s %v", got.status, got.body, got.header)
			}
			if (i.ResolvedBy.Kind == "external") != interaction.ID(i.ResolvedBy.ActorID).WellFormed("actr") {
				t.Errorf("actor %q", i.ResolvedBy.ActorID)
			}
			c.by.ActorID = i.ResolvedBy.ActorID
			want.State, want.Resolution, want.Decision, want.ResolvedBy = "resolved", &api.Resolution{Answers: c.answers}, c.decision, &c.by
			want.ResolvedByInputID, want.ResolvedAt = i.ResolvedByInputID, &api.Time{Time: s.clock.Now()}
			if diff := cmp.Diff(want, i); diff != "" {
				t.Errorf("resolved (-want +got):\n%s", diff)
			}
			if read := s.call(s.operator, "GET", at, ""); string(read.body) != string(got.body) {
				t.Errorf("read %s\nanswered %s", read.body, got.body)
			}
			s.wrote(t, i, c.call, c.events, c.result)
		})
	}
	if _, err := s.store.Verify(t.Context(), s.project.ID); err != nil {
		t.Error(err)
	}
}

// wrote checks what stands behind a resolved interaction.
func (s *site) wrote(t *testing.T, i api.Interaction, call string, events []string, result string) {
	t.Helper()
	history, err := s.store.History(t.Context(), interaction.ID(i.ID))
	must(t, err)
	var kinds []string
	for _, e := range history[1:] {
		kinds = append(kinds, string(e.Kind))
		if e.Kind == interaction.AgentInputEvent && string(e.InputID) != i.ResolvedByInputID {
			t.Errorf("the event names the input %s, the interaction %s", e.InputID, i.ResolvedByInputID)
		}
		if e.Kind == interaction.ToolResultEvent && !strings.Contains(e.Body, fmt.Sprintf("%q", result)) {
			t.Errorf("the tool's result is %s, want %q in it", e.Body, result)
		}
	}
	if history[0].Kind != interaction.CreatedEvent || !slices.Equal(kinds, events) {
		t.Errorf("events %v, want %v", kinds, events)
	}
	if call != "" {
		var state string
		must(t, s.database().QueryRow("SELECT trim(state || ' ' || coalesce(outcome, '')) FROM tool_calls WHERE id = ?", i.ToolCallID).Scan(&state))
		if state != call {
			t.Errorf("the tool call is %s, want %s", state, call)
		}
	}
	const input = "SELECT count(*) FROM inputs WHERE id = ? AND kind = 'interaction_response' AND delivery_mode = 'immediate' AND state = 'resolved'"
	if n := s.number(input, i.ResolvedByInputID); n != 1 {
		t.Errorf("%d inputs", n)
	}
	if n := s.audited(i.ID); n != 2 {
		t.Errorf("%d audit entries, want one for the start and one for the end", n)
	}
}

// audited is how many audit entries an interaction has.
func (s *site) audited(id string) int {
	s.t.Helper()
	return s.number(`SELECT count(*) FROM audit_entries a JOIN events v ON v.project = a.project AND v.sequence = a.sequence
		WHERE v.interaction = (SELECT key FROM interactions WHERE id = ?)`, id)
}

// TestResolveAgain goes through the table of the contract: what has ended, and what is answered then.
func TestResolveAgain(t *testing.T) {
	s := newSite(t)
	second := s.newKey(interaction.OperatorPrincipal, "second", interaction.ScopeResolve)
	const full = `{"answers":[{"option_indices":[0]}],"note":"n","updated_input":{"a":1},"updated_permissions":[{"b":1}]}`
	const answered = `{"answers":[{"option_indices":[2],"text":"x"},{"option_indices":[0,2]}],"response":"r"}`
	for _, c := range []struct {
		name, ask, first, again string
		replay                  bool
	}{
		{"the same", bash, allow, allow, true},
		{"the same with a reason", bash, denied, denied, true},
		{"the same but for blanks", bash, denied, `{"answers":[{"option_indices":[1],"text":"\n Not now. "}]}`, true},
		{"the same in another order", twoQuestions, answered, `{"response":" r ","answers":[{"text":"x ","option_indices":[2]},{"option_indices":[2,0]}]}`, true},
		{"the same in the name of somebody", bash, allow, `{"answers":[{"option_indices":[0]}],"actor":{"provider_user_id":"U9"}}`, true},
		{"the same with all that goes with it", bash, full, full, true},
		{"the same that remembers nothing", bash, allow, `{"answers":[{"option_indices":[0]}],"remember":true}`, true},
		{"the other option", bash, allow, deny, false},
		{"no reason", bash, denied, deny, false},
		{"a reason", bash, deny, denied, false},
		{"another reason", bash, denied, `{"answers":[{"option_indices":[1],"text":"Not now"}]}`, false},
		{"a reason in another case", bash, denied, `{"answers":[{"option_indices":[1],"text":"not now."}]}`, false},
		{"fewer options", twoQuestions, answered, `{"answers":[{"option_indices":[2],"text":"x"},{"option_indices":[2]}],"response":"r"}`, false},
		{"another text", twoQuestions, answered, `{"answers":[{"option_indices":[2],"text":"y"},{"option_indices":[0,2]}],"response":"r"}`, false},
		{"another response", twoQuestions, answered, `{"answers":[{"option_indices":[2],"text":"x"},{"option_indices":[0,2]}],"response":"s"}`, false},
		{"no response", twoQuestions, answered, `{"answers":[{"option_indices":[2],"text":"x"},{"option_indices":[0,2]}]}`, false},
		{"a note", bash, allow, `{"answers":[{"option_indices":[0]}],"note":"n"}`, false},
		{"another note", bash, full, strings.Replace(full, `"n"`, `"m"`, 1), false},
		{"another input", bash, full, strings.Replace(full, `{"a":1}`, `{"a":2}`, 1), false},
		{"other permissions", bash, full, strings.Replace(full, `[{"b":1}]`, `[]`, 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, at := s.asks(askable(s), c.ask)
			first := s.call(s.operator, "POST", at+"/resolve", c.first)
			s.clock.Advance(time.Minute)
			before := s.writes()
			for _, key := range []string{s.operator, second} {
				got := s.call(key, "POST", at+"/resolve", c.again)
				replayed := got.header.Get("Idempotent-Replayed")
				switch {
				case c.replay && (got.status != http.StatusOK || replayed != "true" || string(got.body) != string(first.body)):
					t.Errorf("%d, replayed %q: %s\nfirst: %s", got.status, replayed, got.body, first.body)
				case !c.replay:
					s.lost(t, got, "idempotency_key_conflict", first)
				}
			}
			if s.writes() != before {
				t.Error("something was written")
			}
		})
	}
}

// lost checks that an answer came too late, and was told how the interaction ended.
func (s *site) lost(t *testing.T, got answer, code string, end answer) {
	t.Helper()
	var body struct{ Interaction json.RawMessage }
	read(t, got, &body)
	if got.status != http.StatusConflict || got.code() != code || string(body.Interaction)+"\n" != string(end.body) || got.header["Idempotent-Replayed"] != nil {
		t.Errorf("%d %s\nwant %s with %s", got.status, got.body, code, end.body)
	}
}

// TestResolveCanceled checks that what was canceled, for whatever reason, stays so.
func TestResolveCanceled(t *testing.T) {
	s := newSite(t)
	_, withdrawn := s.asks(askable(s), bash)
	s.call(s.agent, "POST", withdrawn+"/cancel", "")
	_, expired := s.asks(askable(s), `{"timeout_secs":1,`+bash[1:])
	s.clock.Advance(time.Second)
	must(t, s.service.ExpireDue(t.Context()))
	for reason, at := range map[string]string{"asker_canceled": withdrawn, "expired": expired} {
		end := s.call(s.operator, "GET", at, "")
		before := s.writes()
		for _, body := range []string{allow, deny, denied} {
			got := s.call(s.operator, "POST", at+"/resolve", body)
			s.lost(t, got, "idempotency_key_conflict", end)
			if !strings.Contains(got.message(), reason) {
				t.Errorf("the error %q does not say %s", got.message(), reason)
			}
		}
		if s.writes() != before {
			t.Error("something was written")
		}
	}
}

// TestResolveMeansSomething checks what is refused although each field is right by itself: the interaction stays open.
func TestResolveMeansSomething(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ name, ask, body, says string }{
		{"too few answers", twoQuestions, allow, "2 questions and 1 answers"},
		{"too many answers", bash, `{"answers":[{"option_indices":[0]},{"option_indices":[0]}]}`, "1 questions and 2 answers"},
		{"no such option", bash, `{"answers":[{"option_indices":[2]}]}`, "answers[0].option_indices: there is no option 2; allowed are 0 to 1"},
		{"no such option in the second", twoQuestions, `{"answers":[{"option_indices":[0]},{"option_indices":[0,3]}]}`, "answers[1].option_indices"},
		{"a huge option", bash, `{"answers":[{"option_indices":[9223372036854775807]}]}`, "answers[0].option_indices"},
		{"two options where one is taken", twoQuestions, `{"answers":[{"option_indices":[0,1]},{"option_indices":[0]}]}`, "answers[0].option_indices: this question takes one option, got 2"},
		{"allow and deny", bash, `{"answers":[{"option_indices":[0,1]}]}`, "answers[0].option_indices"},
		{"text where none is taken", twoQuestions, `{"answers":[{"option_indices":[0]},{"option_indices":[0],"text":"x"}]}`, "answers[1].text"},
		{"text with Allow", bash, `{"answers":[{"option_indices":[0],"text":"x"}]}`, "answers[0].text"},
		{"a note with Deny", bash, `{"answers":[{"option_indices":[1]}],"note":"x"}`, "note"},
		{"an input with Deny", bash, `{"answers":[{"option_indices":[1]}],"updated_input":{}}`, "updated_input"},
		{"to remember Deny", bash, `{"answers":[{"option_indices":[1]}],"remember":true}`, "remember"},
		{"permissions with Deny", bash, `{"answers":[{"option_indices":[1]}],"updated_permissions":[]}`, "updated_permissions"},
		{"a response with Allow", bash, `{"answers":[{"option_indices":[0]}],"response":"x"}`, "response"},
		{"a response with Deny", bash, `{"answers":[{"option_indices":[1]}],"response":"x"}`, "response"},
		{"a note to a question", question, `{"answers":[{"option_indices":[0]}],"note":"x"}`, "note"},
		{"an input to a question", question, `{"answers":[{"option_indices":[0]}],"updated_input":{}}`, "updated_input"},
		{"to remember a question", question, `{"answers":[{"option_indices":[0]}],"remember":true}`, "remember"},
		{"permissions to a question", question, `{"answers":[{"option_indices":[0]}],"updated_permissions":[]}`, "updated_permissions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, at := s.asks(askable(s), c.ask)
			before := s.writes()
			got := s.call(s.operator, "POST", at+"/resolve", c.body)
			if got.code() != "invalid_request" || !strings.Contains(got.message(), c.says) {
				t.Errorf("%d %s, want an error that says %s", got.status, got.body, c.says)
			}
			if state := s.call(s.operator, "GET", at, "").interaction(t).State; state != "open" || s.writes() != before {
				t.Errorf("it is %s, or something was written", state)
			}
		})
	}
}

// TestResolveDigest checks that a decision is bound to what was decided on.
func TestResolveDigest(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	i, at := s.asks(path, bash)
	same, _ := s.asks(askable(s), bash)
	other, _ := s.asks(path, `{"tool_call":{"name":"Bash","input":{"command":"git push  --force"}}}`)
	if same.Digest != i.Digest || other.Digest == i.Digest {
		t.Fatalf("digests %s, the same ask %s, another %s", i.Digest, same.Digest, other.Digest)
	}
	open := s.call(s.operator, "GET", at, "")
	before := s.writes()
	for _, digest := range []string{other.Digest, "sha256:", strings.ToUpper(i.Digest), i.Digest[7:], i.Digest + " ", i.Digest[:len(i.Digest)-1], smile} {
		got := s.call(s.operator, "POST", at+"/resolve", fmt.Sprintf(`{"digest":%q,"answers":[{"option_indices":[0]}]}`, digest))
		s.lost(t, got, "state_transition_conflict", open)
	}
	for body, says := range map[string]string{
		`{"digest":"","answers":[{"option_indices":[0]}]}`:                                             "digest: must not be blank",
		`{"digest":null,"answers":[{"option_indices":[0]}]}`:                                           "digest: null",
		`{"digest":1,"answers":[{"option_indices":[0]}]}`:                                              "digest: this number",
		`{"Digest":"` + i.Digest + `","answers":[{"option_indices":[0]}]}`:                             "Digest: unknown field",
		`{"digest":"` + i.Digest + `","answers":[{"option_indices":[0]}],"digest":"` + i.Digest + `"}`: "digest: this field is there twice",
	} {
		s.refused(t, body, s.call(s.operator, "POST", at+"/resolve", body), before, says)
	}
	if s.writes() != before {
		t.Error("something was written")
	}
	if got := s.call(s.operator, "POST", at+"/resolve", fmt.Sprintf(`{"digest":%q,"answers":[{"option_indices":[0]}]}`, i.Digest)); got.status != http.StatusOK {
		t.Errorf("the right digest: %d %s", got.status, got.body)
	}
}

// TestRemember checks which suggestions go back to the agent: exactly those for localSettings, verbatim.
func TestRemember(t *testing.T) {
	const (
		local  = `{"type":"addRules", "rules":[{"toolName":"Bash","n":1.10}],"destination":"localSettings"}`
		spelt  = `{"destination":"local\u0053ettings","x":12345678901234567890}`
		sess   = `{"type":"addRules","destination":"session"}`
		cased  = `{"Destination":"localSettings"}`
		both   = `{"destination":"session","Destination":"localSettings","DESTINATION":"localSettings"}`
		nested = `{"a":{"destination":"localSettings"}}`
		listed = `{"destination":["localSettings"]}`
		added  = `{"type":"setMode" }`
	)
	s := newSite(t)
	for _, c := range []struct{ name, suggestions, with, want string }{
		{"one of each", "[" + local + "," + sess + ",\n" + spelt + "]", "", "[" + local + "," + spelt + "]"},
		{"none for localSettings", "[" + sess + "]", "", ""},
		{"no suggestions", "[]", "", ""},
		{"not asked", "", "", ""},
		{"lookalikes", "[" + cased + "," + both + "," + nested + "," + listed + ",{}]", "", ""},
		{"with others that the person added", "[" + local + "]", `,"updated_permissions":[` + added + `]`, "[" + local + "," + added + "]"},
		{"others only", "[" + sess + "]", `,"updated_permissions":[ ` + added + `]`, "[ " + added + "]"},
		{"an empty list of others", "[" + local + "]", `,"updated_permissions":[]`, "[" + local + "]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ask := bash
			if c.suggestions != "" {
				ask = `{"suggestions":` + c.suggestions + `,` + bash[1:]
			}
			_, at := s.asks(askable(s), ask)
			body := `{"answers":[{"option_indices":[0]}],"remember":true` + c.with + `}`
			first := s.call(s.operator, "POST", at+"/resolve", body)
			got := ""
			if d := first.interaction(t).Decision; d != nil {
				got = string(d.UpdatedPermissions)
			}
			if got != c.want {
				t.Errorf("updated_permissions %s, want %s", got, c.want)
			}
			if again := s.call(s.operator, "POST", at+"/resolve", body); again.status != http.StatusOK || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the same again: %d %s", again.status, again.body)
			}
		})
	}
}

// TestExternalActors checks that a person whom a relaying service speaks for is one person for ever, by that service's ids.
func TestExternalActors(t *testing.T) {
	s := newSite(t)
	resolve := func(key, actor string) api.Actor {
		t.Helper()
		_, at := s.asks(askable(s), bash)
		got := s.call(key, "POST", at+"/resolve", `{"answers":[{"option_indices":[0]}],"actor":`+actor+`}`)
		if got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		return *got.interaction(t).ResolvedBy
	}
	dana := resolve(s.operator, `{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana","metadata":{"team":"a"}}`)
	for _, c := range []struct {
		name, actor, called string
		same                bool
	}{
		{"the same", `{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana"}`, "Dana", true},
		{"with a new name", `{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana S."}`, "Dana S.", true},
		{"with blanks around the ids", `{"provider_user_id":" U1 ","provider_tenant_id":"T1\t","display_name":"Dana"}`, "Dana", true},
		{"without a name", `{"provider_user_id":"U1","provider_tenant_id":"T1"}`, "U1", true},
		{"of another tenant", `{"provider_user_id":"U1","provider_tenant_id":"T2","display_name":"Dana"}`, "Dana", false},
		{"of no tenant", `{"provider_user_id":"U1","display_name":"Dana"}`, "Dana", false},
		{"another user", `{"provider_user_id":"u1","provider_tenant_id":"T1","display_name":"Dana"}`, "Dana", false},
	} {
		got := resolve(s.newKey(interaction.OperatorPrincipal, "relay of "+c.name, interaction.ScopeResolve), c.actor)
		if got.Kind != "external" || got.Name != c.called || (got.ActorID == dana.ActorID) != c.same {
			t.Errorf("%s: %+v; the first was %s", c.name, got, dana.ActorID)
		}
	}
	// Many relays at once, of somebody who is new.
	var places []string
	for range 20 {
		_, at := s.asks(askable(s), bash)
		places = append(places, at)
	}
	ids := map[string]bool{}
	for _, got := range atOnce(t, len(places), func(n int) (answer, error) {
		return s.try(s.operator, "POST", places[n]+"/resolve", `{"answers":[{"option_indices":[0]}],"actor":{"provider_user_id":"new"}}`)
	}) {
		ids[got.interaction(t).ResolvedBy.ActorID] = true
	}
	if n := s.number("SELECT count(*) FROM actors WHERE user = 'new'"); len(ids) != 1 || n != 1 {
		t.Errorf("%d ids and %d rows for one person", len(ids), n)
	}
}

// TestCancel checks how an asker withdraws what it asked.
func TestCancel(t *testing.T) {
	s := newSite(t)
	want, at := s.asks(askable(s), bash)
	bound := s.bound(want.AgentID)
	s.clock.Advance(time.Second)
	got := s.call(s.agent, "POST", at+"/cancel", "", "Sayso-Channel", "mcp")
	now := api.Time{Time: s.clock.Now()}
	want.State, want.CancelReason, want.ResolvedAt = "canceled", "asker_canceled", &now
	want.ResolvedBy = &api.Actor{Kind: "api_key", Name: "agent", Channel: "mcp"}
	if diff := cmp.Diff(want, got.interaction(t)); got.status != http.StatusOK || got.header["Idempotent-Replayed"] != nil || diff != "" {
		t.Errorf("%d (-want +got):\n%s", got.status, diff)
	}
	before := s.writes()
	for _, key := range []string{s.agent, bound} {
		again := s.call(key, "POST", at+"/cancel", "{}")
		if again.status != http.StatusOK || again.header.Get("Idempotent-Replayed") != "true" || string(again.body) != string(got.body) {
			t.Errorf("again: %d %s", again.status, again.body)
		}
	}
	if s.writes() != before {
		t.Error("something was written")
	}
	var state string
	must(t, s.database().QueryRow("SELECT state || ' ' || outcome FROM tool_calls WHERE id = ?", want.ToolCallID).Scan(&state))
	if state != "completed canceled" {
		t.Errorf("the tool call is %s", state)
	}
	_, answered := s.asks(askable(s), bash)
	end := s.call(s.operator, "POST", answered+"/resolve", allow)
	s.lost(t, s.call(s.agent, "POST", answered+"/cancel", ""), "state_transition_conflict", end)
}

// TestRaceOfAnswers has 200 different answers arrive at once, 50 times over: one is recorded, everybody else is told which, and the
// winner may say it again.
func TestRaceOfAnswers(t *testing.T) {
	const rounds, answers = 50, 200
	s := newSite(t)
	second := s.newKey(interaction.OperatorPrincipal, "second", interaction.ScopeResolve)
	path := askable(s)
	for round := range rounds {
		i, at := s.asks(path, bash)
		body := func(n int) string { return fmt.Sprintf(`{"answers":[{"option_indices":[1],"text":"reason %d"}]}`, n) }
		won, lost := -1, map[string]int{}
		for n, got := range atOnce(t, answers, func(n int) (answer, error) {
			if n == 0 {
				return s.try(s.operator, "POST", at+"/resolve", body(n))
			}
			return s.try(s.operator, "POST", at+"/resolve", body(n), loosely, "one like it is checked")
		}) {
			switch {
			case got.status == http.StatusOK && won < 0 && got.header["Idempotent-Replayed"] == nil:
				won = n
			case got.status == http.StatusConflict && got.code() == "idempotency_key_conflict":
				lost[string(got.body)]++
			default:
				t.Errorf("round %d, answer %d: %d %s", round, n, got.status, got.body)
			}
		}
		if won < 0 || len(lost) != 1 {
			t.Fatalf("round %d: answer %d won, and the losers were told %d different things", round, won, len(lost))
		}
		end := s.call(second, "POST", at+"/resolve", body(won))
		if end.status != http.StatusOK || end.header.Get("Idempotent-Replayed") != "true" || end.interaction(t).Resolution.Answers[0].Text != fmt.Sprintf("reason %d", won) {
			t.Errorf("round %d: the winner again: %d %s", round, end.status, end.body)
		}
		s.lost(t, s.call(second, "POST", at+"/resolve", body((won+1)%answers)), "idempotency_key_conflict", end)
		for loser := range lost {
			if !strings.Contains(loser, strings.TrimSuffix(string(end.body), "\n")) {
				t.Errorf("round %d: the losers were told %s, and it ended as %s", round, loser, end.body)
			}
		}
		s.wrote(t, end.interaction(t), "completed denied", []string{"agent_input", "tool_result", "interaction_answered"}, fmt.Sprintf("reason %d", won))
		if n := s.number("SELECT count(*) FROM inputs WHERE interaction = (SELECT key FROM interactions WHERE id = ?)", i.ID); n != 1 {
			t.Errorf("round %d: %d inputs", round, n)
		}
	}
	if r, err := s.store.Verify(t.Context(), s.project.ID); err != nil || r.Entries != 2*rounds {
		t.Errorf("audit: %d entries, %v", r.Entries, err)
	}
}
