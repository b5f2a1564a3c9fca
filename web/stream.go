package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/interaction"
	"sayso/internal/live"
	"sayso/internal/store"
)

// A stream tells a reader everything from the place it names: first what the log holds, then what is committed, each event once and in the
// order of the log. It subscribes before it reads the last of the log, and skips what it has told; so nothing is missed between the two. A
// reader that comes back names the last id it saw.

const (
	heartbeatEvery = 15 * time.Second
	streamBuffer   = 256 // messages a reader may lag behind before its stream ends, to be resumed
	streamPage     = interaction.MaxEventLimit
)

// message is one event of a stream, as it is written.
type message struct {
	sequence int64 // 0: it is not in the log, and has no id
	text     []byte
}

// messageOf writes an event of a stream. A line break within the JSON, as raw input may have, begins a new data line.
func messageOf(sequence int64, name string, data []byte) message {
	var b bytes.Buffer
	if sequence > 0 {
		fmt.Fprintf(&b, "id: %d\n", sequence)
	}
	fmt.Fprintf(&b, "event: %s\n", name)
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return message{sequence, b.Bytes()}
}

// source is what a stream tells of.
type source struct {
	topic string
	read  func(after int64) ([]interaction.Event, error) // the next part of the log
	write func(interaction.Event, []byte) []byte
}

func (src source) message(e interaction.Event) message {
	return messageOf(e.Sequence, string(e.Kind), src.write(e, nil))
}

// conversationTopic and lifecycleTopic name what streams subscribe to.
func conversationTopic(agent interaction.ID) string { return "conversation " + string(agent) }

func lifecycleTopic(project interaction.ID) string { return "lifecycle " + string(project) }

// streamEvents streams one agent's conversation.
func (s *Server) streamEvents(c echo.Context) error {
	q := queryOf(c, "after_sequence")
	after := resumeAt(c, q)
	project, agent, err := s.agentInProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	p := principal(c)
	return s.stream(c, after, source{conversationTopic(agent), func(after int64) ([]interaction.Event, error) {
		f := interaction.EventFilter{Agent: agent, Kinds: interaction.ConversationEvents, After: after, Limit: streamPage}
		list, _, err := s.service.Events(c.Request().Context(), p, project, f)
		return list, err
	}, interaction.Event.AppendJSON})
}

// streamLifecycle streams a project's lifecycle log.
func (s *Server) streamLifecycle(c echo.Context) error {
	q := queryOf(c, "after_sequence")
	after := resumeAt(c, q)
	project, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	p := principal(c)
	return s.stream(c, after, source{lifecycleTopic(project.ID), func(after int64) ([]interaction.Event, error) {
		f := interaction.EventFilter{Project: project.ID, After: after, Limit: streamPage}
		list, _, err := s.service.Lifecycle(c.Request().Context(), p, f)
		return list, err
	}, s.appendLifecycle})
}

// resumeAt is the sequence after which a reader wants to be told. What it saw last, as browsers and client libraries send it when they come
// back, beats what its address says.
func resumeAt(c echo.Context, q *query) int64 {
	after := q.sequence("after_sequence")
	last := c.Request().Header.Get("Last-Event-ID")
	if last == "" {
		return after
	}
	n, err := strconv.ParseUint(last, 10, 63)
	if err != nil {
		q.fail("Last-Event-ID: %q is not an id that we gave", clip(last))
	}
	return int64(n)
}

// stream answers with src until the reader goes, its key is revoked or the server stops.
func (s *Server) stream(c echo.Context, after int64, src source) error {
	defer s.hold(c)()
	page, err := src.read(after) // before the head: a caller that may not read is told so
	if err != nil {
		return err
	}
	r := &reader{server: s, src: src, last: after, ctx: c.Request().Context(), out: c.Response()}
	r.control = http.NewResponseController(c.Response())
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	if wantsHead(c.Request()) {
		return nil
	}
	if err = r.tell(message{text: []byte(": ok\n\n")}); err == nil {
		err = r.run(page)
	}
	s.config.Log.Debug("stream ended", slog.Any("err", err))
	return nil // the head is sent; a reader that finds the stream ended comes back
}

// reader is one stream on its way.
type reader struct {
	server  *Server
	src     source
	last    int64 // the sequence told last
	ctx     context.Context
	out     http.ResponseWriter
	control *http.ResponseController
}

