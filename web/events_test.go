package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// lifecycle is the lifecycle log of the project, behind a query that bounds it.
func (s *site) lifecycle(query string) []api.LifecycleEvent {
	s.t.Helper()
	return events[api.LifecycleEvent](s.t, s.call(s.operator, "GET", project+"/events?limit=500"+query, "")).Data
}

// TestReport checks what a report becomes: its events in the log, its calls where they stand.
func TestReport(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	got := s.reports(path, `{"events":[
		{"event_kind":"user_message","content_blocks":[{"type":"text","text":"Build it."}]},
		{"event_kind":"model_output","content_blocks":[{"type":"reasoning","text":""},{"type":"text","text":" I will.\n"},`+toolCall("Bash", `{"command":"make"}`, `,"provider_call_id":"toolu_1"`)+`],"stop_reason":"tool_use"},
		{"event_kind":"model_output","content_blocks":[`+toolCall("ls", `{"a": 1}`, permission("always_allow"))+`]}]}`, "Sayso-Channel", "mcp")
	if len(got.Events) != 3 || len(got.ToolCalls) != 2 {
		t.Fatalf("%+v", got)
	}
	heard, said, ran := got.Events[0], got.Events[1], got.Events[2]
	in := heard.AgentInput
	if heard.EventKind != "agent_input" || in.InputKind != "content" || in.State != "resolved" || in.DeliveryMode != "immediate" || in.Actor != (api.Actor{Kind: "api_key", Name: "agent", Channel: "mcp"}) || in.ContentBlocks[0].Text != "Build it." {
		t.Errorf("the user's message: %+v", heard)
	}
	bash, ls := got.ToolCalls[0], got.ToolCalls[1]
	want := []api.ContentBlock{
		{Type: "reasoning"}, {Type: "text", Text: " I will.\n"},
		{Type: "tool_call", ToolCallID: bash.ID, Name: "Bash", Input: json.RawMessage(`{"command":"make"}`), ProviderCallID: "toolu_1"},
	}
	if diff := cmp.Diff(want, said.ContentBlocks); diff != "" || said.StopReason != "tool_use" || said.AgentInput != nil {
		t.Errorf("the output (-want +got):\n%s\n%+v", diff, said)
	}
	if ran.ContentBlocks[0].Permission != "always_allow" || ran.StopReason != "" {
		t.Errorf("the second output: %+v", ran)
	}
	if bash.State != "awaiting_permission" || bash.InteractionID == "" || bash.ProviderCallID != "toolu_1" || ls.State != "ready" || ls.InteractionID != "" || string(ls.Input) != `{"a": 1}` || ls.AgentID != agent {
		t.Errorf("calls %+v, %+v", bash, ls)
	}
	if diff := cmp.Diff(got.Events, s.conversation(path)); diff != "" {
		t.Errorf("reported and logged (-reported +logged):\n%s", diff)
	}
	i := s.gets(path, bash.InteractionID)
	if i.Kind != "permission" || i.Request.Title != "Permission requested for Bash" || i.ToolCallID != bash.ID || i.WaitMode != "poll" || i.ToolCall.ProviderCallID != "toolu_1" || i.State != "open" {
		t.Errorf("the permission: %+v", i)
	}
	if got := s.waiting(path); got != nil {
		t.Errorf("what a person said there waits: %v", got)
	}
}

// TestPermissionModes goes through what becomes of a tool call.
func TestPermissionModes(t *testing.T) {
	s := newSite(t)
	const form = `{"questions":[{"prompt":"P"}]}`
	for _, c := range []struct {
		name, block string
		stands      string
		opens       string
		events      []string
	}{
		{"allowed", toolCall("ls", "{}", permission("always_allow")), "ready", "", []string{"model_output"}},
		{"denied", toolCall("ls", "{}", permission("always_deny")), "completed denied", "", []string{"model_output", "tool_result"}},
		{"asked", toolCall("ls", "{}", permission("always_ask")), "awaiting_permission", "permission", []string{"model_output"}},
		{"by default", toolCall("ls", "{}"), "awaiting_permission", "permission", []string{"model_output"}},
		{"without input", `{"type":"tool_call","name":"ls"}`, "awaiting_permission", "permission", []string{"model_output"}},
		{"a question", toolCall("ask_question", form), "waiting", "question", []string{"model_output"}},
		{"a question that is allowed", toolCall("ask_question", form, permission("always_allow")), "waiting", "question", []string{"model_output"}},
		{"a question that is denied", toolCall("ask_question", form, permission("always_deny")), "waiting", "question", []string{"model_output"}},
		{"a tool of like name", toolCall("Ask_question", `{}`), "awaiting_permission", "permission", []string{"model_output"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := askable(s)
			call := s.calls(path, c.block)[0]
			if got := strings.TrimSpace(call.State + " " + call.Outcome); got != c.stands || (call.InteractionID != "") != (c.opens != "") {
				t.Errorf("%+v, want %s", call, c.stands)
			}
			if diff := cmp.Diff(call, s.callOf(path, call.ID)); diff != "" {
				t.Errorf("reported and listed:\n%s", diff)
			}
			var kinds []string
			for _, e := range s.conversation(path) {
				if kinds = append(kinds, e.EventKind); e.EventKind == "tool_result" && (e.Outcome != "denied" || e.ToolCallID != call.ID || e.ContentBlocks[0].Text != interaction.DeniedByMode || e.InteractionID != "") {
					t.Errorf("result %+v", e)
				}
			}
			if !slices.Equal(kinds, c.events) {
				t.Errorf("events %v, want %v", kinds, c.events)
			}
			if c.opens != "" && s.gets(path, call.InteractionID).Kind != c.opens {
				t.Errorf("it opened %+v", s.gets(path, call.InteractionID))
			}
		})
	}
}

