package interaction

import (
	"context"
	"strconv"
	"time"
)

// What people do to an agent, and what its runtime does. Each is one transaction on the agent's conversation.

// in checks that the agent is one that p may know of in the project; then that allowed holds.
func (p Principal) in(in Project, a Agent, allowed bool, what string) error {
	if a.ProjectID != in.ID || !p.sees(a) {
		return errNotFound()
	}
	if !allowed || p.Guest != nil { // guests answer cards, and have no part in the conversation
		return forbidden(what)
	}
	return nil
}

// writes says whether p may write to a: send, steer, stop.
func (p Principal) writes(in Project, a Agent) error {
	return p.in(in, a, p.Can(ScopeResolve), "write to agents")
}

// runs says whether p is a runtime of a: it reports what the agent does, and takes what is sent to it.
func (p Principal) runs(in Project, a Agent) error {
	return p.in(in, a, p.IsAgent() || p.Can(ScopeManage), "speak for this agent")
}

// active says whether a still works.
func (a Agent) active() error {
	if a.State == AgentArchived {
		return Errorf(Conflict, "This agent is archived; it takes and says nothing any more.")
	}
	return nil
}

// converse carries out one change of a conversation. What an Idempotency-Key did before, the same or something else, is told to those only
// who may do it still, where the path says.
func (s *Service) converse(ctx context.Context, agent ID, once Once, may func(Agent) error, change func(Conversation) (Turn, ID, error)) (resource ID, again bool, err error) {
	var ended []ID
	resource, again, err = s.store.Converse(ctx, agent, once, func(c Conversation) (Turn, ID, error) {
		if err := may(c.Agent()); err != nil {
			return nil, "", err
		}
		turn, resource, err := change(c)
		ended = turn.ends()
		return turn, resource, err
	})
	if again || CodeOf(err) == IdempotencyKey {
		a, unknown := s.store.Agent(ctx, agent)
		err = firstError(unknown, may(a), err)
	}
	if err == nil {
		for _, id := range ended {
			s.askers.forget(id)
		}
	}
	return resource, again, err
}

// Send stores a message for an agent. Steering with CancelOpen supersedes, in the same transaction, every interaction that is open. The
// same Idempotency-Key again gives the input as it now is, and cancels nothing.
func (s *Service) Send(ctx context.Context, p Principal, in Project, agent ID, n NewInput, once Once) (sent Input, created bool, err error) {
	if n, err = n.Normalised(); err != nil {
		return sent, false, err
	}
	if p.Kind == UserPrincipal && n.External != nil {
		return sent, false, errSpeaksForItself
	}
	id, again, err := s.converse(ctx, agent, once, func(a Agent) error { return p.writes(in, a) }, func(c Conversation) (Turn, ID, error) {
		turn, input, err := n.send(c, p, s.Time())
		sent = input
		return turn, input.ID, err
	})
	if err == nil && again {
		sent, err = s.store.Input(ctx, id)
	}
	return sent, !again, err
}

var errSpeaksForItself = Errorf(InvalidRequest, "actor: a signed-in user acts in person; only an API key may name somebody else")

func (n NewInput) send(c Conversation, p Principal, now time.Time) (Turn, Input, error) {
	if err := firstError(n.meaning(), c.Agent().active()); err != nil {
		return nil, Input{}, err
	}
	waiting, err := c.Waiting()
	if err != nil {
		return nil, Input{}, err
	}
	if len(waiting) >= MaxWaiting {
		return nil, Input{}, &Error{Code: RateLimited, RetryAfter: 5, Message: "Too many messages wait for this agent already; cancel some, or let it take them first."}
	}
	actor, err := c.Actor(n.External, now)
	if err != nil {
		return nil, Input{}, err
	}
	in := Input{
		ID: NewID(InputPrefix, now), AgentID: c.Agent().ID, Kind: ContentInput, Mode: n.Mode, State: InputReceived, Content: n.Content,
		By: p.person(n.External, actor), Position: behind(waiting), At: now,
	}
	if !n.CancelOpen {
		return Turn{in}, in, nil
	}
	open, err := c.Open()
	turn := in.supersede(open, in.By, p, now)
	return turn, turn[0].(Input), err
}

// behind is the position after all that wait.
func behind(waiting []Input) int64 {
	if len(waiting) == 0 {
		return 1
	}
	return waiting[len(waiting)-1].Position + 1
}

