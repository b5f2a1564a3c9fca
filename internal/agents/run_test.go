package agents_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sayso/internal/agents"
	"sayso/internal/api"
)

// What Claude Code prints comes in pieces of any size; what is no line of it, and what is about our own tools, is left out.
func TestRunTellsWhatIsPrinted(t *testing.T) {
	d := newDesk(t, nil)
	agent, err := d.agent.CreateAgent(t.Context(), api.NewAgent{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	r := &agents.Run{Client: d.agent, Agent: agent.ID}
	r.Start(t.Context())
	r.Prompt("Say <hi>")
	r.Prompt(" ")
	printed := `{"type":"system","subtype":"init"}
{"type":"assistant","message":{"content":[{"type":"text","text":"I <ask>."},{"type":"tool_use","id":"t1","name":"mcp__sayso__ask","input":{"question":"?"}},{"type":"tool_use","id":"t2","name":"Bash","input":{"n":12345678901234567890}}],"stop_reason":"tool_use"}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"yes"},{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"done"}]}]}}
garbage
{"type":"assistant","message":{"content":[{"type":"text","text":""}]}}
{"type":"result","subtype":"success","is_error":false,"result":"I <ask>."}`
	for piece := range strings.SplitSeq(printed, "e") {
		if piece != printed[:strings.IndexByte(printed, 'e')] {
			piece = "e" + piece
		}
		if n, err := r.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if left := r.End(time.Minute); left != 0 {
		t.Errorf("%d lines are left", left)
	}
	var got []string
	for _, e := range d.events(t) {
		line := e.EventKind + " " + e.Outcome
		blocks := e.ContentBlocks
		if e.AgentInput != nil {
			blocks = e.AgentInput.ContentBlocks
		}
		for _, b := range blocks {
			line += fmt.Sprintf("[%s%s%s]", b.Text, b.Name, b.Input)
		}
		got = append(got, line)
	}
	want := `agent_input [Say <hi>]
model_output [I <ask>.][Bash{"n":12345678901234567890}]
tool_result succeeded[done]`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// A server that is away holds nobody up: what it was not told is counted.
func TestRunWithoutServer(t *testing.T) {
	tried := make(chan error, 100)
	r := &agents.Run{Client: &api.Client{URL: "http://127.0.0.1:1"}, Agent: "agt_x", Tried: func(err error) { tried <- err }}
	r.Start(t.Context())
	r.Prompt("one")
	r.Prompt("two")
	if err := <-tried; !api.Unreachable(err) {
		t.Error(err)
	}
	if left := r.End(0); left != 2 {
		t.Errorf("%d lines are left", left)
	}
}
