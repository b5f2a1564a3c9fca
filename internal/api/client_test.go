package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/server"
)

// served starts a real server, and gives an agent's client and an operator's.
func served(t *testing.T) (agent, operator *api.Client) {
	t.Helper()
	config := server.Default()
	config.Listen, config.Data = "127.0.0.1:0", t.TempDir()
	ready := make(chan struct{}, 1)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, config, signalled(ready), io.Discard) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(config.Data, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	var file struct{ URL string }
	if err := json.Unmarshal([]byte(read("server.json")), &file); err != nil {
		t.Fatal(err)
	}
	return &api.Client{URL: file.URL, Key: read("agent.key")}, &api.Client{URL: file.URL, Key: read("operator.key")}
}

// signalled is a writer that tells of the first line: the server writes it when it is ready.
type signalled chan<- struct{}

func (s signalled) Write(b []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(b), nil
}

// must gives v; err ends the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Every call of a conversation does what it says, on a real server.
func TestConversationCalls(t *testing.T) {
	agent, operator := served(t)
	ctx := t.Context()
	a := must(agent.CreateAgent(ctx, api.NewAgent{Name: "Release bot"}))(t).ID

	// Inputs: sent once under a key, moved, taken back, and claimed in their order.
	send := func(once, text string) string {
		return must(operator.SendInput(ctx, a, once, api.NewInput{ContentBlocks: api.Text(text)}))(t).ID
	}
	first, second, third := send("k", "first"), send("", "second"), send("", "third")
	if again := send("k", "first"); again != first {
		t.Errorf("sending again under the same key gave %s, want %s", again, first)
	}
	for _, err := range []error{
		operator.MoveInput(ctx, a, third, api.Place{Position: "front"}),
		operator.CancelInput(ctx, a, first),
		operator.PromoteInput(ctx, a, second, api.Promotion{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if list := must(operator.Backlog(ctx, a, nil))(t).Data; len(list) != 1 || list[0].ID != third {
		t.Errorf("the backlog is %+v, want the third", list)
	}
	if err := operator.DemoteInput(ctx, a, second); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"third", "second"} {
		if in := must(agent.Claim(ctx, a, "", time.Second))(t); in == nil || in.ContentBlocks[0].Text != want {
			t.Errorf("claimed %+v, want %s", in, want)
		}
	}
	if in := must(agent.Claim(ctx, a, "", 0))(t); in != nil {
		t.Errorf("claimed %+v, want nothing", in)
	}

	// A report, the permission it opens, its answer and its result.
	call := api.ContentBlock{Type: "tool_call", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
	r := must(agent.Report(ctx, a, "r", api.NewEvent{EventKind: "model_output", ContentBlocks: []api.ContentBlock{call}}))(t)
	if again := must(agent.Report(ctx, a, "r", api.NewEvent{EventKind: "model_output", ContentBlocks: []api.ContentBlock{call}}))(t); again.ToolCalls[0].ID != r.ToolCalls[0].ID {
		t.Error("reporting again under the same key made another call")
	}
	asked := must(operator.Find(ctx, r.ToolCalls[0].InteractionID))(t)
	allow := api.Resolve{Answers: []api.Answer{{OptionIndices: []int{0}}}}
	if end := must(operator.Resolve(ctx, a, asked.ID, allow))(t); end.State != "resolved" || end.Replayed {
		t.Errorf("resolved as %+v", end)
	}
	if end := must(operator.Resolve(ctx, a, asked.ID, allow))(t); !end.Replayed {
		t.Error("the same answer again is not told as a replay")
	}
	if body := must(agent.Finish(ctx, a, r.ToolCalls[0].ID, "", api.Result{Outcome: "succeeded"}))(t); body.ToolCall.Outcome != "succeeded" {
		t.Errorf("finished as %+v", body)
	}
	if list := must(operator.ToolCalls(ctx, a, url.Values{"state": {"completed"}}))(t).Data; len(list) != 1 {
		t.Errorf("%d calls are completed", len(list))
	}
	if page := must(operator.Events(ctx, a, url.Values{"limit": {"2"}}))(t); len(page.Data) != 2 || !page.HasMore || page.NextAfterSequence == nil {
		t.Errorf("the events are %+v", page)
	}
	if page := must(operator.Lifecycle(ctx, nil))(t); len(page.Data) != 2 {
		t.Errorf("the lifecycle log is %+v", page)
	}

	// People.
	who := must(operator.PutActor(ctx, api.External{ProviderUserID: "u1", DisplayName: "Dana"}))(t)
	if got := must(operator.Actor(ctx, who.ID))(t); got.DisplayName != "Dana" {
		t.Errorf("the actor is %+v", got)
	}
	if list := must(operator.Actors(ctx, nil))(t).Data; len(list) != 1 {
		t.Errorf("there are %d actors", len(list))
	}

	// The end.
	if s := must(operator.Stop(ctx, a))(t); s.Affected != (s.Event != nil) {
		t.Errorf("stopped as %+v", s)
	}
	if got := must(operator.Archive(ctx, a))(t); got.State != "archived" {
		t.Errorf("archived as %+v", got)
	}
	if got := must(operator.Agent(ctx, a))(t); got.State != "archived" {
		t.Errorf("the agent is %+v", got)
	}
}

// An interaction is found by its id among many that were made at the same time; an id that names none is not found, whatever its form.
func TestFind(t *testing.T) {
	agent, operator := served(t)
	ctx := t.Context()
	a := must(agent.CreateAgent(ctx, api.NewAgent{Name: "Many"}))(t).ID
	var blocks []api.ContentBlock
	for range 40 {
		blocks = append(blocks, api.ContentBlock{Type: "tool_call", Name: "Bash"})
	}
	r := must(agent.Report(ctx, a, "", api.NewEvent{EventKind: "model_output", ContentBlocks: blocks}))(t)
	for _, call := range r.ToolCalls {
		if i := must(operator.Find(ctx, call.InteractionID))(t); i.ID != call.InteractionID || i.AgentID != a {
			t.Errorf("found %s of %s for %s", i.ID, i.AgentID, call.InteractionID)
		}
	}
	for _, id := range []string{"", "int_", "int_aaaaaaaaaaaaaaaaaaaaaaaaaa", "int_7777777777777777777777777q", "agt_aaaaaaaaaaaaaaaaaaaaaaaaaa", "INT_AAAAAAAAAAAAAAAAAAAAAAAAAA", "../agents"} {
		if _, err := operator.Find(ctx, id); statusOf(err) != 404 {
			t.Errorf("%q: %v, want not found", id, err)
		}
	}
}

func statusOf(err error) int {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
