package interaction

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// MaxWait is how long one call may wait for an interaction to end.
const MaxWait = 55 * time.Second

// DefaultOpenLimit is how many open interactions an asker may have per agent.
const DefaultOpenLimit = 50

// Watcher tells of committed changes.
type Watcher interface {
	// Watch gives every later state of the interaction, in commit order, until stop is called. A watcher that does not read in time
	// gets its channel closed.
	Watch(id ID) (changes <-chan Record, stop func())
	// WatchAgent tells, until stop is called, that something changed in an agent's conversation: a signal, or a closed channel when too many
	// were not read.
	WatchAgent(id ID) (changes <-chan struct{}, stop func())
}

// Service is the one door to interactions: it decides who may do what, and has the store do it. All methods may be called at
// once from anywhere.
type Service struct {
	store     Store
	watcher   Watcher
	policies  Decider // nil: there are none
	log       *slog.Logger
	now       func() time.Time
	askers    *askers
	openLimit int
	loopback  bool          // the server is reached on loopback only
	deadlines chan struct{} // poked when a nearer deadline may have come
	closing   chan struct{}
}

// NewService makes a Service. Call [Service.Run] to have deadlines kept.
func NewService(store Store, watcher Watcher, log *slog.Logger, now func() time.Time) *Service {
	return &Service{
		store: store, watcher: watcher, log: log, now: now, askers: newAskers(), openLimit: DefaultOpenLimit,
		deadlines: make(chan struct{}, 1), closing: make(chan struct{}),
	}
}

// Close releases every waiting asker with Unavailable. Call it once.
func (s *Service) Close() { close(s.closing) }

// Time is now, in the milliseconds that are stored.
func (s *Service) Time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// Ref names an interaction from outside. What does not belong together does not exist.
type Ref struct {
	Project ID
	Agent   ID // "": any of the project
	ID      ID
}

func (ref Ref) names(r Record) bool {
	return r.ID == ref.ID && r.ProjectID == ref.Project && (ref.Agent == "" || ref.Agent == r.AgentID)
}

// Enter finds a project by org and its own id or slug, and gives the principal as it stands there; see [Principal.In]. One that it does not
// see is NotFound. For a key of a project the default project of the default org is its own, so that programs need not be told where they work.
func (s *Service) Enter(ctx context.Context, p Principal, org, project string) (Project, Principal, error) {
	if p.Kind != UserPrincipal && p.ProjectID != "" && org == DefaultSlug && project == DefaultSlug {
		org, project = "", string(p.ProjectID)
	}
	found, err := s.store.Project(ctx, org, project)
	if err != nil {
		return found, p, err
	}
	there, err := p.In(found)
	if err != nil {
		return Project{}, p, err
	}
	return found, there, nil
}

// Projects are those that the principal sees, in the order in which people are shown them.
func (s *Service) Projects(ctx context.Context, p Principal) ([]Project, error) {
	all, err := s.store.Projects(ctx)
	return slices.DeleteFunc(all, func(in Project) bool { _, err := p.In(in); return err != nil }), err
}

// CreateAgent makes an agent; one with the same key is given back instead. Agent keys bound to an agent may not.
func (s *Service) CreateAgent(ctx context.Context, p Principal, in Project, a NewAgent, once Once) (Agent, bool, error) {
	a, err := a.Normalised()
	if err != nil {
		return Agent{}, false, err
	}
	if p.AgentID != "" || !p.IsAgent() && !p.Can(ScopeManage) {
		return Agent{}, false, forbidden("create agents")
	}
	return s.store.CreateAgent(ctx, in, a, once, s.Time())
}

// Agent gives one agent of a project.
func (s *Service) Agent(ctx context.Context, p Principal, in Project, id ID) (Agent, error) {
	a, err := s.store.Agent(ctx, id)
	if err != nil {
		return a, err
	}
	if a.ProjectID != in.ID || !p.sees(a) {
		return Agent{}, errNotFound()
	}
	if !p.IsAgent() && !p.Can(ScopeRead) {
		return Agent{}, forbidden("read agents")
	}
	return a, nil
}

// AgentByID is an agent, to draw it for those who may see it.
func (s *Service) AgentByID(ctx context.Context, id ID) (Agent, error) { return s.store.Agent(ctx, id) }

// AgentName is what an agent is called; for those who may already see one of its interactions.
func (s *Service) AgentName(ctx context.Context, id ID) (string, error) {
	return s.store.AgentName(ctx, id)
}

// ProjectOf is the project of an interaction at hand.
func (s *Service) ProjectOf(ctx context.Context, org, project ID) (Project, error) {
	return s.store.Project(ctx, string(org), string(project))
}

