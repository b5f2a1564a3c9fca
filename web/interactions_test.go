package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// TestAnswerCases runs the worked cases of the specification: questions and answers in, status and what is stored out.
func TestAnswerCases(t *testing.T) {
	var file struct {
		Cases []struct {
			Questions []api.Question
			Answers   json.RawMessage
			Status    int
			Code      string
			Stored    []api.Answer
			Why       string
		}
	}
	readCases(t, "answers.json", &file)
	s := newSite(t)
	_, path := s.newAgent("swe")
	for n, c := range file.Cases {
		ask := `{"request":{"title":"T","questions":` + toJSON(t, c.Questions) + `}}`
		if len(c.Questions) == 1 && c.Questions[0].Prompt == "Allow this tool call?" {
			ask = bash
		}
		i, at := s.asks(path, ask)
		got := s.call(s.operator, "POST", at+"/resolve", `{"answers":`+string(c.Answers)+`}`)
		if got.status != c.Status || c.Code != "" && got.code() != c.Code {
			t.Errorf("case %d (%s): %s answered with %s: %d %s, want %d %s", n, c.Why, ask, c.Answers, got.status, got.body, c.Status, c.Code)
		}
		after := s.call(s.operator, "GET", at, "").interaction(t)
		if c.Status != 200 {
			if after.State != "open" {
				t.Errorf("case %d: a refused answer left it %s", n, after.State)
			}
			s.call(s.agent, "POST", at+"/cancel", "")
			continue
		}
		if c.Stored != nil {
			if diff := cmp.Diff(c.Stored, after.Resolution.Answers); diff != "" {
				t.Errorf("case %d stored (-want +got):\n%s", n, diff)
			}
		}
		_ = i
	}
}

// TestPermissionForms runs the worked cases: a tool call in, the form out.
func TestPermissionForms(t *testing.T) {
	var file struct {
		Cases []struct {
			ToolCall json.RawMessage `json:"tool_call"`
			Title    string
			Context  [][2]string
		}
	}
	readCases(t, "permission_form.json", &file)
	s := newSite(t)
	_, path := s.newAgent("swe")
	for n, c := range file.Cases {
		i, _ := s.asks(path, `{"tool_call":`+string(c.ToolCall)+`}`)
		context := [][2]string{}
		for _, item := range i.Request.Context {
			context = append(context, [2]string{item.Label, item.Value})
		}
		if diff := cmp.Diff(c.Context, context); diff != "" || i.Request.Title != c.Title {
			t.Errorf("case %d: title %q, want %q; context (-want +got):\n%s", n, i.Request.Title, c.Title, diff)
		}
	}
}

func readCases(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	must(t, err)
	must(t, json.Unmarshal(text, into))
}

const question = `{"request":{"title":"Which report?","questions":[{"prompt":"Which format?","options":[{"label":"Full"},{"label":"Other","allows_text":true}]}]}}`

