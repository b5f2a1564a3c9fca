package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a-h/templ"
	"github.com/gorilla/websocket"

	"sayso/internal/interaction"
	"sayso/internal/live"
	"sayso/internal/store"
	"sayso/views"
)

// Watch tells waiting askers of committed changes. It implements [interaction.Watcher]; the server fills it from the store.
type Watch struct {
	hub    live.Hub[interaction.Record]
	agents live.Hub[struct{}]
}

// watchBuffer is how many changes a waiter may lag behind: an interaction has few.
const watchBuffer = 4

// agentBuffer is how many changes of a conversation a waiting runtime may lag behind; with more, it comes back.
const agentBuffer = 64

// Watch gives the later states of one interaction.
func (w *Watch) Watch(id interaction.ID) (<-chan interaction.Record, func()) {
	s := w.hub.Subscribe(string(id), watchBuffer)
	return s.C, s.Stop
}

// WatchAgent tells that something changed in an agent's conversation.
func (w *Watch) WatchAgent(id interaction.ID) (<-chan struct{}, func()) {
	s := w.agents.Subscribe(string(id), agentBuffer)
	return s.C, s.Stop
}

// frame is what sockets are sent: one rendering, prepared once for all of them.
type frame = *websocket.PreparedMessage

// feed turns committed changes into frames, and keeps the sockets that get them.
type feed struct {
	server  *Server
	watch   *Watch
	frames  live.Hub[frame]
	streams live.Hub[message]
	sockets sockets
	guests  guestAudiences
	// strangers are the sockets of frames that have not said whose they are.
	strangers atomic.Int32
	done      chan struct{} // closed when the server stops: streams end
	stop      []func()
	closed    sync.Once
}

func newFeed(s *Server, w *Watch) *feed {
	f := &feed{server: s, watch: w, done: make(chan struct{})}
	f.sockets.start()
	// Askers, streams and screens follow on their own: who waits for an answer does not wait for it to be drawn.
	f.stop = []func(){s.store.Follow(f.wake), s.store.Follow(f.stream), s.store.Follow(f.draw)}
	return f
}

func (f *feed) close() {
	f.closed.Do(func() {
		close(f.done)
		for _, stop := range f.stop {
			stop()
		}
		f.sockets.close()
	})
}

// wake tells the askers that wait.
func (f *feed) wake(changes []store.Change) {
	for _, c := range changes {
		if c.Of() {
			f.watch.hub.Publish(string(c.Record.ID), c.Record)
		}
		f.watch.agents.Publish(string(c.Agent), struct{}{})
	}
}

// draw shows what was committed: cards first, since somebody waits for them. A change that cannot be drawn is missing from the screens until
// they ask again, and nothing else is.
func (f *feed) draw(changes []store.Change) {
	last := map[moved]int{} // where in changes something is said to have moved for the last time
	for n, c := range changes {
		if last[moved{c.Agent, c.Kind}] = n; c.Of() {
			f.try(c)
		}
	}
	for n, c := range changes {
		state := c.Kind == interaction.InputsMoved || c.Kind == interaction.AgentMoved // drawn once, as it is in the end
		if !c.Of() && (!state || n == last[moved{c.Agent, c.Kind}]) {
			f.try(c)
		}
	}
}

// moved is what a change says has moved.
type moved struct {
	agent interaction.ID
	kind  interaction.EventKind
}

func (f *feed) try(c store.Change) {
	if err := f.show(c); err != nil {
		f.server.config.Log.Error("push", slog.Any("err", err), slog.String("agent", string(c.Agent)), slog.Int64("sequence", c.Sequence))
	}
}

// drawWithin bounds the drawing of one change, so that the screens do not stand still behind it.
const drawWithin = 10 * time.Second

// show renders a change once for each kind of page that is open, and fans it out.
func (f *feed) show(c store.Change) (err error) {
	defer recoverTo(&err)
	ctx, cancel := context.WithTimeout(context.Background(), drawWithin)
	defer cancel()
	if c.Of() {
		return f.showCard(ctx, c.Record)
	}
	for _, who := range f.watching(c.Agent) {
		parts, err := f.besides(ctx, c, who)
		if err != nil || len(parts) == 0 {
			return err
		}
		if err := f.publish(topic(who, c.Agent), templ.Join(parts...)); err != nil {
			return err
		}
	}
	return nil
}

// What is drawn is drawn once for each audience that watches: who may answer, and who may only look.
var audiences = []interaction.Principal{
	{Kind: interaction.SystemPrincipal, Scopes: interaction.Approver.Scopes()},
	{Kind: interaction.SystemPrincipal, Scopes: interaction.Viewer.Scopes()},
}

// audienceOf names the audience that somebody belongs to.
func audienceOf(who interaction.Principal) string {
	if g := who.Guest; g != nil {
		return fmt.Sprint("guests of ", g.Embed, who.Scopes, g.OpenInSayso, g.Agents)
	}
	if who.Can(interaction.ScopeResolve) {
		return "answers"
	}
	return "looks"
}

// topic is what the sockets of an audience subscribe to, of a project or an agent.
func topic(who interaction.Principal, of interaction.ID) string {
	return audienceOf(who) + " " + string(of)
}

