package mcp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
)

// told collects progress.
type told struct {
	mu  sync.Mutex
	all []string
	at  []time.Duration
}

func (p *told) options() *sdk.ClientOptions {
	start := time.Now()
	return &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all, p.at = append(p.all, r.Params.Message), append(p.at, time.Since(start))
	}}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name  string
		token any
		want  []time.Duration
	}{
		{"with a token", "p1", []time.Duration{0, 10 * time.Second, 20 * time.Second}},
		{"with a number", 7, []time.Duration{0, 10 * time.Second, 20 * time.Second}},
		{"without one", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{ended: make(chan struct{}), becomes: allowed(api.Decision{})}
				var p told
				session := talk(t, Config{}, f, "claude-code", p.options())
				time.AfterFunc(25*time.Second, func() { close(f.ended) })
				if _, err := session.CallTool(t.Context(), params("request_approval", bash, c.token)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if !slices.Equal(p.at, c.want) {
					t.Errorf("told at %v, want %v", p.at, c.want)
				}
				if c.want != nil && !strings.HasSuffix(p.all[2], "for 20 s so far") {
					t.Errorf("told %q", p.all)
				}
			})
		})
	}
}

// TestLimits checks when a call that nobody answers comes back, by client.
func TestLimits(t *testing.T) {
	hour, secs := 3600, func(n int) *time.Duration { d := time.Duration(n) * time.Second; return &d }
	for _, c := range []struct {
		client string
		token  any
		http   bool
		hold   *time.Duration
		ask    time.Duration // 0: not before the deadline
		native time.Duration
	}{
		{"claude-code", 1, false, nil, 0, 0},
		{"claude-code", nil, false, nil, 0, 0},
		{"claude-code", nil, true, nil, 50 * time.Second, 30 * time.Second},
		{"codex-mcp-client", 1, false, nil, 270 * time.Second, 270 * time.Second},
		{"gemini-cli-mcp-client", 1, false, nil, 570 * time.Second, 570 * time.Second},
		{"opencode", 1, false, nil, 0, 0},
		{"opencode", nil, false, nil, 50 * time.Second, 30 * time.Second},
		{"somebody", nil, false, nil, 50 * time.Second, 30 * time.Second},
		{"codex-mcp-client", 1, false, secs(20), 20 * time.Second, 20 * time.Second},
		{"somebody", nil, false, secs(0), 0, 0},
	} {
		for tool, want := range map[string]time.Duration{"ask": c.ask, "request_approval": c.native} {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{ended: make(chan struct{}), becomes: canceled("expired"), opens: func(i *api.Interaction) { i.TimeoutSecs = hour }}
				session := talk(t, Config{Hold: c.hold, http: c.http}, f, c.client, nil)
				time.AfterFunc(time.Hour, func() { close(f.ended) })
				arguments := map[string]string{"ask": branches, "request_approval": bash}[tool]
				start := time.Now()
				r, err := session.CallTool(t.Context(), params(tool, arguments, c.token))
				if err != nil {
					t.Fatal(err)
				}
				if want == 0 {
					want = time.Hour
				}
				if took := time.Since(start); took != want {
					t.Errorf("%+v: %s took %v, want %v", c, tool, took, want)
				}
				text := textOf(t, r)
				switch pending := strings.Contains(text, `"status":"pending"`); {
				case tool == "ask" && want < time.Hour && !pending:
					t.Errorf("%+v: %s", c, text)
				case tool == "request_approval" && (!strings.Contains(text, `"behavior":"deny"`) || !strings.Contains(text, `"source":"timeout"`) || r.IsError):
					t.Errorf("%+v: %s", c, text)
				}
				if f.withdrawn() > 0 {
					t.Errorf("%+v: it was withdrawn", c)
				}
			})
		}
	}
}

