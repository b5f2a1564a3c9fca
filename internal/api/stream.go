package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// StreamLifecycle tells every event of the project's lifecycle log that comes after a sequence, each once and in order: first what the log
// holds, then what happens. It comes back by itself when the connection is cut or the server restarts, and goes on where it was. It ends
// when ctx is done, with the error of tell, or when the server refuses.
func (c *Client) StreamLifecycle(ctx context.Context, after int64, tell func(LifecycleEvent) error) error {
	return c.stream(ctx, c.project()+"/events/stream", after, func(m message) error { return decoded(m, tell) })
}

// Update is what a stream tells of a conversation: one of its events, or that something moved, which is told while it happens only.
type Update struct {
	Event       *Event
	ToolCall    *ToolCallUpdate
	Interaction *InteractionUpdate
}

// StreamConversation tells an agent's conversation, as StreamLifecycle does the lifecycle log.
func (c *Client) StreamConversation(ctx context.Context, agent string, after int64, tell func(Update) error) error {
	return c.stream(ctx, c.agent(agent)+"/events/stream", after, func(m message) error {
		switch {
		case m.sequence > 0:
			return decoded(m, func(e Event) error { return tell(Update{Event: &e}) })
		case m.event == "tool_call_update":
			return decoded(m, func(u ToolCallUpdate) error { return tell(Update{ToolCall: &u}) })
		case m.event == "interaction_update":
			return decoded(m, func(u InteractionUpdate) error { return tell(Update{Interaction: &u}) })
		}
		return nil // of a later version
	})
}

func decoded[T any](m message, tell func(T) error) error {
	var v T
	if err := json.Unmarshal(m.data, &v); err != nil {
		return err
	}
	return tell(v)
}

// quiet is how long a stream may say nothing before it counts as dead: the server's heart beats every 15 seconds.
const quiet = 50 * time.Second

// errCut says that a stream ended, as every one does sooner or later.
var errCut = errors.New("the stream ended")

// toldError is an error of who is told, which is no reason to come back.
type toldError struct{ error }

// reader is a stream over all its connections.
type reader struct {
	*Client
	path string
	last int64 // the sequence that was told last
	tell func(message) error
}

func (c *Client) stream(ctx context.Context, path string, after int64, tell func(message) error) error {
	r := &reader{Client: c, path: path, last: after, tell: tell}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		connected, err := r.connect(ctx)
		var told toldError
		switch {
		case errors.As(err, &told):
			return told.error
		case ctx.Err() != nil:
			return ctx.Err()
		case !passing(err):
			return err
		case connected:
			pause = firstPause
		}
		r.tried(err)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

func (c *Client) tried(err error) {
	if c.Tried != nil {
		c.Tried(err)
	}
}

// connect follows one connection to its end, which is always an error. connected says whether it came about.
func (r *reader) connect(ctx context.Context) (connected bool, err error) {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	dead := time.AfterFunc(quiet, cut)
	defer dead.Stop()
	req, err := r.request(ctx, http.MethodGet, r.path, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Last-Event-ID", strconv.FormatInt(r.last, 10))
	patient := *r.http()
	patient.Timeout = 0 // it is for calls that end
	resp, err := patient.Do(req)
	if err != nil {
		return false, r.maybe(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return false, r.maybe(err)
		}
		return false, failure(resp, body)
	}
	r.tried(nil)
	return true, r.follow(bufio.NewReader(resp.Body), dead)
}

// follow tells what comes. A message that is cut off half way was not told, and comes again.
func (r *reader) follow(in *bufio.Reader, dead *time.Timer) error {
	var m message
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return r.maybe(errCut)
		}
		if err != nil {
			return r.maybe(err)
		}
		dead.Reset(quiet)
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			m.add(line)
			continue
		}
		if err := r.pass(m); err != nil {
			return toldError{err}
		}
		m = message{}
	}
}

func (r *reader) pass(m message) error {
	if m.data == nil || m.sequence > 0 && m.sequence <= r.last {
		return nil
	}
	if err := r.tell(m); err != nil {
		return err
	}
	r.last = max(r.last, m.sequence)
	return nil
}

// message is one event of a stream.
type message struct {
	sequence int64 // 0: it has no id, since it is not in a log
	event    string
	data     []byte
}

// add reads one line of m. A comment is nothing.
func (m *message) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		m.sequence, _ = strconv.ParseInt(string(value), 10, 64) // one that is not ours is none
	case "event":
		m.event = string(value)
	case "data":
		if m.data == nil {
			m.data = []byte{}
		} else {
			m.data = append(m.data, '\n')
		}
		m.data = append(m.data, value...)
	}
}