// Waiting are the inputs that wait for an agent: those that steer first, then the queued ones, each in the order in which it will get them.
func (s *Service) Waiting(ctx context.Context, p Principal, in Project, agent ID) ([]Input, error) {
	a, err := s.store.Agent(ctx, agent)
	if err != nil {
		return nil, err
	}
	if err := p.in(in, a, p.Can(ScopeRead), "read what waits for agents"); err != nil {
		return nil, err
	}
	waiting, err := s.store.Waiting(ctx, agent)
	var steering, queued []Input
	for _, in := range waiting {
		if in.Mode == Steering {
			steering = append(steering, in)
		} else {
			queued = append(queued, in)
		}
	}
	return append(steering, queued...), err
}

// changeInput changes one input of an agent.
func (s *Service) changeInput(ctx context.Context, p Principal, in Project, agent, id ID, change func(Conversation, Input) (Turn, error)) error {
	_, _, err := s.converse(ctx, agent, Once{}, func(a Agent) error { return p.writes(in, a) }, func(c Conversation) (Turn, ID, error) {
		input, err := c.Input(id)
		if err != nil {
			return nil, "", err
		}
		turn, err := change(c, input)
		return turn, id, err
	})
	return err
}

// CancelInput takes back an input that still waits. One that is canceled already stays so; one that the agent has is a StateTransition error.
func (s *Service) CancelInput(ctx context.Context, p Principal, in Project, agent, id ID) error {
	return s.changeInput(ctx, p, in, agent, id, func(_ Conversation, input Input) (Turn, error) {
		if input.State == InputCanceled {
			return nil, nil
		}
		if err := input.waiting(); err != nil {
			return nil, err
		}
		input.State = InputCanceled
		return Turn{input}, nil
	})
}

// MoveInput changes the order in which waiting inputs are handed out.
func (s *Service) MoveInput(ctx context.Context, p Principal, in Project, agent, id ID, to Place) error {
	if err := to.Checked(); err != nil {
		return err
	}
	return s.changeInput(ctx, p, in, agent, id, func(c Conversation, input Input) (Turn, error) {
		if err := firstError(to.meaning(id), input.waiting()); err != nil {
			return nil, err
		}
		if to.Anchor != "" {
			anchor, err := c.Input(to.Anchor)
			if err := firstError(err, anchor.waiting()); err != nil {
				return nil, err
			}
		}
		waiting, err := c.Waiting()
		return move(waiting, id, to), err
	})
}

func move(waiting []Input, id ID, to Place) (t Turn) {
	for from, in := range waiting {
		if in.ID != id {
			continue
		}
		for _, changed := range moved(waiting, from, to) {
			t = append(t, changed)
		}
	}
	return t
}

// PromoteInput makes a queued input steer, and with cancelOpen has it supersede what is open. One that steers already is left as it is,
// and cancels nothing: a repeated call must not end what was asked meanwhile.
func (s *Service) PromoteInput(ctx context.Context, p Principal, in Project, agent, id ID, cancelOpen bool) error {
	return s.changeInput(ctx, p, in, agent, id, func(c Conversation, input Input) (Turn, error) {
		if err := input.waiting(); err != nil || input.Mode == Steering {
			return nil, err
		}
		input.Mode = Steering
		if !cancelOpen {
			return Turn{input}, nil
		}
		open, err := c.Open()
		return input.supersede(open, p.actor(), p, s.Time()), err // who promotes ends what is open, whoever wrote it
	})
}

// DemoteInput makes a steering input wait its turn.
func (s *Service) DemoteInput(ctx context.Context, p Principal, in Project, agent, id ID) error {
	return s.changeInput(ctx, p, in, agent, id, func(_ Conversation, input Input) (Turn, error) {
		if err := input.waiting(); err != nil || input.Mode == Queued {
			return nil, err
		}
		input.Mode = Queued
		return Turn{input}, nil
	})
}

// Claim gives the agent's runtime the next input, and waits up to d for one; nil: there was none. What is claimed becomes an event of the
// conversation. The same Idempotency-Key again gives the same input, so that one whose answer was lost on the way is not.
func (s *Service) Claim(ctx context.Context, p Principal, in Project, agent ID, d time.Duration, once Once) (*Input, error) {
	changes, stop := s.watcher.WatchAgent(agent) // before looking: what comes between the two must not be missed
	defer func() { stop() }()
	timer := time.NewTimer(min(d, MaxWait))
	defer timer.Stop()
	for {
		input, err := s.claim(ctx, p, in, agent, once)
		if err != nil || input != nil || d <= 0 {
			return input, err
		}
		select {
		case _, ok := <-changes:
			if !ok { // more happened than was listened to; it is looked at once all the same
				stop()
				changes, stop = s.watcher.WatchAgent(agent)
			}
			drain(changes)
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closing:
			return nil, errRestarting()
		}
	}
}

