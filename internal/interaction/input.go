package interaction

import "time"

// InputKind says what an input is.
type InputKind string

// The kinds of input.
const (
	ContentInput  InputKind = "content"              // a message
	ResponseInput InputKind = "interaction_response" // the answer that ended an interaction
	ControlInput  InputKind = "control"              // stop, or archive
)

// DeliveryMode is when an agent gets an input.
type DeliveryMode string

// The delivery modes.
const (
	Queued    DeliveryMode = "queued"    // when it has nothing open any more
	Steering  DeliveryMode = "steering"  // next, whatever is open
	Immediate DeliveryMode = "immediate" // at once: answers, controls, and what a person said where the agent runs
)

// InputState is where an input stands.
type InputState string

// The states of an input.
const (
	InputReceived InputState = "received" // waits for the agent's runtime to take it
	InputResolved InputState = "resolved" // the agent has it: it is an event of the conversation
	InputCanceled InputState = "canceled"
	InputRejected InputState = "rejected"
)

// Control is what a control input does.
type Control string

// The controls.
const (
	StopControl    Control = "stop"
	ArchiveControl Control = "archive"
)

// Input is anything sent to an agent.
type Input struct {
	ID            ID
	AgentID       ID
	Kind          InputKind
	Mode          DeliveryMode
	State         InputState
	InteractionID ID             // of a response
	Content       []ContentBlock // of a message
	Control       Control        // of a control
	By            Actor
	Canceled      int   // how many open interactions it ended
	Position      int64 // orders the inputs that wait
	At            time.Time
}

// NewInput is what a person sends to an agent.
type NewInput struct {
	Content    []ContentBlock
	Mode       DeliveryMode // "": Queued
	CancelOpen bool         // with Steering only: it supersedes what is open
	External   *External    // the person a relaying service speaks for; nil: the caller itself
}

// MaxWaiting is how many inputs may wait for an agent.
const MaxWaiting = 1000

// Normalised is n with its defaults filled in. What is wrong with its shape is ValidationFailed.
func (n NewInput) Normalised() (NewInput, error) {
	if n.Mode == "" {
		n.Mode = Queued
	}
	if n.Mode != Queued && n.Mode != Steering {
		return n, Errorf(ValidationFailed, "delivery_mode: %q is unknown; allowed are queued and steering", clip(string(n.Mode)))
	}
	if err := checkMessage("content_blocks", n.Content); err != nil {
		return n, err
	}
	var err error
	n.External, err = n.External.normalised("actor.")
	return n, err
}

func (n NewInput) meaning() error {
	if n.CancelOpen && n.Mode != Steering {
		return Errorf(InvalidRequest, "cancel_open_interactions: goes with delivery_mode steering only; a queued message waits until nothing is open")
	}
	return nil
}

// waiting says whether in can still be changed, as nobody has taken it.
func (in Input) waiting() error {
	switch in.State {
	case InputReceived:
		return nil
	case InputCanceled:
		return Errorf(StateTransition, "This input was canceled; it no longer waits.")
	}
	return Errorf(StateTransition, "The agent has this input already; it no longer waits.")
}

// delivered is in as the agent has it, and the event that says so.
func (in Input) delivered(now time.Time) Turn {
	in.State = InputResolved
	return Turn{in, Event{ID: NewID(EventPrefix, now), Kind: AgentInputEvent, InputID: in.ID, At: now, Body: in.body()}}
}

// next is the input that a runtime gets: steering first. A queued one waits while anything is open. ok is false when there is none.
func next(waiting []Input, anyOpen bool) (in Input, ok bool) {
	for _, in := range waiting {
		if in.Mode == Steering {
			return in, true
		}
	}
	if anyOpen || len(waiting) == 0 {
		return Input{}, false
	}
	return waiting[0], true
}

// Place is where among the waiting inputs one is moved to.
type Place struct {
	Where  Where
	Anchor ID // of Before and After
}

// Where is front, back, or beside another input.
type Where string

// The places.
const (
	Front  Where = "front"
	Back   Where = "back"
	Before Where = "before"
	After  Where = "after"
)

// Checked says what is wrong with the shape of p: ValidationFailed.
func (p Place) Checked() error {
	switch p.Where {
	case Front, Back, Before, After:
	default:
		return Errorf(ValidationFailed, "position: %q is unknown; allowed are front, back, before and after", clip(string(p.Where)))
	}
	if p.Anchor != "" && !p.Anchor.WellFormed(InputPrefix) {
		return Errorf(ValidationFailed, "anchor_input_id: %q is not an id of the form ain_ and 26 characters of a-z and 2-7", clip(string(p.Anchor)))
	}
	return nil
}

// meaning says whether the parts of p go together, for a move of id.
func (p Place) meaning(id ID) error {
	beside := p.Where == Before || p.Where == After
	switch {
	case beside && p.Anchor == "":
		return Errorf(InvalidRequest, "anchor_input_id: must be given with position %s", p.Where)
	case !beside && p.Anchor != "":
		return Errorf(InvalidRequest, "anchor_input_id: goes with position before and after only")
	case p.Anchor == id:
		return Errorf(InvalidRequest, "anchor_input_id: an input cannot be moved beside itself")
	}
	return nil
}

// moved gives the inputs whose position changes when the one at from goes to p among waiting.
func moved(waiting []Input, from int, p Place) (changed []Input) {
	in := waiting[from]
	rest := append(append([]Input(nil), waiting[:from]...), waiting[from+1:]...)
	to := len(rest)
	for n, other := range rest {
		switch {
		case p.Where == Front, p.Where == Before && other.ID == p.Anchor:
			to = min(to, n)
		case p.Where == After && other.ID == p.Anchor:
			to = n + 1
		}
	}
	order := append(append(append([]Input(nil), rest[:to]...), in), rest[to:]...)
	for n := range order {
		if order[n].Position != waiting[n].Position {
			order[n].Position = waiting[n].Position // the places stay, who stands in them changes
			changed = append(changed, order[n])
		}
	}
	return changed
}