// TestCreateInteraction checks what an ask becomes, field by field.
func TestCreateInteraction(t *testing.T) {
	s := newSite(t)
	now := s.clock.Now()
	in := func(secs int) *api.Time { return &api.Time{Time: now.Add(time.Duration(secs) * time.Second)} }
	permission := func(change func(*api.Interaction)) api.Interaction {
		i := api.Interaction{
			Kind: "permission", WaitMode: "poll", ToolCall: &api.ToolCall{Name: "Bash", Input: json.RawMessage(`{}`)},
			Request: api.Request{Title: "Permission requested for Bash", Questions: []api.Question{{
				Prompt: "Allow this tool call?", Options: []api.Option{{Label: "Allow"}, {Label: "Deny", AllowsText: true}},
			}}},
		}
		change(&i)
		return i
	}
	for _, c := range []struct {
		name, body string
		want       api.Interaction
	}{
		{"a bare tool call", `{"tool_call":{"name":"Bash"}}`, permission(func(*api.Interaction) {})},
		{"block has a deadline", `{"tool_call":{"name":"Bash"},"wait_mode":"block"}`, permission(func(i *api.Interaction) {
			i.WaitMode, i.TimeoutSecs, i.ExpiresAt = "block", 600, in(600)
		})},
		{"a deadline of its own", `{"tool_call":{"name":"Bash"},"wait_mode":"block","timeout_secs":1}`, permission(func(i *api.Interaction) {
			i.WaitMode, i.TimeoutSecs, i.ExpiresAt = "block", 1, in(1)
		})},
		{"poll with a deadline", `{"tool_call":{"name":"Bash"},"timeout_secs":3600}`, permission(func(i *api.Interaction) {
			i.TimeoutSecs, i.ExpiresAt = 3600, in(3600)
		})},
		{"suspend never ends unanswered", `{"tool_call":{"name":"Bash"},"wait_mode":"suspend","workflow_id":"wf_1"}`, permission(func(i *api.Interaction) {
			i.WaitMode, i.WorkflowID = "suspend", "wf_1"
		})},
		{
			"everything that goes with a tool call",
			`{"tool_call":{"name":"Bash","input":{"command":" ls ","n":1},"provider_call_id":" toolu_1 "},"suggestions":[{"a":1}],"workflow_id":" wf ","task_id":"t\n",` + destinationJSON + `}`,
			permission(func(i *api.Interaction) {
				i.ToolCall = &api.ToolCall{Name: "Bash", Input: json.RawMessage(`{"command":" ls ","n":1}`), ProviderCallID: " toolu_1 "}
				i.Request.Context = []api.ContextItem{{Label: "Command", Value: " ls "}, {Label: "n", Value: "1"}}
				i.WorkflowID, i.TaskID = " wf ", "t\n"
				i.Destination = &api.Destination{IntegrationID: "slack", IntegrationTargetID: "C024", HandlerKey: "h1", Conversation: "#releases"}
			}),
		},
		{
			"a form, trimmed",
			`{"request":{"title":" T\n","context":[{"label":" L ","value":"\tV "},{"label":"L","value":"V"}],"questions":[{"prompt":" P ","header":" H ","multiple":true,"options":[{"label":" A ","description":" D "},{"label":"A","allows_text":true},{"label":"B","allows_text":false}]},{"prompt":"P","multiple":false,"options":[{"label":"A"}]}]}}`,
			api.Interaction{Kind: "question", WaitMode: "poll", Request: api.Request{
				Title: "T", Context: []api.ContextItem{{Label: "L", Value: "V"}, {Label: "L", Value: "V"}},
				Questions: []api.Question{
					{Prompt: "P", Header: "H", Multiple: true, Options: []api.Option{{Label: "A", Description: "D"}, {Label: "A", AllowsText: true}, {Label: "B"}}},
					{Prompt: "P", Options: []api.Option{{Label: "A"}}},
				},
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := askable(s)
			made, at := s.asks(path, c.body)
			c.want.ID, c.want.OrgID, c.want.ProjectID, c.want.AgentID = made.ID, string(s.project.OrgID), string(s.project.ID), path[len(project+"/agents/"):]
			c.want.State, c.want.CreatedAt, c.want.Digest, c.want.Delivery.State = "open", api.Time{Time: now}, made.Digest, "waiting"
			if c.want.Kind == "permission" {
				c.want.ToolCallID = made.ToolCallID
			}
			if diff := cmp.Diff(c.want, made); diff != "" {
				t.Errorf("made (-want +got):\n%s", diff)
			}
			if !interaction.ID(made.ID).WellFormed("int") || (made.ToolCallID != "") != interaction.ID(made.ToolCallID).WellFormed("tcl") {
				t.Errorf("ids %q and %q", made.ID, made.ToolCallID)
			}
			for _, key := range []string{s.agent, s.operator} {
				if diff := cmp.Diff(made, s.call(key, "GET", at, "").interaction(t)); diff != "" {
					t.Errorf("read (-made +read):\n%s", diff)
				}
			}
		})
	}
}

// TestAskMeansSomething checks combinations of fields that are right each by itself.
func TestAskMeansSomething(t *testing.T) {
	s := newSite(t)
	path := askable(s) + "/interactions"
	for _, c := range []struct{ name, body, code, says string }{
		{"neither a tool call nor a form", `{}`, "validation_failed", "tool_call"},
		{"both", `{"tool_call":{"name":"Bash"},` + question[1:], "validation_failed", "request"},
		{"suspend without a workflow", `{"tool_call":{"name":"Bash"},"wait_mode":"suspend"}`, "invalid_request", "workflow_id"},
		{"suspend with a deadline", `{"tool_call":{"name":"Bash"},"wait_mode":"suspend","workflow_id":"wf_1","timeout_secs":5}`, "invalid_request", "timeout_secs"},
		{"suggestions with a form", `{"suggestions":[],` + question[1:], "invalid_request", "suggestions"},
	} {
		before := s.writes()
		got := s.call(s.agent, "POST", path, c.body)
		if got.code() != c.code || !strings.Contains(got.message(), c.says) || s.writes() != before {
			t.Errorf("%s: %d %s, want %s that says %s", c.name, got.status, got.body, c.code, c.says)
		}
	}
}

// TestAbsentFieldsAreLeftOut checks which fields there are in each state, and that none is null, false or empty.
func TestAbsentFieldsAreLeftOut(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	always := []string{"agent_id", "created_at", "delivery", "digest", "id", "interaction_kind", "org_id", "project_id", "request", "state", "wait_mode"}
	call := []string{"tool_call", "tool_call_id"}
	end := []string{"resolved_at", "resolved_by"}
	for _, c := range []struct {
		name, body, key, action, with string
		fields                        []string
	}{
		{"an open permission", bash, "", "", "", call},
		{"an open question", question, "", "", "", nil},
		{"an allowed one", bash, s.operator, "/resolve", allow, append(slices.Clone(call), "resolution", "resolved_at", "resolved_by", "resolved_by_input_id")},
		{"an allowed one with a note", bash, s.operator, "/resolve", `{"answers":[{"option_indices":[0]}],"note":"n"}`, append(slices.Clone(call), "decision", "resolution", "resolved_at", "resolved_by", "resolved_by_input_id")},
		{"an answered question", question, s.operator, "/resolve", allow, append(slices.Clone(end), "resolution", "resolved_by_input_id")},
		{"a withdrawn one", bash, s.agent, "/cancel", "", append(append(slices.Clone(call), end...), "cancel_reason")},
	} {
		_, at := s.asks(path, c.body)
		if c.action != "" {
			s.call(c.key, "POST", at+c.action, c.with)
		}
		got := s.call(s.operator, "GET", at, "")
		var body map[string]any
		read(t, got, &body)
		want := slices.Sorted(slices.Values(append(slices.Clone(always), c.fields...)))
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(body))); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", c.name, diff)
		}
		for _, empty := range []string{"null", "false", `""`, "[]", ":{}"} {
			if strings.Contains(string(got.body), empty) {
				t.Errorf("%s: there is %s in %s", c.name, empty, got.body)
			}
		}
	}
}