// drain takes what has come already: however much happened, one look is enough.
func drain(changes <-chan struct{}) {
	for len(changes) > 0 {
		<-changes
	}
}

func (s *Service) claim(ctx context.Context, p Principal, in Project, agent ID, once Once) (claimed *Input, err error) {
	id, again, err := s.converse(ctx, agent, once, func(a Agent) error { return p.runs(in, a) }, func(c Conversation) (Turn, ID, error) {
		turn, input, err := take(c, s.Time())
		claimed = input
		if input == nil {
			return nil, "", err
		}
		return turn, input.ID, err
	})
	if err != nil {
		return nil, err
	}
	s.seen(agent)
	if !again {
		return claimed, nil
	}
	input, err := s.store.Input(ctx, id)
	return &input, err
}

// take is the turn in which the agent gets its next input; nil when there is none that it may have now.
func take(c Conversation, now time.Time) (Turn, *Input, error) {
	if err := c.Agent().active(); err != nil {
		return nil, nil, err
	}
	waiting, err := c.Waiting()
	if err != nil || len(waiting) == 0 {
		return nil, nil, err
	}
	open, err := c.Open()
	if err != nil {
		return nil, nil, err
	}
	in, ok := next(waiting, len(open) > 0)
	if !ok {
		return nil, nil, nil
	}
	turn := in.delivered(now)
	in = turn[0].(Input)
	return turn, &in, nil
}

// Stopped is what became of a stop.
type Stopped struct {
	Event *Event // nil: there was nothing to stop
	By    Actor
}

// Stop ends what an agent is doing: what is open, every call that is not completed, and what was to steer it. Queued inputs stay.
func (s *Service) Stop(ctx context.Context, p Principal, in Project, agent ID) (stopped Stopped, err error) {
	stopped.By = p.actor()
	event, _, err := s.converse(ctx, agent, Once{}, func(a Agent) error { return p.writes(in, a) }, func(c Conversation) (Turn, ID, error) {
		h, err := haltOf(c)
		if err != nil || !h.working() {
			return nil, "", err
		}
		now := s.Time()
		a := c.Agent()
		a.StoppedAt, a.UpdatedAt = now, now
		event, err := firstEvent(c)
		return append(h.stop(p.control(a, StopControl, now), AgentCanceled, p, now), a), event, err
	})
	if err != nil || event == "" {
		return stopped, err
	}
	list, err := s.eventsFrom(ctx, agent, event, 1, ConversationEvents...)
	if err == nil {
		stopped.Event = &list[0]
	}
	return stopped, err
}

// firstEvent names the first event that a turn is going to append.
func firstEvent(c Conversation) (ID, error) {
	sequence, err := c.NextSequence()
	return ID(strconv.FormatInt(sequence, 10)), err
}

// eventsFrom reads back what a turn appended to a conversation, from the event that firstEvent named.
func (s *Service) eventsFrom(ctx context.Context, agent, first ID, count int, kinds ...EventKind) ([]Event, error) {
	sequence, err := strconv.ParseInt(string(first), 10, 64)
	if err != nil {
		return nil, err
	}
	list, err := s.store.Events(ctx, EventFilter{Agent: agent, Kinds: kinds, After: sequence - 1, Limit: count})
	if err == nil && len(list) == 0 {
		err = errNotFound() // unreachable unless bug in the store
	}
	return list, err
}

// Archive stops an agent for good, and cancels what is queued for it. It stays readable. An archived agent stays as it is.
func (s *Service) Archive(ctx context.Context, p Principal, in Project, agent ID) (Agent, error) {
	_, _, err := s.converse(ctx, agent, Once{}, func(a Agent) error { return p.in(in, a, p.Can(ScopeManage), "archive agents") }, func(c Conversation) (Turn, ID, error) {
		a := c.Agent()
		if a.State == AgentArchived {
			return nil, "", nil
		}
		h, err := haltOf(c)
		if err != nil {
			return nil, "", err
		}
		now := s.Time()
		a.State, a.ArchivedAt, a.UpdatedAt = AgentArchived, now, now
		return append(Turn{a}, h.stop(p.control(a, ArchiveControl, now), AgentWasArchived, p, now)...), "", nil
	})
	if err != nil {
		return Agent{}, err
	}
	return s.store.Agent(ctx, agent)
}