// UpdateAgent changes an agent's name, metadata or destination.
func (s *Service) UpdateAgent(ctx context.Context, p Principal, in Project, id ID, patch AgentPatch) (Agent, error) {
	patch, err := patch.Normalised()
	if err != nil {
		return Agent{}, err
	}
	return s.store.UpdateAgent(ctx, id, func(a Agent) (Agent, error) {
		if a.ProjectID != in.ID || !p.sees(a) {
			return a, errNotFound()
		}
		if p.IsAgent() && p.AgentID != a.ID || !p.IsAgent() && !p.Can(ScopeManage) {
			return a, forbidden("change this agent")
		}
		return a.Apply(patch, s.Time()), nil
	})
}

// Agents lists agents; next is nil on the last page.
func (s *Service) Agents(ctx context.Context, p Principal, f AgentFilter) (page []Agent, next *Cursor, err error) {
	if !p.readsAll() {
		return nil, nil, forbidden("list agents")
	}
	all, err := s.store.Agents(ctx, f)
	page, next = cut(all, f.Limit, func(a Agent) Cursor { return Cursor{a.CreatedAt, a.ID} })
	return page, next, err
}

// Create opens an interaction for an agent, unless it is of a tool call that the agent's policy decides. An asker that has too many open ones
// is RateLimited; an archived agent is a Conflict.
func (s *Service) Create(ctx context.Context, p Principal, in Project, agent ID, ask Ask, once Once) (Asked, bool, error) {
	ask, err := ask.Normalised()
	if err != nil {
		return Asked{}, false, err
	}
	now := s.Time()
	if once.Joining = ask.joining(p, in, now); once.Joining != nil {
		once.Joining.Anew = func(a Agent) bool {
			return a.active() != nil || s.verdict(in, a, ask.ToolCall).ruled(ask).decides()
		}
	}
	r, created, err := s.store.Create(ctx, agent, once, func(c Conversation) (Step, error) {
		a := c.Agent()
		if err := firstError(mayAsk(p, in, a), ask.meaning(), a.active()); err != nil {
			return nil, err
		}
		if v := s.verdict(in, a, ask.ToolCall).ruled(ask); v.decides() {
			return decidedOn(ask, v, a, p.ID, now), nil
		}
		already, err := c.OpenOf(p.ID)
		if err := firstError(err, s.hasRoom(already)); err != nil {
			return nil, err
		}
		ask, err := ask.takenOver(c, p)
		return Opened{New(ask, a, p.ID, now)}, err
	})
	if err == nil && !created || CodeOf(err) == IdempotencyKey {
		return r, false, firstError(s.mayAskOf(ctx, p, in, agent), err)
	}
	if err != nil {
		return r, false, err
	}
	s.seen(agent)
	if r.Decided != nil {
		return r, created, nil
	}
	if ask.WaitMode == Block {
		s.askers.expect(r.ID, now)
	}
	if ask.timeout() > 0 {
		s.lookAgain()
	}
	return r, created, nil
}

// mayAskOf is mayAsk of an agent that was not looked at: what a key did before is told to those only who may ask there at all.
func (s *Service) mayAskOf(ctx context.Context, p Principal, in Project, agent ID) error {
	a, err := s.store.Agent(ctx, agent)
	if err != nil {
		return err
	}
	return mayAsk(p, in, a)
}

func mayAsk(p Principal, in Project, a Agent) error {
	if a.ProjectID != in.ID || !p.sees(a) {
		return errNotFound()
	}
	if !p.IsAgent() && !p.Can(ScopeManage) {
		return forbidden("ask for this agent")
	}
	return nil
}

// hasRoom says whether an agent can take one more open interaction of an asker that has already so many.
func (s *Service) hasRoom(already int) error {
	if already >= s.openLimit {
		return &Error{Code: RateLimited, RetryAfter: 5, Message: "This asker has too many open interactions for this agent; wait until one ends."}
	}
	return nil
}

// Get gives one interaction.
func (s *Service) Get(ctx context.Context, p Principal, ref Ref) (Record, error) {
	r, err := s.store.Interaction(ctx, ref.ID)
	if err != nil {
		return r, err
	}
	if !ref.names(r) || p.hides(r) {
		return Record{}, errNotFound()
	}
	if !p.reads(r) {
		return Record{}, forbidden("read interactions")
	}
	if p.askedRecord(r) {
		s.seen(r.AgentID)
	}
	return r, nil
}

// Waiter is a caller who waits for an interaction to end. It is one value, and handed on by its address, since thousands wait at once: what a
// function holds meanwhile, and each copy of a record, stays on the stack of each of them.
type Waiter struct {
	Principal Principal
	Ref       Ref
	For       time.Duration // at the most
	Record    Record        // as it was last seen
}

// Wait is Get that returns when the interaction ends, or after the waiter's time at the latest. Its caller is heard of as the asker while it
// waits.
func (s *Service) Wait(ctx context.Context, w *Waiter) error {
	changes, stop := s.watcher.Watch(w.Ref.ID) // before reading: an answer between the two must not be missed
	defer stop()
	if err := s.look(ctx, w); err != nil || w.Record.State != Open || w.For <= 0 {
		return err
	}
	defer s.onLine(w)()
	if err := s.await(ctx, changes, w); err != nil || w.Record.State != Open {
		return err
	}
	return s.look(ctx, w)
}