// TestDestinationIsCaptured checks that an interaction keeps the destination that it was given, or that its agent had then.
func TestDestinationIsCaptured(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	patch := func(id string) {
		s.call(s.operator, "PATCH", path, `{"destination":{"integration_id":"`+id+`"}}`)
	}
	_, none := s.asks(path, bash)
	patch("slack")
	_, agents := s.asks(path, bash)
	_, own := s.asks(path, `{"destination":{"integration_id":"mail"},`+bash[1:])
	patch("teams")
	for at, want := range map[string]string{none: "", agents: "slack", own: "mail"} {
		got := s.call(s.operator, "GET", at, "").interaction(t).Destination
		if have := got != nil; have != (want != "") || have && got.IntegrationID != want {
			t.Errorf("destination %v, want %q", got, want)
		}
	}
}

// TestOpenLimit checks that an asker can have 50 open interactions for an agent, and no more.
func TestOpenLimit(t *testing.T) {
	s := newSite(t)
	other := s.newKey(interaction.AgentPrincipal, "another agent")
	path := askable(s)
	var first string // any of them
	for range 50 {
		_, at := s.asks(path, bash)
		first = at
	}
	again := s.call(s.agent, "POST", askable(s)+"/interactions", bash, "Idempotency-Key", "k")
	before := s.writes()
	got := s.call(s.agent, "POST", path+"/interactions", bash)
	if got.status != http.StatusTooManyRequests || got.code() != "rate_limited" || got.header.Get("Retry-After") != "5" || s.writes() != before {
		t.Errorf("one more: %d %s, Retry-After %q", got.status, got.body, got.header.Get("Retry-After"))
	}
	if got := s.call(other, "POST", path+"/interactions", bash); got.status != http.StatusCreated {
		t.Errorf("another asker: %d %s", got.status, got.body)
	}
	if again.status != http.StatusCreated {
		t.Errorf("for another agent: %d %s", again.status, again.body)
	}
	s.call(s.operator, "POST", first+"/resolve", allow)
	once := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "last")
	if once.status != http.StatusCreated {
		t.Errorf("after one ended: %d %s", once.status, once.body)
	}
	if got := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "last"); got.status != http.StatusOK || string(got.body) != string(once.body) {
		t.Errorf("the last again: %d %s", got.status, got.body)
	}
}

