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
	asks := strings.HasSuffix(req.URL.Path, "/interactions") || strings.HasSuffix(req.URL.Path, "/events")
	if err != nil || req.Method != http.MethodPost || !asks || resp.StatusCode >= 300 {
		return resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	asked, err := p.asked(req.Context(), body)
	for _, i := range asked {
		if answer := p.answer(i); answer != nil && err == nil {
			_, err = p.operator.Resolve(req.Context(), i.AgentID, i.ID, *answer)
		}
	}
	return resp, err
}

// asked are the requests that the server opened, as its answer names them.
func (p person) asked(ctx context.Context, body []byte) (asked []api.Interaction, err error) {
	var answer struct {
		api.Interaction
		ToolCalls []api.Call `json:"tool_calls"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	if answer.ID != "" {
		return []api.Interaction{answer.Interaction}, nil
	}
	for _, call := range answer.ToolCalls {
		if call.InteractionID == "" {
			continue
		}
		i, err := p.operator.Interaction(ctx, call.AgentID, call.InteractionID, 0)
		if err != nil {
			return nil, err
		}
		asked = append(asked, i)
	}
	return asked, nil
}

// play runs the demo with a person who answers, and gives what it told.
func play(t *testing.T, h house, answer func(api.Interaction) *api.Resolve) (told string, requests []api.Interaction) {
	t.Helper()
	told = perform(t, h, agents.Demo{}, answer)
	list, err := h.operator.Interactions(t.Context(), url.Values{"limit": {"100"}})
	if err != nil {
		t.Fatal(err)
	}
	return told, list.Data
}

func perform(t *testing.T, h house, demo agents.Demo, answer func(api.Interaction) *api.Resolve) string {
	t.Helper()
	client := *h.agent
	client.HTTP = &http.Client{Transport: person{h, answer}}
	var story strings.Builder
	demo.Client, demo.Patience = &client, time.Second
	demo.Say = func(format string, args ...any) { fmt.Fprintf(&story, format+"\n", args...) }
	demo.Pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	if err := demo.Run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &story)
	}
	return story.String()
}

// allow allows everything but what is left alone.
func allow(i api.Interaction) *api.Resolve {
	switch {
	case leftAlone(i):
		return nil
	case i.Kind == "question":
		return resolve(choose("Lynx", 0, 2, 4), choose("", 1), choose("Harbor", 1))
	}
	return resolve(choose("", 0))
}

// write sends the agent a message while it does something else.
func write(t *testing.T, h house, agent string, in api.NewInput, text string) {
	t.Helper()
	in.ContentBlocks = api.Text(text)
	if _, err := h.operator.SendInput(t.Context(), agent, "", in); err != nil {
		t.Error(err)
	}
}

// conversation is what the agent told its conversation, a line for each thing.
func conversation(t *testing.T, h house, agent string) (lines []string) {
	t.Helper()
	page, err := h.operator.Events(t.Context(), agent, url.Values{"limit": {"500"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Data {
		if in := e.AgentInput; in != nil {
			lines = append(lines, strings.TrimSpace(in.InputKind+" "+in.Control))
		}
		for _, b := range e.ContentBlocks {
			lines = append(lines, strings.TrimSpace(e.EventKind+" "+e.Outcome+" "+b.Type+" "+b.Name+b.Text))
		}
	}
	return lines
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
	h := newHouse(t)
	told, requests := play(t, h, allow)
	mustTell(t, told,
		"Nothing that I ask for is really run.",
		"Built harbor-web on build-7", "Removed ./build", "Changed three lines of src/checkout/total.ts", "Installed git-cliff", "Pushed release to origin",
		"Browsers to check: Chrome, Safari, Lynx\n", "When: Tonight at 03:00\n", "Name: Harbor\n",
		"Not answered: nobody answered in time. Silence is not consent", "that is my assumption",
		"so I withdrew the request to restart it", "In short:\n  - Built", "I am done now.", "“Harbor”, checked in Chrome, Safari, Lynx, to go out Tonight at 03:00",
	)
	var ends []string
	for _, i := range requests {
		ends = append(ends, i.State+i.CancelReason)
	}
	want := []string{"resolved", "resolved", "resolved", "resolved", "canceledexpired", "resolved", "canceledasker_canceled", "resolved"}
	if !slices.Equal(ends, want) {
		t.Errorf("requests ended as %q, want %q", ends, want)
	}
	for _, i := range requests {
		if i.State == "resolved" && i.Kind == "permission" && i.Delivery.State != "reported" {
			t.Errorf("%s: the delivery is %s, want it reported", i.ToolCall.Input, i.Delivery.State)
		}
	}
	agent := requests[0].AgentID
	calls, err := h.operator.ToolCalls(t.Context(), agent, url.Values{"limit": {"100"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range calls.Data {
		if call.State != "completed" {
			t.Errorf("%s %s is left %s", call.Name, call.Input, call.State)
		}
	}
	lines := strings.Join(conversation(t, h, agent), "\n")
	mustTell(t, lines,
		"model_output  tool_call run_command\ntool_result succeeded text ## release",
		"model_output  text I want to build the shop. May I?\nmodel_output  tool_call run_command\ninteraction_response\ntool_result succeeded text vite",
		"model_output  reasoning voucher.apply", "model_output  tool_call ask_question\ninteraction_response\ntool_result succeeded text {\"answers\":",
		"tool_result failed text 37 passed, 1 failed", "tool_result canceled text The request was canceled: asker_canceled.",
	)
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

func TestDemoReadsWhatPeopleWrite(t *testing.T) {
	h := newHouse(t)
	told := perform(t, h, agents.Demo{}, func(i api.Interaction) *api.Resolve {
		switch {
		case strings.Contains(inputOf(i), "npm run build\",\"machine"):
			write(t, h, i.AgentID, api.NewInput{}, "How far are you?")
			write(t, h, i.AgentID, api.NewInput{}, "Tell the support desk\nwhen it is out.")
		case strings.Contains(inputOf(i), "old_string"):
			write(t, h, i.AgentID, api.NewInput{DeliveryMode: "steering"}, "Please don't force-push anything")
			write(t, h, i.AgentID, api.NewInput{}, "Thank you!")
		}
		return allow(i)
	})
	mustTell(t, told,
		"wrote: How far are you?\n", "step 1 of 9, and the last thing I did was this: Built harbor-web",
		"Noted: “Tell the support desk when it is out.”", "  - Kept to what you wrote: Tell the support desk when it is out.",
		"Understood: I will not push over what is there.", "You are welcome.", "I push a branch of its own", "pushed the branch release-2.4.0",
	)
	if strings.Contains(told, "overwriting what is there. May I?") {
		t.Errorf("it asks to force-push although it was told not to:\n%s", told)
	}
}

// A message that cannot wait is replied to while a card is open, and leaves it open.
func TestDemoRepliesWhileItWaits(t *testing.T) {
	h := newHouse(t)
	once := false
	told := perform(t, h, agents.Demo{}, func(i api.Interaction) *api.Resolve {
		if once {
			return allow(i)
		}
		once = true
		h.whenSaid(t, i.AgentID, map[string]func() error{"You ask: “Is it safe?”": func() error {
			_, err := h.operator.Resolve(t.Context(), i.AgentID, i.ID, *resolve(choose("", 0)))
			return err
		}})
		write(t, h, i.AgentID, api.NewInput{DeliveryMode: "steering"}, "Is it safe?")
		return nil
	})
	mustTell(t, told, "wrote: Is it safe?\nYou ask: “Is it safe?” All I can tell is where I am: I have only begun.\n  Allowed.\n")
}

// A message that takes the place of what is open is read next, and changes the plan.
func TestDemoIsSuperseded(t *testing.T) {
	h := newHouse(t)
	told, requests := play(t, h, func(i api.Interaction) *api.Resolve {
		if strings.Contains(inputOf(i), "rm -rf") {
			write(t, h, i.AgentID, api.NewInput{DeliveryMode: "steering", CancelOpenInteractions: true}, "Leave the old bundle, we need it.")
			return nil
		}
		return allow(i)
	})
	mustTell(t, told,
		"Not allowed: your message took its place.", "Your message comes first: “Leave the old bundle, we need it.”", "Kept ./build",
		"I push a branch of its own", "  - Kept to what you wrote: Leave the old bundle, we need it.",
	)
	if got := requests[1].CancelReason; got != "superseded_by_input" {
		t.Errorf("the request ended as %s", got)
	}
	if last := requests[len(requests)-1]; strings.Contains(inputOf(last), "--force") {
		t.Error("it asked to force-push after its plan was changed")
	}
}

// The other requests may be superseded as well: a question, the impatient one, and the one about to be withdrawn.
func TestDemoIsSupersededEverywhere(t *testing.T) {
	h := newHouse(t)
	told, requests := play(t, h, func(i api.Interaction) *api.Resolve {
		write(t, h, i.AgentID, api.NewInput{DeliveryMode: "steering", CancelOpenInteractions: true}, "Go on without it.")
		return nil
	})
	for _, i := range requests {
		if i.CancelReason != "superseded_by_input" {
			t.Errorf("%s ended as %s %s", i.Request.Title, i.State, i.CancelReason)
		}
	}
	mustTell(t, told, "Nobody told me how to release", "that is my assumption", "That was the release.")
	if strings.Contains(told, "nobody answered in time") {
		t.Errorf("it takes a message for silence:\n%s", told)
	}
}

func TestDemoStops(t *testing.T) {
	for name, stop := range map[string]func(*testing.T, house, api.Interaction){
		"by the button": func(t *testing.T, h house, i api.Interaction) {
			if _, err := h.operator.Stop(t.Context(), i.AgentID); err != nil {
				t.Error(err)
			}
		},
		"by a message": func(t *testing.T, h house, i api.Interaction) {
			write(t, h, i.AgentID, api.NewInput{DeliveryMode: "steering", CancelOpenInteractions: true}, "Stop!")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			var agent string
			told, requests := play(t, h, func(i api.Interaction) *api.Resolve {
				agent = i.AgentID
				stop(t, h, i)
				return nil
			})
			mustTell(t, told, "I was told to stop, so I stop here.")
			if len(requests) != 1 || requests[0].State != "canceled" {
				t.Errorf("got %+v, want one canceled request", requests)
			}
			lines := conversation(t, h, agent)
			if last := lines[len(lines)-1]; !strings.Contains(last, "text I was told to stop") {
				t.Errorf("the conversation ends with %q", last)
			}
		})
	}
}

// A stop that comes when the answer is given, but the call not reported yet, stops it too.
func TestDemoStopsAfterAnAnswer(t *testing.T) {
	h := newHouse(t)
	told := perform(t, h, agents.Demo{}, func(i api.Interaction) *api.Resolve {
		if _, err := h.operator.Resolve(t.Context(), i.AgentID, i.ID, *resolve(choose("", 0))); err != nil {
			t.Error(err)
		}
		if _, err := h.operator.Stop(t.Context(), i.AgentID); err != nil {
			t.Error(err)
		}
		return nil
	})
	mustTell(t, told, "Allowed.", "I was told to stop, so I stop here.")
	if strings.Contains(told, "Built harbor-web") {
		t.Errorf("it tells of a build that was stopped:\n%s", told)
	}
}

// An archived agent ends; the next demo is another agent.
func TestDemoIsArchived(t *testing.T) {
	h := newHouse(t)
	archive := func(i api.Interaction) *api.Resolve {
		if _, err := h.operator.Archive(t.Context(), i.AgentID); err != nil {
			t.Error(err)
		}
		return nil
	}
	for range 2 {
		told := perform(t, h, agents.Demo{}, archive)
		mustTell(t, told, "I was archived, so I end here.\n")
	}
	list, err := h.operator.Agents(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Data) != 2 || list.Data[1].Key != "demo-2" {
		t.Errorf("got %+v, want the agents demo and demo-2", list.Data)
	}
}

// While it lingers it answers, and being archived ends it.
func TestDemoLingers(t *testing.T) {
	h := newHouse(t)
	var agent string
	told := perform(t, h, agents.Demo{Linger: time.Hour}, func(i api.Interaction) *api.Resolve {
		if agent == "" {
			agent = i.AgentID
			h.whenSaid(t, agent, map[string]func() error{
				"That was the release.": func() error {
					_, err := h.operator.SendInput(t.Context(), agent, "", api.NewInput{ContentBlocks: api.Text("Done?")})
					return err
				},
				"You ask:": func() error {
					_, err := h.operator.Archive(t.Context(), agent)
					return err
				},
			})
		}
		return allow(i)
	})
	mustTell(t, told, "I still read what you write to me for 1h0m0s.", "You ask: “Done?”", "I was archived, so I end here.")
}

// whenSaid does something when the agent says what begins with a text.
func (h house) whenSaid(t *testing.T, agent string, then map[string]func() error) {
	ctx := t.Context()
	go func() {
		_ = h.operator.StreamConversation(ctx, agent, 0, func(u api.Update) error {
			said := saidIn(u.Event)
			for text, do := range then {
				if strings.HasPrefix(said, text) {
					return do()
				}
			}
			return nil
		})
	}()
}

func saidIn(e *api.Event) string {
	if e == nil || e.EventKind != "model_output" {
		return ""
	}
	return e.ContentBlocks[0].Text
}

// Nobody answers: it goes on by itself, and leaves nothing open.
func TestDemoNeedsNobody(t *testing.T) {
	h := newHouse(t)
	told := perform(t, h, agents.Demo{Longest: time.Millisecond}, func(api.Interaction) *api.Resolve { return nil })
	mustTell(t, told, "Not allowed: nobody answered in time.", "Left the build alone", "Nobody told me how to release", "That was the release.")
	open, err := h.operator.Interactions(t.Context(), url.Values{"state": {"open"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(open.Data) != 0 {
		t.Errorf("it left %d requests open", len(open.Data))
	}
}
