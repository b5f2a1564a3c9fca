package agents_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sayso/internal/agents"
	"sayso/internal/api"
)

// desk answers hooks at a house.
type desk struct {
	house
	hooks agents.Hooks
}

// newDesk is a desk whose person answers as answer says.
func newDesk(t *testing.T, answer func(api.Interaction) *api.Resolve) desk {
	h := newHouse(t)
	client := *h.agent
	client.HTTP = &http.Client{Transport: person{h, answer}}
	return desk{h, agents.Hooks{Client: &client, Format: agents.ClaudeFormat, Notes: agents.FolderNotes(filepath.Join(t.TempDir(), "hooks"))}}
}

func (d desk) call(t *testing.T, body string) string {
	t.Helper()
	h, err := agents.ReadHook(d.hooks.Format, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.hooks.Answer(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Reply(d.hooks.Format, h))
}

// Claude Code's own questions, and every way to answer them. The input comes back as it was, with the answers.
func TestHookAnswersQuestions(t *testing.T) {
	const questions = `[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm","preview":"<b>"},{"label":"Blue, dark"}],"multiSelect":false},` +
		`{"question":"Which features?","header":"Features","options":[{"label":"Auth"},{"label":"Push"}],"multiSelect":true}]`
	const deny = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":%q}}`
	allowed := func(rest string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":` + questions + `,"metadata":{"n":12345678901234567890},` + rest + `}}}`
	}
	choose := func(answers ...api.Answer) *api.Resolve { return &api.Resolve{Answers: answers} }
	one := func(text string, indices ...int) api.Answer { return api.Answer{OptionIndices: indices, Text: text} }
	withResponse := choose(one("", 2), one("", 2))
	withResponse.Response = "you decide"
	var answer *api.Resolve
	d := newDesk(t, func(api.Interaction) *api.Resolve { return answer })
	for n, c := range []struct {
		name   string
		answer *api.Resolve
		want   string
	}{
		{"all of them", choose(one("", 1), one("", 0, 1)), allowed(`"answers":{"Which colour?":"Blue, dark","Which features?":"Auth, Push"}`)},
		{"in their own words", choose(one("green <3", 2), one("SSO", 0, 2)), allowed(`"answers":{"Which colour?":"green <3","Which features?":"Auth, SSO"}`)},
		{"one of them", choose(one("", 0), one("", 2)), allowed(`"answers":{"Which colour?":"Red"}`)},
		{"all at once", withResponse, allowed(`"answers":{},"response":"you decide"`)},
		{"none", choose(one("", 2), one("", 2)), fmt.Sprintf(deny, "operator key of this machine answered none of the questions.")},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer = c.answer
			got := d.call(t, fmt.Sprintf(`{"session_id":"s1","cwd":"/shop","hook_event_name":"PreToolUse","tool_use_id":"t%d","tool_name":"AskUserQuestion",`+
				`"tool_input":{"answers":{"Which colour?":"Mine"},"questions":%s,"metadata":{"n":12345678901234567890}}}`, n, questions))
			if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
	asked, err := d.operator.Interactions(t.Context(), url.Values{"limit": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	form := asked.Data[0].Request
	if form.Title != "Which colour? (+1 more)" || len(form.Questions[0].Options) != 3 || !form.Questions[0].Options[2].AllowsText || form.Context[0].Value != "<b>" {
		t.Errorf("the card is %+v", form)
	}
	for _, input := range []string{`{}`, `{"questions":7}`, `{"questions":[{"question":"A?","options":[{"label":"a"}]},{"question":"A?","options":[{"label":"a"}]}]}`} {
		got := d.call(t, `{"session_id":"s1","cwd":"/shop","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":`+input+`}`)
		if !strings.Contains(got, `"permissionDecision":"deny","permissionDecisionReason":"These questions cannot be shown to a person: `) {
			t.Errorf("%s: %s", input, got)
		}
	}
}

// meanwhile does something while a request is being made.
type meanwhile struct {
	do   func()
	once *sync.Once
}

func (m meanwhile) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/interactions") {
		m.once.Do(m.do)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// The terminal may be quicker than the request: then its card closes as soon as it is there, and the hook has no opinion.
func TestHookIsOvertaken(t *testing.T) {
	for name, notes := range map[string]agents.Notes{"in files": agents.FolderNotes(t.TempDir()), "in memory": &agents.MemoryNotes{}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, nil)
			d.hooks.Notes = notes
			later := d
			later.hooks.Client = d.agent
			d.hooks.Client.HTTP.Transport = meanwhile{func() { later.call(t, strings.ReplaceAll(postToolUse, `{"command":"ls"}`, `{ "command":"ls" }`)) }, &sync.Once{}}
			if got := d.call(t, preToolUse); got != "{}" {
				t.Errorf("it answered %s", got)
			}
			all, err := d.operator.Interactions(t.Context(), nil)
			if err != nil || len(all.Data) != 1 || all.Data[0].CancelReason != "asker_canceled" {
				t.Errorf("%v, and its card is %+v", err, all.Data)
			}
		})
	}
}

// ruling answers every request as a policy does.
type ruling string

func (r ruling) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/interactions") {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(r)))}, nil
	}
	return http.DefaultTransport.RoundTrip(req)
}