// TestCreateInteractionOnce checks the Idempotency-Key of a create: what comes back is the interaction as it now is.
func TestCreateInteractionOnce(t *testing.T) {
	s := newSite(t)
	path, other := askable(s), askable(s)
	first := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "k1").interaction(t)
	for _, c := range []struct {
		name, path, body, once string
		status                 int
		code                   string
	}{
		{"the same again", path, bash, "k1", 200, ""},
		{"another body", path, question, "k1", 409, "idempotency_key_conflict"},
		{"another agent", other, bash, "k1", 409, "idempotency_key_conflict"},
		{"another key", path, bash, "k2", 201, ""},
		{"no key", path, bash, absent, 201, ""},
	} {
		got := s.call(s.agent, "POST", c.path+"/interactions", c.body, "Idempotency-Key", c.once)
		if got.status != c.status || got.code() != c.code || c.status == 200 && got.interaction(t).ID != first.ID {
			t.Errorf("%s: %d %s, want %d %s", c.name, got.status, got.body, c.status, c.code)
		}
	}
	if got := s.call(s.agent, "POST", project+"/agents", `{"name":"x"}`, "Idempotency-Key", "k1"); got.code() != "idempotency_key_conflict" {
		t.Errorf("an agent under the key of an interaction: %d %s", got.status, got.body)
	}
	at := path + "/interactions/" + first.ID
	s.call(s.operator, "POST", at+"/resolve", deny)
	got := s.call(s.agent, "POST", path+"/interactions", bash, "Idempotency-Key", "k1").interaction(t)
	if got.ID != first.ID || got.State != "resolved" {
		t.Errorf("the same after the answer: %s %s", got.ID, got.State)
	}
	s.until(first.ID, "the asker has read the answer in it", pickedUp)
}

