package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/interaction"
	"sayso/internal/policy"
	"sayso/web"
)

// written are the policies of the tests: of the agent swe in the project default, and of its namesake in another one.
var written = policy.Reading{
	File: "/etc/sayso.yaml", At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	Set: policy.Set{
		"default": {
			"swe": {PermissionMode: "acceptEdits", Policy: &policy.Policy{
				AutoAllow: []string{"cargo *", "git.commit"}, AutoDeny: []string{"git.push*"},
				InputRules: []policy.InputRule{{Tool: "Bash", Field: "command", Deny: []string{"rm *"}, Allow: []string{"make *"}}},
				Tools:      map[string]policy.Mode{"Slow": policy.AlwaysAsk},
			}},
			"bare": {PermissionMode: "plan"},
		},
		"second": {"swe": {Policy: &policy.Policy{Default: policy.Deny}}},
	},
}

// newRuledSite is a site with these policies.
func newRuledSite(t *testing.T, adjust ...func(*web.Config)) *site {
	return newSite(t, append([]func(*web.Config){func(c *web.Config) { c.Policies = func() policy.Reading { return written } }}, adjust...)...)
}

// entries are what the audit log says of decisions by policy.
func (s *site) entries() (list []map[string]any) {
	s.t.Helper()
	rows, err := s.database().Query("SELECT entry FROM audit_entries WHERE entry LIKE '%policy_decided%' ORDER BY key")
	must(s.t, err)
	defer rows.Close()
	for rows.Next() {
		var text []byte
		var entry map[string]any
		must(s.t, rows.Scan(&text))
		must(s.t, json.Unmarshal(text, &entry))
		list = append(list, entry)
	}
	return list
}

func asking(tool, input string) string {
	return fmt.Sprintf(`{"tool_call":{"name":%q,"input":%s}}`, tool, input)
}

