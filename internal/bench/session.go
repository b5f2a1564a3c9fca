package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// session is an agent that speaks MCP over one connection, as Claude Code does: it is told of progress, and so waits as long as it takes.
type session struct {
	caller *caller
	id     string
	calls  int
}

func (p *product) openSession() (*session, error) {
	s := &session{caller: dial(p.address, p.agent)}
	_, err := s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"1"}}}`)
	if err != nil {
		return nil, err
	}
	if s.id == "" {
		return nil, errors.New("no session was begun")
	}
	_, err = s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s, err
}

// asks asks as an agent, and returns when it is answered.
func (s *session) asks(agent string) error {
	s.calls++
	body, err := s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{"agent_id":%q,`+
		`"question":"May I go on?","options":["yes","no"]},"_meta":{"progressToken":1}}}`, s.calls+1, agent))
	if err == nil && !strings.Contains(string(body), `"answered_by"`) {
		err = fmt.Errorf("the agent was told %s", body)
	}
	return err
}

// post sends one message, and reads what comes of it to the end.
func (s *session) post(message string) ([]byte, error) {
	req, err := s.caller.request(http.MethodPost, "/mcp", message)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		req.Header.Set("Mcp-Session-Id", s.id)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	resp, err := s.caller.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		s.id = id
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("POST /mcp: %s %s", resp.Status, body)
	}
	return body, err
}
