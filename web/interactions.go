package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

func (s *Server) createInteraction(c echo.Context) error {
	var in api.NewInteraction
	body, err := s.readJSON(c, &in, "/tool_call/input", "/suggestions")
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	asked, p := ask(in), principal(c)
	project, agent, err := s.agentInProject(c)
	if err != nil {
		_, wrong := asked.Normalised()
		return firstOf(wrong, err)
	}
	r, created, err := s.service.Create(c.Request().Context(), p, project, agent, asked, once(c, key, "POST interactions "+string(agent), body))
	if err != nil {
		return err
	}
	if d := r.Decided; d != nil {
		return writeJSON(c, http.StatusOK, func(b []byte) []byte { return append(d.AppendPolicy(append(b, `{"policy":`...)), '}') })
	}
	return s.hand(c, createdOr(created), p, r.Record)
}

// hand gives a record to a caller, and notes that an asker has read the answer in it.
func (s *Server) hand(c echo.Context, status int, p interaction.Principal, r interaction.Record) error {
	if err := writeRecord(c, status, r); err != nil {
		return err
	}
	s.service.PickedUp(p, r)
	return nil
}

// ask is what the body asks for, in the domain's words.
func ask(in api.NewInteraction) interaction.Ask {
	a := interaction.Ask{
		WaitMode: interaction.WaitMode(in.WaitMode), TimeoutSecs: in.TimeoutSecs, WorkflowID: in.WorkflowID, TaskID: in.TaskID,
		Destination: destination(in.Destination), Suggestions: in.Suggestions, Action: in.Action,
	}
	if j := in.Join; j != nil {
		a.Join = &interaction.Join{CallID: j.CallID}
	}
	if at := in.Checkpoint; at != nil {
		a.Checkpoint = &interaction.Checkpoint{Provider: at.Provider, SessionID: at.SessionID, CWD: at.CWD, Phase: at.Phase}
	}
	if call := in.ToolCall; call != nil {
		a.ToolCall = &interaction.ToolCall{Name: call.Name, Input: call.Input, ProviderCallID: call.ProviderCallID}
	}
	if r := in.Request; r != nil {
		a.Request = &interaction.Request{Title: r.Title, Context: convert(r.Context, contextItem), Questions: convert(r.Questions, question)}
	}
	return a
}

func contextItem(c api.ContextItem) interaction.ContextItem { return interaction.ContextItem(c) }

func question(q api.Question) interaction.Question {
	return interaction.Question{Prompt: q.Prompt, Header: q.Header, Multiple: q.Multiple, Options: convert(q.Options, option)}
}

func option(o api.Option) interaction.Option { return interaction.Option(o) }

func convert[A, B any](in []A, each func(A) B) []B {
	out := make([]B, len(in))
	for n, v := range in {
		out[n] = each(v)
	}
	return out
}

// getInteraction gives an interaction, and with wait_secs waits for its end: this is how an asker waits.
func (s *Server) getInteraction(c echo.Context) error {
	w, err := s.waiter(c)
	if err != nil {
		return err
	}
	if w.For > 0 {
		defer s.hold(c)()
	}
	if err := s.service.Wait(c.Request().Context(), w); err != nil {
		return err
	}
	return s.handWaiter(c, w)
}

// waiter is who waits, for what and how long.
func (s *Server) waiter(c echo.Context) (*interaction.Waiter, error) {
	q := queryOf(c, "wait_secs")
	wait := q.number("wait_secs", 0, int(interaction.MaxWait/time.Second), 0)
	if q.err != nil {
		return nil, q.err
	}
	ref, err := s.ref(c)
	if err != nil {
		return nil, err
	}
	return &interaction.Waiter{Principal: principal(c), Ref: ref, For: time.Duration(wait) * time.Second}, nil
}

// handWaiter is hand. What it copies is not on the stack of those who wait.
//
//go:noinline
func (s *Server) handWaiter(c echo.Context, w *interaction.Waiter) error {
	return s.hand(c, http.StatusOK, w.Principal, w.Record)
}

func (s *Server) listProjectInteractions(c echo.Context) error {
	q := queryOf(c, "state", "kind", "agent_id", "cancel_reason", "resolved_by", "created_after", "created_before", "q", "limit", "cursor", "order")
	f := listFilter(q)
	f.Kind = oneOf(q, "kind", interaction.PermissionKind, interaction.QuestionKind)
	f.CancelReason = oneOf(q, "cancel_reason", interaction.CancelReasons...)
	f.ResolvedBy, f.Agent, f.Words = q.exact("resolved_by"), agentFilter(q), q.exact("q")
	f.CreatedAfter, f.CreatedBefore = q.time("created_after"), q.time("created_before")
	return s.list(c, q, f)
}

