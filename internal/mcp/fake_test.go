package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
)

// fake is a backend that knows one interaction, int_1, and how it ends.
type fake struct {
	mu       sync.Mutex
	agents   []string
	asked    []api.NewInteraction
	canceled []string
	ended    chan struct{} // closed: it has ended

	becomes func(*api.Interaction) // how it ends; nil: it does not
	opens   func(*api.Interaction) // what a create gives
	refuses error                  // of a create
	breaks  error                  // of a wait
}

func (f *fake) Me(context.Context) (api.Me, error) { return api.Me{Kind: "agent_key"}, nil }

func (f *fake) CreateAgent(_ context.Context, a api.NewAgent) (api.Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.agents = append(f.agents, a.Key)
	return api.Agent{ID: "agt_" + a.Key, Key: a.Key}, nil
}

func (f *fake) CreateInteraction(_ context.Context, _, _ string, ask api.NewInteraction) (api.Interaction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, ask)
	if f.refuses != nil {
		return api.Interaction{}, f.refuses
	}
	i := f.now()
	if f.opens != nil {
		f.opens(&i)
	}
	return i, nil
}

// now is the interaction as it was asked last.
func (f *fake) now() api.Interaction {
	i := api.Interaction{ID: "int_1", State: "open", Kind: "question"}
	if len(f.asked) == 0 {
		return i
	}
	ask := f.asked[len(f.asked)-1]
	i.WaitMode, i.WorkflowID, i.ToolCall = ask.WaitMode, ask.WorkflowID, ask.ToolCall
	if ask.TimeoutSecs != nil {
		i.TimeoutSecs = *ask.TimeoutSecs
	} else if ask.WaitMode == block {
		i.TimeoutSecs = 600
	}
	if ask.Request != nil {
		i.Request = *ask.Request
	} else {
		i.Kind = "permission"
		i.Request.Questions = []api.Question{{Prompt: "Allow this tool call?", Options: []api.Option{{Label: "Allow"}, {Label: "Deny", AllowsText: true}}}}
	}
	return i
}

func (f *fake) Interaction(context.Context, string, string, time.Duration) (api.Interaction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.now()
	if f.over() && f.becomes != nil {
		f.becomes(&i)
	}
	return i, nil
}

func (f *fake) over() bool {
	select {
	case <-f.ended:
		return true
	default:
		return f.ended == nil && f.becomes != nil
	}
}

func (f *fake) Await(ctx context.Context, _, _ string, _ func(error)) (api.Interaction, error) {
	f.mu.Lock()
	ended := f.ended
	now := f.over()
	f.mu.Unlock()
	if f.breaks != nil {
		return api.Interaction{}, f.breaks
	}
	if !now {
		select {
		case <-ended:
		case <-ctx.Done():
			return api.Interaction{}, ctx.Err()
		}
	}
	return f.Interaction(ctx, "", "", 0)
}

func (f *fake) Cancel(_ context.Context, _, id string) (api.Interaction, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.canceled = append(f.canceled, id)
	return api.Interaction{}, nil
}

func (f *fake) withdrawn() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.canceled)
}

func by(name string) *api.Actor { return &api.Actor{Kind: "user", Name: name} }

func resolved(with api.Decision, answers ...api.Answer) func(*api.Interaction) {
	return func(i *api.Interaction) {
		i.State, i.ResolvedBy, i.Decision = "resolved", by("Dana"), &with
		i.Resolution = &api.Resolution{Answers: answers}
	}
}

func chosen(text string, indices ...int) api.Answer {
	return api.Answer{OptionIndices: indices, Text: text}
}

func allowed(with api.Decision) func(*api.Interaction) { return resolved(with, chosen("", 0)) }

func denied(why string) func(*api.Interaction) { return resolved(api.Decision{}, chosen(why, 1)) }

func canceled(reason string) func(*api.Interaction) {
	return func(i *api.Interaction) {
		i.State, i.CancelReason, i.ResolvedBy = "canceled", reason, by("Sayso")
	}
}

var away = &api.Error{Status: http.StatusServiceUnavailable, Message: "The server is restarting; ask again."}

// talk connects a client to a server.
func talk(t *testing.T, config Config, backend Backend, client string, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	if _, err := New(config, backend).Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: client, Version: "1"}, options).Connect(t.Context(), theirs, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// params are those of a call with arguments as they are written.
func params(tool, arguments string, token any) *sdk.CallToolParams {
	p := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	if token != nil {
		p.SetProgressToken(token)
	}
	return p
}

// textOf is the one text block of a result.
func textOf(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("%d blocks, want one", len(r.Content))
	}
	text, ok := r.Content[0].(*sdk.TextContent)
	if !ok {
		t.Fatalf("a block of %T", r.Content[0])
	}
	return text.Text
}

// write sends one message as it is written.
func write(t *testing.T, to sdk.Connection, line string) {
	t.Helper()
	m, err := jsonrpc.DecodeMessage([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Write(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}
