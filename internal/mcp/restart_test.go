package mcp_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// claudes is a permission prompt as Claude Code sends it over HTTP.
const claudes = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"request_approval","arguments":` +
	`{"tool_name":"Bash","input":{"command":"make"},"tool_use_id":"toolu_1"},"_meta":{"progressToken":1,"claudecode/toolUseId":"toolu_1",` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// send sends a request to /mcp as Claude Code does.
func (p *product) send(method, body string, headers map[string]string) *http.Response {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/mcp", strings.NewReader(body))
	must(p.t, err)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	response, err := keyed(p.agentKey).RoundTrip(r)
	must(p.t, err)
	if response.StatusCode != http.StatusOK {
		p.t.Fatal(response.Status)
	}
	return response
}

// TestRestartDuringAPrompt checks that the answer to a permission prompt over HTTP comes after a restart of the server: Claude Code asks for the
// rest of the response that the first server broke off.
func TestRestartDuringAPrompt(t *testing.T) {
	p := start(t)
	broken := p.send(http.MethodPost, claudes, map[string]string{"Content-Type": "application/json", "Mcp-Method": "tools/call", "Mcp-Name": "request_approval"})
	lines := bufio.NewReader(broken.Body)
	id, err := lines.ReadString('\n')
	must(t, err)
	i := p.opened()
	p.stop()
	rest, err := io.ReadAll(lines)
	must(t, err)
	if strings.Contains(string(rest), "behavior") {
		t.Errorf("the server that stops decided: %s", rest)
	}
	p.run()
	goesOn := p.send(http.MethodGet, "", map[string]string{"Last-Event-ID": strings.TrimSpace(strings.TrimPrefix(id, "id: "))})
	if open := p.open(); len(open) != 1 || open[0].ID != i.ID {
		t.Errorf("open are %v, want %s", open, i.ID)
	}
	p.answers(i, "", 0)
	answer, err := io.ReadAll(goesOn.Body)
	must(t, err)
	if got := string(answer); !strings.Contains(got, `"id":7`) || !strings.Contains(got, i.ID) || !strings.Contains(got, `\"behavior\":\"allow\"`) {
		t.Error(got)
	}
}
