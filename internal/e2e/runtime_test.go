package e2e

import (
	"encoding/json"
	"time"

	"sayso/internal/api"
)

// What an agent's runtime does over REST: it takes what is sent to the agent, and reports what the agent says and does.

// says reports a model's output.
func (a *asker) says(blocks ...api.ContentBlock) api.Reported {
	t := a.product.t
	t.Helper()
	r, err := a.product.asking.Report(t.Context(), a.id, "", api.NewEvent{EventKind: "model_output", ContentBlocks: blocks})
	must(t, err)
	return r
}

// text and calls are blocks of an output.
func text(s string) api.ContentBlock { return api.ContentBlock{Type: "text", Text: s} }

func calls(tool, permission, command string) api.ContentBlock {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // unreachable: strings can be marshalled
	}
	return api.ContentBlock{Type: "tool_call", Name: tool, Input: input, Permission: permission}
}

// reports tells what became of a tool call.
func (a *asker) reports(call api.Call, outcome, result string) {
	t := a.product.t
	t.Helper()
	_, err := a.product.asking.Finish(t.Context(), a.id, call.ID, "", api.Result{Outcome: outcome, ContentBlocks: api.Text(result)})
	must(t, err)
}

// claims takes the next input, and waits for it.
func (a *asker) claims() string {
	t := a.product.t
	t.Helper()
	in, err := a.product.asking.Claim(t.Context(), a.id, "", 30*time.Second)
	must(t, err)
	if in == nil {
		t.Fatal("nothing was sent to the agent")
	}
	return in.ContentBlocks[0].Text
}

// now is an interaction of the agent as the operator sees it.
func (a *asker) now(id string) api.Interaction {
	a.product.t.Helper()
	return a.product.asItIs(api.Interaction{AgentID: a.id, ID: id})
}
