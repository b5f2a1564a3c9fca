package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

const (
	wantsToRun = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make deploy"}}`
	hasRun     = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make deploy"},"tool_use_id":"toolu_1","tool_response":{"stdout":"done","stderr":""}}`
	wantsToAsk = `{"session_id":"s1","cwd":"/home/dev/shop","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[` +
		`{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}],"multiSelect":false}]},"tool_use_id":"toolu_2"}`
)

// hooked is a call of a hook that waits, and the card that it opened.
type hooked struct {
	pending
	card api.Interaction
	at   string
	gone context.CancelFunc // its client goes away
}

// hooks calls a hook, and returns when it waits.
func (s *site) hooks(key, query, body string) hooked {
	s.t.Helper()
	for len(s.waits.arrived) > 0 {
		<-s.waits.arrived
	}
	ctx, gone := context.WithCancel(s.t.Context())
	h := hooked{pending: pending{s, make(chan answer, 1)}, gone: gone}
	req, err := http.NewRequestWithContext(ctx, "POST", s.http.URL+"/hooks/claude"+query, strings.NewReader(body))
	must(s.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	go func() {
		resp, err := s.http.Client().Do(req)
		if err != nil {
			h.answer <- answer{body: []byte(err.Error())}
			return
		}
		defer resp.Body.Close()
		h.answer <- answer{status: resp.StatusCode, body: readAll(resp)}
	}()
	id := string(<-s.waits.arrived)
	for _, i := range s.openCards() {
		if i.ID == id {
			h.card, h.at = i, project+"/agents/"+i.AgentID+"/interactions/"+id
		}
	}
	if h.at == "" {
		s.t.Fatalf("nothing is open for %s", body)
	}
	return h
}

func readAll(resp *http.Response) []byte {
	var b strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := resp.Body.Read(buffer)
		b.Write(buffer[:n])
		if err != nil {
			return []byte(b.String())
		}
	}
}

func (s *site) openCards() []api.Interaction {
	s.t.Helper()
	var list api.List[api.Interaction]
	read(s.t, s.call(s.operator, "GET", project+"/interactions?state=open", ""), &list)
	return list.Data
}

func (h hooked) answers(want string) {
	h.s.t.Helper()
	if got := h.ends(); got.status != http.StatusOK || string(got.body) != want+"\n" {
		h.s.t.Errorf("%d %s\nwant %s", got.status, got.body, want)
	}
}

func (h hooked) state() string {
	h.s.t.Helper()
	i := h.s.call(h.s.operator, "GET", h.at, "").interaction(h.s.t)
	return strings.TrimSpace(i.State + " " + i.CancelReason)
}

// TestHook checks what a hook over HTTP answers, by what becomes of its card.
func TestHook(t *testing.T) {
	s := newSite(t)
	denies := func(why string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"` + why + `"}}}`
	}

	h := s.hooks(s.agent, "?agent=swe", wantsToRun)
	if h.card.Request.Title != "Permission requested for Bash" || h.card.WaitMode != "block" || h.card.TimeoutSecs != 600 {
		t.Errorf("the card is %+v", h.card)
	}
	s.call(s.operator, "POST", h.at+"/resolve", allow)
	h.answers(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`)

	h = s.hooks(s.agent, "", wantsToRun)
	s.call(s.operator, "POST", h.at+"/resolve", denied)
	h.answers(denies("Not now."))

	h = s.hooks(s.agent, "", wantsToAsk)
	s.call(s.operator, "POST", h.at+"/resolve", `{"answers":[{"option_indices":[1]}]}`)
	h.answers(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"questions":[` +
		`{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}],"multiSelect":false}],` +
		`"answers":{"Which colour?":"Blue"}}}}`)

	h = s.hooks(s.agent, "", wantsToRun)
	s.call(s.agent, "POST", h.at+"/cancel", "")
	h.answers(denies("The request was canceled: the agent that asked withdrew it. It is not allowed; do not act on it."))
}

// TestHookClosesItsCard checks that a result closes the card of its own session only, and of its own key's.
func TestHookClosesItsCard(t *testing.T) {
	s := newSite(t)
	h := s.hooks(s.agent, "", wantsToRun)
	other := s.hooks(s.agent, "", strings.Replace(wantsToRun, `"s1"`, `"s2"`, 1))
	for _, key := range []string{s.newKey(interaction.AgentPrincipal, "another"), s.agent} {
		if got := s.call(key, "POST", "/hooks/claude", hasRun); got.status != http.StatusOK || string(got.body) != "{}\n" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	h.answers("{}")
	if h.state() != "canceled asker_canceled" || other.state() != "open" {
		t.Errorf("%s, and the other session's is %s", h.state(), other.state())
	}
	stop := `{"session_id":"s2","hook_event_name":"Stop","last_assistant_message":"Done."}`
	s.call(s.agent, "POST", "/hooks/claude", stop)
	other.answers("{}")
}

// TestHookGone checks that nobody is asked for a client that went away.
func TestHookGone(t *testing.T) {
	s := newSite(t)
	h := s.hooks(s.agent, "", wantsToRun)
	ended := s.wait(s.operator, h.at)
	h.gone()
	if got := ended.ends().interaction(t); got.CancelReason != "asker_canceled" {
		t.Errorf("it is %s %s", got.State, got.CancelReason)
	}
}

// TestHookWhenTheServerStops checks that a hook denies, in words, rather than breaking off: a client takes that for no opinion.
func TestHookWhenTheServerStops(t *testing.T) {
	for query, want := range map[string]string{
		"": `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Sayso could not ask a person, so this is denied (fail closed): ` +
			`the server is restarting. Nobody said no. Do not try another way; tell the user that Sayso cannot be reached."}}}`,
		"?on_failure=continue": "{}",
	} {
		s := newSite(t)
		h := s.hooks(s.agent, query, wantsToRun)
		s.stopWaiting.Do(s.service.Close)
		s.pages.Close()
		h.answers(want)
	}
}

// TestHookRefuses checks what is no call of a hook: a client goes on as if there were none.
func TestHookRefuses(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		key, query, body string
		status           int
	}{
		{s.agent, "", `{`, 400},
		{s.agent, "", `{"tool_name":"Bash"}`, 400},
		{s.agent, "?on_failure=shrug", wantsToRun, 400},
		{s.agent, "?format=emacs", wantsToRun, 400},
		{s.agent, "?timeout_secs=0", wantsToRun, 400},
		{s.agent, "?x=y", wantsToRun, 400},
		{s.operator, "", wantsToRun, 403},
		{"", "", wantsToRun, 401},
	} {
		if got := s.call(c.key, "POST", "/hooks/claude"+c.query, c.body); got.status != c.status || got.message() == "" {
			t.Errorf("%s %s: %d %s, want %d", c.query, c.body, got.status, got.body, c.status)
		}
	}
	if open := s.openCards(); len(open) > 0 {
		t.Errorf("open are %+v", open)
	}
}