// guestAudiences are the audiences in frames that watch: one for each embed, and for each part of it that some are bound to.
type guestAudiences struct {
	mu    sync.Mutex
	known map[string]*guestAudience // by topic
}

type guestAudience struct {
	who      interaction.Principal // any of them
	watchers int
}

// join adds somebody to their audience, until leave. It gives what they subscribe to.
func (f *feed) join(who interaction.Principal) (watches string, leave func()) {
	watches = topic(who, who.ProjectID)
	f.guests.mu.Lock()
	defer f.guests.mu.Unlock()
	if f.guests.known == nil {
		f.guests.known = map[string]*guestAudience{}
	}
	if f.guests.known[watches] == nil {
		f.guests.known[watches] = &guestAudience{who: who}
	}
	f.guests.known[watches].watchers++
	return watches, sync.OnceFunc(func() { f.guests.leave(watches) })
}

func (g *guestAudiences) leave(watches string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known[watches].watchers--; g.known[watches].watchers == 0 {
		delete(g.known, watches)
	}
}

// of are the audiences to whom cards of an agent are shown.
func (g *guestAudiences) of(project, agent interaction.ID) (who []interaction.Principal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.known {
		if a.who.ProjectID == project && a.who.Shown(agent) {
			who = append(who, a.who)
		}
	}
	return who
}

// watching are the audiences that watch at least one of these.
func (f *feed) watching(of ...interaction.ID) (who []interaction.Principal) {
	for _, a := range audiences {
		if slices.ContainsFunc(of, func(id interaction.ID) bool { return f.frames.Watched(topic(a, id)) }) {
			who = append(who, a)
		}
	}
	return who
}

// besides draws what a change shows on the page of its conversation, beside the cards.
func (f *feed) besides(ctx context.Context, c store.Change, who interaction.Principal) ([]templ.Component, error) {
	agent, err := f.server.service.AgentByID(ctx, c.Agent)
	if err != nil {
		return nil, err
	}
	in, err := f.server.service.ProjectOf(ctx, agent.OrgID, agent.ProjectID)
	if err != nil {
		return nil, err
	}
	t := f.server.timeline(ctx, who, in)
	switch c.Kind {
	case interaction.ToolCallMoved:
		call, err := t.call(c.ToolCall.ID)
		return []templ.Component{views.CallView(call)}, err
	case interaction.InputsMoved, interaction.AgentMoved:
		inputs, err := f.server.service.Waiting(ctx, who, in, agent.ID)
		row := t.p.agentRow(agent)
		return []templ.Component{views.WaitingView(t.p.waiting(agent, inputs, who.Can(interaction.ScopeResolve))), views.AgentStateView(row)}, err
	}
	events, err := f.server.store.Events(ctx, interaction.EventFilter{Agent: agent.ID, Kinds: interaction.ConversationEvents, After: c.Sequence - 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	return t.parts(events)
}

// showCard renders a card once for each kind of page that is open, and fans it out.
func (f *feed) showCard(ctx context.Context, r interaction.Record) error {
	for _, who := range f.watching(r.ProjectID, r.AgentID) {
		card, open, err := f.present(ctx, r, who)
		if err != nil {
			return err
		}
		group := views.Group{AgentID: card.AgentID, Agent: card.Agent, AgentURL: card.AgentURL, Cards: []views.Card{card}}
		err = errors.Join(
			f.publish(topic(who, r.AgentID), views.CardView(card), views.OpenCount(open)),
			f.publish(topic(who, r.ProjectID), views.GroupView(group), views.OpenCount(open)),
		)
		if err != nil {
			return err
		}
	}
	for _, who := range f.guests.of(r.ProjectID, r.AgentID) {
		card, _, err := f.present(ctx, r, who)
		if err != nil {
			return err
		}
		if err := f.publish(topic(who, r.ProjectID), views.CardView(card)); err != nil {
			return err
		}
	}
	return nil
}

// present makes the card of a change, and counts the open ones of its project.
func (f *feed) present(ctx context.Context, r interaction.Record, who interaction.Principal) (views.Card, int, error) {
	i, err := r.Interaction()
	if err != nil {
		return views.Card{}, 0, err
	}
	in, err := f.server.service.ProjectOf(ctx, i.OrgID, i.ProjectID)
	if err != nil {
		return views.Card{}, 0, err
	}
	name, err := f.server.service.AgentName(ctx, i.AgentID)
	if err != nil {
		return views.Card{}, 0, err
	}
	open, err := f.server.service.CountOpen(ctx, i.ProjectID)
	if err != nil {
		return views.Card{}, 0, err
	}
	card, err := f.server.card(ctx, f.server.presenter(in, who), i, name)
	return card, open, err
}

// publish draws and sends, if anybody watches.
func (f *feed) publish(topic string, parts ...templ.Component) error {
	if !f.frames.Watched(topic) {
		return nil
	}
	var b bytes.Buffer
	if err := templ.Join(parts...).Render(context.Background(), &b); err != nil {
		return err
	}
	message, err := websocket.NewPreparedMessage(websocket.TextMessage, b.Bytes())
	if err != nil {
		return err
	}
	f.frames.Publish(topic, message)
	return nil
}
