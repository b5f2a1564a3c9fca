package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/interaction"
	"sayso/internal/store"
	"sayso/web"
)

// streamed is one message of a stream, as a reader parses it.
type streamed struct {
	id, event, data string
	comment         string
}

// messagesOf parses what came of a stream; what a cut left unfinished is not there, as for every reader.
func messagesOf(text []byte) (list []streamed) {
	for {
		one, rest, whole := bytes.Cut(text, []byte("\n\n"))
		if !whole {
			return list
		}
		text = rest
		list = append(list, messageOf(string(one)))
	}
}

func messageOf(text string) (m streamed) {
	var data []string
	for line := range strings.SplitSeq(text, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "":
			m.comment = value
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			data = append(data, value)
		}
	}
	m.data = strings.Join(data, "\n")
	return m
}

// stream is a reader of a stream.
type stream struct {
	s        *site
	header   http.Header
	messages chan streamed // closed when the stream has ended
	cut      func()
}

// streams opens a stream and returns when it has said that it is there.
func (s *site) streams(key, at string, headers ...string) *stream {
	s.t.Helper()
	resp, cut := s.opens(key, at, headers...)
	st := &stream{s: s, header: resp.Header, messages: make(chan streamed, 10000), cut: cut}
	go func() {
		defer close(st.messages)
		defer resp.Body.Close()
		in, one := bufio.NewReader(resp.Body), ""
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if line != "\n" {
				one += line
				continue
			}
			st.messages <- messageOf(strings.TrimSuffix(one, "\n"))
			one = ""
		}
	}()
	if first := st.next(); first != (streamed{comment: "ok"}) {
		s.t.Errorf("%s begins with %+v", at, first)
	}
	return st
}

// opens sends the request of a stream, which lasts until it is cut.
func (s *site) opens(key, at string, headers ...string) (*http.Response, func()) {
	s.t.Helper()
	ctx, cut := context.WithCancel(s.t.Context())
	s.t.Cleanup(cut)
	req, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+at, nil)
	must(s.t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	for n := 0; n+1 < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	resp, err := noRedirects.Do(req)
	must(s.t, err)
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d", at, resp.StatusCode)
	}
	return resp, cut
}

// next is the next message, which must come soon. Heartbeats say nothing.
func (st *stream) next() (m streamed) {
	st.s.t.Helper()
	tooLong := time.After(30 * time.Second)
	for m = st.any(tooLong); m.comment == "beat"; {
		m = st.any(tooLong)
	}
	return m
}

// any is next that may be a heartbeat.
func (st *stream) any(tooLong <-chan time.Time) streamed {
	st.s.t.Helper()
	select {
	case m, ok := <-st.messages:
		if !ok {
			st.s.t.Fatal("the stream has ended")
		}
		return m
	case <-tooLong:
		st.s.t.Fatal("nothing came")
	}
	return streamed{}
}

// ends checks that the stream ends soon, and gives what came before.
func (st *stream) ends() (rest []streamed) {
	st.s.t.Helper()
	tooLong := time.After(30 * time.Second)
	for {
		select {
		case m, ok := <-st.messages:
			if !ok {
				return rest
			}
			rest = append(rest, m)
		case <-tooLong:
			st.s.t.Fatal("the stream does not end")
		}
	}
}

