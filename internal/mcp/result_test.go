package mcp

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
)

const (
	bash = `{"tool_name":"Bash","input":{"command":"ls <a> && b","n":2512292042121000001,"f":10.10,"u":"\u202e é"},"tool_use_id":"toolu_1"}`
	// bashInput is the input of it, as it is given back: its values byte for byte.
	bashInput = `{"command":"ls <a> && b","n":2512292042121000001,"f":10.10,"u":"\u202e é"}`
	voluntary = `{"tool_name":"Bash","arguments":{"command":"ls"}}`
	colours   = `{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}],"multiSelect":false},{"question":"Which features?","header":"Features","options":[{"label":"Auth"},{"label":"Push"}],"multiSelect":true}]}`
	prompt    = `{"tool_name":"AskUserQuestion","input":` + colours + `,"tool_use_id":"toolu_2"}`
	branches  = `{"question":"Which branch?","options":["main","release"]}`
)

func policy(p api.PolicyDecision) func(*api.Interaction) {
	return func(i *api.Interaction) { *i = api.Interaction{Policy: &p} }
}

// golden are the rows of the specification's tables: what a call is answered, to the byte.
var golden = []struct {
	name, tool, arguments string
	config                Config
	backend               *fake // nil: one that never answers
	isError               bool
	want                  string
}{
	{name: "policy allows", tool: "request_approval", arguments: bash, backend: &fake{opens: policy(api.PolicyDecision{Decision: "allow", Source: "auto_allow", Pattern: "Bash", Message: "Allowed by policy (auto_allow: Bash)."})},
		want: `{"tool":"request_approval","result":{"decision":"allow","source":"policy","message":"Allowed by policy (auto_allow: Bash)."},"behavior":"allow","updatedInput":` + bashInput + `}`},
	{name: "policy allows what has no input", tool: "request_approval", arguments: `{"action":"git.commit"}`, backend: &fake{opens: policy(api.PolicyDecision{Decision: "allow", Source: "auto_allow"})},
		want: `{"tool":"request_approval","result":{"decision":"allow","source":"policy"},"behavior":"allow","updatedInput":{}}`},
	{name: "policy denies", tool: "request_approval", arguments: bash, backend: &fake{opens: policy(api.PolicyDecision{Decision: "deny", Source: "auto_deny", Pattern: "Ba*", Message: "Denied by policy (auto_deny: Ba*)."})},
		want: `{"tool":"request_approval","result":{"decision":"deny","source":"policy","message":"Denied by policy (auto_deny: Ba*)."},"behavior":"deny","message":"Denied by policy (auto_deny: Ba*)."}`},

	{name: "a person allows", tool: "request_approval", arguments: bash, backend: &fake{becomes: allowed(api.Decision{})},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":` + bashInput + `}`},
	{name: "a person allows with a note, another input and what to remember", tool: "request_approval", arguments: bash,
		backend: &fake{becomes: allowed(api.Decision{Note: "be quick", UpdatedInput: json.RawMessage(`{"command":"ls","n":12345678901234567890}`), UpdatedPermissions: json.RawMessage(`[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"localSettings"}]`)})},
		want:    `{"tool":"request_approval","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human","message":"be quick"},"behavior":"allow","updatedInput":{"command":"ls","n":12345678901234567890},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"localSettings"}]}`},
	{name: "a person allows a voluntary one", tool: "request_approval", arguments: voluntary, backend: &fake{becomes: allowed(api.Decision{})},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":{"command":"ls"}}`},
	{name: "a person allows an action without input", tool: "request_approval", arguments: `{"action":"deploy to production"}`, backend: &fake{becomes: allowed(api.Decision{})},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":{}}`},
	{name: "a person denies with a reason", tool: "request_approval", arguments: bash, backend: &fake{becomes: denied("No: use staging.")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","answered_by":"Dana","source":"human","message":"No: use staging."},"behavior":"deny","message":"No: use staging."}`},
	{name: "a person denies without one", tool: "request_approval", arguments: bash, backend: &fake{becomes: denied("")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","answered_by":"Dana","source":"human","message":"Denied by Dana. No reason was given."},"behavior":"deny","message":"Denied by Dana. No reason was given."}`},
	{name: "nobody answers", tool: "request_approval", arguments: bash, backend: &fake{becomes: canceled("expired")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","source":"timeout","message":"Nobody answered within 600 s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it."},"behavior":"deny","message":"Nobody answered within 600 s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it."}`},
	{name: "nobody answers a voluntary one", tool: "request_approval", arguments: voluntary, backend: &fake{becomes: canceled("expired")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","source":"timeout","message":"Nobody answered within 600 s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it."},"behavior":"deny","message":"Nobody answered within 600 s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it."}`},
	{name: "it is canceled", tool: "request_approval", arguments: bash, backend: &fake{becomes: canceled("agent_canceled")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","source":"canceled","cancel_reason":"agent_canceled","message":"The request was canceled: the agent was told to stop (agent_canceled). It is not allowed; do not act on it."},"behavior":"deny","message":"The request was canceled: the agent was told to stop (agent_canceled). It is not allowed; do not act on it."}`},
	{name: "a native one is suspended", tool: "request_approval", arguments: bash, config: Config{WorkflowID: "wf_1"},
		want: `{"tool":"request_approval","result":{"status":"pending","interaction_id":"int_1","workflow_id":"wf_1","workflow_paused":true,"instruction":"This workflow is paused until a person answers. End your turn now; you are resumed with the answer. Do not act as if it were allowed."},"behavior":"deny","message":"A person was asked and has not answered yet (interaction int_1). End your turn now: the answer will come when the session resumes. Do not act on this, and do not try another way."}`},
	{name: "a voluntary one is suspended", tool: "request_approval", arguments: voluntary, config: Config{WorkflowID: "wf_1"},
		want: `{"tool":"request_approval","result":{"status":"pending","interaction_id":"int_1","workflow_id":"wf_1","workflow_paused":true,"instruction":"This workflow is paused until a person answers. End your turn now; you are resumed with the answer. Do not act as if it were allowed."}}`},
	{name: "a voluntary one is polled for", tool: "request_approval", arguments: `{"action":"deploy","wait":"poll","workflow_id":"shown"}`,
		want: `{"tool":"request_approval","result":{"status":"pending","interaction_id":"int_1","workflow_id":"shown","instruction":"Nobody has answered yet; the question stays open. Call await_answer with interaction_id \"int_1\" to wait for the answer. Until it comes, do not act as if it were allowed."}}`},
	{name: "a plan is allowed like anything", tool: "request_approval", arguments: `{"tool_name":"ExitPlanMode","input":{},"tool_use_id":"t"}`, backend: &fake{becomes: allowed(api.Decision{})},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":{}}`},

	{name: "questions are answered", tool: "request_approval", arguments: prompt, backend: &fake{becomes: resolved(api.Decision{}, chosen("", 1), chosen("", 0, 1))},
		want: `{"tool":"request_approval","result":{"id":"int_1","answers":{"Which colour?":"Blue","Which features?":"Auth, Push"},"answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":` + colours[:len(colours)-1] + `,"answers":{"Which colour?":"Blue","Which features?":"Auth, Push"}}}`},
	{name: "one in their own words, one left open, and a response", tool: "request_approval", arguments: prompt, backend: &fake{becomes: resolved(api.Decision{Response: "ask again later"}, chosen("neither", 2), chosen("", 2))},
		want: `{"tool":"request_approval","result":{"id":"int_1","answers":{"Which colour?":"neither"},"response":"ask again later","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":` + colours[:len(colours)-1] + `,"answers":{"Which colour?":"neither"},"response":"ask again later"}}`},
	{name: "questions that nobody answered are not allowed", tool: "request_approval", arguments: prompt, backend: &fake{becomes: resolved(api.Decision{}, chosen("", 2), chosen("", 2))},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","answered_by":"Dana","source":"human","message":"Dana answered none of the questions."},"behavior":"deny","message":"Dana answered none of the questions."}`},
	{name: "answers that the agent wrote itself are dropped", tool: "request_approval", arguments: `{"tool_name":"AskUserQuestion","input":{"answers":{"A?":"yes"},"questions":[{"question":"A?"}],"response":"yes"}}`, backend: &fake{becomes: resolved(api.Decision{}, chosen("no", 0))},
		want: `{"tool":"request_approval","result":{"id":"int_1","answers":{"A?":"no"},"answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":{"questions":[{"question":"A?"}],"answers":{"A?":"no"}}}`},
	{name: "questions expire", tool: "request_approval", arguments: prompt, backend: &fake{becomes: canceled("expired")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","source":"timeout","message":"Nobody answered within 600 s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it."},"behavior":"deny","message":"Nobody answered within 600 s, so this is denied (fail closed). Nobody said no, and nobody said yes: do not act on it."}`},
	{name: "questions that are none", tool: "request_approval", arguments: `{"tool_name":"AskUserQuestion","input":{"questions":"what?"}}`,
		want: `{"tool":"request_approval","error":"questions: must be an array of questions","behavior":"deny","message":"These questions cannot be shown to a person: questions: must be an array of questions"}`},
	{name: "two questions with the same text", tool: "request_approval", arguments: `{"tool_name":"AskUserQuestion","input":{"questions":[{"question":"A?"},{"question":"A?"}]}}`,
		want: `{"tool":"request_approval","error":"questions[1].question: two have the same text, so their answers could not be told apart","behavior":"deny","message":"These questions cannot be shown to a person: questions[1].question: two have the same text, so their answers could not be told apart"}`},
	{name: "questions that the server refuses", tool: "request_approval", arguments: prompt, backend: &fake{refuses: &api.Error{Status: 400, Message: "request.questions[0].prompt: too long"}},
		want: `{"tool":"request_approval","error":"request.questions[0].prompt: too long","behavior":"deny","message":"These questions cannot be shown to a person: request.questions[0].prompt: too long"}`},
	{name: "an own tool", tool: "request_approval", arguments: `{"tool_name":"mcp__sayso__ask","input":{"question":"A?"}}`,
		want: `{"tool":"request_approval","result":{"decision":"allow","source":"own_tool"},"behavior":"allow","updatedInput":{"question":"A?"}}`},
	{name: "an own tool by its other name", tool: "request_approval", arguments: `{"tool_name":"mcp__sayso__animus_agent_request_approval","input":{}}`,
		want: `{"tool":"request_approval","result":{"decision":"allow","source":"own_tool"},"behavior":"allow","updatedInput":{}}`},
	{name: "a tool that answers is none of those", tool: "request_approval", arguments: `{"tool_name":"mcp__sayso__interactions_answer","input":{"id":"int_9"}}`, backend: &fake{becomes: denied("no")},
		want: `{"tool":"request_approval","result":{"id":"int_1","decision":"deny","answered_by":"Dana","source":"human","message":"no"},"behavior":"deny","message":"no"}`},

	{name: "a native one that the server refuses", tool: "request_approval", arguments: bash, backend: &fake{refuses: &api.Error{Status: 429, Message: "too many"}}, config: Config{Hold: new(time.Duration)},
		want: `{"tool":"request_approval","error":"too many","behavior":"deny","message":"Nobody answered, so this is denied (fail closed): too many"}`},
	{name: "a native one when no server is there", tool: "request_approval", arguments: bash, backend: &fake{refuses: &net.OpError{Op: "dial", Err: api.ErrNoServer}},
		want: `{"tool":"request_approval","error":"dial: no server is running","behavior":"deny","message":"Nobody answered, so this is denied (fail closed): dial: no server is running"}`},
	{name: "a native one whose wait breaks", tool: "request_approval", arguments: bash, backend: &fake{breaks: &api.Error{Status: 401, Message: "no such key"}},
		want: `{"tool":"request_approval","error":"no such key","behavior":"deny","message":"Nobody answered, so this is denied (fail closed): no such key"}`},
	{name: "a native one with a bad argument", tool: "request_approval", arguments: `{"tool_name":" Bash","input":{}}`,
		want: `{"tool":"request_approval","error":"tool_name: leading and trailing blanks are not allowed, got \" Bash\"","behavior":"deny","message":"Nobody answered, so this is denied (fail closed): tool_name: leading and trailing blanks are not allowed, got \" Bash\""}`},
	{name: "a voluntary one that the server refuses", tool: "request_approval", arguments: voluntary, backend: &fake{refuses: &api.Error{Status: 400, Message: "timeout_secs: 0 is out of range"}}, isError: true,
		want: `{"tool":"request_approval","error":"timeout_secs: 0 is out of range"}`},
	{name: "neither tool nor action", tool: "request_approval", arguments: `{"arguments":{}}`, isError: true,
		want: `{"tool":"request_approval","error":"tool_name: give the name of the tool, or an action"}`},
	{name: "Animus's names", tool: "animus.agent.request_approval", arguments: bash, config: Config{Animus: true}, backend: &fake{becomes: allowed(api.Decision{})},
		want: `{"tool":"animus.agent.request_approval","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":` + bashInput + `}`},

	{name: "a flat question", tool: "ask", arguments: branches, backend: &fake{becomes: resolved(api.Decision{}, chosen("", 1))},
		want: `{"tool":"ask","result":{"id":"int_1","answer":"release","answered_by":"Dana"}}`},
	{name: "a flat question in their own words", tool: "ask", arguments: branches, backend: &fake{becomes: resolved(api.Decision{Response: "and hurry"}, chosen("<hotfix>", 2))},
		want: `{"tool":"ask","result":{"id":"int_1","answer":"<hotfix>","answered_by":"Dana","answer_message":"and hurry"}}`},
	{name: "a flat question without options", tool: "ask", arguments: `{"question":"What is the name?"}`, backend: &fake{becomes: resolved(api.Decision{}, chosen("Sayso", 0))},
		want: `{"tool":"ask","result":{"id":"int_1","answer":"Sayso","answered_by":"Dana"}}`},
	{name: "structured questions", tool: "ask", arguments: colours, backend: &fake{becomes: resolved(api.Decision{Response: "thanks"}, chosen("", 1), chosen("Logs", 0, 2))},
		want: `{"tool":"ask","result":{"id":"int_1","answers":{"Which colour?":"Blue","Which features?":["Auth","Logs"]},"response":"thanks","answer":"Which colour? Blue\nWhich features? Auth, Logs\nthanks","answered_by":"Dana"}}`},
	{name: "one of them left open", tool: "ask", arguments: colours, backend: &fake{becomes: resolved(api.Decision{}, chosen("", 2), chosen("", 1))},
		want: `{"tool":"ask","result":{"id":"int_1","answers":{"Which features?":["Push"]},"answer":"Which features? Push","answered_by":"Dana"}}`},
	{name: "a question is suspended", tool: "ask", arguments: branches, config: Config{WorkflowID: "wf_1"},
		want: `{"tool":"ask","result":{"status":"pending","interaction_id":"int_1","workflow_id":"wf_1","workflow_paused":true,"instruction":"This workflow is paused until a person answers. End your turn now; you are resumed with the answer. Do not act as if it were allowed."}}`},
	{name: "a question is polled for", tool: "ask", arguments: `{"question":"Which branch?","wait":"poll"}`,
		want: `{"tool":"ask","result":{"status":"pending","interaction_id":"int_1","instruction":"Nobody has answered yet; the question stays open. Call await_answer with interaction_id \"int_1\" to wait for the answer. Until it comes, do not act as if it were allowed."}}`},
	{name: "an unknown wait", tool: "ask", arguments: `{"question":"Which branch?","wait":"nap"}`, backend: &fake{becomes: resolved(api.Decision{}, chosen("main", 0))},
		want: `{"tool":"ask","result":{"id":"int_1","answer":"main","answered_by":"Dana","warnings":["wait: \"nap\" is unknown, allowed are block, suspend and poll; taking block"]}}`},
	{name: "suspend without a pin", tool: "ask", arguments: `{"question":"Which branch?","wait":"suspend","workflow_id":"wf_9"}`, backend: &fake{becomes: resolved(api.Decision{}, chosen("main", 0))},
		want: `{"tool":"ask","result":{"id":"int_1","answer":"main","answered_by":"Dana","warnings":["wait: suspend needs a workflow that this server is pinned to; waiting here instead"]}}`},
	{name: "a question expires", tool: "ask", arguments: `{"question":"Which branch?","timeout_secs":30.0}`, backend: &fake{becomes: canceled("expired")}, isError: true,
		want: `{"tool":"ask","error":"Nobody answered within 30 s. Silence is not consent: go on with your best judgement where that is safe, and say what you assumed.","interaction_id":"int_1","timed_out":true}`},
	{name: "a question is canceled", tool: "ask", arguments: branches, backend: &fake{becomes: canceled("superseded_by_input")}, isError: true,
		want: `{"tool":"ask","error":"The question was canceled: a newer message to the agent took its place (superseded_by_input). That is no consent.","interaction_id":"int_1","canceled":true,"cancel_reason":"superseded_by_input"}`},
	{name: "a question that is none", tool: "ask", arguments: `{"question":" "}`, isError: true,
		want: `{"tool":"ask","error":"question: must not be blank; or give questions"}`},
	{name: "a misspelled argument", tool: "ask", arguments: `{"question":"A?","option":["x"]}`, isError: true,
		want: `{"tool":"ask","error":"option: unknown; allowed are question, options, questions, agent_id, timeout_secs, workflow_id, task_id, wait"}`},
	{name: "waiting on for a permission", tool: "await_answer", arguments: `{"interaction_id":"int_1"}`, backend: &fake{asked: []api.NewInteraction{{ToolCall: &api.ToolCall{Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}}}, becomes: allowed(api.Decision{})},
		want: `{"tool":"await_answer","result":{"id":"int_1","decision":"allow","answered_by":"Dana","source":"human"},"behavior":"allow","updatedInput":{"command":"ls"}}`},
	{name: "looking without waiting", tool: "await_answer", arguments: `{"interaction_id":"int_1","timeout_secs":0}`,
		want: `{"tool":"await_answer","result":{"status":"pending","interaction_id":"int_1","instruction":"Nobody has answered yet; the question stays open. Call await_answer with interaction_id \"int_1\" to wait for the answer. Until it comes, do not act as if it were allowed."}}`},
	{name: "waiting for nothing", tool: "await_answer", arguments: `{}`, isError: true,
		want: `{"tool":"await_answer","error":"interaction_id: must be given; it came with the answer of ask or request_approval"}`},
}

func TestResults(t *testing.T) {
	for _, row := range golden {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend := row.backend
				if backend == nil {
					backend = &fake{}
				}
				session := talk(t, row.config, backend, "claude-code", nil)
				r, err := session.CallTool(t.Context(), params(row.tool, row.arguments, nil))
				if err != nil {
					t.Fatal(err)
				}
				if got := textOf(t, r); got != row.want {
					t.Errorf("got\n%s\nwant\n%s", got, row.want)
				}
				if r.IsError != row.isError {
					t.Errorf("isError %v, want %v", r.IsError, row.isError)
				}
				checkStructured(t, row.tool, r)
			})
		})
	}
}

// checkStructured checks that structured content says what the text says, and that an approval has none.
func checkStructured(t *testing.T, tool string, r *sdk.CallToolResult) {
	t.Helper()
	if strings.HasSuffix(tool, "request_approval") {
		if r.StructuredContent != nil {
			t.Errorf("structured content %v: Claude Code would refuse it", r.StructuredContent)
		}
		return
	}
	var said any
	if err := json.Unmarshal([]byte(textOf(t, r)), &said); err != nil {
		t.Fatal(err)
	}
	if got, want := string(encode(r.StructuredContent)), string(encode(said)); got != want {
		t.Errorf("structured content %s, want %s", got, want)
	}
}

// TestNothingIsNull checks that no answer has a null in it: clients take a null for a wrong type.
func TestNothingIsNull(t *testing.T) {
	for _, row := range golden {
		if strings.Contains(row.want, "null") {
			t.Errorf("%s: %s", row.name, row.want)
		}
	}
}

// TestWhatIsAsked checks what a call becomes.
func TestWhatIsAsked(t *testing.T) {
	for _, c := range []struct{ name, tool, arguments, want string }{
		{"a native call", "request_approval", bash, `{"tool_call":{"name":"Bash","input":` + bashInput + `,"provider_call_id":"toolu_1"},"wait_mode":"block","join":{"call_id":"toolu_1"}}`},
		{"an action", "request_approval", `{"action":"deploy","task_id":"T1","timeout_secs":5}`, `{"tool_call":{"name":"deploy"},"wait_mode":"block","timeout_secs":5,"task_id":"T1","join":{}}`},
		{"an action beside a tool", "request_approval", `{"tool_name":"Bash","action":"clean up","arguments":{"command":"rm x"},"suggestions":[{"type":"setMode"}]}`,
			`{"tool_call":{"name":"Bash","input":{"command":"rm x"}},"wait_mode":"block","suggestions":[{"type":"setMode"}],"action":"clean up","join":{}}`},
		{"a flat question", "ask", `{"question":"First line\nand more","options":["a"]}`,
			`{"request":{"title":"First line","questions":[{"prompt":"First line\nand more","options":[{"label":"a"},{"label":"Other","allows_text":true}]}]},"wait_mode":"block","join":{}}`},
		{"no options", "ask", `{"question":"Name?"}`, `{"request":{"title":"Name?","questions":[{"prompt":"Name?","options":[{"label":"Answer","allows_text":true}]}]},"wait_mode":"block","join":{}}`},
		{"several questions", "ask", `{"question":"ignored","questions":[{"question":"A?","multi_select":true},{"question":"B?","header":"H","options":["x",{"label":"y","description":"why"}]}]}`,
			`{"request":{"title":"A? (+1 more)","questions":[{"prompt":"A?","multiple":true,"options":[{"label":"Other","allows_text":true}]},{"prompt":"B?","header":"H","options":[{"label":"x"},{"label":"y","description":"why"},{"label":"Other","allows_text":true}]}]},"wait_mode":"block","join":{}}`},
		{"a preview is evidence", "request_approval", `{"tool_name":"AskUserQuestion","input":{"questions":[{"question":"A?","header":"H","options":[{"label":"x","preview":"+---+"}]}]},"tool_use_id":"t9"}`,
			`{"request":{"title":"A?","context":[{"label":"Preview of x (H)","value":"+---+"}],"questions":[{"prompt":"A?","header":"H","options":[{"label":"x"},{"label":"Other","allows_text":true}]}]},"wait_mode":"block","join":{"call_id":"t9"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{becomes: canceled("expired")}
				if _, err := talk(t, Config{}, f, "claude-code", nil).CallTool(t.Context(), params(c.tool, c.arguments, nil)); err != nil {
					t.Fatal(err)
				}
				if got := string(encode(f.asked[0])); got != c.want {
					t.Errorf("got\n%s\nwant\n%s", got, c.want)
				}
			})
		})
	}
}

// TestPins checks whose name a call has.
func TestPins(t *testing.T) {
	for _, c := range []struct{ pin, said, want string }{{"", "", "agent"}, {"", "swe", "swe"}, {"po", "swe", "po"}, {" ", " ", "agent"}} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{becomes: canceled("expired")}
			session := talk(t, Config{AgentID: c.pin}, f, "x", nil)
			if _, err := session.CallTool(t.Context(), params("ask", `{"question":"A?","agent_id":"`+c.said+`"}`, nil)); err != nil {
				t.Fatal(err)
			}
			if f.agents[0] != c.want {
				t.Errorf("pinned %q, said %q: %q, want %q", c.pin, c.said, f.agents[0], c.want)
			}
		})
	}
}

// TestTools checks what clients are told of the tools.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{}, "ask await_answer request_approval"},
		{Config{Inbox: &api.Client{}}, "ask await_answer interactions_answer interactions_list request_approval"},
		{Config{Animus: true, Inbox: &api.Client{}}, "animus.agent.ask animus.agent.await animus.agent.request_approval animus.interactions.answer animus.interactions.list"},
	} {
		list, err := talk(t, c.config, &fake{}, "x", nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if a := tool.Annotations; a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint || a.ReadOnlyHint == strings.HasSuffix(tool.Name, "answer") && !strings.HasSuffix(tool.Name, "await_answer") {
				t.Errorf("%s is annotated %+v", tool.Name, *a)
			}
			if approves := strings.HasSuffix(tool.Name, "request_approval"); approves == (tool.OutputSchema != nil) {
				t.Errorf("%s has the output schema %v", tool.Name, tool.OutputSchema)
			}
			if tool.Description == "" || tool.Title == "" {
				t.Errorf("%s is not described", tool.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("tools %s, want %s", got, c.want)
		}
	}
}
