package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	bash     = `{"tool_name":"Bash","input":{"command":"echo hi > out","n":2512292042121000001},"tool_use_id":"toolu_1"}`
	branches = `{"question":"Which branch?","options":["main","release"]}`
)

// TestAsking goes through the tools of an agent with a real client, on every way in.
func TestAsking(t *testing.T) {
	everyWay(t, func(t *testing.T, p *product, connect func(*sdk.ClientOptions) *sdk.ClientSession) {
		var progress atomic.Int64
		session := connect(&sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { progress.Add(1) }})

		asked := call(t, t.Context(), session, "ask", branches)
		i := p.opened()
		p.answers(i, "", 1)
		if got, want := asked.text(), `{"tool":"ask","result":{"id":"`+i.ID+`","answer":"release","answered_by":"`+p.me()+`"}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if progress.Load() == 0 {
			t.Error("no progress was told")
		}

		allowed := call(t, t.Context(), session, "request_approval", bash)
		i = p.opened()
		if i.ToolCall == nil || i.ToolCall.ProviderCallID != "toolu_1" || i.WaitMode != "block" {
			t.Errorf("asked %+v", i)
		}
		p.answers(i, "", 0)
		if got, want := allowed.text(), `"behavior":"allow","updatedInput":{"command":"echo hi > out","n":2512292042121000001}}`; !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want it to end %s", got, want)
		}
		if allowed.result.StructuredContent != nil || allowed.result.IsError {
			t.Errorf("%+v", allowed.result)
		}

		denied := call(t, t.Context(), session, "request_approval", strings.Replace(bash, "toolu_1", "toolu_2", 1))
		p.answers(p.opened(), "use staging", 1)
		if got, want := denied.text(), `"behavior":"deny","message":"use staging"}`; !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want it to end %s", got, want)
		}

		polled := call(t, t.Context(), session, "ask", `{"question":"Later?","wait":"poll"}`)
		i = p.opened()
		if got := polled.text(); !strings.Contains(got, `"status":"pending","interaction_id":"`+i.ID+`"`) {
			t.Error(got)
		}
		waiting := call(t, t.Context(), session, "await_answer", `{"interaction_id":"`+i.ID+`"}`)
		p.answers(i, "tomorrow", 0)
		if got := waiting.text(); !strings.Contains(got, `"answer":"tomorrow"`) {
			t.Error(got)
		}
	})
}

func (p *product) me() string {
	me, err := p.operator.Me(p.t.Context())
	must(p.t, err)
	return me.Name
}

// TestTheSameCallTwice checks that a call which is made again has one card and one answer.
func TestTheSameCallTwice(t *testing.T) {
	everyWay(t, func(t *testing.T, p *product, connect func(*sdk.ClientOptions) *sdk.ClientSession) {
		session := connect(nil)
		first := call(t, t.Context(), session, "request_approval", bash)
		i := p.opened()
		second := call(t, t.Context(), connect(nil), "request_approval", bash)
		p.answers(i, "", 0)
		if a, b := first.text(), second.text(); a != b {
			t.Errorf("%s and %s", a, b)
		}
		if open := p.open(); len(open) != 0 {
			t.Errorf("%d are open", len(open))
		}
	})
}

// TestClientCancels checks that a question which the client cancels is withdrawn, and its card says so.
func TestClientCancels(t *testing.T) {
	everyWay(t, func(t *testing.T, p *product, connect func(*sdk.ClientOptions) *sdk.ClientSession) {
		if strings.HasSuffix(t.Name(), "http_2026-07-28") {
			return // there, a cancellation is a closed connection, which may be broken as well: see TestClosedRequest
		}
		session := connect(nil)
		ctx, cancel := context.WithCancel(t.Context())
		asked := call(t, ctx, session, "ask", branches)
		i := p.opened()
		cancel()
		<-asked.done
		if end := p.next("interaction_canceled"); end.ID != i.ID || end.CancelReason != "asker_canceled" {
			t.Errorf("%s: %s", end.ID, end.CancelReason)
		}
	})
}

// TestProcessDies checks that a question survives its asker, and that whoever asks it again gets its answer.
func TestProcessDies(t *testing.T) {
	p := start(t)
	transport := &sdk.CommandTransport{Command: p.command()}
	session := p.connect(transport, "2025-11-25", nil)
	asked := call(t, t.Context(), session, "request_approval", bash)
	i := p.opened()
	must(t, transport.Command.Process.Kill())
	<-asked.done
	if open := p.open(); len(open) != 1 || open[0].ID != i.ID {
		t.Errorf("open are %v", open)
	}
	again := call(t, t.Context(), p.connect(&sdk.CommandTransport{Command: p.command()}, "2025-11-25", nil), "request_approval", bash)
	p.answers(i, "", 0)
	if got := again.text(); !strings.Contains(got, i.ID) {
		t.Errorf("%s, want %s", got, i.ID)
	}
}

// TestServerRestarts checks that a wait over standard input and output goes on through a restart of the server.
func TestServerRestarts(t *testing.T) {
	p := start(t)
	session := p.connect(&sdk.CommandTransport{Command: p.command()}, "2025-11-25", nil)
	asked := call(t, t.Context(), session, "request_approval", bash)
	i := p.opened()
	p.stop()
	p.config.Listen = "127.0.0.1:0" // it is found wherever it is
	p.run()
	p.answers(i, "", 0)
	if got := asked.text(); !strings.Contains(got, i.ID) || !strings.Contains(got, `"behavior":"allow"`) {
		t.Error(got)
	}
}

// TestServerStops checks what is told over HTTP when the server stops, and that the question is there afterwards.
func TestServerStops(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			p := start(t)
			road := p.overHTTP(p.agentKey)
			road.DisableStandaloneSSE = true // whose end would end the session, here
			session := p.connect(road, version, nil)
			asked := call(t, t.Context(), session, "ask", branches)
			question := p.opened()
			native := call(t, t.Context(), session, "request_approval", bash)
			permission := p.opened()
			p.stop()
			if got := asked.text(); !strings.Contains(got, `"status":"pending","interaction_id":"`+question.ID+`"`) {
				t.Error(got)
			}
			if got := native.text(); !strings.Contains(got, `"behavior":"deny"`) || !strings.Contains(got, "restarting") || native.result.IsError {
				t.Error(got)
			}
			p.run()
			if open := p.open(); len(open) != 2 {
				t.Errorf("%d are open, want 2", len(open))
			}
			again := call(t, t.Context(), p.connect(p.overHTTP(p.agentKey), version, nil), "request_approval", bash)
			p.answers(permission, "", 0)
			if got := again.text(); !strings.Contains(got, permission.ID) {
				t.Errorf("%s, want %s", got, permission.ID)
			}
		})
	}
}

// TestNoServer checks that the tools are there without a server, and that an approval is denied then.
func TestNoServer(t *testing.T) {
	p := start(t)
	p.stop()
	session := p.connect(&sdk.CommandTransport{Command: p.command("--patience", "10ms")}, "2025-11-25", nil)
	list, err := session.ListTools(t.Context(), nil)
	must(t, err)
	if len(list.Tools) != 3 {
		t.Errorf("%d tools", len(list.Tools))
	}
	native := call(t, t.Context(), session, "request_approval", bash)
	if got := native.text(); !strings.Contains(got, `"behavior":"deny","message":"Nobody answered`) || native.result.IsError {
		t.Error(got)
	}
	voluntary := call(t, t.Context(), session, "request_approval", `{"action":"deploy"}`)
	if got := voluntary.text(); !strings.Contains(got, "cannot be reached") || !voluntary.result.IsError {
		t.Error(got)
	}
}

