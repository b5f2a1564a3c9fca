package agents

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"
	"time"

	"sayso/internal/api"
)

// Hooks answers the hooks of a client's sessions: what is to be allowed becomes a card, and what was said and done reaches the conversation.
type Hooks struct {
	Client  *api.Client
	Format  Format
	Agent   string        // a pin; "": the name of the session's folder
	Timeout time.Duration // until an unanswered request is denied; 0: the server's default
	Advise  bool          // have no opinion when nobody could be asked or nobody answered, rather than deny
	// Told says that somebody else tells the conversation what is said and done, and has the client's permission prompts answered.
	Told  bool
	Notes Notes
	// Patience is how long a server that cannot be reached is tried before a request is given up; 0: it is tried once.
	Patience time.Duration
	Tried    func(error)           // as [api.Client.Await] takes it; nil: nobody is told
	Opened   func(api.Interaction) // is told of each card; nil: nobody is told
}

// How long what is only told may take: the client waits for its hook.
const reportWithin = 10 * time.Second

// Answer answers one call of a hook. An error comes with the verdict for it: it is there to be told to people.
func (s Hooks) Answer(ctx context.Context, h Hook) (Verdict, error) {
	switch {
	case s.Told && h.Event == PermissionRequest:
		return Verdict{}, nil
	case h.ownTool() && !h.Gates():
		return Verdict{}, nil // what it asks and is told is here already
	case !h.Gates():
		ctx, stop := context.WithTimeout(ctx, reportWithin)
		defer stop()
		return Verdict{}, s.note(ctx, h)
	}
	v, err := s.gate(ctx, h)
	if err != nil {
		v = Unasked(s.reason(err))
	}
	return v.Unless(s.Advise), err
}

// reason is err as the agent is told it.
func (s Hooks) reason(err error) error {
	switch {
	case api.Unreachable(err):
		return errors.New("no server answers at " + s.Client.URL)
	case errors.Is(err, context.Canceled):
		return errors.New("the hook was interrupted")
	}
	return err
}

// Enter is the agent of a session in a folder: the one that is named, or the one that the key is bound to, which may make no other.
func (s Hooks) Enter(ctx context.Context, cwd string) (api.Agent, error) {
	name := api.NewAgent{Name: s.Agent, Key: s.Agent}
	if name.Name == "" {
		name.Name = folderName(cwd)
	}
	agent, err := s.Client.CreateAgent(ctx, name)
	var e *api.Error
	if errors.As(err, &e) && e.Status == http.StatusForbidden {
		if me, meErr := s.Client.Me(ctx); meErr == nil && me.AgentID != "" {
			return api.Agent{ID: me.AgentID}, nil
		}
	}
	return agent, err
}

func (s Hooks) enter(ctx context.Context, h Hook) (id string, err error) {
	agent, err := s.Enter(ctx, h.CWD)
	return agent.ID, err
}