// TestPolicyDecidesBeforeAPersonIsAsked goes through the first door: an asker that asks.
func TestPolicyDecidesBeforeAPersonIsAsked(t *testing.T) {
	s := newRuledSite(t)
	agent, path := s.newAgent("swe")
	for _, c := range []struct {
		name, body, want string
	}{
		{"denied", asking("git.push", `{"n":12345678901234567890}`), `{"policy":{"decision":"deny","source":"auto_deny","pattern":"git.push*","message":"Denied by the approval policy of agent swe: auto_deny \"git.push*\"; nobody was asked."}}`},
		{"allowed", asking("git.commit", `{}`), `{"policy":{"decision":"allow","source":"auto_allow","pattern":"git.commit","message":"Allowed by the approval policy of agent swe: auto_allow \"git.commit\"; nobody was asked."}}`},
		{"allowed, a call without a tool", asking("cargo test", `{}`), `{"policy":{"decision":"allow","source":"auto_allow","pattern":"cargo *","message":"Allowed by the approval policy of agent swe: auto_allow \"cargo *\"; nobody was asked."}}`},
		{"denied by its input", asking("Bash", `{"command":"rm -rf x"}`), `{"policy":{"decision":"deny","source":"input_rule","pattern":"rm *","message":"Denied by the approval policy of agent swe: an input rule \"rm *\"; nobody was asked."}}`},
		{"allowed by its input", asking("Bash", `{"command":"make all"}`), `{"policy":{"decision":"allow","source":"input_rule","pattern":"make *","message":"Allowed by the approval policy of agent swe: an input rule \"make *\"; nobody was asked."}}`},
	} {
		got := s.call(s.agent, "POST", path+"/interactions", c.body)
		if got.status != http.StatusOK || strings.TrimSpace(string(got.body)) != c.want {
			t.Errorf("%s: %d\ngot  %s\nwant %s", c.name, got.status, got.body, c.want)
		}
	}
	if n := s.number("SELECT count(*) FROM interactions"); n != 0 || len(s.lifecycle("")) != 0 || s.number("SELECT count(*) FROM tool_calls") != 0 {
		t.Errorf("%d interactions were opened, and %v told", n, s.lifecycle(""))
	}
	entries := s.entries()
	if len(entries) != 5 {
		t.Fatalf("%d audit entries", len(entries))
	}
	want := map[string]any{"decision": "deny", "source": "auto_deny", "pattern": "git.push*", "subject": "git.push"}
	if diff := cmp.Diff(want, entries[0]["policy"]); diff != "" || entries[0]["agent_id"] != agent || !strings.HasPrefix(fmt.Sprint(entries[0]["digest"]), "sha256:") {
		t.Errorf("%s\n%v", diff, entries[0])
	}
	s.verified()

	for name, body := range map[string]string{
		"asked": asking("Read", `{}`), "asked about its input": asking("Bash", `{"command":"make all; rm x"}`), "asked about by its mode": asking("Slow", `{}`),
		"a question": question, "a question's tool": asking("ask_question", `{}`), "another question's tool": asking("AskUserQuestion", `{}`),
	} {
		if got := s.call(s.agent, "POST", path+"/interactions", body); got.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	s.verified()
}

// TestDigestOfADecision: it is the one that the call's interaction would have had, by either door.
func TestDigestOfADecision(t *testing.T) {
	const input = `{"n":12345678901234567890,"command":"a <b> \u00e9"}`
	free, ruled := newSite(t), newRuledSite(t)
	_, path := free.newAgent("swe")
	i, _ := free.asks(path, asking("git.push", input))
	_, path = ruled.newAgent("swe")
	ruled.call(ruled.agent, "POST", path+"/interactions", asking("git.push", input))
	ruled.reports(path, output(toolCall("git.push", input, `,"provider_call_id":"toolu_1"`)))
	entries := ruled.entries()
	if len(entries) != 2 {
		t.Fatalf("%v", entries)
	}
	for _, e := range entries {
		if e["digest"] != i.Digest {
			t.Errorf("%v, want %s", e["digest"], i.Digest)
		}
	}
}

// TestQuestionsNeverMeetThePolicy: whatever it says, a question is asked.
func TestQuestionsNeverMeetThePolicy(t *testing.T) {
	for _, p := range []*policy.Policy{{Default: policy.Allow}, {Default: policy.Deny}, {AutoDeny: []string{"*"}}} {
		s := newSite(t, func(c *web.Config) {
			c.Policies = func() policy.Reading { return policy.Reading{Set: policy.Set{"default": {"swe": {Policy: p}}}} }
		})
		_, path := s.newAgent("swe")
		for _, body := range []string{question, asking("ask_question", `{}`), asking("AskUserQuestion", `{}`)} {
			if got := s.call(s.agent, "POST", path+"/interactions", body); got.status != http.StatusCreated {
				t.Errorf("%+v: %d %s", p, got.status, got.body)
			}
		}
		for _, mode := range []string{"", permission("always_allow"), permission("always_deny")} {
			got := s.reports(path, output(toolCall("ask_question", `{"questions":[{"prompt":"P"}]}`, mode)))
			if got.ToolCalls[0].State != "waiting" {
				t.Errorf("%+v, %s: %+v", p, mode, got.ToolCalls[0])
			}
		}
		if len(s.entries()) != 0 {
			t.Errorf("%v", s.entries())
		}
	}
}

// TestPolicyAndPermissionMode goes through the second door, a report, with every mode a runtime may give a call: it may be stricter than the
// operator, and never laxer.
func TestPolicyAndPermissionMode(t *testing.T) {
	const asked, ready = "awaiting_permission", "ready"
	byPolicy, byMode := "completed denied: by the approval policy of agent swe", "completed denied: permission mode (always_deny)"
	for _, c := range []struct {
		tool                   string
		none, allow, ask, deny string
		audited                int
	}{
		{"git.commit", ready, ready, asked, byMode, 2},          // allowed
		{"git.push", byPolicy, byPolicy, byPolicy, byPolicy, 4}, // denied
		{"Slow", asked, asked, asked, byMode, 0},                // to be asked about
		{"Read", asked, asked, asked, byMode, 0},                // not named: the default asks
	} {
		s := newRuledSite(t)
		_, path := s.newAgent("swe")
		for mode, want := range map[string]string{"": c.none, "always_allow": c.allow, "always_ask": c.ask, "always_deny": c.deny} {
			more := ""
			if mode != "" {
				more = permission(mode)
			}
			got := s.reports(path, output(toolCall(c.tool, `{}`, more)))
			call := got.ToolCalls[0]
			state := strings.TrimSpace(call.State + " " + call.Outcome)
			if call.Outcome != "" {
				state += ": " + s.resultOf(path, call.ID)
			}
			prefix, told, _ := strings.Cut(want, ": ")
			if !strings.HasPrefix(state, prefix) || !strings.Contains(state, told) || want == byPolicy && !strings.Contains(state, `auto_deny "git.push*"`) {
				t.Errorf("%s, mode %q: %s; want %s", c.tool, mode, state, want)
			}
			if opened := call.InteractionID != ""; opened != (want == asked) {
				t.Errorf("%s, mode %q: opened %v", c.tool, mode, opened)
			}
		}
		if entries := s.entries(); len(entries) != c.audited {
			t.Errorf("%s: %d audit entries, want %d: %v", c.tool, len(entries), c.audited, entries)
		}
		for _, e := range s.lifecycle("") {
			if e.EventKind != "interaction_created" {
				t.Errorf("%s: a lifecycle event %s", c.tool, e.EventKind)
			}
		}
		s.verified()
	}
}

// resultOf is what the result of a call says.
func (s *site) resultOf(path, call string) string {
	s.t.Helper()
	for _, e := range s.conversation(path) {
		if e.EventKind == "tool_result" && e.ToolCallID == call {
			return e.ContentBlocks[0].Text
		}
	}
	s.t.Errorf("no result of %s", call)
	return ""
}

// TestPolicyOfTheAgentAlone: neither another agent nor one of another project, and where nothing is written down all is as it was.
func TestPolicyOfTheAgentAlone(t *testing.T) {
	s := newRuledSite(t)
	for _, name := range []string{"other", "bare"} {
		_, path := s.newAgent(name)
		if got := s.call(s.agent, "POST", path+"/interactions", asking("git.push", `{}`)); got.status != http.StatusCreated {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		got := s.reports(path, output(toolCall("git.push", `{}`, permission("always_allow"))+","+toolCall("git.commit", `{}`)))
		if got.ToolCalls[0].State != "ready" || got.ToolCalls[1].State != "awaiting_permission" {
			t.Errorf("%s: %+v", name, got.ToolCalls)
		}
	}
	s.secondProject()
	const second = "/api/v1/orgs/default/projects/second"
	var made api.AgentBody
	read(t, s.call(s.operator, "POST", second+"/agents", `{"name":"swe"}`), &made)
	got := s.call(s.operator, "POST", second+"/agents/"+made.Agent.ID+"/interactions", asking("Read", `{}`))
	if got.status != http.StatusOK || !strings.Contains(string(got.body), `"source":"default"`) {
		t.Errorf("the second project: %d %s", got.status, got.body)
	}
}

// TestPolicyDecidesOnce: the same Idempotency-Key gives the same decision, and is audited once.
func TestPolicyDecidesOnce(t *testing.T) {
	reading := written
	s := newSite(t, func(c *web.Config) { c.Policies = func() policy.Reading { return reading } })
	_, path := s.newAgent("swe")
	ask := func(tool, key string) answer {
		return s.call(s.agent, "POST", path+"/interactions", asking(tool, `{}`), "Idempotency-Key", key)
	}
	denied, asked := ask("git.push", "a"), ask("Read", "b")
	reading = policy.Reading{Set: policy.Set{"default": {"swe": {Policy: &policy.Policy{Default: policy.Allow}}}}}
	if again := ask("git.push", "a"); again.status != http.StatusOK || string(again.body) != string(denied.body) {
		t.Errorf("%d %s, want %s", again.status, again.body, denied.body)
	}
	if again := ask("Read", "b"); again.status != http.StatusOK || string(again.body) != string(asked.body) {
		t.Errorf("%d %s, want %s", again.status, again.body, asked.body)
	}
	if got := ask("git.pull", "a"); got.code() != "idempotency_key_conflict" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ask("git.push", "c"); !strings.Contains(string(got.body), `"allow"`) {
		t.Errorf("the new policy is not in force: %s", got.body)
	}
	if n := len(s.entries()); n != 2 {
		t.Errorf("%d audit entries", n)
	}
	once := []string{"Idempotency-Key", "r"}
	first := s.reports(path, output(toolCall("git.push", `{}`)), once...)
	again := s.call(s.agent, "POST", path+"/events", output(toolCall("git.push", `{}`)), once...)
	var repeated api.Reported
	read(t, again, &repeated)
	if diff := cmp.Diff(first, repeated); diff != "" || len(s.entries()) != 3 {
		t.Errorf("%s\n%d entries", diff, len(s.entries()))
	}
	s.verified()
}

// TestPolicyKeepsTheOtherChecks: what may not be asked is not decided either, and what is decided needs no room.
func TestPolicyKeepsTheOtherChecks(t *testing.T) {
	s := newRuledSite(t)
	agent, path := s.newAgent("swe")
	another, _ := s.newAgent("another")
	for range interaction.DefaultOpenLimit {
		s.asks(path, asking("Read", `{}`))
	}
	commit := asking("git.commit", `{}`)
	if got := s.call(s.agent, "POST", path+"/interactions", asking("Read", `{}`)); got.status != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", got.status)
	}
	for name, c := range map[string]struct {
		key, body string
		status    int
	}{
		"decided needs no room":   {s.agent, commit, 200},
		"another agent's key":     {s.bound(another), commit, 404},
		"its own key":             {s.bound(agent), commit, 200},
		"an operator who may not": {s.newKey(interaction.OperatorPrincipal, "r", interaction.ScopeRead), commit, 403},
		"a bad name":              {s.agent, asking(" git.commit", `{}`), 400},
		"what does not go with":   {s.agent, `{"tool_call":{"name":"git.commit"},"wait_mode":"suspend"}`, 400},
	} {
		if got := s.call(c.key, "POST", path+"/interactions", c.body); got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
	s.call(s.operator, "POST", path+"/archive", "")
	if got := s.call(s.agent, "POST", path+"/interactions", commit); got.code() != "conflict" {
		t.Errorf("archived: %d %s", got.status, got.body)
	}
	s.verified()
}

func TestListPolicies(t *testing.T) {
	s := newRuledSite(t)
	var got api.Policies
	read(t, s.call(s.operator, "GET", project+"/policies", ""), &got)
	want := api.Policies{
		Config: api.PolicyConfig{File: "/etc/sayso.yaml", LoadedAt: &api.Time{Time: written.At}},
		List: api.List[api.AgentPolicy]{Data: []api.AgentPolicy{
			{Agent: "bare", PermissionMode: "plan"},
			{Agent: "swe", PermissionMode: "acceptEdits", ApprovalPolicy: &api.ApprovalPolicy{
				AutoAllow: []string{"cargo *", "git.commit"}, AutoDeny: []string{"git.push*"}, Default: "ask",
				InputRules: []api.InputRule{{Tool: "Bash", Field: "command", Deny: []string{"rm *"}, Allow: []string{"make *"}}},
				Tools:      map[string]api.Tool{"Slow": {Permission: api.ToolPermission{Mode: "always_ask"}}},
			}},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	failed := written
	failed.Err, failed.FailedAt = "[3:5] unknown field \"auto_alow\"", written.At.Add(time.Hour)
	bad := newSite(t, func(c *web.Config) { c.Policies = func() policy.Reading { return failed } })
	read(t, bad.call(bad.operator, "GET", project+"/policies", ""), &got)
	if got.Config.Error != failed.Err || !got.Config.FailedAt.Equal(failed.FailedAt) || len(got.Data) != 2 {
		t.Errorf("%+v", got)
	}
	none := newSite(t)
	if got := none.call(none.operator, "GET", project+"/policies", ""); strings.TrimSpace(string(got.body)) != `{"config":{},"data":[],"next_cursor":null}` {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestAgentsCannotReadPolicies: who knows the rules can look for a way around the people.
func TestAgentsCannotReadPolicies(t *testing.T) {
	s := newRuledSite(t)
	agent, _ := s.newAgent("swe")
	for _, key := range []string{s.agent, s.bound(agent)} {
		if got := s.call(key, "GET", project+"/policies", ""); got.code() != "forbidden" || strings.Contains(string(got.body), "git.push") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// TestPermissionModeOfAnAgent: whoever runs an agent is told the mode of its client, and nothing else of the policies.
func TestPermissionModeOfAnAgent(t *testing.T) {
	s := newRuledSite(t)
	for name, want := range map[string]string{"swe": "acceptEdits", "bare": "plan", "other": ""} {
		_, path := s.newAgent(name)
		var got api.AgentBody
		answer := s.call(s.agent, "GET", path, "")
		read(t, answer, &got)
		if got.Agent.PermissionMode != want || strings.Contains(string(answer.body), "cargo") {
			t.Errorf("%s: %s", name, answer.body)
		}
	}
}