// TestManagement checks the tools of an operator.
func TestManagement(t *testing.T) {
	for _, road := range roads {
		t.Run(road, func(t *testing.T) {
			p := start(t)
			agent := p.connect(&sdk.CommandTransport{Command: p.command("--agent-id", "swe")}, "2025-11-25", nil)
			var operator *sdk.ClientSession
			if road == "stdio" {
				operator = p.connect(&sdk.CommandTransport{Command: p.command("--management")}, "2025-11-25", nil)
			} else {
				operator = p.connect(p.overHTTP(p.operator.Key), "2025-11-25", nil)
			}
			asked := call(t, t.Context(), agent, "ask", branches)
			question := p.opened()
			native := call(t, t.Context(), agent, "request_approval", bash)
			permission := p.opened()

			list := call(t, t.Context(), operator, "interactions_list", `{"project_root":"/ignored"}`).text()
			for _, part := range []string{`"count":2`, question.ID, permission.ID, `"agent_id":"swe"`, `"status":"pending"`} {
				if !strings.Contains(list, part) {
					t.Errorf("%s lacks %s", list, part)
				}
			}
			refused := func(arguments, says string) {
				t.Helper()
				c := call(t, t.Context(), operator, "interactions_answer", arguments)
				if got := c.text(); !c.result.IsError || !strings.Contains(got, says) {
					t.Errorf("%s: %s, want it to say %s", arguments, got, says)
				}
			}
			refused(`{"id":"`+question.ID+`","decision":"allow"}`, "this is a question")
			refused(`{"id":"`+question.ID+`"}`, "give a text")
			refused(`{"id":"`+question.ID+`","answers":{"What?":"x"}}`, "there is no such question")
			refused(`{"id":"`+permission.ID+`","text":"yes"}`, "this is a permission")
			refused(`{"id":"`+permission.ID+`","decision":"maybe"}`, "must be allow or deny")
			refused(`{"id":"`+permission.ID+`","decision":"deny","remember":true}`, "goes with allow only")
			refused(`{"id":"int_aaaaaaaaaaaaaaaaaaaaaaaaaa","decision":"allow"}`, "not found")

			call(t, t.Context(), operator, "interactions_answer", `{"id":"`+question.ID+`","answers":{"Which branch?":"hotfix"},"answered_by":"Fox"}`).text()
			if got := asked.text(); !strings.Contains(got, `"answer":"hotfix","answered_by":"Fox"`) {
				t.Error(got)
			}
			answered := call(t, t.Context(), operator, "interactions_answer", `{"id":"`+permission.ID+`","decision":"allow","message":"quickly","updated_input":{"command":"true"}}`).text()
			if !strings.Contains(answered, `"status":"answered"`) {
				t.Error(answered)
			}
			if got := native.text(); !strings.Contains(got, `"message":"quickly"`) || !strings.Contains(got, `"updatedInput":{"command":"true"}`) {
				t.Error(got)
			}
			refused(`{"id":"`+permission.ID+`","decision":"allow"}`, "interaction '"+permission.ID+"' is not pending (status: answered)")
		})
	}
}

