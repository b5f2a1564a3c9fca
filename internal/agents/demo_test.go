package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sayso/internal/agents"
	"sayso/internal/api"
	"sayso/internal/server"
)

// house is a real server, and somebody at the desk.
type house struct {
	agent, operator *api.Client
}

func newHouse(t *testing.T) house {
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
	var file struct{ URL string }
	if err := json.Unmarshal(read(t, config.Data, "server.json"), &file); err != nil {
		t.Fatal(err)
	}
	client := func(key string) *api.Client {
		return &api.Client{URL: file.URL, Key: strings.TrimSpace(string(read(t, config.Data, key)))}
	}
	return house{agent: client("agent.key"), operator: client("operator.key")}
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

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// person answers every request as soon as it is recorded, before the agent hears of it. nil leaves it open.
type person struct {
	house
	answer func(api.Interaction) *api.Resolve
}

func (p person) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil || req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/interactions") {
		return resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var i api.Interaction
	if err := json.Unmarshal(body, &i); err != nil {
		return nil, err
	}
	if answer := p.answer(i); answer != nil {
		_, err = p.operator.Resolve(req.Context(), i.AgentID, i.ID, *answer)
	}
	return resp, err
}

// play runs the demo with a person who answers, and gives what it told.
func play(t *testing.T, h house, answer func(api.Interaction) *api.Resolve) (told string, requests []api.Interaction) {
	t.Helper()
	client := *h.agent
	client.HTTP = &http.Client{Transport: person{h, answer}}
	var story strings.Builder
	demo := agents.Demo{
		Client: &client, Patience: time.Second,
		Say:   func(format string, args ...any) { fmt.Fprintf(&story, format+"\n", args...) },
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if err := demo.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := h.operator.Interactions(t.Context(), url.Values{"limit": {"100"}})
	if err != nil {
		t.Fatal(err)
	}
	return story.String(), list.Data
}

func choose(text string, indices ...int) api.Answer {
	return api.Answer{OptionIndices: indices, Text: text}
}

func resolve(answers ...api.Answer) *api.Resolve { return &api.Resolve{Answers: answers} }

// leftAlone says whether a request is one of those that end without an answer: the impatient one and the one that is withdrawn.
func leftAlone(i api.Interaction) bool {
	return i.Kind == "question" && len(i.Request.Questions) == 1 || strings.Contains(inputOf(i), "docker compose restart")
}

func inputOf(i api.Interaction) string {
	if i.ToolCall == nil {
		return ""
	}
	return string(i.ToolCall.Input)
}

func mustTell(t *testing.T, told string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(told, line) {
			t.Errorf("it does not tell %q:\n%s", line, told)
		}
	}
}

func TestDemoGoesOnWhenAllowed(t *testing.T) {
	told, requests := play(t, newHouse(t), func(i api.Interaction) *api.Resolve {
		switch {
		case leftAlone(i):
			return nil
		case i.Kind == "question":
			return resolve(choose("Lynx", 0, 2, 4), choose("", 1), choose("Harbor", 1))
		}
		return resolve(choose("", 0))
	})
	mustTell(t, told,
		"Nothing that I ask for is really run.",
		"Built harbor-web on build-7", "Removed ./build", "Changed src/checkout/total.ts", "Installed git-cliff", "Pushed release to origin",
		"Browsers to check: Chrome, Safari, Lynx\n", "When: Tonight at 03:00\n", "Name: Harbor\n",
		"Not answered: nobody answered in time. Silence is not consent", "that is my assumption",
		"so I withdrew the request to restart it", "In short:\n  - Built",
	)
	var ends []string
	for _, i := range requests {
		ends = append(ends, i.State+i.CancelReason)
	}
	want := []string{"resolved", "resolved", "resolved", "resolved", "canceledexpired", "resolved", "canceledasker_canceled", "resolved"}
	if !slices.Equal(ends, want) {
		t.Errorf("requests ended as %q, want %q", ends, want)
	}
	if first := requests[0].ToolCall; first.Name != "run_command" || string(first.Input) != `{"command":"npm run build","machine":"build-7","cwd":"/home/dev/harbor-web"}` {
		t.Errorf("the first request is %s %s", first.Name, first.Input)
	}
}

func TestDemoTakesAnotherRoadWhenDenied(t *testing.T) {
	told, _ := play(t, newHouse(t), func(i api.Interaction) *api.Resolve {
		switch {
		case leftAlone(i):
			return resolve(choose("", 0)) // the port; and an answer that comes before the withdrawal
		case i.Kind == "question":
			return resolve(choose("", 0), choose("", 0), choose("", 0))
		}
		return resolve(choose("Not while I watch.", 1))
	})
	mustTell(t, told,
		"No: Not while I watch.\n", "Left the build alone", "Kept ./build", "opened an issue", "by hand", "for review",
		"Started the preview on port 3000.", "You answered about the database before I saw",
	)
	for _, lie := range []string{"Built harbor-web", "Installed", "Pushed release"} {
		if strings.Contains(told, lie) {
			t.Errorf("it tells %q although it was denied:\n%s", lie, told)
		}
	}
}

func TestDemoWithdrawsWhenItIsStopped(t *testing.T) {
	h := newHouse(t)
	ctx, stop := context.WithCancel(t.Context())
	client := *h.agent
	client.HTTP = &http.Client{Transport: person{h, func(api.Interaction) *api.Resolve { stop(); return nil }}}
	if err := (agents.Demo{Client: &client}).Run(ctx); ctx.Err() == nil || err == nil {
		t.Errorf("it ended with %v before it was stopped", err)
	}
	list, err := h.operator.Interactions(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 1 || list.Data[0].CancelReason != "asker_canceled" {
		t.Errorf("got %+v, want its one request withdrawn", list.Data)
	}
}