// folderName is the last part of a path, of this system or of Windows.
func folderName(cwd string) string {
	name := strings.TrimSpace(path.Base(strings.ReplaceAll(cwd, `\`, "/")))
	if strings.Trim(name, "./") == "" {
		return "agent"
	}
	return clip(name, 200)
}

// gate asks a person, and waits.
func (s Hooks) gate(ctx context.Context, h Hook) (Verdict, error) {
	ask, questions, err := s.ask(h)
	if err != nil {
		return Verdict{Decision: "deny", Source: "canceled", Message: "These questions cannot be shown to a person: " + err.Error() + "."}, nil
	}
	note := Note{Tool: h.Tool, Input: inputDigest(h.Input), Call: h.CallID}
	id := s.Notes.Add(h.Session, note) // before it is asked, since the terminal may be quicker
	i, err := s.open(ctx, h, ask)
	note.Agent, note.Interaction, note.ToolCall = i.AgentID, i.ID, i.ToolCallID
	switch {
	case err != nil || i.Policy != nil:
		s.Notes.Drop(h.Session, id)
		if err != nil {
			return Verdict{}, err
		}
		return ruled(*i.Policy, h.Tool), nil
	case !s.Notes.Change(h.Session, id, note):
		s.withdraw(ctx, note)
		return Verdict{}, nil
	case s.Opened != nil:
		s.Opened(i)
	}
	if i, err = s.await(ctx, note); err != nil {
		s.Notes.Drop(h.Session, id)
		return Verdict{}, err
	}
	v := verdictOf(i)
	if questions != nil {
		v = questions.verdict(i, h.Input)
	}
	note.Allowed = v.Decision == "allow"
	if v.UpdatedInput != nil {
		note.Input = inputDigest(v.UpdatedInput)
	}
	there := s.Notes.Change(h.Session, id, note)
	switch {
	case !there && v.Source == "canceled":
		return Verdict{}, nil // the terminal was quicker, so the client has its answer
	case !note.Allowed:
		s.Notes.Drop(h.Session, id)
	}
	return v, nil
}

// ask is the request for h; with the questions, if the call is one.
func (s Hooks) ask(h Hook) (ask api.NewInteraction, questions *prompt, err error) {
	ask.WaitMode = "block"
	ask.Join = &api.Join{CallID: h.CallID} // the same call again, of a hook that was killed or of a prompt tool, is one card
	if secs := int(s.Timeout / time.Second); secs > 0 {
		ask.TimeoutSecs = &secs
	}
	if !h.asksQuestions(s.Format) {
		ask.ToolCall = &api.ToolCall{Name: h.Tool, Input: h.Input, ProviderCallID: h.CallID}
		ask.Suggestions = h.Suggestions
		return ask, nil, nil
	}
	questions = &prompt{}
	if err = json.Unmarshal(h.Input, questions); err != nil {
		return ask, nil, errors.New("they are not of the form of AskUserQuestion")
	}
	form, err := questions.form()
	ask.Request = &form
	return ask, questions, err
}

// open asks, once. It is not broken off when ctx ends: what is recorded must be known, so that it can be withdrawn.
func (s Hooks) open(ctx context.Context, h Hook, ask api.NewInteraction) (i api.Interaction, err error) {
	once, until := rand.Text(), time.Now().Add(s.Patience)
	trying, giveUp := context.WithCancel(ctx)
	defer giveUp()
	sent := func(err error) {
		if time.Now().After(until) {
			giveUp()
		}
		s.tried(err)
	}
	tryErr := api.Again(trying, sent, func() error {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
		defer stop()
		agent, enterErr := s.enter(ctx, h)
		if err = enterErr; err == nil {
			i, err = s.Client.CreateInteraction(ctx, agent, once, ask)
			i.AgentID = agent
		}
		return err
	})
	if err == nil {
		err = tryErr
	}
	return i, err
}

func (s Hooks) tried(err error) {
	if s.Tried != nil {
		s.Tried(err)
	}
}

// await waits for the end of what a note is about. A client that went away no longer wants the answer; why it did is the cause of ctx.
func (s Hooks) await(ctx context.Context, n Note) (i api.Interaction, err error) {
	i, err = s.Client.Await(ctx, n.Agent, n.Interaction, s.tried)
	switch {
	case err == nil:
		return i, nil
	case ctx.Err() != nil:
		s.withdraw(ctx, n)
		return i, context.Cause(ctx)
	}
	return i, err
}

// withdraw takes a request back. It gives it as it ended if somebody was quicker.
func (s Hooks) withdraw(ctx context.Context, n Note) (i api.Interaction) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer stop()
	i, err := s.Client.Cancel(ctx, n.Agent, n.Interaction)
	var late *api.Error
	if errors.As(err, &late) && late.Interaction != nil {
		return *late.Interaction
	}
	return i
}

// note takes note of what the client tells.
func (s Hooks) note(ctx context.Context, h Hook) error {
	switch h.Event {
	case PostToolUse, PostToolUseFailure:
		return s.ran(ctx, h)
	case UserPromptSubmit:
		return s.says(ctx, h, "user_message", h.Prompt, "")
	case Stop, SessionEnd:
		return s.ended(ctx, h)
	case Notification:
		return s.notified(ctx, h)
	}
	return nil
}

// ran records a tool's result. A card that is still open for the call was answered in the terminal.
func (s Hooks) ran(ctx context.Context, h Hook) error {
	result := h.result()
	for _, n := range s.Notes.Take(h.Session, false, func(n Note) bool { return n.about(h) }) {
		if n.Interaction == "" {
			break // whoever is asking finds that it was taken, and withdraws
		}
		allowed := n.Allowed
		if !allowed {
			allowed = verdictOf(s.withdraw(ctx, n)).Decision == "allow"
		}
		switch {
		case allowed && n.ToolCall == "":
			return nil // the answers are on the card
		case allowed:
			_, err := s.Client.Finish(ctx, n.Agent, n.ToolCall, rand.Text(), result)
			return err
		}
	}
	return s.did(ctx, h, result)
}

// did tells of a call for which no card decided, and of its result.
func (s Hooks) did(ctx context.Context, h Hook, result api.Result) error {
	if s.Told || h.Tool == "ask_question" { // which is a question to a person here
		return nil
	}
	agent, err := s.enter(ctx, h)
	if err != nil {
		return err
	}
	return told(ctx, s.Client, agent, api.ToolCall{Name: h.Tool, Input: h.Input, ProviderCallID: h.CallID}, result)
}

// told tells of a call that was decided on elsewhere, and of its result.
func told(ctx context.Context, c *api.Client, agent string, call api.ToolCall, result api.Result) error {
	block := api.ContentBlock{Type: "tool_call", Name: call.Name, Input: call.Input, ProviderCallID: call.ProviderCallID, Permission: "always_allow"}
	if call.ProviderCallID != "" {
		block.Permission = "elsewhere" // a permission prompt may have been answered about it
	}
	r, err := c.Report(ctx, agent, rand.Text(), api.NewEvent{EventKind: "model_output", ContentBlocks: []api.ContentBlock{block}, StopReason: "tool_use"})
	if err != nil {
		return err
	}
	for _, made := range r.ToolCalls {
		if made.State != "ready" {
			continue // a policy denies what its client has done all the same
		}
		if _, err := c.Finish(ctx, agent, made.ID, rand.Text(), result); err != nil {
			return err
		}
	}
	return nil
}

// says adds a text to the conversation.
func (s Hooks) says(ctx context.Context, h Hook, kind, text, stopReason string) error {
	if text = shown(text); s.Told || strings.TrimSpace(text) == "" {
		return nil
	}
	agent, err := s.enter(ctx, h)
	if err != nil {
		return err
	}
	_, err = s.Client.Report(ctx, agent, rand.Text(), api.NewEvent{EventKind: kind, ContentBlocks: api.Text(text), StopReason: stopReason})
	return err
}

// ended closes what is still open: nobody waits for it any more.
func (s Hooks) ended(ctx context.Context, h Hook) error {
	for _, n := range s.Notes.Take(h.Session, true, func(Note) bool { return true }) {
		if n.Interaction != "" && !n.Allowed {
			s.withdraw(ctx, n)
		}
	}
	return s.says(ctx, h, "model_output", h.Last, "end_turn")
}

// notified tells what the client shows its user, but for what the conversation shows already.
func (s Hooks) notified(ctx context.Context, h Hook) error {
	switch h.NotificationType {
	case "permission_prompt", "idle_prompt":
		return nil
	}
	return s.says(ctx, h, "model_output", h.Message, "")
}
