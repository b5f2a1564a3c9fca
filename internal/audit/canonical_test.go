package audit

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// entries have every member, none, and text that must be escaped.
var entries = []Entry{
	{},
	{Sequence: 9007199254740991, Actor: Actor{Kind: "system", Name: "Sayso"}},
	{Sequence: 8, Action: "policy_decided", Policy: &Policy{Decision: "deny", Source: "auto_deny", Pattern: "rm \"*\u2028", Subject: "<rm>"}},
	{Sequence: 9, Policy: &Policy{}},
	{Sequence: 10, Action: "key_created", Target: &Target{Kind: "key", ID: "key_a", Name: "laptop \"<"}},
	{Sequence: 11, Target: &Target{}},
	{
		Sequence: 7, At: "2026-11-30T12:00:00.000Z", Project: "proj_a", Agent: "agt_a", Interaction: "int_a", Action: "interaction_answered",
		Digest: "sha256:00", Record: "ff", Previous: "ab",
		Actor: Actor{Kind: "external", Name: "Zoë \"<&>\u2028\x00\t\\", ID: "actr_a", Credential: "key_a", Channel: "chat"},
	},
}

// TestCanonical holds the form against the general way to make it.
func TestCanonical(t *testing.T) {
	for _, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		want := jsontext.Value(text)
		if err := want.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		got, err := e.canonical()
		if err != nil || string(got) != string(want) {
			t.Errorf("got  %s (%v)\nwant %s", got, err, want)
		}
	}
}

func TestCanonicalRefusesBrokenText(t *testing.T) {
	if _, _, err := (Entry{Actor: Actor{Name: "\xff"}}).Seal(Hash{}); err == nil {
		t.Error("text that is not UTF-8 was sealed")
	}
}

func BenchmarkSeal(b *testing.B) {
	for b.Loop() {
		if _, _, err := entries[len(entries)-1].Seal(Hash{1}); err != nil {
			b.Fatal(err)
		}
	}
}
