package interaction

import "context"

// Events gives a part of one agent's conversation, in its order; more says that there is more in the direction asked for.
func (s *Service) Events(ctx context.Context, p Principal, in Project, f EventFilter) (page []Event, more bool, err error) {
	a, err := s.store.Agent(ctx, f.Agent)
	if err != nil {
		return nil, false, err
	}
	if err := p.in(in, a, p.Can(ScopeRead), "read conversations"); err != nil {
		return nil, false, err
	}
	f.Project = in.ID
	return s.events(ctx, f)
}

// Lifecycle gives a part of a project's lifecycle log.
func (s *Service) Lifecycle(ctx context.Context, p Principal, f EventFilter) (page []Event, more bool, err error) {
	if !p.readsAll() {
		return nil, false, forbidden("read lifecycle events")
	}
	f.Kinds = LifecycleEvents
	return s.events(ctx, f)
}

// events reads one more than asked for, to tell whether there is more.
func (s *Service) events(ctx context.Context, f EventFilter) (page []Event, more bool, err error) {
	limit := f.Limit
	f.Limit++
	page, err = s.store.Events(ctx, f)
	if len(page) <= limit {
		return page, false, err
	}
	if f.Before > 0 {
		return page[1:], true, err
	}
	return page[:limit], true, err
}

// ToolCalls lists an agent's tool calls by (created_at, id); next is nil on the last page.
func (s *Service) ToolCalls(ctx context.Context, p Principal, in Project, f CallFilter) (page []Call, next *Cursor, err error) {
	a, err := s.store.Agent(ctx, f.Agent)
	if err != nil {
		return nil, nil, err
	}
	if err := p.in(in, a, p.Can(ScopeRead), "list tool calls"); err != nil {
		return nil, nil, err
	}
	all, err := s.store.Calls(ctx, f)
	page, next = cut(all, f.Limit, func(c Call) Cursor { return Cursor{c.CreatedAt, c.ID} })
	return page, next, err
}

// Input gives one input, to somebody who may already see what it did.
func (s *Service) Input(ctx context.Context, id ID) (Input, error) { return s.store.Input(ctx, id) }

// Call gives one tool call, to somebody who may already see an event that names it.
func (s *Service) Call(ctx context.Context, id ID) (Call, error) { return s.store.Call(ctx, id) }

// UnfinishedCalls are an agent's tool calls that are not completed, the newest first, at most limit.
func (s *Service) UnfinishedCalls(ctx context.Context, p Principal, in Project, agent ID, limit int) ([]Call, error) {
	a, err := s.store.Agent(ctx, agent)
	if err != nil {
		return nil, err
	}
	if err := p.in(in, a, p.Can(ScopeRead), "list tool calls"); err != nil {
		return nil, err
	}
	return s.store.UnfinishedCalls(ctx, agent, limit)
}

// Actors lists the external people of a project by (created_at, id).
func (s *Service) Actors(ctx context.Context, p Principal, in Project, page Page) (list []StoredActor, next *Cursor, err error) {
	if !p.readsAll() {
		return nil, nil, forbidden("list actors")
	}
	all, err := s.store.Actors(ctx, in.ID, page)
	list, next = cut(all, page.Limit, func(a StoredActor) Cursor { return Cursor{a.CreatedAt, a.ID} })
	return list, next, err
}

// Actor gives one external person of a project.
func (s *Service) Actor(ctx context.Context, p Principal, in, id ID) (StoredActor, error) {
	if !p.readsAll() {
		return StoredActor{}, forbidden("read actors")
	}
	a, err := s.store.Actor(ctx, id)
	if err == nil && a.ProjectID != in {
		err = errNotFound()
	}
	return a, err
}

// PutActor stores an external person, known by tenant and user; created says that it was not known.
func (s *Service) PutActor(ctx context.Context, p Principal, in ID, who External) (a StoredActor, created bool, err error) {
	checked, err := who.normalised("")
	if err != nil {
		return a, false, err
	}
	if !p.Can(ScopeResolve) || p.Guest != nil {
		return a, false, forbidden("name other people")
	}
	return s.store.PutActor(ctx, in, *checked, s.Time())
}