// ids are those of the messages that have one.
func ids(list []streamed) (ids []string) {
	for _, m := range list {
		if m.id != "" {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// loggedAt are the messages that a stream of a log must consist of, made of its pages.
func (s *site) loggedAt(at string) (list []streamed) {
	s.t.Helper()
	var page struct {
		Data []rawEvent
	}
	for after := int64(0); ; after = page.Data[len(page.Data)-1].Sequence {
		page.Data = nil
		read(s.t, s.call(s.operator, "GET", fmt.Sprintf("%s/events?limit=500&after_sequence=%d", at, after), ""), &page)
		if len(page.Data) == 0 {
			return list
		}
		for _, e := range page.Data {
			list = append(list, streamed{id: fmt.Sprint(e.Sequence), event: e.Kind, data: e.text})
		}
	}
}

// rawEvent is an event as it stands in a page.
type rawEvent struct {
	Sequence int64
	Kind     string
	text     string
}

func (e *rawEvent) UnmarshalJSON(text []byte) error {
	e.text = string(text)
	var members struct {
		Sequence int64
		Kind     string `json:"event_kind"`
	}
	err := json.Unmarshal(text, &members)
	e.Sequence, e.Kind = members.Sequence, members.Kind
	return err
}

// TestStream follows a conversation: the head of the answer, what the log held, and what then happens, each as it must be told.
func TestStream(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	_, other := s.newAgent("other")
	s.reports(path, says)
	s.reports(path, heard)
	st := s.streams(s.operator, path+"/events/stream")
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-store", "Content-Length": ""} {
		if got := st.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, want := range s.loggedAt(path) {
		if got := st.next(); got != want {
			t.Errorf("of the log: %+v, want %+v", got, want)
		}
	}
	s.reports(other, says) // is nothing to this stream
	i, at := s.asks(path, bash)
	update := func(event, data string) { // has no id
		t.Helper()
		if got := st.next(); got != (streamed{event: event, data: data}) {
			t.Errorf("%+v, want %s %s", got, event, data)
		}
	}
	event := func() {
		t.Helper()
		got := st.next()
		if log := s.loggedAt(path); !slices.Contains(log, got) {
			t.Errorf("%+v is not of the log %+v", got, log)
		}
	}
	update("tool_call_update", `{"tool_call_id":"`+i.ToolCallID+`","state":"awaiting_permission"}`)
	update("interaction_update", `{"interaction_id":"`+i.ID+`","state":"open","interaction_kind":"permission"}`)
	s.call(s.operator, "POST", at+"/resolve", denied)
	update("tool_call_update", `{"tool_call_id":"`+i.ToolCallID+`","state":"completed","outcome":"denied"}`)
	event()
	event()
	update("interaction_update", `{"interaction_id":"`+i.ID+`","state":"resolved","interaction_kind":"permission"}`)
	s.sends(path, hello)
	s.takes(path)
	event()
	form, _ := s.asks(path, question)
	update("interaction_update", `{"interaction_id":"`+form.ID+`","state":"open","interaction_kind":"question"}`)
	s.stops(path)
	event()
	update("interaction_update", `{"interaction_id":"`+form.ID+`","state":"canceled","interaction_kind":"question"}`)
	s.reports(path, says)
	event()
	st.cut()
	if rest := st.ends(); rest != nil {
		t.Errorf("and more: %+v", rest)
	}
}

// TestHeadOfAStream checks that who wants the head only is given it, and is not kept.
func TestHeadOfAStream(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	for _, at := range []string{path, project} {
		got := s.call(s.operator, "HEAD", at+"/events/stream", "", loosely, "openapi.yaml does not tell of HEAD")
		if got.status != 200 || got.header.Get("X-Accel-Buffering") != "no" || len(got.body) != 0 {
			t.Errorf("%d %v %q", got.status, got.header, got.body)
		}
	}
	ended := make(chan struct{})
	go func() { s.http.Close(); close(ended) }() // which waits for every answer that is not finished
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("an answer to HEAD does not end")
	}
}

// TestLifecycleStream follows the lifecycle log, from where the reader was.
func TestLifecycleStream(t *testing.T) {
	s := newSite(t, withCommand)
	_, first := s.asks(askable(s), bash)
	s.asks(askable(s), bash)
	st := s.streams(s.operator, project+"/events/stream", "Last-Event-ID", fmt.Sprint(s.lifecycle("")[0].Sequence))
	s.call(s.operator, "POST", first+"/resolve", allow)
	s.secondProject()
	s.asks(askable(s), bash)
	want := s.loggedAt(project)[1:]
	for n := range want {
		if got := st.next(); got != want[n] {
			t.Errorf("%+v, want %+v", got, want[n])
		}
	}
}

// TestStreamResumes checks where a stream begins.
func TestStreamResumes(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	for range 5 {
		s.reports(path, says)
	}
	for _, c := range []struct {
		query, last string
		from        int
	}{
		{"", "", 0}, {"?after_sequence=0", "", 0}, {"?after_sequence=2", "", 2}, {"?after_sequence=5", "", 5}, {"", "0", 0}, {"", "3", 3},
		{"?after_sequence=1", "4", 4}, {"?after_sequence=4", "1", 1}, {"?after_sequence=4", "", 4},
	} {
		headers := []string{}
		if c.last != "" {
			headers = []string{"Last-Event-ID", c.last}
		}
		st := s.streams(s.operator, path+"/events/stream"+c.query, headers...)
		s.reports(path, says) // so that there is an end to it
		now := s.loggedAt(path)
		for n := c.from; n < len(now); n++ {
			if got := st.next(); got != now[n] {
				t.Errorf("%+v: %+v, want %+v", c, got, now[n])
			}
		}
		st.cut()
	}
	for _, last := range []string{"x", "-1", "1.5", "+1", "1e1", "9223372036854775808", "1,2"} {
		for _, at := range []string{path, project} {
			s.refusal("Last-Event-ID "+last, "validation_failed", "Last-Event-ID", func() answer {
				return s.call(s.operator, "GET", at+"/events/stream", "", "Last-Event-ID", last)
			})
		}
	}
	s.refusal("both are looked at", "validation_failed", "after_sequence", func() answer {
		return s.call(s.operator, "GET", path+"/events/stream?after_sequence=x", "", "Last-Event-ID", "1")
	})
}

// TestStreamKeepsLines checks that raw input with line breaks in it comes as the JSON it was.
func TestStreamKeepsLines(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	live := s.streams(s.operator, path+"/events/stream")
	const input = "{ \"a\":\n\n1,\r\n\t\"b\":\r[\r\r\n\n],\"c\":\"x\\n\\ny\u2028\u0085\" }"
	s.calls(path, toolCall("ls", input, permission("always_allow")))
	saved := s.streams(s.operator, path+"/events/stream")
	for name, m := range map[string]streamed{"live": live.next(), "saved": saved.next()} {
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s.loggedAt(path)[0].data)
		if m.data != want || m.event != "model_output" || m.id != "1" {
			t.Errorf("%s: %+v, want the data %q", name, m, want)
		}
	}
}

// ticks are tickers that a test makes tick.
type ticks struct {
	mu  sync.Mutex
	all map[time.Duration][]chan time.Time
}

func (k *ticks) every(d time.Duration) (<-chan time.Time, func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := make(chan time.Time)
	k.all[d] = append(k.all[d], c)
	return c, func() {}
}

// tick has every ticker of d tick, and returns when each was heard.
func (k *ticks) tick(t *testing.T, d time.Duration) {
	t.Helper()
	k.mu.Lock()
	list := slices.Clone(k.all[d])
	k.mu.Unlock()
	if len(list) == 0 {
		t.Fatalf("nothing ticks every %v", d)
	}
	for _, c := range list {
		select {
		case c <- time.Now():
		case <-time.After(30 * time.Second):
			t.Fatalf("a tick of %v was not heard", d)
		}
	}
}

// ticking opens a stream by ticks of the test's own, and returns when the stream follows what happens.
func (s *site) ticking(key, path string) (*stream, *ticks) {
	s.t.Helper()
	k := &ticks{all: map[time.Duration][]chan time.Time{}}
	s.pages.SetTicks(k.every)
	st := s.streams(key, path+"/events/stream")
	s.reports(path, says)
	st.next()
	for n := 0; n < 1; { // its ticker is made, right behind that
		k.mu.Lock()
		n = len(k.all)
		k.mu.Unlock()
	}
	return st, k
}

// TestHeartbeat checks that a quiet stream says every 15 seconds that it is there.
func TestHeartbeat(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	st, k := s.ticking(s.operator, path)
	for range 3 {
		k.tick(t, 15*time.Second)
		if got := st.any(time.After(30 * time.Second)); got.comment == "" || got.id != "" || got.data != "" || got.event != "" {
			t.Errorf("%+v, want a comment", got)
		}
	}
}

// TestStreamOfARevokedKey checks that a stream ends within a second of its key being revoked, or being allowed less, and not before.
func TestStreamOfARevokedKey(t *testing.T) {
	for name, change := range map[string]string{
		"revoked": "UPDATE api_keys SET revoked_at = 1 WHERE name = 'reader'", "allowed less": "UPDATE api_keys SET scopes = 'audit' WHERE name = 'reader'",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			_, path := s.newAgent("swe")
			st := s.streams(s.newKey(interaction.OperatorPrincipal, "reader", interaction.ScopeRead), path+"/events/stream")
			s.gate.Recheck()
			s.reports(path, says)
			if got := st.next(); got.event != "model_output" {
				t.Errorf("%+v", got)
			}
			s.exec(change)
			s.clock.Advance(500 * time.Millisecond)
			s.gate.Recheck()
			if rest := st.ends(); rest != nil {
				t.Errorf("before the end: %+v", rest)
			}
		})
	}
}