// TestPageThroughInteractions walks the lists in pages of each small size, in both orders: nothing is missed, and nothing comes twice.
func TestPageThroughInteractions(t *testing.T) {
	s := newSite(t)
	one, two := askable(s), askable(s)
	var all []string
	of := map[string][]string{}
	for n := range 24 {
		if n%8 == 7 {
			s.clock.Advance(time.Millisecond) // the others share their time
		}
		path := one
		if n%3 == 0 {
			path = two
		}
		i, at := s.asks(path, bash)
		here := s.place(i.ID)
		if n%4 == 0 {
			s.call(s.operator, "POST", at+"/resolve", allow)
			of["resolved"] = append(of["resolved"], here)
		} else {
			of["open"] = append(of["open"], here)
		}
		all, of[path] = append(all, here), append(of[path], here)
	}
	id := func(i api.Interaction) string { return i.ID }
	walk(t, s, project+"/interactions?", ordered(all), id)
	walk(t, s, project+"/interactions?state=open&", ordered(of["open"]), id)
	walk(t, s, project+"/interactions?state=resolved&", ordered(of["resolved"]), id)
	walk(t, s, project+"/interactions?agent_id="+two[len(project+"/agents/"):]+"&", ordered(of[two]), id)
	walk(t, s, one+"/interactions?", ordered(of[one]), id)
	walk(t, s, two+"/interactions?state=open&", ordered(intersection(of[two], of["open"])), id)
	if got := s.call(s.operator, "GET", project+"/interactions?state=canceled", ""); string(got.body) != `{"data":[],"next_cursor":null}`+"\n" {
		t.Errorf("an empty list: %s", got.body)
	}
	if got := page[api.Interaction](t, s.call(s.operator, "GET", project+"/interactions", "")); len(got.Data) != len(all) || got.NextCursor != nil {
		t.Errorf("without a limit: %d", len(got.Data))
	}
}

func intersection(a, b []string) (both []string) {
	for _, s := range a {
		if slices.Contains(b, s) {
			both = append(both, s)
		}
	}
	return both
}

// TestDefaultLimit checks that a page holds 50 unless it is asked to hold more or fewer.
func TestDefaultLimit(t *testing.T) {
	s := newSite(t)
	for range 2 {
		path := askable(s)
		for range 30 {
			s.asks(path, bash)
		}
	}
	for query, want := range map[string]int{"": 50, "?limit=59": 59, "?limit=60": 60, "?limit=100": 60} {
		got := page[api.Interaction](t, s.call(s.operator, "GET", project+"/interactions"+query, ""))
		if len(got.Data) != want || (got.NextCursor == nil) != (want == 60) {
			t.Errorf("%s: %d, next %v", query, len(got.Data), got.NextCursor)
		}
	}
}

