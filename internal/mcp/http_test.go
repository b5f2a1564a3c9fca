package mcp

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sayso/internal/api"
)

// rest answers as REST does, with a fake.
type rest struct{ *fake }

func (f rest) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var out any
	switch {
	case strings.HasSuffix(r.URL.Path, "/agents"):
		out = api.AgentBody{Agent: api.Agent{ID: "agt_1"}}
	case strings.HasSuffix(r.URL.Path, "/interactions"):
		var ask api.NewInteraction
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, _ = f.CreateInteraction(r.Context(), "", "", ask)
	case strings.HasSuffix(r.URL.Path, "/cancel"):
		out, _ = f.Cancel(r.Context(), "", "int_1")
	default:
		i, err := f.Await(r.Context(), "", "int_1", nil)
		if err != nil {
			return
		}
		out = i
	}
	_ = json.NewEncoder(w).Encode(out)
}

// modern posts a call of a client without sessions, until ctx is done, and gives what it is answered.
func modern(ctx context.Context, h *Handler, id string) string {
	body := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ask","arguments":` + branches + `,"_meta":{"progressToken":1,` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", io.NopCloser(strings.NewReader(body)))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer k",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.Serve(w, r, Caller{ID: "key_1", Key: "k"})
	return w.Body.String()
}

// TestClosedRequest checks what a closed request means where it is also how a client cancels: a withdrawal, unless the client comes back.
func TestClosedRequest(t *testing.T) {
	for name, back := range map[string]bool{"the client stays away": false, "the client comes back": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{ended: make(chan struct{}), becomes: resolved(api.Decision{}, chosen("", 0))}
				h := NewHandler(Config{}, rest{f})
				defer h.Close()
				ctx, closes := context.WithCancel(t.Context())
				time.AfterFunc(5*time.Second, closes)
				modern(ctx, h, "1")
				got := make(chan string, 1)
				if back {
					time.AfterFunc(rejoinWithin-time.Second, func() { got <- modern(t.Context(), h, "2") })
				}
				time.AfterFunc(time.Minute, func() { close(f.ended) })
				<-time.After(rejoinWithin - time.Millisecond)
				synctest.Wait()
				if n := f.withdrawn(); n != 0 {
					t.Errorf("withdrawn at once")
				}
				<-time.After(time.Minute)
				synctest.Wait()
				if n := f.withdrawn(); n == 1 == back {
					t.Errorf("withdrawn %d times", n)
				}
				if back && !strings.Contains(<-got, `\"answer\":\"main\"`) {
					t.Error("the client that came back got no answer")
				}
			})
		})
	}
}

// TestHead checks that the head of a response and the first progress are out before anybody answers: clients give up without.
func TestHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{ended: make(chan struct{}), becomes: resolved(api.Decision{}, chosen("", 0))}
		h := NewHandler(Config{}, rest{f})
		defer h.Close()
		ctx, closes := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, closes)
		if got := modern(ctx, h, "1"); !strings.Contains(got, "notifications/progress") {
			t.Errorf("sent %q", got)
		}
		<-time.After(time.Hour)
	})
}