// TestVoluntaryApprovalComesBack checks that an approval which its client would not wait for is left open, and can be waited for.
func TestVoluntaryApprovalComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{ended: make(chan struct{}), becomes: allowed(api.Decision{})}
		session := talk(t, Config{}, f, "codex-mcp-client", nil)
		r, err := session.CallTool(t.Context(), params("request_approval", voluntary, 1))
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, r); !strings.Contains(text, `"status":"pending"`) || strings.Contains(text, "behavior") {
			t.Error(text)
		}
		time.AfterFunc(time.Minute, func() { close(f.ended) })
		r, err = session.CallTool(t.Context(), params("await_answer", `{"interaction_id":"int_1"}`, 2))
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, r); !strings.Contains(text, `"behavior":"allow","updatedInput":{"command":"ls"}`) {
			t.Error(text)
		}
	})
}

// TestCancellation checks what withdraws a question, and what does not.
func TestCancellation(t *testing.T) {
	for _, c := range []struct {
		name string
		tool string
		do   func(session *sdk.ClientSession, cancel func(), stop func())
		want int
	}{
		{"the client cancels a question", "ask", func(_ *sdk.ClientSession, cancel, _ func()) { cancel() }, 1},
		{"the client cancels an approval", "request_approval", func(_ *sdk.ClientSession, cancel, _ func()) { cancel() }, 1},
		{"the client cancels waiting on", "await_answer", func(_ *sdk.ClientSession, cancel, _ func()) { cancel() }, 0},
		{"we stop", "ask", func(_ *sdk.ClientSession, _, stop func()) { stop() }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{ended: make(chan struct{}), becomes: allowed(api.Decision{})}
				stopping, stop := context.WithCancel(t.Context())
				session := talk(t, Config{Stopping: stopping}, f, "claude-code", nil)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					arguments := map[string]string{"ask": branches, "request_approval": bash, "await_answer": `{"interaction_id":"int_1"}`}[c.tool]
					_, _ = session.CallTool(ctx, params(c.tool, arguments, nil))
				}()
				synctest.Wait()
				c.do(session, cancel, stop)
				<-done
				synctest.Wait()
				if got := f.withdrawn(); got != c.want {
					t.Errorf("withdrawn %d times, want %d", got, c.want)
				}
				stop()
				cancel()
			})
		})
	}
}

// TestEndOfInput checks that a client which goes away leaves its question open.
func TestEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{ended: make(chan struct{}), becomes: allowed(api.Decision{})}
		ours, theirs := sdk.NewInMemoryTransports()
		server, err := New(Config{}, f).Connect(t.Context(), ours, nil)
		if err != nil {
			t.Fatal(err)
		}
		client, err := theirs.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":` + branches + `}}`,
		} {
			write(t, client, line)
		}
		if _, err := client.Read(t.Context()); err != nil { // the answer of initialize
			t.Fatal(err)
		}
		synctest.Wait()
		if len(f.asked) != 1 {
			t.Fatalf("%d were asked", len(f.asked))
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
		synctest.Wait()
		if n := f.withdrawn(); n != 0 {
			t.Errorf("withdrawn %d times", n)
		}
	})
}

// TestServerAwayAtTheDeadline checks that a wait ends although the server, which would end it, is away.
func TestServerAwayAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{ended: make(chan struct{})}
		session := talk(t, Config{}, f, "claude-code", nil)
		start := time.Now()
		r, err := session.CallTool(t.Context(), params("request_approval", bash, nil))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 630*time.Second {
			t.Errorf("took %v", took)
		}
		if text := textOf(t, r); !strings.Contains(text, `"behavior":"deny"`) || r.IsError {
			t.Error(text)
		}
	})
}

// TestPatience checks that a question is asked of a server that comes back soon, and refused when it does not.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{refuses: away, becomes: denied("no")}
		session := talk(t, Config{Patience: 5 * time.Second}, f, "claude-code", nil)
		time.AfterFunc(2*time.Second, func() { f.mu.Lock(); f.refuses = nil; f.mu.Unlock() })
		r, err := session.CallTool(t.Context(), params("request_approval", bash, nil))
		if err != nil {
			t.Fatal(err)
		}
		if text := textOf(t, r); !strings.Contains(text, `"source":"human"`) {
			t.Error(text)
		}
	})
}