// TestAskQuestion checks the form that a call of ask_question becomes, and what its answer makes of the call.
func TestAskQuestion(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	call := s.calls(path, toolCall("ask_question", `{"questions":[{"prompt":" Which port? ","options":[{"label":" 3000 "},{"label":"8080"}]},{"prompt":"Which parts?","multiple":true,"options":[{"label":"A"}]}]}`))[0]
	i := s.gets(path, call.InteractionID)
	other := api.Option{Label: "Other", AllowsText: true}
	want := []api.Question{
		{Prompt: "Which port?", Options: []api.Option{{Label: "3000"}, {Label: "8080"}, other}},
		{Prompt: "Which parts?", Multiple: true, Options: []api.Option{{Label: "A"}, other}},
	}
	if diff := cmp.Diff(want, i.Request.Questions); diff != "" || i.Request.Title != "Which port? (+1 more)" || i.Request.Context != nil || i.ToolCallID != call.ID {
		t.Errorf("title %q, form (-want +got):\n%s", i.Request.Title, diff)
	}
	if got := digestOf(t, "question", rawAt(t, s.call(s.operator, "GET", path+"/interactions/"+i.ID, "").body, "request"), "ask_question", string(call.Input)); got != i.Digest {
		t.Errorf("digest %s, want %s", i.Digest, got)
	}
	s.call(s.operator, "POST", path+"/interactions/"+i.ID+"/resolve", `{"answers":[{"option_indices":[2],"text":"443"},{"option_indices":[1,0]}]}`)
	if got := s.stands(path, call.ID); got != "completed succeeded" {
		t.Errorf("the call is %s", got)
	}
	log := s.conversation(path)
	const answers = `{"answers":[{"question_index":0,"question":"Which port?","selected_options":[{"option_index":2,"label":"Other"}],"text":"443"},{"question_index":1,"question":"Which parts?","selected_options":[{"option_index":0,"label":"A"},{"option_index":1,"label":"Other"}]}]}`
	if last := log[len(log)-1]; last.EventKind != "tool_result" || last.Outcome != "succeeded" || last.ContentBlocks[0].Text != answers {
		t.Errorf("the result is %+v", last)
	}
	s.refusal("a result for an answered question", "conflict", "completed", func() answer {
		return s.call(s.agent, "POST", path+"/tool-calls/"+call.ID+"/result", result("succeeded", "x"))
	})
}

// TestQuestionTitles goes through the titles of forms that a tool call asks.
func TestQuestionTitles(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct{ prompts, want string }{
		"one line":                 {`["Which port?"]`, "Which port?"},
		"its first line":           {`["  \n Which port?  \r\nThe old one is taken."]`, "Which port?"},
		"one more":                 {`["Which port?","Why?"]`, "Which port? (+1 more)"},
		"many more":                {`["A\nB","b","c","d","e","f","g","h","i","j","k"]`, "A (+10 more)"},
		"cut to 300":               {`["` + repeated(smile, 301) + `"]`, repeated(smile, 300)},
		"300 as it is":             {`["` + repeated("x", 300) + `"]`, repeated("x", 300)},
		"cut to make room":         {`["` + repeated("x", 400) + `","b"]`, repeated("x", 290) + " (+1 more)"},
		"cut behind a blank":       {`["` + repeated("x", 299) + ` yz"]`, repeated("x", 299)},
		"cut in a word, and blank": {`["` + repeated("x", 289) + ` yz","b"]`, repeated("x", 289) + " (+1 more)"},
	} {
		var prompts []string
		must(t, json.Unmarshal([]byte(c.prompts), &prompts))
		var list []string
		for _, p := range prompts {
			list = append(list, `{"prompt":`+strings.TrimSpace(toJSON(t, p))+`}`)
		}
		path := askable(s)
		call := s.calls(path, toolCall("ask_question", `{"questions":[`+strings.Join(list, ",")+`]}`))[0]
		got := s.gets(path, call.InteractionID).Request.Title
		if got != c.want {
			t.Errorf("%s: %q of %d, want %q", name, got, len([]rune(got)), c.want)
		}
	}
}

