package web_test

import (
	"testing"

	"sayso/internal/interaction"
)

// TestOrderOfChecks sends requests with more than one thing wrong. What is told first is: who calls, the shape, what they may know of and do,
// what was decided on, what it means, and last how things stand.
func TestOrderOfChecks(t *testing.T) {
	s := newSite(t)
	read := s.newKey(interaction.OperatorPrincipal, "read", interaction.ScopeRead)
	agent, path := s.newAgent("one")
	_, open := s.asks(path, bash)
	_, ended := s.asks(path, bash)
	s.call(s.operator, "POST", ended+"/resolve", allow)
	_, canceled := s.asks(path, bash)
	s.call(s.agent, "POST", canceled+"/cancel", "")
	question, _ := s.asks(path, `{"request":{"title":"T","questions":[{"prompt":"P","options":[{"label":"A"}]}]}}`)
	asked := path + "/interactions/" + question.ID
	unknownAgent := project + "/agents/agt_aaaaaaaaaaaaaaaaaaaaaaaaaa"
	unknown := path + "/interactions/int_aaaaaaaaaaaaaaaaaaaaaaaaaa"
	bound := s.bound(agent)
	if got := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "used"); got.status != 201 {
		t.Fatal(got.status)
	}
	full := askable(s)
	for range interaction.DefaultOpenLimit {
		s.asks(full, bash)
	}

	const (
		shapeless    = `{"answers":[{"option_indices":[0,0]}]}`
		wrongType    = `{"answers":7}`
		foreign      = `{"digest":"sha256:00","answers":[{"option_indices":[0]}]}`
		foreignLong  = `{"digest":"sha256:00","answers":[{"option_indices":[7]}]}`
		meaningless  = `{"answers":[{"option_indices":[7]}]}`
		responseHere = `{"answers":[{"option_indices":[0]}],"response":"x"}`
		noteHere     = `{"answers":[{"option_indices":[0]}],"note":"x"}`
		paused       = `{"tool_call":{"name":"Bash"},"wait_mode":"suspend"}`
		untitled     = `{"request":{"title":" ","questions":[]}}`
	)
	for _, c := range []struct{ name, key, method, path, body, code string }{
		{"no key, no shape", "", "POST", open + "/resolve", wrongType, "unauthorized"},
		{"no key, malformed id", "", "GET", path + "/interactions/x", "", "unauthorized"},
		{"no key, unknown id", "", "GET", unknown, "", "unauthorized"},
		{"no key, bad query", "", "GET", path + "/interactions?limit=0", "", "unauthorized"},
		{"no key, too much", "", "POST", project + "/agents", repeated(" ", 1<<20+1), "unauthorized"},

		{"type, malformed id", s.operator, "POST", path + "/interactions/x/resolve", wrongType, "validation_failed"},
		{"type, unknown id", s.operator, "POST", unknown + "/resolve", wrongType, "validation_failed"},
		{"form, unknown id", s.operator, "POST", unknown + "/resolve", shapeless, "validation_failed"},
		{"form, unknown agent", s.operator, "POST", unknownAgent + "/interactions/int_aaaaaaaaaaaaaaaaaaaaaaaaaa/resolve", shapeless, "validation_failed"},
		{"form, unknown project", s.operator, "POST", "/api/v1/orgs/default/projects/none" + open[len(project):] + "/resolve", shapeless, "validation_failed"},
		{"form, forbidden", s.agent, "POST", open + "/resolve", shapeless, "validation_failed"},
		{"form, forbidden scope", read, "POST", open + "/resolve", shapeless, "validation_failed"},
		{"form, ended", s.operator, "POST", ended + "/resolve", shapeless, "validation_failed"},
		{"too much, unknown", s.operator, "POST", unknown + "/resolve", repeated(" ", 1<<20+1), "request_too_large"},
		{"too much, forbidden", read, "POST", open + "/resolve", repeated(" ", 1<<20+1), "request_too_large"},
		{"query, unknown", s.operator, "GET", unknown + "?wait_secs=99", "", "validation_failed"},
		{"query, unknown project", s.operator, "GET", "/api/v1/orgs/default/projects/none/agents?limit=0", "", "validation_failed"},
		{"query, forbidden", s.agent, "GET", project + "/interactions?limit=0", "", "validation_failed"},
		{"query, forbidden, of an agent", s.agent, "GET", path + "/interactions?limit=0", "", "validation_failed"},
		{"cursor, unknown agent", s.operator, "GET", unknownAgent + "/interactions?cursor=x", "", "invalid_request"},
		{"malformed agent, bad query", s.operator, "GET", project + "/agents/x/interactions?limit=0", "", "validation_failed"},
		{"ask: form, unknown agent", s.agent, "POST", unknownAgent + "/interactions", untitled, "validation_failed"},
		{"ask: form, unknown project", s.agent, "POST", "/api/v1/orgs/default/projects/none" + path[len(project):] + "/interactions", untitled, "validation_failed"},
		{"ask: form, forbidden", read, "POST", path + "/interactions", untitled, "validation_failed"},
		{"ask: form, full", s.agent, "POST", full + "/interactions", untitled, "validation_failed"},
		{"agent: form, unknown project", s.operator, "POST", "/api/v1/orgs/default/projects/none/agents", `{"name":" "}`, "validation_failed"},
		{"agent: form, forbidden", bound, "POST", project + "/agents", `{"name":" "}`, "validation_failed"},
		{"patch: form, unknown", s.operator, "PATCH", unknownAgent, `{"name":" "}`, "validation_failed"},
		{"patch: form, unknown project", s.operator, "PATCH", "/api/v1/orgs/default/projects/none" + path[len(project):], `{"name":" "}`, "validation_failed"},
		{"patch: form, forbidden", read, "PATCH", path, `{"name":" "}`, "validation_failed"},
		{"cancel: form, unknown", s.agent, "POST", unknown + "/cancel", `{"a":1}`, "validation_failed"},

		{"unknown, digest", s.operator, "POST", unknown + "/resolve", foreign, "not_found"},
		{"unknown, meaning", s.operator, "POST", unknown + "/resolve", meaningless, "not_found"},
		{"forbidden, digest", read, "POST", open + "/resolve", foreign, "forbidden"},
		{"forbidden, meaning", s.agent, "POST", open + "/resolve", meaningless, "forbidden"},
		{"forbidden, the same answer again", read, "POST", ended + "/resolve", allow, "forbidden"},
		{"forbidden, ended otherwise", s.agent, "POST", ended + "/resolve", deny, "forbidden"},
		{"cancel: forbidden, ended", s.operator, "POST", ended + "/cancel", "", "forbidden"},
		{"ask: unknown, meaning", s.agent, "POST", unknownAgent + "/interactions", paused, "not_found"},
		{"ask: forbidden, meaning", read, "POST", path + "/interactions", paused, "forbidden"},

		{"digest, meaning", s.operator, "POST", open + "/resolve", foreignLong, "state_transition_conflict"},
		{"digest, the same answer again", s.operator, "POST", ended + "/resolve", foreign, "state_transition_conflict"},
		{"digest, canceled", s.operator, "POST", canceled + "/resolve", foreign, "state_transition_conflict"},

		{"meaning, ended", s.operator, "POST", ended + "/resolve", meaningless, "invalid_request"},
		{"meaning, canceled", s.operator, "POST", canceled + "/resolve", responseHere, "invalid_request"},
		{"meaning, open", s.operator, "POST", asked + "/resolve", noteHere, "invalid_request"},
		{"ask: meaning, full", s.agent, "POST", full + "/interactions", paused, "invalid_request"},

		{"ended otherwise", s.operator, "POST", ended + "/resolve", deny, "idempotency_key_conflict"},
		{"canceled", s.operator, "POST", canceled + "/resolve", allow, "idempotency_key_conflict"},
		{"cancel: ended otherwise", s.agent, "POST", ended + "/cancel", "", "state_transition_conflict"},
		{"ask: full", s.agent, "POST", full + "/interactions", bash, "rate_limited"},
	} {
		before := s.writes()
		if got := s.call(c.key, c.method, c.path, c.body); got.code() != c.code {
			t.Errorf("%s: %d %s, want %s", c.name, got.status, got.body, c.code)
		}
		if s.writes() != before {
			t.Errorf("%s: something was written", c.name)
		}
	}
	for _, c := range []struct{ name, path, body, code string }{
		{"a used key, unknown agent", unknownAgent, bash, "not_found"},
		{"a used key, unknown project", "/api/v1/orgs/default/projects/none" + path[len(project):], bash, "not_found"},
		{"a used key, no form", path, untitled, "validation_failed"},
		{"a used key, another place", full, bash, "idempotency_key_conflict"},
	} {
		if got := s.call(s.agent, "POST", c.path+"/interactions", c.body, "Idempotency-Key", "used"); got.code() != c.code {
			t.Errorf("%s: %d %s, want %s", c.name, got.status, got.body, c.code)
		}
	}
}