// TestFilterInteractions makes one interaction of each sort and looks for it in every way.
func TestFilterInteractions(t *testing.T) {
	s := newSite(t)
	second := s.newKey(interaction.OperatorPrincipal, "second", interaction.ScopeResolve)
	one, two := askable(s), askable(s)
	start := s.clock.Now()
	names := map[string]string{} // by id
	ask := func(name, path, body string) string {
		i, at := s.asks(path, body)
		names[i.ID] = name
		s.clock.Advance(time.Second)
		return at
	}
	ask("open", one, bash)
	ask("asked", one, question)
	s.call(s.operator, "POST", ask("allowed", one, bash)+"/resolve", allow)
	dana := s.call(s.operator, "POST", ask("denied", two, bash)+"/resolve", `{"answers":[{"option_indices":[1]}],"actor":{"provider_user_id":"U1","display_name":"Dana"}}`).interaction(t)
	s.call(second, "POST", ask("answered", two, question)+"/resolve", allow)
	s.call(s.agent, "POST", ask("withdrawn", one, bash)+"/cancel", "")
	ask("expired", two, `{"timeout_secs":1,`+question[1:])
	must(t, s.service.ExpireDue(t.Context()))

	at := func(secs int) string {
		return url.QueryEscape(start.Add(time.Duration(secs) * time.Second).Format(time.RFC3339Nano))
	}
	elsewhere := url.QueryEscape(start.Add(2 * time.Second).In(time.FixedZone("", 5400)).Format(time.RFC3339Nano))
	id := func(path string) string { return path[len(project+"/agents/"):] }
	for _, c := range []struct{ list, query, want string }{
		{project, "", "open asked allowed denied answered withdrawn expired"},
		{project, "order=desc", "expired withdrawn answered denied allowed asked open"},
		{project, "state=open", "open asked"},
		{project, "state=resolved", "allowed denied answered"},
		{project, "state=canceled", "withdrawn expired"},
		{project, "kind=permission", "open allowed denied withdrawn"},
		{project, "kind=question", "asked answered expired"},
		{project, "kind=question&state=open", "asked"},
		{project, "agent_id=" + id(one), "open asked allowed withdrawn"},
		{project, "agent_id=" + id(two), "denied answered expired"},
		{project, "agent_id=" + id(two) + "&kind=permission", "denied"},
		{project, "agent_id=agt_aaaaaaaaaaaaaaaaaaaaaaaaaa", ""},
		{project, "cancel_reason=asker_canceled", "withdrawn"},
		{project, "cancel_reason=expired", "expired"},
		{project, "cancel_reason=expired&state=canceled", "expired"},
		{project, "cancel_reason=expired&state=open", ""},
		{project, "cancel_reason=agent_archived", ""},
		{project, "resolved_by=operator", "allowed"},
		{project, "resolved_by=Dana", "denied"},
		{project, "resolved_by=dana", ""},
		{project, "resolved_by=Dan", ""},
		{project, "resolved_by=" + dana.ResolvedBy.ActorID, "denied"},
		{project, "resolved_by=second", "answered"},
		{project, "resolved_by=agent", "withdrawn"},
		{project, "resolved_by=Sayso", "expired"},
		{project, "resolved_by=%25", ""},
		{project, "created_after=" + at(2), "allowed denied answered withdrawn expired"},
		{project, "created_before=" + at(2), "open asked"},
		{project, "created_after=" + at(2) + "&created_before=" + at(3), "allowed"},
		{project, "created_after=" + at(3) + "&created_before=" + at(3), ""},
		{project, "created_after=" + elsewhere + "&state=canceled", "withdrawn expired"},
		{project, "created_before=" + at(4) + "&state=resolved&order=desc", "denied allowed"},
		{project, "created_before=0001-01-01T00:00:00Z", ""},
		{one, "", "open asked allowed withdrawn"},
		{one, "state=open", "open asked"},
		{one, "state=canceled&order=desc", "withdrawn"},
		{two, "state=open", ""},
	} {
		var got []string
		for _, i := range page[api.Interaction](t, s.call(s.operator, "GET", c.list+"/interactions?"+c.query, "")).Data {
			got = append(got, names[i.ID])
		}
		if have := strings.Join(got, " "); have != c.want {
			t.Errorf("%s: %s, want %s", c.query, have, c.want)
		}
	}
}

// TestListedIsRead checks that an interaction is the same, byte for byte, wherever it is given.
func TestListedIsRead(t *testing.T) {
	s := newSite(t)
	path := askable(s)
	for n, body := range []string{bash, question, bash, bash} {
		_, at := s.asks(path, body)
		if n >= 2 {
			s.call(s.operator, "POST", at+"/resolve", []string{allow, deny}[n-2])
		}
	}
	for _, list := range []string{project + "/interactions", path + "/interactions"} {
		var all struct{ Data []json.RawMessage }
		read(t, s.call(s.operator, "GET", list, ""), &all)
		for _, listed := range all.Data {
			var i api.Interaction
			must(t, json.Unmarshal(listed, &i))
			if got := s.call(s.operator, "GET", path+"/interactions/"+i.ID, ""); string(got.body) != string(listed)+"\n" {
				t.Errorf("read %s\nlisted %s", got.body, listed)
			}
		}
		if len(all.Data) != 4 {
			t.Errorf("%s: %d", list, len(all.Data))
		}
	}
}

// TestTimesAreMilliseconds checks how times are written.
func TestTimesAreMilliseconds(t *testing.T) {
	s := newSite(t)
	s.clock.Advance(time.Duration(1e9-s.clock.Now().Nanosecond()) + 123*time.Microsecond) // a full second, and a little
	want := s.clock.Now().Format("2006-01-02T15:04:05.000Z")
	got := s.call(s.agent, "POST", askable(s)+"/interactions", bash)
	if !strings.Contains(string(got.body), fmt.Sprintf(`"created_at":%q`, want)) || !strings.HasSuffix(want, ".000Z") {
		t.Errorf("%s, want created_at %s", got.body, want)
	}
}