// TestBadQuestions checks that what is wrong with a call of ask_question is told with its place, and that nothing of the report is written.
func TestBadQuestions(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	const at = "events[1].content_blocks[1].input"
	options := func(n int) string { return strings.TrimSuffix(repeated(`{"label":"O"},`, n), ",") }
	for name, c := range map[string]struct{ input, says string }{
		"no questions":              {`{}`, at + ".questions: 1 to 20"},
		"an empty list":             {`{"questions":[]}`, at + ".questions: 1 to 20"},
		"null":                      {`{"questions":null}`, at + ".questions"},
		"a text":                    {`{"questions":"x"}`, at + ".questions: has the wrong type"},
		"a null in it":              {`{"questions":[null]}`, at + ".questions[0]"},
		"a text in it":              {`{"questions":["x"]}`, at + ".questions: has the wrong type"},
		"no prompt":                 {`{"questions":[{}]}`, at + ".questions[0].prompt"},
		"a blank prompt":            {`{"questions":[{"prompt":"P"},{"prompt":" "}]}`, at + ".questions[1].prompt"},
		"a long prompt":             {`{"questions":[{"prompt":"` + repeated("x", 4001) + `"}]}`, at + ".questions[0].prompt: 4001"},
		"NUL in the first prompt":   {`{"questions":[{"prompt":"a\u0000"}]}`, at + ".questions[0].prompt: the NUL"},
		"NUL in the second prompt":  {`{"questions":[{"prompt":"a"},{"prompt":"a\u0000"}]}`, at + ".questions[1].prompt: the NUL"},
		"a prompt of another type":  {`{"questions":[{"prompt":7}]}`, at + ".questions[0].prompt: has the wrong type"},
		"21 questions":              {`{"questions":[` + strings.TrimSuffix(repeated(`{"prompt":"P"},`, 21), ",") + `]}`, at + ".questions: 1 to 20"},
		"50 options":                {`{"questions":[{"prompt":"P","options":[` + options(50) + `]}]}`, at + ".questions[0].options: at most 49"},
		"a blank label":             {`{"questions":[{"prompt":"P","options":[{"label":""}]}]}`, at + ".questions[0].options[0].label"},
		"no label":                  {`{"questions":[{"prompt":"P","options":[{}]}]}`, at + ".questions[0].options[0].label"},
		"a flag of another type":    {`{"questions":[{"prompt":"P","multiple":"yes"}]}`, at + ".questions[0].multiple: has the wrong type"},
		"a label of another type":   {`{"questions":[{"prompt":"P","options":[{"label":"O"},{"label":{}}]}]}`, at + ".questions[0].options[1].label: has the wrong type"},
		"questions in another case": {`{"Questions":[{"prompt":"P"}]}`, at},
		"a prompt in another case":  {`{"questions":[{"PROMPT":"P"}]}`, at},
	} {
		body := `{"events":[{"event_kind":"user_message","content_blocks":[{"type":"text","text":"Hi."}]},{"event_kind":"model_output","content_blocks":[` + toolCall("ls", "{}") + "," + toolCall("ask_question", c.input) + `]}]}`
		s.refusal(name, "validation_failed", c.says, func() answer { return s.call(s.agent, "POST", path+"/events", body) })
	}
	if got := s.conversation(path); len(got) != 0 {
		t.Errorf("logged %v", told(got))
	}
	call := s.calls(path, toolCall("ask_question", `{"questions":[{"prompt":"P","options":[`+options(49)+`]}]}`))[0]
	if n := len(s.gets(path, call.InteractionID).Request.Questions[0].Options); n != 50 {
		t.Errorf("49 options and Other are %d", n)
	}
}

