package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sayso/internal/api"
)

// prompts posts a call as Claude Code does over HTTP, until ctx is done, and gives what it is answered.
func prompts(ctx context.Context, h *Handler, meta, arguments string) string {
	body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"request_approval","arguments":` + arguments + `,"_meta":{"progressToken":1,` + meta +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer k",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "request_approval",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.Serve(w, r, Caller{ID: "key_1", Key: "k"})
	return w.Body.String()
}

const (
	byClaude  = `"claudecode/toolUseId":"toolu_1","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"1"},`
	promptFor = `{"tool_name":"Bash","input":{"command":"make"},"tool_use_id":"toolu_1"}`
)

// restOf asks for what comes after an event.
func restOf(h *Handler, id string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/mcp", nil)
	r.Header.Set("Authorization", "Bearer k")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Last-Event-ID", id)
	w := httptest.NewRecorder()
	h.Serve(w, r, Caller{ID: "key_1", Key: "k"})
	return w
}

var eventIDs = regexp.MustCompile(`(?m)^id: (.*)$`)

// idIn is the id of a response's events, of which one has one.
func idIn(t *testing.T, response string) string {
	t.Helper()
	ids := eventIDs.FindAllStringSubmatch(response, -1)
	if len(ids) != 1 {
		t.Fatalf("%d events have an id, want 1: %s", len(ids), response)
	}
	return ids[0][1]
}

// TestResume checks that a call which the server's end broke off is answered by the next one, as the same call.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{ended: make(chan struct{}), becomes: allowed(api.Decision{})}
		first := NewHandler(Config{}, rest{f})
		time.AfterFunc(time.Minute, first.Close)
		broken := prompts(t.Context(), first, byClaude, promptFor)
		if strings.Contains(broken, `"result"`) {
			t.Errorf("a server that stops answered: %s", broken)
		}
		second := NewHandler(Config{}, rest{f})
		defer second.Close()
		time.AfterFunc(time.Minute, func() { close(f.ended) })
		got := restOf(second, idIn(t, broken))
		for _, want := range []string{`"id":7`, `\"behavior\":\"allow\"`, `\"updatedInput\":{\"command\":\"make\"}`} {
			if !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s lacks %s", got.Body, want)
			}
		}
		if idIn(t, got.Body.String()) != idIn(t, broken) {
			t.Error("a response that was gone on with cannot be again")
		}
		if len(f.asked) != 2 || f.asked[1].Join == nil || f.asked[1].Join.CallID != "toolu_1" {
			t.Errorf("asked %+v", f.asked)
		}
		if n := f.withdrawn(); n != 0 {
			t.Errorf("withdrawn %d times", n)
		}
	})
}

// TestNoResume checks that nothing is said to be resumable whose client would not come back or that would not join what it asked before.
func TestNoResume(t *testing.T) {
	for name, call := range map[string]struct{ meta, arguments string }{
		"another client":    {strings.Replace(byClaude, "claude-code", "codex", 1), promptFor},
		"no id of its own":  {strings.Replace(byClaude, "claudecode/toolUseId", "other", 1), promptFor},
		"longer than heads": {byClaude, `{"tool_name":"Write","input":{"content":"` + strings.Repeat("a", resumedMost) + `"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHandler(Config{}, rest{&fake{ended: make(chan struct{})}})
				time.AfterFunc(time.Minute, h.Close)
				got := prompts(t.Context(), h, call.meta, call.arguments)
				if eventIDs.MatchString(got) || !strings.Contains(got, "restarting") {
					t.Error(got)
				}
			})
		})
	}
}

// TestResumeRefuses checks ids that never came with a response.
func TestResumeRefuses(t *testing.T) {
	h := NewHandler(Config{}, rest{&fake{}})
	defer h.Close()
	inbox := `{"method":"tools/call","params":{"name":"interactions_answer","_meta":{"claudecode/toolUseId":"t",` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code"}}}}`
	for name, id := range map[string]string{
		"no base64": callEvent + "%", "nothing packed": callEvent + "AAAA", "no JSON": callEvent + packed([]byte("{")), "another tool": callEvent + packed([]byte(inbox)),
		"too much": callEvent + packed([]byte(`{"a":"`+strings.Repeat("a", 1<<20)+`"}`)),
	} {
		if got := restOf(h, id); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), "Last-Event-ID: only an id") {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
	if got := restOf(h, "7"); got.Code != http.StatusMethodNotAllowed {
		t.Errorf("an id that is not ours: %d %s", got.Code, got.Body)
	}
}
