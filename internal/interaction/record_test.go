package interaction

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestRecordRoundTrip checks that an interaction is read as it was written, in every state, and that its published JSON says what it is.
func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		now := time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "now")).UTC()
		ask := Ask{
			ToolCall:    &ToolCall{Name: "x" + text.Draw(t, "name") + "y", Input: json.RawMessage(`{"n": 1.10,"big":9007199254740993}`), ProviderCallID: text.Draw(t, "call")},
			Destination: &Destination{IntegrationID: text.Draw(t, "integration"), Conversation: text.Draw(t, "conversation")},
			WaitMode:    rapid.SampledFrom([]WaitMode{Block, Suspend, Poll}).Draw(t, "mode"), WorkflowID: text.Draw(t, "workflow"), TaskID: text.Draw(t, "task"),
		}
		ask.Request = &Request{Title: text.Draw(t, "title"), Context: []ContextItem{{text.Draw(t, "label"), text.Draw(t, "value")}}, Questions: PermissionQuestions}
		want := New(ask, Agent{ID: "agt_1", ProjectID: "proj_1", OrgID: "org_1"}, "key_1", now)
		person := Principal{Kind: OperatorPrincipal, ID: "key_2", Name: text.Draw(t, "who"), Scopes: Scopes, Channel: ChannelAPI}
		deny := Answers{Answers: []Answer{{OptionIndices: []int{DenyOption}, Text: text.Draw(t, "reason")}}}
		allow := Answers{Answers: []Answer{{OptionIndices: []int{AllowOption}}}, Note: text.Draw(t, "note"), UpdatedInput: json.RawMessage(`{ "a":1.0 }`)}
		var change Change
		var err error
		switch rapid.SampledFrom([]string{"open", "denied", "allowed", "withdrawn", "expired"}).Draw(t, "end") {
		case "open":
			change.After = want
		case "denied":
			change, err = want.Resolve(deny, person, "", now)
		case "allowed":
			change, err = want.Resolve(allow, person, "", now)
		case "withdrawn":
			change, err = want.Cancel(Principal{Kind: AgentPrincipal, ID: "key_1", Name: "agent", Channel: ChannelMCP}, now)
		case "expired":
			change, err = want.Expire(now.Add(time.Hour))
		}
		if err != nil {
			t.Fatal(err)
		}
		want = change.After
		record := NewRecord(want)
		got, err := record.Interaction()
		if err != nil {
			t.Fatal(err)
		}
		unpublished := cmpopts.IgnoreFields(End{}, "Credential", "ProvedBy")
		if diff := cmp.Diff(want, got, unpublished, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("read (-written +read):\n%s", diff)
		}
		published := record.AppendJSON(nil)
		if again := NewRecord(got).AppendJSON(nil); string(again) != string(published) {
			t.Fatalf("published %s\nthen %s", published, again)
		}
		var shown struct {
			ID    ID
			State State
			Kind  Kind `json:"interaction_kind"`
		}
		if err := json.Unmarshal(published, &shown); err != nil || shown.ID != want.ID || shown.State != want.State || shown.Kind != want.Kind {
			t.Fatalf("%s: %v", published, err)
		}
	})
}