// TestStreamsEndWithTheServer checks that no stream keeps a server from stopping.
func TestStreamsEndWithTheServer(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	var all []*stream
	for range 5 {
		all = append(all, s.streams(s.operator, path+"/events/stream"), s.streams(s.operator, project+"/events/stream"))
	}
	s.pages.Close()
	for _, st := range all {
		st.ends()
	}
}

// TestStreamThatIsCut has a reader cut off a hundred times, anywhere, while others write: what it has seen in the end is the log, each event
// once and in order, however it comes back.
func TestStreamThatIsCut(t *testing.T) {
	const cuts = 100
	s := newSite(t)
	_, path := s.newAgent("swe")
	stop := make(chan struct{})
	writers := s.write(path, stop)
	var seen []streamed
	last := func() string {
		if ids := ids(seen); len(ids) > 0 {
			return ids[len(ids)-1]
		}
		return "0"
	}
	open := func(n int) (*http.Response, func()) {
		switch n % 3 {
		case 0:
			return s.opens(s.operator, path+"/events/stream", "Last-Event-ID", last())
		case 1:
			return s.opens(s.operator, path+"/events/stream?after_sequence="+last())
		}
		return s.opens(s.operator, path+"/events/stream?after_sequence=1", "Last-Event-ID", last())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range cuts {
		resp, cut := open(n)
		text := make([]byte, random.IntN(4000))
		got, err := io.ReadFull(resp.Body, text)
		must(t, err)
		cut()
		resp.Body.Close()
		seen = append(seen, withIDs(messagesOf(text[:got]))...)
	}
	close(stop)
	writers.Wait()
	want := s.loggedAt(path)
	st := s.streams(s.operator, path+"/events/stream", "Last-Event-ID", last())
	for last() != want[len(want)-1].id {
		seen = append(seen, withIDs([]streamed{st.next()})...)
	}
	if diff := cmp.Diff(want, seen, cmp.AllowUnexported(streamed{})); diff != "" {
		t.Errorf("log and stream (-log +stream):\n%s", diff)
	}
	t.Logf("%d events", len(want))
}

func withIDs(list []streamed) (of []streamed) {
	for _, m := range list {
		if m.id != "" {
			of = append(of, m)
		}
	}
	return of
}

// write has several write to an agent until stop: what it says, what it asks and is answered, and stops.
func (s *site) write(path string, stop chan struct{}) *sync.WaitGroup {
	var all sync.WaitGroup
	again := func(do func() error) {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := do(); err != nil {
					s.t.Error(err)
					return
				}
			}
		})
	}
	call := func(key, at, body string) (answer, error) { return s.try(key, "POST", path+at, body) }
	again(func() error { _, err := call(s.agent, "/events", says); return err })
	again(func() error {
		a, err := call(s.agent, "/interactions", bash)
		if err != nil || a.status != http.StatusCreated {
			return err
		}
		_, err = call(s.operator, "/interactions/"+strings.Trim(rawAt(s.t, a.body, "id"), `"`)+"/resolve", deny)
		return err
	})
	again(func() error {
		if _, err := call(s.operator, "/inputs", hello); err != nil {
			return err
		}
		if _, err := call(s.agent, "/inputs/claim", ""); err != nil {
			return err
		}
		_, err := call(s.operator, "/cancel", "")
		return err
	})
	return &all
}

