package interaction

import "time"

// A Turn is everything that one change of a conversation writes, in one transaction and in this order: the order of its events is the
// order of the log.
type Turn []Step

// Step is one thing that a turn writes: an [Agent], [Input] or [Call] as it is afterwards, an [Event], an [Opened] interaction, the
// [Change] that ends one, how far the answer of one got, or what a policy [Decided].
type Step interface{ step() }

func (Agent) step()    {}
func (Input) step()    {}
func (Call) step()     {}
func (Event) step()    {}
func (Opened) step()   {}
func (Change) step()   {}
func (Reported) step() {}

// Opened is a new interaction. Its tool call, if it has one, is stored with it.
type Opened struct{ Interaction }

// Reported says that the agent reported what became of an answered interaction.
type Reported struct {
	Interaction Interaction
	At          time.Time
	Outcome     ToolCallOutcome
}

// Conversation is one agent's conversation inside a transaction: nobody else changes it between what is read here and what is written.
type Conversation interface {
	Agent() Agent
	// Open are the open interactions, oldest first.
	Open() ([]Interaction, error)
	// OpenOf counts the open interactions of one asker.
	OpenOf(creator ID) (int, error)
	// Waiting are the inputs that no runtime has taken, in the order in which those of one delivery mode are handed out.
	Waiting() ([]Input, error)
	// Unfinished are the tool calls that are not completed, oldest first.
	Unfinished() ([]Call, error)
	// AskedAs are the calls, newest first, about which was asked with a Join under the asker's id of the call, and with this digest.
	AskedAs(digest, callID string) ([]Call, error)
	// Input and Call give one of this conversation's; another's is NotFound.
	Input(id ID) (Input, error)
	Call(id ID) (Call, error)
	Interaction(id ID) (Interaction, error)
	// NextSequence is the sequence that the next event will have.
	NextSequence() (int64, error)
	// Last is the latest event of the conversation; its Kind is "" when there is none.
	Last() (Event, error)
	// Actor stores an external person and gives the id; nil gives "".
	Actor(who *External, now time.Time) (ID, error)
}

// halt is what stopping and archiving read.
type halt struct {
	open    []Interaction
	waiting []Input
	calls   []Call
	last    Event
}

func haltOf(c Conversation) (h halt, err error) {
	if h.open, err = c.Open(); err != nil {
		return h, err
	}
	if h.waiting, err = c.Waiting(); err != nil {
		return h, err
	}
	if h.calls, err = c.Unfinished(); err != nil {
		return h, err
	}
	h.last, err = c.Last()
	return h, err
}

// working says whether there is anything to stop: something open, unfinished or steering, or an agent that has just been handed
// something and is about to act on it.
func (h halt) working() bool {
	for _, in := range h.waiting {
		if in.Mode == Steering {
			return true
		}
	}
	return len(h.open) > 0 || len(h.calls) > 0 || h.last.handsOver()
}

// handsOver says whether it is the agent's turn after e: it was given a message, an answer or a result, and has not said anything since.
func (e Event) handsOver() bool {
	switch e.Kind {
	case AgentInputEvent:
		return e.told().AgentInput.Control == ""
	case ToolResultEvent:
		return e.told().Outcome != ToolCallCanceled
	}
	return false
}

// stop ends everything that goes on, because of the control input in. The order is the contract's: the control, then the results of the
// calls in the order in which they were made, then what was asked without a call; queued inputs stay.
func (h halt) stop(in Input, why CancelReason, p Principal, now time.Time) Turn {
	in.Canceled = len(h.open)
	t := in.delivered(now)
	for _, waiting := range h.waiting {
		if waiting.Mode == Steering || why == AgentWasArchived {
			waiting.State = InputCanceled
			t = append(t, waiting)
		}
	}
	return append(t, cancelAll(h.open, h.calls, in, why, p, now)...)
}

// supersede stores the message in, and ends the open interactions because of it. by is who sent or promoted it.
func (in Input) supersede(open []Interaction, by Actor, p Principal, now time.Time) Turn {
	in.Canceled = len(open)
	cause := in
	cause.By = by
	return append(Turn{in}, cancelAll(open, nil, cause, SupersededByInput, p, now)...)
}

// cancelAll ends open interactions and unfinished calls, each once: a call that an open interaction guards ends with it.
func cancelAll(open []Interaction, calls []Call, in Input, why CancelReason, p Principal, now time.Time) (t Turn) {
	end := p.end(now)
	end.By, end.InputID, end.CancelReason = in.By, in.ID, why
	guards := map[ID]Interaction{}
	for _, i := range open {
		guards[i.ToolCallID] = i
	}
	done := map[ID]bool{}
	for _, call := range calls {
		if i, guarded := guards[call.ID]; guarded {
			t, done[i.ID] = append(t, i.ended(end, CanceledEvent)), true
			continue
		}
		t = append(t, call.canceled(why, now)...)
	}
	for _, i := range open {
		if !done[i.ID] {
			t = append(t, i.ended(end, CanceledEvent))
		}
	}
	return t
}

// ends gives the interactions that t ends.
func (t Turn) ends() (ids []ID) {
	for _, step := range t {
		if c, ok := step.(Change); ok {
			ids = append(ids, c.After.ID)
		}
	}
	return ids
}