//go:noinline
func (s *Service) look(ctx context.Context, w *Waiter) (err error) {
	w.Record, err = s.Get(ctx, w.Principal, w.Ref)
	return err
}

// onLine notes that the waiter is on the line, until leave, if it is the asker.
//
//go:noinline
func (s *Service) onLine(w *Waiter) (leave func()) {
	if !w.Principal.askedRecord(w.Record) {
		return func() {}
	}
	left := s.heardOf(w.Record)
	return func() { left(s.Time()) }
}

// await reads changes into the record until it ended, the time is up, or nobody waits any more.
func (s *Service) await(ctx context.Context, changes <-chan Record, w *Waiter) error {
	timer := time.NewTimer(min(w.For, MaxWait))
	defer timer.Stop()
	for w.Record.State == Open {
		select {
		case next, ok := <-changes:
			if !ok {
				return nil
			}
			w.Record = next
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return errRestarting()
		}
	}
	return nil
}

func errRestarting() *Error {
	return &Error{Code: Unavailable, Message: "The server is restarting; ask again.", RetryAfter: 1}
}

// heardOf notes that the asker of r waits on the line, until leave.
func (s *Service) heardOf(r Record) (leave func(time.Time)) {
	back, leave := s.askers.arrive(r.ID)
	if back || !r.Delivery.AskerGoneSince.IsZero() {
		s.markAsker(r.ID)
	}
	return leave
}

// seen notes that an agent was heard of.
func (s *Service) seen(agent ID) {
	if now := s.Time(); s.askers.touch(agent, now) {
		s.store.TouchAgent(agent, now)
	}
}

// PickedUp notes that the caller was handed r. Call it when the answer has left; only the asker's own reading counts.
func (s *Service) PickedUp(p Principal, r Record) {
	if p.askedRecord(r) && r.State == Resolved && r.Delivery.PickedUpAt.IsZero() {
		s.store.MarkPickedUp(r.ID, s.Time())
	}
}

// Resolve ends an interaction with a person's answer; see [Interaction.Resolve]. replay says that the same answer had been given.
func (s *Service) Resolve(ctx context.Context, p Principal, ref Ref, a Answers) (r Record, replay bool, err error) {
	a, err = a.Checked()
	if err != nil {
		return r, false, err
	}
	if (p.Kind == UserPrincipal || p.Guest != nil) && a.External != nil {
		return r, false, errSpeaksForItself
	}
	if p.Guest != nil {
		a.External = p.Guest.external()
	}
	r, replay, err = s.store.Update(ctx, ref.ID, a.External, func(r Record, i Interaction, actor ID) (Change, error) {
		if !ref.names(r) || p.hides(r) {
			return Change{}, errNotFound()
		}
		return i.Resolve(a, p, actor, s.Time())
	})
	return s.ended(r, replay, err)
}

// Cancel withdraws an interaction; see [Interaction.Cancel].
func (s *Service) Cancel(ctx context.Context, p Principal, ref Ref) (r Record, replay bool, err error) {
	r, replay, err = s.store.Update(ctx, ref.ID, nil, func(r Record, i Interaction, _ ID) (Change, error) {
		if !ref.names(r) || p.hides(r) {
			return Change{}, errNotFound()
		}
		return i.Cancel(p, s.Time())
	})
	return s.ended(r, replay, err)
}

func (s *Service) ended(r Record, replay bool, err error) (Record, bool, error) {
	if err == nil {
		s.askers.forget(r.ID)
	}
	return r, replay, err
}

// List gives the interactions that f describes; next is nil on the last page. A search for words looks at everything or is Unavailable.
func (s *Service) List(ctx context.Context, p Principal, f Filter) (page []Record, next *Cursor, err error) {
	if !p.Can(ScopeRead) {
		return nil, nil, forbidden("list interactions")
	}
	if f.Words != "" {
		missing, err := s.store.CatchUp(ctx)
		if err := firstError(err, Incomplete(missing)); err != nil {
			return nil, nil, err
		}
	}
	if p.Guest != nil {
		f.Project, f.Agents = p.ProjectID, p.Guest.Agents
	}
	all, err := s.store.Interactions(ctx, f)
	page, next = cut(all, f.Limit, func(r Record) Cursor { return Cursor{r.CreatedAt, r.ID} })
	return page, next, err
}

// CountOpen is how many interactions of a project are open.
func (s *Service) CountOpen(ctx context.Context, in ID) (int, error) {
	return s.store.CountOpen(ctx, in)
}

// History is what happened to one interaction.
func (s *Service) History(ctx context.Context, p Principal, ref Ref) ([]Event, error) {
	if _, err := s.Get(ctx, p, ref); err != nil {
		return nil, err
	}
	return s.store.History(ctx, ref.ID)
}