// What a policy decides is answered at once, and leaves nothing behind.
func TestHookByPolicy(t *testing.T) {
	d := newDesk(t, nil)
	for policy, want := range map[string]string{
		`{"policy":{"decision":"allow","source":"auto_allow","pattern":"Bash","message":"allowed by auto_allow"}}`: `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`,
		`{"policy":{"decision":"deny","source":"auto_deny","pattern":"Ba*","message":"no shells"}}`:                `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no shells"}}}`,
		`{"policy":{"decision":"deny","source":"auto_deny","pattern":"Ba*"}}`:                                      `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The approval policy denies Bash (auto_deny Ba*)."}}}`,
	} {
		d.hooks.Client.HTTP.Transport = ruling(policy)
		if got := d.call(t, permissionRequest); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	if left := d.hooks.Notes.Take("s1", true, func(agents.Note) bool { return true }); len(left) > 0 {
		t.Errorf("left behind are %+v", left)
	}
}

// An agent that is archived asks nothing more, and is told so.
func TestHookRefused(t *testing.T) {
	d := newDesk(t, nil)
	agent, err := d.agent.CreateAgent(t.Context(), api.NewAgent{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.operator.Archive(t.Context(), agent.ID); err != nil {
		t.Fatal(err)
	}
	h, err := agents.ReadHook("claude", []byte(preToolUse))
	if err != nil {
		t.Fatal(err)
	}
	v, err := d.hooks.Answer(t.Context(), h)
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusConflict || v.Decision != "deny" || !strings.Contains(v.Message, "This agent is archived") {
		t.Errorf("%v: %+v", err, v)
	}
}

// What came of a call, from what clients say of it.
func TestHookTellsResults(t *testing.T) {
	d := newDesk(t, nil)
	for _, c := range []struct{ event, response, outcome, text string }{
		{"PostToolUse", `{"stdout":"out","stderr":"err","interrupted":false}`, "succeeded", "out\nerr"},
		{"PostToolUse", `{"stdout":"","stderr":"","interrupted":true}`, "failed", ""},
		{"PostToolUse", `"plain"`, "succeeded", "plain"},
		{"PostToolUse", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "succeeded", "a\nb"},
		{"PostToolUse", `{"content":[{"type":"text","text":"c"}],"is_error":true}`, "failed", "c"},
		{"PostToolUse", `{"filePath":"a.txt","success":true}`, "succeeded", `{"filePath":"a.txt","success":true}`},
		{"PostToolUse", `null`, "succeeded", ""},
		{"PostToolUse", `"` + strings.Repeat("ä", 40<<10) + `"`, "succeeded", strings.Repeat("ä", 32<<10) + "\n… (16384 more bytes)"},
		{"PostToolUseFailure", `null,"error":"exit 1"`, "failed", "exit 1"},
	} {
		d.call(t, fmt.Sprintf(`{"session_id":"s1","cwd":"/shop","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":"x"},"tool_use_id":"t","tool_response":%s}`, c.event, c.response))
		events := d.events(t)
		last := events[len(events)-1]
		text := ""
		for _, b := range last.ContentBlocks {
			text += b.Text
		}
		if last.EventKind != "tool_result" || last.Outcome != c.outcome || text != c.text {
			t.Errorf("%.80s: %s %s %.200q, want %s %.200q", c.response, last.EventKind, last.Outcome, text, c.outcome, c.text)
		}
	}
}

// events are those of the conversation of the agent "shop".
func (d desk) events(t *testing.T) []api.Event {
	t.Helper()
	agent, err := d.agent.CreateAgent(t.Context(), api.NewAgent{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := d.operator.Events(t.Context(), agent.ID, url.Values{"limit": {"500"}})
	if err != nil {
		t.Fatal(err)
	}
	return page.Data
}

// A hook whose client finds no server denies at once, and says where it looked.
func TestHookWithoutServer(t *testing.T) {
	hooks := agents.Hooks{Client: &api.Client{URL: "http://127.0.0.1:1"}, Format: agents.GeminiFormat, Notes: &agents.MemoryNotes{}}
	h, err := agents.ReadHook("gemini", []byte(beforeTool))
	if err != nil {
		t.Fatal(err)
	}
	v, err := hooks.Answer(t.Context(), h)
	want := `{"decision":"deny","reason":"Sayso could not ask a person, so this is denied (fail closed): no server answers at http://127.0.0.1:1. Nobody said no. Do not try another way; tell the user that Sayso cannot be reached."}`
	if got := string(v.Reply("gemini", h)); got != want || !api.Unreachable(err) {
		t.Errorf("%v: %s", err, got)
	}
	hooks.Advise = true
	if v, _ := hooks.Answer(t.Context(), h); !json.Valid(v.Reply("gemini", h)) || v.Decision != "" {
		t.Errorf("it only advises, and says %+v", v)
	}
}