// TestSlowReader has a reader that does not read. It costs nobody anything, and is sent away to come back; what it then reads is whole.
func TestSlowReader(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	slow, cut := s.opens(s.operator, path+"/events/stream")
	defer cut()
	fast := s.streams(s.operator, path+"/events/stream")
	one := `{"event_kind":"model_output","content_blocks":[{"type":"text","text":"` + repeated("x", 60_000) + `"}]},`
	const reports, each = 40, 15
	for n := range reports * each {
		if n%each == 0 {
			s.reports(path, `{"events":[`+strings.TrimSuffix(repeated(one, each), ",")+`]}`)
		}
		if got := fast.next(); got.id != fmt.Sprint(n+1) {
			t.Fatalf("message %d of the fast reader has the id %s", n+1, got.id)
		}
	}
	text, err := io.ReadAll(slow.Body)
	got := ids(messagesOf(text))
	if len(got) == reports*each {
		t.Fatal("the network took it all: its buffers hold 36 MB, so send more")
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it ended with %v", err)
	}
	for n, id := range got {
		if id != fmt.Sprint(n+1) {
			t.Fatalf("message %d of the slow reader has the id %s", n+1, id)
		}
	}
	back := s.streams(s.operator, path+"/events/stream", "Last-Event-ID", fmt.Sprint(len(got)))
	for n := len(got); n < reports*each; n++ {
		if m := back.next(); m.id != fmt.Sprint(n+1) {
			t.Fatalf("it came back behind %d and was told %s", n, m.id)
		}
	}
}

