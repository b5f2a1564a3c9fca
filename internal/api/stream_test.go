package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sayso/internal/api"
)

// played is a server that answers each connection to a stream with the next of some texts, and then ends it. It notes where each resumed.
type played struct {
	texts   []string
	resumed []string
}

func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.resumed = append(p.resumed, r.Header.Get("Last-Event-ID"))
	if len(p.texts) == 0 {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"This key was revoked.","code":"unauthorized"}`)
		return
	}
	text := p.texts[0]
	p.texts = p.texts[1:]
	if text == "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	fmt.Fprint(w, text)
}

func event(sequence int, name, data string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", sequence, name, data)
}

func lifecycle(sequence int) string {
	return event(sequence, "interaction_created", fmt.Sprintf(`{"sequence":%d,"summary":"asks %d"}`, sequence, sequence))
}

func newPlayed(t *testing.T, texts ...string) (*played, *api.Client) {
	t.Helper()
	p := &played{texts: texts}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, &api.Client{URL: server.URL, HTTP: server.Client()}
}

// A stream comes back after every cut, names what it saw last, and tells nothing twice, not even what a server repeats. What was cut off
// half way comes again.
func TestStreamComesBack(t *testing.T) {
	p, c := newPlayed(t,
		": ok\n\n"+lifecycle(3)+lifecycle(4)+strings.TrimSuffix(lifecycle(7), "\n"),
		"", // away
		": ok\n\n: beat\n\n"+lifecycle(4)+lifecycle(7)+"id: 9\nevent: interaction_created\ndata: {\"sequence\":9,\ndata: \"summary\":\"asks 9\"}\n\n",
	)
	var tries []bool
	c.Tried = func(err error) { tries = append(tries, err == nil) }
	var got []string
	err := c.StreamLifecycle(t.Context(), 2, func(e api.LifecycleEvent) error {
		got = append(got, fmt.Sprintf("%d %s", e.Sequence, e.Summary))
		return nil
	})
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("it ended with %v, want the server's refusal", err)
	}
	if want := []string{"3 asks 3", "4 asks 4", "7 asks 7", "9 asks 9"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if want := []string{"2", "4", "4", "9"}; !slices.Equal(p.resumed, want) {
		t.Errorf("came back after %q, want %q", p.resumed, want)
	}
	if want := []bool{true, false, false, true, false}; !slices.Equal(tries, want) {
		t.Errorf("tries are told as %v, want %v", tries, want)
	}
}

func TestStreamEndsWithWhoIsTold(t *testing.T) {
	p, c := newPlayed(t, lifecycle(1)+lifecycle(2))
	full := errors.New("the disk is full")
	if err := c.StreamLifecycle(t.Context(), 0, func(api.LifecycleEvent) error { return full }); err != full {
		t.Errorf("it ended with %v, want %v", err, full)
	}
	if len(p.resumed) != 1 {
		t.Errorf("it came back %d times", len(p.resumed)-1)
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	_, c := newPlayed(t, lifecycle(1))
	ctx, stop := context.WithCancel(t.Context())
	err := c.StreamLifecycle(ctx, 0, func(api.LifecycleEvent) error { stop(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// A conversation also tells what moves, which has no id; what a later server may tell is passed over.
func TestStreamConversation(t *testing.T) {
	_, c := newPlayed(t, event(5, "model_output", `{"sequence":5,"event_kind":"model_output"}`)+
		"event: tool_call_update\ndata: {\"tool_call_id\":\"tcl_a\",\"state\":\"ready\"}\n\n"+
		"event: interaction_update\ndata: {\"interaction_id\":\"int_a\",\"state\":\"open\"}\n\n"+
		"event: weather\ndata: rain\n\n")
	var got []string
	_ = c.StreamConversation(t.Context(), "agt_a", 0, func(u api.Update) error {
		switch {
		case u.Event != nil:
			got = append(got, u.Event.EventKind)
		case u.ToolCall != nil:
			got = append(got, u.ToolCall.ToolCallID+u.ToolCall.State)
		case u.Interaction != nil:
			got = append(got, u.Interaction.InteractionID+u.Interaction.State)
		}
		return nil
	})
	if want := []string{"model_output", "tcl_aready", "int_aopen"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
