package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/agents"
	"sayso/internal/api"
	"sayso/internal/interaction"
)

// hooks are the hooks of Claude Code's sessions that call over HTTP.
type hooks struct {
	mu       sync.Mutex
	notes    map[interaction.ID]*agents.MemoryNotes // by key, which may not close another's cards
	stopping context.Context
	stop     context.CancelFunc
}

func newHooks() *hooks {
	h := &hooks{notes: map[interaction.ID]*agents.MemoryNotes{}}
	h.stopping, h.stop = context.WithCancel(context.Background())
	return h
}

func (h *hooks) of(key interaction.ID) agents.Notes {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.notes[key] == nil {
		h.notes[key] = &agents.MemoryNotes{}
	}
	return h.notes[key]
}

var errServerStops = errors.New("the server is restarting")

// hookWriteMost is how long an answer may take to be written, however long the wait for it was.
const hookWriteMost = 30 * time.Second

// answerHook answers one call of a hook by the routes of REST, with the caller's own key, so it can do what that may and no more.
func (s *Server) answerHook(c echo.Context) error {
	q := queryOf(c, "agent", "format", "on_failure", "timeout_secs")
	org, project, err := s.boundTo(c)
	if err != nil {
		return err
	}
	h := agents.Hooks{
		Client: &api.Client{URL: "http://sayso.internal", Key: bearer(c), Org: org, Project: project, HTTP: &http.Client{Transport: api.Inside{To: s.echo}}},
		Format: agents.ClaudeFormat, Agent: q.text("agent"), Notes: s.hooks.of(principal(c).ID),
		Timeout: time.Duration(q.number("timeout_secs", interaction.MinTimeoutSecs, interaction.MaxTimeoutSecs, 0)) * time.Second,
		Advise:  oneOf(q, "on_failure", "deny", "continue") == "continue",
	}
	if q.has("format") {
		h.Format = oneOf(q, "format", agents.Formats...)
	}
	body, err := s.readBody(c)
	if err = firstOf(q.err, err); err != nil {
		return err
	}
	if !principal(c).IsAgent() {
		return interaction.Errorf(interaction.Forbidden, "A hook speaks for an agent, so it needs an agent's key.")
	}
	call, err := agents.ReadHook(h.Format, body)
	if err != nil {
		return interaction.Errorf(interaction.ValidationFailed, "%s", err)
	}
	ctx, end := context.WithCancelCause(c.Request().Context())
	defer end(nil)
	defer context.AfterFunc(s.hooks.stopping, func() { end(errServerStops) })()
	v, err := h.Answer(ctx, call)
	if err != nil {
		s.config.Log.Warn("hook", slog.String("event", call.Event), slog.Any("err", err))
	}
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(hookWriteMost)) // without one the server's own holds
	return c.JSONBlob(http.StatusOK, append(v.Reply(h.Format, call), '\n'))
}