// failing is a store whose log cannot be read.
type failing struct {
	*store.Store
	now atomic.Bool
}

func (f *failing) Events(ctx context.Context, filter interaction.EventFilter) ([]interaction.Event, error) {
	if f.now.Load() {
		return nil, errors.New("the disk is on fire")
	}
	return f.Store.Events(ctx, filter)
}

// TestStreamThatCannotBeTold checks that a reader is sent away when an event cannot be told, rather than told the next one.
func TestStreamThatCannotBeTold(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	log := &failing{Store: s.store}
	pages := web.New(web.Config{Log: slog.New(slog.DiscardHandler)}, s.service, s.gate, log, &web.Watch{})
	t.Cleanup(pages.Close)
	s.http.Config.Handler = pages // so that streams of the site are of this one
	conversation, lifecycle := s.streams(s.operator, path+"/events/stream"), s.streams(s.operator, project+"/events/stream")
	s.asks(path, bash)
	conversation.next()
	lifecycle.next()
	log.now.Store(true)
	s.reports(path, says)
	conversation.ends()
	lifecycle.ends()
}

// peeking is a store that has something happen right after the log was read.
type peeking struct {
	*store.Store
	then atomic.Pointer[func()]
	read chan struct{} // tells of each time
}

func (p *peeking) Events(ctx context.Context, f interaction.EventFilter) ([]interaction.Event, error) {
	list, err := p.Store.Events(ctx, f)
	if then := p.then.Load(); then != nil {
		(*then)()
	}
	p.read <- struct{}{}
	return list, err
}

// TestStreamHasNoGap has an event committed, and told to whoever follows by then, right after each time that a new stream has read the log:
// neither is missed, and neither comes twice.
func TestStreamHasNoGap(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	log := &peeking{Store: s.store, read: make(chan struct{}, 100)}
	pages := web.New(web.Config{Log: s.logger}, interaction.NewService(log, s.waits, s.logger, s.clock.Now), s.gate, s.store, &web.Watch{})
	t.Cleanup(pages.Close)
	s.http.Config.Handler = pages
	witness := s.streams(s.operator, path+"/events/stream")
	<-log.read // the witness has read the log twice, and follows
	<-log.read
	says := func() {
		p := interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_x", ProjectID: s.project.ID}
		said := []interaction.NewEvent{{Kind: interaction.ModelOutputEvent, Content: []interaction.ContentBlock{{Type: interaction.TextBlock, Text: "x"}}}}
		if _, _, err := s.service.Report(context.Background(), p, s.project, interaction.ID(agent), said, interaction.Once{}); err != nil {
			t.Error(err)
		}
		<-witness.messages
	}
	var reads atomic.Int64
	then := func() {
		if reads.Add(1) <= 2 {
			says()
		}
	}
	log.then.Store(&then)
	st := s.streams(s.operator, path+"/events/stream")
	first, second := st.next(), st.next()
	log.then.Store(nil)
	says()
	if got := ids([]streamed{first, second, st.next()}); reads.Load() != 2 || !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("told %v, after %d reads", got, reads.Load())
	}
}