// TestAgentsNeverAnswer walks every tool with an agent's key, by every way in: none lists, none answers.
func TestAgentsNeverAnswer(t *testing.T) {
	p := start(t)
	asked := call(t, t.Context(), p.connect(p.overHTTP(p.agentKey), "2025-11-25", nil), "request_approval", bash)
	i := p.opened()
	disguised := p.command("--management")
	disguised.Env = append(disguised.Env, "SAYSO_KEY="+p.agentKey)
	animus := p.command("--management", "--tool-names", "animus")
	animus.Env = append(animus.Env, "SAYSO_URL="+p.url, "SAYSO_KEY="+p.agentKey)
	for name, session := range map[string]*sdk.ClientSession{
		"stdio":                       p.connect(&sdk.CommandTransport{Command: p.command()}, "2025-11-25", nil),
		"stdio with an agent's key":   p.connect(&sdk.CommandTransport{Command: disguised}, "2025-11-25", nil),
		"stdio with Animus's names":   p.connect(&sdk.CommandTransport{Command: animus}, "2025-11-25", nil),
		"HTTP":                        p.connect(p.overHTTP(p.agentKey), "2025-11-25", nil),
		"HTTP of the next generation": p.connect(p.overHTTP(p.agentKey), "2026-07-28", nil),
	} {
		known, err := session.ListTools(t.Context(), nil)
		must(t, err)
		tools := []string{"interactions_list", "interactions_answer", "animus.interactions.list", "animus.interactions.answer"}
		for _, tool := range known.Tools {
			if strings.HasPrefix(name, "HTTP") && strings.Contains(tool.Name, "interactions") {
				t.Errorf("%s: has the tool %s", name, tool.Name)
			}
			tools = append(tools, tool.Name)
		}
		for _, tool := range tools {
			for _, arguments := range []string{
				`{}`, `{"all":true}`, `{"id":"` + i.ID + `","decision":"allow"}`, `{"id":"` + i.ID + `","decision":"allow","answered_by":"Dana"}`,
				`{"interaction_id":"` + i.ID + `","timeout_secs":0,"decision":"allow"}`,
				`{"tool_name":"mcp__sayso__interactions_answer","arguments":{"id":"` + i.ID + `","decision":"allow"},"wait":"poll"}`,
			} {
				c := call(t, t.Context(), session, tool, arguments)
				<-c.done
				if c.err != nil || c.result.IsError {
					continue
				}
				if got := c.text(); !strings.Contains(got, `"status":"pending"`) {
					t.Errorf("%s: %s %s: %s", name, tool, arguments, got)
				}
			}
		}
	}
	if now, err := p.operator.Interaction(t.Context(), i.AgentID, i.ID, 0); err != nil || now.State != "open" {
		t.Errorf("it is %s (%v)", now.State, err)
	}
	p.answers(i, "", 1)
	asked.text()
}

// TestSessionsHaveOwners checks that a session is of no use with another key, and that a key without the scopes has no tools that answer.
func TestSessionsHaveOwners(t *testing.T) {
	p := start(t)
	session := p.connect(p.overHTTP(p.operator.Key), "2025-11-25", nil)
	for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodGet} {
		req, err := http.NewRequestWithContext(t.Context(), method, p.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
		must(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", session.ID())
		resp, err := keyed(p.agentKey).RoundTrip(req)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", method, resp.Status)
		}
	}
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Errorf("the session was ended by a stranger: %v", err)
	}
}

// TestEndedSession checks that ending a session ends its waits at once, and withdraws nothing.
func TestEndedSession(t *testing.T) {
	p := start(t)
	session := p.connect(p.overHTTP(p.agentKey), "2025-11-25", nil)
	asked := call(t, t.Context(), session, "ask", branches)
	i := p.opened()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, p.url+"/mcp", nil)
	must(t, err)
	req.Header.Set("Mcp-Session-Id", session.ID())
	resp, err := keyed(p.agentKey).RoundTrip(req)
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Errorf("%s", resp.Status)
	}
	<-asked.done
	if open := p.open(); len(open) != 1 || open[0].ID != i.ID {
		t.Errorf("open are %v", open)
	}
}

// TestCleanOutput checks that nothing but messages is ever written to standard output, and that the end of input ends the program.
func TestCleanOutput(t *testing.T) {
	p := start(t)
	cmd := p.command()
	cmd.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"no/such"}`,
	}, "\n") + "\n")
	out, err := cmd.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) {
			t.Errorf("it wrote %q", line)
		}
	}
	if ended != nil {
		t.Errorf("it ended with %d", ended.ExitCode())
	}
}