// run tells what the log holds, beginning with page, and then what is committed.
func (r *reader) run(page []interaction.Event) error {
	if err := r.catchUp(page); err != nil {
		return err
	}
	sub := r.server.feed.streams.Subscribe(r.src.topic, streamBuffer)
	defer sub.Stop()
	page, err := r.src.read(r.last)
	if err != nil {
		return err
	}
	if err := r.catchUp(page); err != nil {
		return err
	}
	return r.follow(sub)
}

// catchUp tells page and what comes after it in the log, to its end.
func (r *reader) catchUp(page []interaction.Event) error {
	for len(page) > 0 {
		var text []byte
		for _, e := range page {
			text = append(text, r.src.message(e).text...)
		}
		if err := r.tell(message{page[len(page)-1].Sequence, text}); err != nil {
			return err
		}
		if len(page) < streamPage {
			return nil
		}
		var err error
		if page, err = r.src.read(r.last); err != nil {
			return err
		}
	}
	return nil
}

// follow tells what is published. It ends when the reader was too slow to be told everything.
func (r *reader) follow(sub *live.Subscription[message]) error {
	beat, noBeat := r.server.every(heartbeatEvery)
	defer noBeat()
	for {
		var err error
		select {
		case m, ok := <-sub.C:
			if !ok {
				return nil
			}
			err = r.tell(m)
		case <-beat:
			err = r.tell(message{text: []byte(": beat\n\n")})
		case <-r.server.feed.done:
			return nil
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
		if err != nil {
			return err
		}
	}
}

// ticker tells every d, until stop.
func ticker(d time.Duration) (ticks <-chan time.Time, stop func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}

// tell writes a message, unless its event was told already.
func (r *reader) tell(m message) error {
	if m.sequence > 0 && m.sequence <= r.last {
		return nil
	}
	if err := r.control.SetWriteDeadline(time.Now().Add(writeMost)); err != nil {
		return err
	}
	if _, err := r.out.Write(m.text); err != nil {
		return err
	}
	r.last = max(r.last, m.sequence)
	return r.control.Flush()
}

// stream tells the readers of streams what was committed. Events are read from the log, so that a stream says the same as a page of it. What
// cannot be told ends the streams it belongs to: their readers come back for it, where going on would lose it.
func (f *feed) stream(changes []store.Change) {
	for _, c := range changes {
		if err := f.pass(c); err != nil {
			f.server.config.Log.Error("stream", slog.Any("err", err), slog.Int64("sequence", c.Sequence))
			f.streams.Drop(conversationTopic(c.Agent))
			f.streams.Drop(lifecycleTopic(c.Project))
		}
	}
}

func (f *feed) pass(c store.Change) (err error) {
	defer recoverTo(&err)
	switch {
	case slices.Contains(interaction.ConversationEvents, c.Kind):
		return f.passEvent(conversationTopic(c.Agent), c, interaction.ConversationEvents, interaction.Event.AppendJSON)
	case slices.Contains(interaction.LifecycleEvents, c.Kind):
		f.passUpdate(c.Agent, "interaction_update", c.Record.AppendUpdate)
		return f.passEvent(lifecycleTopic(c.Project), c, interaction.LifecycleEvents, f.server.appendLifecycle)
	case c.Kind == interaction.ToolCallMoved:
		f.passUpdate(c.Agent, "tool_call_update", c.ToolCall.AppendUpdate)
	}
	return nil
}

func (f *feed) passEvent(topic string, c store.Change, kinds []interaction.EventKind, write func(interaction.Event, []byte) []byte) error {
	if !f.streams.Watched(topic) {
		return nil
	}
	list, err := f.server.store.Events(context.Background(), interaction.EventFilter{Project: c.Project, Kinds: kinds, After: c.Sequence - 1, Limit: 1})
	if err != nil {
		return err
	}
	for _, e := range list {
		f.streams.Publish(topic, messageOf(e.Sequence, string(e.Kind), write(e, nil)))
	}
	return nil
}

func (f *feed) passUpdate(agent interaction.ID, name string, write func([]byte) []byte) {
	if topic := conversationTopic(agent); f.streams.Watched(topic) {
		f.streams.Publish(topic, messageOf(0, name, write(nil)))
	}
}