func (s *Server) listAgentInteractions(c echo.Context) error {
	q := queryOf(c, "state", "limit", "cursor", "order")
	f := listFilter(q)
	project, agent, err := s.agentInProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	if _, err := s.service.Agent(c.Request().Context(), principal(c), project, agent); err != nil {
		return err
	}
	f.Agent = agent
	return s.list(c, q, f)
}

func listFilter(q *query) interaction.Filter {
	return interaction.Filter{State: oneOf(q, "state", interaction.Open, interaction.Resolved, interaction.Canceled), Page: q.page()}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// list answers with one page. The records go out as they are stored.
func (s *Server) list(c echo.Context, q *query, f interaction.Filter) error {
	if q.err != nil {
		return q.err
	}
	project, err := s.inProject(c)
	if err != nil {
		return err
	}
	f.Project = project.ID
	page, next, err := s.service.List(c.Request().Context(), principal(c), f)
	if err != nil {
		return err
	}
	return writeList(c, page, next, interaction.Record.AppendJSON)
}

func (s *Server) resolveInteraction(c echo.Context) error {
	a, err := s.readAnswers(c)
	if err != nil {
		return err
	}
	ref, err := s.ref(c)
	if err != nil {
		_, wrong := a.Checked()
		return firstOf(wrong, err)
	}
	r, replay, err := s.service.Resolve(c.Request().Context(), principal(c), ref, a)
	if err != nil {
		return err
	}
	if replay {
		c.Response().Header().Set("Idempotent-Replayed", "true")
	}
	return writeJSON(c, http.StatusOK, func(b []byte) []byte { return appendWarnings(r.AppendJSON(b), r) })
}

// readAnswers reads the body of a resolve. A blank digest is refused: whoever sends one means to be bound by it, and lost it.
func (s *Server) readAnswers(c echo.Context) (interaction.Answers, error) {
	var in struct {
		api.Resolve
		Digest *string `json:"digest"`
	}
	if _, err := s.readJSON(c, &in, "/updated_input", "/updated_permissions"); err != nil {
		return interaction.Answers{}, err
	}
	if in.Digest != nil {
		in.Resolve.Digest = *in.Digest
	}
	if in.Digest != nil && *in.Digest == "" {
		return interaction.Answers{}, interaction.Errorf(interaction.ValidationFailed, "digest: must not be blank; leave it out if it is not to be checked")
	}
	return answers(in.Resolve), nil
}

// askerGone warns that nobody was waiting when the answer came.
const askerGone = "The agent that asked is no longer waiting. Your answer is kept for it."

// appendWarnings adds to an answered record what whoever answered should know.
func appendWarnings(b []byte, r interaction.Record) []byte {
	if r.Delivery.State() != interaction.DeliveryAskerGone {
		return b
	}
	b = append(b[:len(b)-1], `,"warnings":[`...)
	return append(quoted(b, askerGone), `]}`...)
}

func answers(in api.Resolve) interaction.Answers {
	a := interaction.Answers{
		Answers: convert(in.Answers, func(a api.Answer) interaction.Answer { return interaction.Answer(a) }),
		Digest:  in.Digest, Note: in.Note, UpdatedInput: in.UpdatedInput, Remember: in.Remember, UpdatedPermissions: in.UpdatedPermissions,
		Response: in.Response,
	}
	a.External = external(in.Actor)
	return a
}

func (s *Server) cancelInteraction(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	ref, err := s.ref(c)
	if err != nil {
		return err
	}
	r, replay, err := s.service.Cancel(c.Request().Context(), principal(c), ref)
	if err != nil {
		return err
	}
	if replay {
		c.Response().Header().Set("Idempotent-Replayed", "true")
	}
	return writeRecord(c, http.StatusOK, r)
}

func writeRecord(c echo.Context, status int, r interaction.Record) error {
	return writeJSON(c, status, r.AppendJSON)
}

// buffers are reused for answers. Those that grew large are let go.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const keepBuffer = 256 << 10

// writeJSON writes what appendTo appends, in one piece.
func writeJSON(c echo.Context, status int, appendTo func([]byte) []byte) error {
	buffer := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buffer) <= keepBuffer {
			buffers.Put(buffer)
		}
	}()
	*buffer = append(appendTo((*buffer)[:0]), '\n')
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(*buffer))) // or net/http sends a long one in chunks
	return c.JSONBlob(status, *buffer)
}

// me tells who the credential is.
func (s *Server) me(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	p := principal(c)
	out := api.Me{Kind: string(p.Kind), ID: string(p.ID), Name: p.Name, ProjectID: string(p.ProjectID), AgentID: string(p.AgentID), Scopes: []string{}}
	for _, scope := range p.Scopes {
		out.Scopes = append(out.Scopes, string(scope))
	}
	return c.JSON(http.StatusOK, out)
}