// TestReportIsAtomic checks that one bad event of a hundred writes nothing, and that a hundred good ones are written in order.
func TestReportIsAtomic(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	many := func(n int, last string) string {
		var all []string
		for i := range n - 1 {
			all = append(all, `{"event_kind":"model_output","content_blocks":[{"type":"text","text":"`+fmt.Sprint(i)+`"},`+toolCall("ls", "{}", permission("always_deny"))+`]}`)
		}
		return `{"events":[` + strings.Join(append(all, last), ",") + `]}`
	}
	const good = `{"event_kind":"user_message","content_blocks":[{"type":"text","text":"last"}]}`
	for name, c := range map[string]struct{ body, says string }{
		"no kind":                      {many(100, `{"content_blocks":[{"type":"text","text":"x"}]}`), "events[99].event_kind"},
		"a kind of another":            {many(100, `{"event_kind":"tool_result","content_blocks":[{"type":"text","text":"x"}]}`), "events[99].event_kind"},
		"a message that is blank":      {many(100, `{"event_kind":"user_message","content_blocks":[{"type":"text","text":" "}]}`), "events[99].content_blocks[0].text"},
		"a message with a call":        {many(100, `{"event_kind":"user_message","content_blocks":[`+toolCall("ls", "{}")+`]}`), "events[99].content_blocks[0].type"},
		"a message with a stop":        {many(100, `{"event_kind":"user_message","content_blocks":[{"type":"text","text":"x"}],"stop_reason":"x"}`), "events[99].stop_reason"},
		"a message that reasons":       {many(100, `{"event_kind":"user_message","content_blocks":[{"type":"reasoning","text":"x"}]}`), "events[99].content_blocks[0].type"},
		"no blocks":                    {many(100, `{"event_kind":"model_output","content_blocks":[]}`), "events[99].content_blocks"},
		"a call with text":             {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"tool_call","name":"x","text":""}]}`), "events[99].content_blocks[0].text"},
		"a call without a name":        {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"tool_call","input":{}}]}`), "events[99].content_blocks[0].name"},
		"a text with a name":           {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"text","text":"x","name":"x"}]}`), "events[99].content_blocks[0].name"},
		"a text with input":            {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"text","text":"x","input":{}}]}`), "events[99].content_blocks[0].input"},
		"a text with a permission":     {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"text","text":"x","permission":"always_ask"}]}`), "events[99].content_blocks[0].permission"},
		"a text without text":          {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"reasoning"}]}`), "events[99].content_blocks[0].text"},
		"an id that the server gives":  {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"tool_call","name":"x","tool_call_id":"tcl_x"}]}`), "events[99].content_blocks[0].tool_call_id: unknown"},
		"a sequence":                   {many(100, `{"event_kind":"model_output","sequence":1,"content_blocks":[{"type":"text","text":"x"}]}`), "events[99].sequence: unknown"},
		"101 events":                   {many(101, good), "events: 1 to 100 are allowed, got 101"},
		"a null where input should be": {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"tool_call","name":"x","input":null}]}`), "events[99].content_blocks[0].input"},
		"a field twice in the input":   {many(100, `{"event_kind":"model_output","content_blocks":[{"type":"tool_call","name":"x","input":{"a":1,"a":1}}]}`), "twice"},
	} {
		s.refusal(name, "validation_failed", c.says, func() answer { return s.call(s.agent, "POST", path+"/events", c.body) })
	}
	r := s.reports(path, many(100, good))
	log := s.conversation(path)
	if len(r.Events) != 100 || len(r.ToolCalls) != 99 || len(log) != 199 {
		t.Fatalf("%d events, %d calls, %d in the log", len(r.Events), len(r.ToolCalls), len(log))
	}
	for n := range 99 {
		if r.Events[n].ContentBlocks[0].Text != fmt.Sprint(n) || !cmp.Equal(log[2*n], r.Events[n]) || log[2*n+1].ToolCallID != r.ToolCalls[n].ID || r.ToolCalls[n].Outcome != "denied" {
			t.Errorf("event %d: %+v, %+v", n, r.Events[n], log[2*n+1])
		}
	}
}

// TestReportOnce checks the Idempotency-Key of a report: the same events, and the calls as they now are.
func TestReportOnce(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	body := output(toolCall("Bash", `{}`), toolCall("ls", "{}", permission("always_deny")))
	first := s.reports(path, body, "Idempotency-Key", "k")
	s.reports(path, says)
	s.call(s.operator, "POST", path+"/interactions/"+first.ToolCalls[0].InteractionID+"/resolve", allow)
	before := s.writes()
	a := s.call(s.agent, "POST", path+"/events", body, "Idempotency-Key", "k")
	var again api.Reported
	read(t, a, &again)
	first.ToolCalls[0].State = "ready"
	if diff := cmp.Diff(first, again); a.status != 200 || diff != "" {
		t.Errorf("%d (-first, with its call ready +again):\n%s", a.status, diff)
	}
	if s.writes() != before {
		t.Error("something was written")
	}
	s.refusal("another body", "idempotency_key_conflict", "", func() answer {
		return s.call(s.agent, "POST", path+"/events", says, "Idempotency-Key", "k")
	})
}

// TestReportedInputsAreKept checks that a tool's input comes back byte for byte from every place of the conversation.
func TestReportedInputsAreKept(t *testing.T) {
	s := newSite(t)
	for name, input := range inputs {
		for _, mode := range []string{"always_allow", "always_ask"} {
			path := askable(s)
			block := `{"permission":"` + mode + `", "input" : ` + input + "\t, \"name\":\"tool\" ,\"type\":\"tool_call\"}"
			made := s.call(s.agent, "POST", path+"/events", output(block))
			if made.status != http.StatusCreated {
				t.Errorf("%s: %d %.300s", name, made.status, made.body)
				continue
			}
			var reported struct {
				Events    []struct{ Content_blocks []json.RawMessage }
				ToolCalls []json.RawMessage `json:"tool_calls"`
			}
			read(t, made, &reported)
			var logged struct {
				Data []struct{ Content_blocks []json.RawMessage }
			}
			read(t, s.call(s.operator, "GET", path+"/events", ""), &logged)
			var listed struct{ Data []json.RawMessage }
			read(t, s.call(s.operator, "GET", path+"/tool-calls", ""), &listed)
			for where, text := range map[string]json.RawMessage{
				"the event": reported.Events[0].Content_blocks[0], "the call": reported.ToolCalls[0], "the log": logged.Data[0].Content_blocks[0], "the list": listed.Data[0],
			} {
				if got := rawAt(t, text, "input"); got != input {
					t.Errorf("%s, %s, %s: %.300q, want %.300q", name, mode, where, got, input)
				}
			}
		}
	}
}

