package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"sayso/internal/interaction"
)

var mcpHeaders = []string{"Accept", "application/json, text/event-stream", "Content-Type", "application/json"}

// TestWhoManagesOverMCP checks who has the tools that list and answer: an operator's key that may do both, and no other.
func TestWhoManagesOverMCP(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		key  string
		want bool
	}{
		"an agent":                {s.agent, false},
		"read":                    {s.newKey(interaction.OperatorPrincipal, "read", interaction.ScopeRead), false},
		"resolve":                 {s.newKey(interaction.OperatorPrincipal, "resolve", interaction.ScopeResolve), false},
		"manage, audit and embed": {s.newKey(interaction.OperatorPrincipal, "others", interaction.ScopeManage, interaction.ScopeAudit, interaction.ScopeEmbed), false},
		"read and resolve":        {s.newKey(interaction.OperatorPrincipal, "both", interaction.ScopeRead, interaction.ScopeResolve), true},
	} {
		began := s.call(c.key, "POST", "/mcp", hail, mcpHeaders...)
		inSession := append([]string{"Mcp-Session-Id", began.header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}, mcpHeaders...)
		s.call(c.key, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, inSession...)
		got, body := s.whole(c.key, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, inSession)
		if got.StatusCode != http.StatusOK || !strings.Contains(body, `"request_approval"`) {
			t.Errorf("%s: %s %q", name, got.Status, body)
		}
		for _, tool := range []string{`"interactions_list"`, `"interactions_answer"`} {
			if has := strings.Contains(body, tool); has != c.want {
				t.Errorf("%s has %s: %v, want %v", name, tool, has, c.want)
			}
		}
		if head := got.Header; head.Get("Cache-Control") != "no-store" || head.Get("X-Accel-Buffering") != "no" {
			t.Errorf("headers %v", head)
		}
	}
}

// whole posts a message, and reads its answer to the end; call reads a stream's first line only.
func (s *site) whole(key, message string, headers []string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.http.URL+"/mcp", strings.NewReader(message))
	must(s.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	resp, err := http.DefaultClient.Do(req)
	must(s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(s.t, err)
	return resp, string(body)
}

// TestMCPOverTheLimits checks that what does not belong here is refused before anything is done.
func TestMCPOverTheLimits(t *testing.T) {
	s := newSite(t)
	large := strings.Replace(hail, `"x"`, `"`+strings.Repeat("x", 1<<20)+`"`, 1)
	for name, c := range map[string]struct {
		body    string
		headers []string
		want    int
	}{
		"too large":             {large, mcpHeaders, http.StatusRequestEntityTooLarge},
		"another site's page":   {hail, append([]string{"Sec-Fetch-Site", "cross-site"}, mcpHeaders...), http.StatusForbidden},
		"another origin":        {hail, append([]string{"Origin", "http://evil.example"}, mcpHeaders...), http.StatusForbidden},
		"no JSON":               {`{`, mcpHeaders, http.StatusBadRequest},
		"a form":                {"x=1", []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", mcpHeaders[1]}, http.StatusUnsupportedMediaType},
		"a session that is not": {`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, append([]string{"Mcp-Session-Id", "x"}, mcpHeaders...), http.StatusNotFound},
	} {
		if got := s.call(s.agent, "POST", "/mcp", c.body, c.headers...); got.status != c.want {
			t.Errorf("%s: %d %.200s, want %d", name, got.status, got.body, c.want)
		}
	}
}
