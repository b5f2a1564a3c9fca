package store

import (
	"encoding/json"
	"testing"

	"sayso/internal/interaction"
)

// decide records that a policy decided.
func decide(t testing.TB, s *Store, agent interaction.Agent, r interaction.Ruling, pattern string) interaction.Decided {
	t.Helper()
	made, created, err := decideOnce(t, s, agent, r, pattern, interaction.Once{})
	must(t, err)
	if !created || made.Decided == nil {
		t.Fatalf("created %v, %+v", created, made)
	}
	return *made.Decided
}

func decideOnce(t testing.TB, s *Store, agent interaction.Agent, r interaction.Ruling, pattern string, once interaction.Once) (interaction.Asked, bool, error) {
	d := interaction.Decided{
		ID: interaction.NewID(interaction.EventPrefix, start), ProjectID: agent.ProjectID, AgentID: agent.ID, Asker: "key_asker",
		Call: interaction.ToolCall{Name: "Bash", Input: []byte(`{"n":12345678901234567890}`)}, Digest: "sha256:00", At: start,
		Verdict: interaction.Verdict{Ruling: r, Source: "auto_" + string(r), Pattern: pattern, Subject: "Bash", Message: "By policy."},
	}
	return s.Create(t.Context(), agent.ID, once, func(interaction.Conversation) (interaction.Step, error) { return d, nil })
}

func TestDecidedByPolicyIsAuditedAndOpensNothing(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	var told []Change
	stop := s.Follow(func(changes []Change) { told = append(told, changes...) })
	d := decide(t, s, agent, interaction.RuleDeny, "git.push*")
	stop()
	if len(told) != 0 {
		t.Errorf("told of it: %+v", told)
	}
	for _, table := range []string{"interactions", "events", "tool_calls"} {
		if n := count(t, s, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("%d %s", n, table)
		}
	}
	var entry string
	must(t, s.row("SELECT entry FROM audit_entries", nil, &entry))
	var got map[string]any
	must(t, json.Unmarshal([]byte(entry), &got))
	for name, want := range map[string]any{"action": "policy_decided", "agent_id": string(agent.ID), "digest": "sha256:00"} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	policy, _ := got["policy"].(map[string]any)
	for name, want := range map[string]any{"decision": "deny", "source": "auto_deny", "pattern": "git.push*", "subject": "Bash"} {
		if policy[name] != want {
			t.Errorf("policy.%s: %v, want %v", name, policy[name], want)
		}
	}
	var record string
	must(t, s.row("SELECT record FROM policy_decisions WHERE id = ?", []any{d.ID}, &record))
	if want := string(d.AppendJSON(nil)); record != want {
		t.Errorf("got  %s\nwant %s", record, want)
	}
	verified(t, s, agent.ProjectID, 1)
}

// TestDecidedOnce gives the first decision again, whatever the policy says by then, and says so once in the audit log.
func TestDecidedOnce(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	once := interaction.Once{Caller: "key_asker", Key: "k"}
	first, created, err := decideOnce(t, s, agent, interaction.RuleDeny, "a*", once)
	must(t, err)
	again, createdAgain, err := decideOnce(t, s, agent, interaction.RuleAllow, "b*", once)
	must(t, err)
	if !created || createdAgain || string(again.Decided.AppendPolicy(nil)) != string(first.Decided.AppendPolicy(nil)) {
		t.Errorf("%v %v: %s", created, createdAgain, again.Decided.AppendPolicy(nil))
	}
	verified(t, s, agent.ProjectID, 1)
	once.Request[0] = 1
	if _, _, err := decideOnce(t, s, agent, interaction.RuleAllow, "b*", once); interaction.CodeOf(err) != interaction.IdempotencyKey {
		t.Errorf("another request: %v", err)
	}
}