// TestReportOpenLimit checks that a report which would open too much is refused as a whole, and that others have room of their own.
func TestReportOpenLimit(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	other := s.newKey(interaction.AgentPrincipal, "another agent")
	blocks := func(n int) []string { return slices.Repeat([]string{toolCall("Bash", "{}")}, n) }
	refused := func(n int) {
		t.Helper()
		s.refusal(fmt.Sprint(n), "rate_limited", "too many open", func() answer {
			a := s.call(s.agent, "POST", path+"/events", output(blocks(n)...))
			if a.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return a
		})
	}
	refused(51)
	s.calls(path, blocks(49)...)
	refused(2)
	s.asks(path, bash)
	refused(1)
	s.calls(path, toolCall("ls", "{}", permission("always_allow")))
	if got := s.call(other, "POST", path+"/events", output(blocks(50)...)); got.status != http.StatusCreated {
		t.Errorf("another asker: %d %s", got.status, got.body)
	}
	s.stops(path)
	s.calls(path, blocks(50)...)
}

// TestResult checks who may report a result, when, and what becomes of it.
func TestResult(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	_, elsewhere := s.newAgent("other")
	bound, stranger := s.bound(agent), s.newKey(interaction.AgentPrincipal, "stranger")
	ready := func() api.Call { return s.calls(path, toolCall("ls", "{}", permission("always_allow")))[0] }
	finish := func(key string, c api.Call, body string, headers ...string) answer {
		return s.call(key, "POST", path+"/tool-calls/"+c.ID+"/result", body, headers...)
	}
	for name, c := range map[string]struct{ key, body, outcome string }{
		"the one that made it":   {s.agent, result("succeeded", "ok"), "succeeded"},
		"the agent's own":        {bound, result("failed", "no"), "failed"},
		"an operator":            {s.operator, result("succeeded", " \n"), "succeeded"},
		"with nothing printed":   {s.agent, `{"outcome":"succeeded","content_blocks":[]}`, "succeeded"},
		"with an empty text":     {s.agent, result("failed", ""), "failed"},
		"with more than one":     {s.agent, `{"outcome":"succeeded","content_blocks":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "succeeded"},
		"with all that fits":     {s.agent, result("succeeded", repeated("é", 256<<10)), "succeeded"},
		"with a hundred of them": {s.agent, `{"outcome":"succeeded","content_blocks":[` + strings.TrimSuffix(repeated(`{"type":"text","text":"a"},`, 100), ",") + `]}`, "succeeded"},
	} {
		call := ready()
		got := finish(c.key, call, c.body)
		var done api.ResultBody
		read(t, got, &done)
		var sent api.Result
		must(t, json.Unmarshal([]byte(c.body), &sent))
		if got.status != 201 || done.Event.EventKind != "tool_result" || done.Event.Outcome != c.outcome || done.Event.ToolCallID != call.ID || !cmp.Equal(done.Event.ContentBlocks, sent.ContentBlocks) || done.Event.InteractionID != "" {
			t.Errorf("%s: %d %.500s", name, got.status, got.body)
		}
		if diff := cmp.Diff(s.callOf(path, call.ID), done.ToolCall); diff != "" || done.ToolCall.State != "completed" || done.ToolCall.Outcome != c.outcome {
			t.Errorf("%s (-listed +told):\n%s", name, diff)
		}
		if log := s.conversation(path); !cmp.Equal(log[len(log)-1], done.Event) {
			t.Errorf("%s: logged %+v", name, log[len(log)-1])
		}
		s.refusal(name+", again", "conflict", "completed", func() answer { return finish(c.key, call, c.body) })
	}

	call := ready()
	awaiting := s.calls(path, toolCall("Bash", "{}"))[0]
	foreign := s.calls(elsewhere, toolCall("ls", "{}", permission("always_allow")))[0]
	boundElsewhere := s.bound(foreign.AgentID)
	_, at := s.asks(path, bash)
	denied := s.call(s.operator, "POST", at+"/resolve", deny).interaction(t)
	s.refusal("a stranger", "not_found", "", func() answer { return finish(stranger, call, result("succeeded", "")) })
	s.refusal("another agent's key", "not_found", "", func() answer { return finish(boundElsewhere, call, result("succeeded", "")) })
	s.refusal("a call of another agent", "not_found", "", func() answer { return finish(s.agent, foreign, result("succeeded", "")) })
	s.refusal("before it was allowed", "conflict", "permission", func() answer { return finish(s.agent, awaiting, result("succeeded", "")) })
	s.refusal("after it was denied", "conflict", "denied", func() answer { return finish(s.agent, api.Call{ID: denied.ToolCallID}, result("succeeded", "")) })
	for outcome, code := range map[string]string{"denied": "validation_failed", "canceled": "validation_failed", "": "validation_failed", "Succeeded": "validation_failed"} {
		s.refusal("outcome "+outcome, code, "outcome", func() answer { return finish(s.agent, call, result(outcome, "")) })
	}

	first := finish(s.agent, call, result("succeeded", "ok"), "Idempotency-Key", "k")
	again := finish(s.agent, call, result("succeeded", "ok"), "Idempotency-Key", "k")
	if first.status != 201 || again.status != 200 || string(first.body) != string(again.body) {
		t.Errorf("once: %d %s, %d %s", first.status, first.body, again.status, again.body)
	}
	s.refusal("the key for another result", "idempotency_key_conflict", "", func() answer {
		return finish(s.agent, call, result("failed", "ok"), "Idempotency-Key", "k")
	})
}

// TestResultIsDelivery checks what a result says of the interaction that allowed the call, and what it does to a question that is open.
func TestResultIsDelivery(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	allowed, at := s.asks(path, bash)
	s.call(s.operator, "POST", at+"/resolve", allow)
	s.clock.Advance(time.Second)
	s.call(s.agent, "POST", path+"/tool-calls/"+allowed.ToolCallID+"/result", result("failed", "no remote"))
	now := s.clock.Now()
	got := s.call(s.operator, "GET", at, "").interaction(t)
	if d := got.Delivery; d.State != "reported" || d.Outcome != "failed" || d.ReportedAt == nil || !d.ReportedAt.Equal(now) || d.PickedUpAt == nil || !d.PickedUpAt.Equal(now) || got.State != "resolved" {
		t.Errorf("delivery %+v", d)
	}

	picked, at := s.asks(path, bash)
	s.call(s.operator, "POST", at+"/resolve", allow)
	s.call(s.agent, "GET", at, "")
	s.until(picked.ID, "picked up", pickedUp)
	s.clock.Advance(time.Second)
	s.call(s.agent, "POST", path+"/tool-calls/"+picked.ToolCallID+"/result", result("succeeded", ""))
	if d := s.call(s.operator, "GET", at, "").interaction(t).Delivery; d.State != "reported" || !d.PickedUpAt.Equal(now) || !d.ReportedAt.Equal(s.clock.Now()) {
		t.Errorf("delivery of one that was picked up before: %+v", d)
	}

	call := s.calls(path, toolCall("ask_question", `{"questions":[{"prompt":"P"}]}`))[0]
	before := len(s.conversation(path))
	if got := s.call(s.agent, "POST", path+"/tool-calls/"+call.ID+"/result", result("failed", "gave up")); got.status != 201 {
		t.Errorf("result of a waiting question: %d %s", got.status, got.body)
	}
	i := s.gets(path, call.InteractionID)
	if i.State != "canceled" || i.CancelReason != "tool_call_completed" || i.ResolvedByInputID != "" || i.ResolvedBy.Name != "agent" || s.stands(path, call.ID) != "completed failed" {
		t.Errorf("the question: %+v, its call %s", i, s.stands(path, call.ID))
	}
	if got := told(s.conversation(path)[before:]); !slices.Equal(got, []string{"tool_result failed " + call.ID}) {
		t.Errorf("events %v", got)
	}
	s.refusal("an answer after it", "idempotency_key_conflict", "tool_call_completed", func() answer {
		return s.call(s.operator, "POST", path+"/interactions/"+i.ID+"/resolve", allow)
	})
	s.verified()
}

// TestEventPages walks the log in both directions, in pages of each small size, and looks at every edge.
func TestEventPages(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	_, other := s.newAgent("other")
	empty := s.call(s.operator, "GET", path+"/events", "")
	if want := `{"data":[],"next_after_sequence":0,"has_more":false}`; strings.TrimSpace(string(empty.body)) != want {
		t.Errorf("an empty log: %s, want %s", empty.body, want)
	}
	for n := range 7 { // among other things that have a sequence too
		s.reports(path, says)
		s.reports(other, says)
		s.asks(askable(s), bash)
		if n == 3 {
			s.asks(path, bash)
		}
	}
	all := s.conversation(path)
	if len(all) != 7 {
		t.Fatalf("%d events, want 7", len(all))
	}
	first, last := all[0].Sequence, all[6].Sequence
	get := func(query string) api.EventPage[api.Event] {
		t.Helper()
		return events[api.Event](t, s.call(s.operator, "GET", path+"/events?"+query, ""))
	}
	for limit := 1; limit <= 8; limit++ {
		var forward, backward []api.Event
		for after, more := int64(0), true; more; {
			part := get(fmt.Sprintf("limit=%d&after_sequence=%d", limit, after))
			if part.NextBeforeSequence != nil || part.NextAfterSequence == nil || len(part.Data) == 0 || part.HasMore && len(part.Data) != limit {
				t.Fatalf("limit %d after %d: %+v", limit, after, part)
			}
			forward, after, more = append(forward, part.Data...), *part.NextAfterSequence, part.HasMore
		}
		for before, more := last+1, true; more; {
			part := get(fmt.Sprintf("limit=%d&before_sequence=%d", limit, before))
			if part.NextAfterSequence != nil || part.NextBeforeSequence == nil || len(part.Data) == 0 || part.HasMore && len(part.Data) != limit {
				t.Fatalf("limit %d before %d: %+v", limit, before, part)
			}
			backward, before, more = append(slices.Clone(part.Data), backward...), *part.NextBeforeSequence, part.HasMore
		}
		if diff := cmp.Diff(all, forward); diff != "" {
			t.Errorf("limit %d, forward:\n%s", limit, diff)
		}
		if diff := cmp.Diff(all, backward); diff != "" {
			t.Errorf("limit %d, backward:\n%s", limit, diff)
		}
	}
	const huge = int64(1) << 53 // what openapi.yaml is held against reads numbers as floats
	for _, c := range []struct {
		query     string
		n         int
		next      int64
		more, rev bool
	}{
		{"", 7, last, false, false},
		{"limit=7", 7, last, false, false},
		{"limit=6", 6, all[5].Sequence, true, false},
		{"after_sequence=0", 7, last, false, false},
		{fmt.Sprintf("after_sequence=%d", first), 6, last, false, false},
		{fmt.Sprintf("after_sequence=%d", last), 0, last, false, false},
		{fmt.Sprintf("after_sequence=%d", last-1), 1, last, false, false},
		{fmt.Sprintf("after_sequence=%d", huge), 0, huge, false, false},
		{"before_sequence=0", 0, 1, false, true},
		{"before_sequence=1", 0, 1, false, true},
		{fmt.Sprintf("before_sequence=%d", first), 0, first, false, true},
		{fmt.Sprintf("before_sequence=%d", first+1), 1, first, false, true},
		{fmt.Sprintf("before_sequence=%d&limit=6", last), 6, first, false, true},
		{fmt.Sprintf("before_sequence=%d&limit=6", last+1), 6, all[1].Sequence, true, true},
		{fmt.Sprintf("before_sequence=%d&limit=500", huge), 7, first, false, true},
	} {
		got := get(c.query)
		next := got.NextAfterSequence
		if c.rev {
			next = got.NextBeforeSequence
		}
		if len(got.Data) != c.n || got.HasMore != c.more || next == nil || *next != c.next {
			t.Errorf("%s: %d events, has_more %v, next %v; want %+v", c.query, len(got.Data), got.HasMore, next, c)
		}
	}
	for query, says := range map[string]string{
		"after_sequence=0&before_sequence=9": "before_sequence", "limit=501": "1 to 500", "limit=0": "1 to 500", "after_sequence=-1": "after_sequence", "cursor=x": "cursor",
	} {
		s.refusal(query, "validation_failed", says, func() answer { return s.call(s.operator, "GET", path+"/events?"+query, "") })
	}
}

// TestAnswersInTheLog checks what the log says of an answer, and that it says nothing of the life of an interaction.
func TestAnswersInTheLog(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	i, at := s.asks(path, bash)
	s.clock.Advance(time.Second)
	end := s.call(s.operator, "POST", at+"/resolve", denied, "Sayso-Channel", "cli").interaction(t)
	_, withdrawn := s.asks(path, bash)
	s.call(s.agent, "POST", withdrawn+"/cancel", "")
	log := s.conversation(path)
	var kinds []string
	for _, e := range log {
		kinds = append(kinds, e.EventKind)
	}
	if want := []string{"agent_input", "tool_result", "tool_result"}; !slices.Equal(kinds, want) {
		t.Fatalf("kinds %v, want %v", kinds, want)
	}
	want := &api.Input{
		ID: end.ResolvedByInputID, AgentID: i.AgentID, State: "resolved", DeliveryMode: "immediate", InputKind: "interaction_response",
		Actor: api.Actor{Kind: "api_key", Name: "operator", Channel: "cli"}, InteractionID: i.ID, Resolution: end.Resolution, QueuedAt: *end.ResolvedAt,
	}
	if diff := cmp.Diff(want, log[0].AgentInput); diff != "" || log[0].InteractionID != i.ID {
		t.Errorf("the answer (-want +got):\n%s", diff)
	}
	if r := log[1]; r.InteractionID != i.ID || r.ToolCallID != i.ToolCallID || r.Outcome != "denied" || r.ContentBlocks[0].Text != "Not now." {
		t.Errorf("the result: %+v", r)
	}
}

// TestLifecycle checks the log of all that was asked: each kind, in a line, and how to answer.
func TestLifecycle(t *testing.T) {
	s := newSite(t, withCommand)
	agent, path := s.newAgent("swe")
	answered, answeredAt := s.asks(path, bash)
	refused, refusedAt := s.asks(path, bash)
	form, formAt := s.asks(path, question)
	expires, _ := s.asks(path, `{"timeout_secs":5,"wait_mode":"block","workflow_id":"wf_1",`+bash[1:])
	withdrawn, withdrawnAt := s.asks(path, bash)
	s.call(s.operator, "POST", answeredAt+"/resolve", allow)
	s.call(s.operator, "POST", refusedAt+"/resolve", deny)
	s.call(s.operator, "POST", formAt+"/resolve", allow)
	s.call(s.agent, "POST", withdrawnAt+"/cancel", "")
	s.clock.Advance(5 * time.Second)
	must(t, s.service.ExpireDue(t.Context()))
	s.reports(path, says) // is none of it

	type line struct{ kind, id, reason, by, summary, command string }
	permission := func(id string) string { return "sayso2 agent interactions answer " + id + " --allow" }
	ask := "swe asks: Permission requested for Bash"
	want := []line{
		{"interaction_created", answered.ID, "", "", ask, permission(answered.ID)},
		{"interaction_created", refused.ID, "", "", ask, permission(refused.ID)},
		{"interaction_created", form.ID, "", "", "swe asks: Which report?", "sayso2 agent interactions answer " + form.ID + " --text 'YOUR ANSWER'"},
		{"interaction_created", expires.ID, "", "", ask, permission(expires.ID)},
		{"interaction_created", withdrawn.ID, "", "", ask, permission(withdrawn.ID)},
		{"interaction_answered", answered.ID, "", "operator", "operator allowed swe: Permission requested for Bash", permission(answered.ID)},
		{"interaction_answered", refused.ID, "", "operator", "operator denied swe: Permission requested for Bash", permission(refused.ID)},
		{"interaction_answered", form.ID, "", "operator", "operator answered swe: Which report?", "sayso2 agent interactions answer " + form.ID + " --text 'YOUR ANSWER'"},
		{"interaction_canceled", withdrawn.ID, "asker_canceled", "agent", "Canceled (asker_canceled), swe had asked: Permission requested for Bash", permission(withdrawn.ID)},
		{"interaction_expired", expires.ID, "expired", "Sayso", "Nobody answered swe in time: Permission requested for Bash", permission(expires.ID)},
	}
	var got []line
	for _, e := range s.lifecycle("") {
		l := line{e.EventKind, e.InteractionID, e.CancelReason, "", e.Summary, e.AnswerCommand}
		if e.ResolvedBy != nil {
			l.by = e.ResolvedBy.Name
		}
		if got = append(got, l); e.AgentID != agent || e.AgentName != "swe" || e.ProjectID != string(s.project.ID) || e.OrgID != string(s.project.OrgID) {
			t.Errorf("%+v", e)
		}
		if wf := e.InteractionID == expires.ID; wf != (e.WorkflowID == "wf_1") || wf != (e.WaitMode == "block") {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	all := s.lifecycle("")
	if part := s.lifecycle(fmt.Sprintf("&after_sequence=%d", all[6].Sequence)); !cmp.Equal(part, all[7:]) {
		t.Errorf("after %d: %v", all[6].Sequence, part)
	}
	back := events[api.LifecycleEvent](t, s.call(s.operator, "GET", fmt.Sprintf("%s/events?limit=2&before_sequence=%d", project, all[6].Sequence), ""))
	if !cmp.Equal(back.Data, all[4:6]) || !back.HasMore || *back.NextBeforeSequence != all[4].Sequence {
		t.Errorf("before %d: %+v", all[6].Sequence, back)
	}
	s.secondProject()
	if again := s.lifecycle(""); len(again) != len(all) {
		t.Errorf("another project is told of here: %v", again[len(all):])
	}
}

// TestToolCalls walks the list of tool calls, by state too.
func TestToolCalls(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	byState := map[string][]string{}
	var places []string
	for _, c := range s.calls(path,
		toolCall("a", "{}", permission("always_allow")), toolCall("b", "{}"), toolCall("c", "{}", permission("always_deny")), toolCall("ask_question", `{"questions":[{"prompt":"P"}]}`)) {
		byState[c.State] = append(byState[c.State], c.ID)
		places = append(places, s.place(c.ID))
	}
	for range 3 {
		s.clock.Advance(time.Millisecond)
		i, _ := s.asks(path, bash)
		byState["awaiting_permission"] = append(byState["awaiting_permission"], i.ToolCallID)
		places = append(places, s.place(i.ToolCallID))
	}
	s.calls(askable(s), toolCall("elsewhere", "{}"))
	walk(t, s, path+"/tool-calls?", ordered(places), func(c api.Call) string { return c.ID })
	for state, want := range byState {
		var got []string
		for _, c := range page[api.Call](t, s.call(s.operator, "GET", path+"/tool-calls?state="+url.QueryEscape(state), "")).Data {
			if got = append(got, c.ID); c.State != state {
				t.Errorf("%s: %+v", state, c)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
}
