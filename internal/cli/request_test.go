package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sayso/internal/api"
)

// against runs a command against a server that does what handler does.
func against(t *testing.T, handler http.Handler, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	t.Setenv("SAYSO_URL", server.URL)
	t.Setenv("SAYSO_KEY", "sayso_agt_test")
	var out, err strings.Builder
	code = Run(t.Context(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// fake is a server that has one agent.
func fake(create http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/orgs/default/projects/default/agents", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(api.AgentBody{Agent: api.Agent{ID: "agt_a"}})
	})
	mux.HandleFunc("POST /api/v1/orgs/default/projects/default/agents/agt_a/interactions", create)
	return mux
}

// A connection that breaks during a request leaves open whether it was recorded, so the second try must be the same request.
func TestCreateAgainAsksOnce(t *testing.T) {
	var mu sync.Mutex
	var once []string
	server := fake(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		once = append(once, r.Header.Get("Idempotency-Key"))
		if len(once) == 1 {
			panic(http.ErrAbortHandler)
		}
		_ = json.NewEncoder(w).Encode(api.Interaction{ID: "int_a", State: "open"})
	})
	code, stdout, _ := against(t, server, "ask", "Which?", "--wait", "poll")
	if code != exitPending || stdout != "int_a\n" {
		t.Errorf("got %d %q", code, stdout)
	}
	if len(once) != 2 || once[0] == "" || once[0] != once[1] {
		t.Errorf("Idempotency-Key of each try: %q, want the same twice", once)
	}
}

func TestCreateBrokenForGoodSaysThatItIsUnknown(t *testing.T) {
	server := httptest.NewServer(fake(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer server.Close()
	t.Setenv("SAYSO_URL", server.URL)
	t.Setenv("SAYSO_KEY", "sayso_agt_test")
	var stdout, stderr strings.Builder
	p := &program{stdout: &stdout, stderr: &stderr} // without patience
	code := p.run(t.Context(), []string{"ask", "Which?"})
	if code != exitUnavailable || !strings.Contains(stderr.String(), "; whether the request was recorded at http://127.0.0.1:") {
		t.Errorf("got %d %q", code, stderr.String())
	}
}

// Every answer of a server has its exit code. What it says is shown, whatever is in it.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]int{
		400: exitInput, 401: exitInput, 403: exitInput, 404: exitNotFound, 409: exitConflict, 413: exitInput, 421: exitInput,
		429: exitUnavailable, 500: exitInternal, 502: exitUnavailable, 503: exitUnavailable, 504: exitUnavailable,
	} {
		server := fake(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(api.Error{Message: "no \x1b[2J", Code: "some_code"})
		})
		code, stdout, stderr := against(t, server, "approve", "--tool", "Bash")
		if code != want || stdout != "" || !strings.Contains(stderr, "sayso: error: no ⟨U+001B⟩[2J\n") {
			t.Errorf("%d: got %d %q %q, want %d", status, code, stdout, stderr, want)
		}
	}
}

// An answer that makes no sense is never an Allow.
func TestDecisionFailsClosed(t *testing.T) {
	for name, answers := range map[string][]api.Answer{
		"deny":          {{OptionIndices: []int{1}}},
		"both":          {{OptionIndices: []int{0, 1}}},
		"none":          {{}},
		"out of bounds": {{OptionIndices: []int{-1}}},
	} {
		i := api.Interaction{State: "resolved", Resolution: &api.Resolution{Answers: answers}}
		if got := decision(i); got.Decision != "deny" || got.Message == "" {
			t.Errorf("%s: got %q %q, want a denial with a reason", name, got.Decision, got.Message)
		}
	}
	for name, i := range map[string]api.Interaction{
		"resolved without answers":    {State: "resolved", Resolution: &api.Resolution{}},
		"resolved without any":        {State: "resolved"},
		"a state that we do not know": {State: "paused"},
	} {
		if unanswered(i) == nil {
			t.Errorf("%s: taken for answered", name)
		}
	}
}

func TestInterruptedBeforeItWasAsked(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var withdrawn string
	mux := fake(func(w http.ResponseWriter, _ *http.Request) {
		interrupt() // just as it is recorded
		_ = json.NewEncoder(w).Encode(api.Interaction{ID: "int_a", State: "open"})
	}).(*http.ServeMux)
	mux.HandleFunc("POST /api/v1/orgs/default/projects/default/agents/agt_a/interactions/{id}/cancel", func(w http.ResponseWriter, r *http.Request) {
		withdrawn = r.PathValue("id")
		_ = json.NewEncoder(w).Encode(api.Interaction{ID: withdrawn, State: "canceled"})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	t.Setenv("SAYSO_URL", server.URL)
	t.Setenv("SAYSO_KEY", "sayso_agt_test")
	var stdout, stderr strings.Builder
	code := Run(ctx, []string{"ask", "Which?"}, strings.NewReader(""), &stdout, &stderr)
	if code != exitInterrupted || withdrawn != "int_a" {
		t.Errorf("got %d, withdrew %q: %s", code, withdrawn, &stderr)
	}
}
