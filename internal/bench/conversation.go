package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
)

// says is what a runtime reports: a few hundred bytes of text.
var says = reportOf(1)

// reportOf is a report of n outputs.
func reportOf(n int) string {
	report := api.NewEvents{Events: make([]api.NewEvent, n)}
	for i := range report.Events {
		report.Events[i] = api.NewEvent{EventKind: "model_output", ContentBlocks: api.Text(strings.Repeat("The build is **green**; I go on with the next step. ", 6))}
	}
	body, err := json.Marshal(report)
	if err != nil {
		panic(err) // unreachable: it is a constant
	}
	return string(body)
}

// newAgent makes an agent and gives its path.
func (p *product) newAgent() (string, error) {
	places, err := p.places(1)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(places[0], "/interactions"), nil
}

// longConversation measures the page of a long conversation against the same page of a short one. Only the newest events are on it.
func longConversation(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "conversation_10k", Unit: "µs", Target: 1.2, about: fmt.Sprintf("page of a conversation of %d events, p50; of one of 100", s.events)}
	err = withProduct(ctx, func(p *product) error {
		cookie, err := p.signIn()
		if err != nil {
			return err
		}
		c := dial(p.address, p.agent)
		defer c.close()
		open := func(events int) (side, error) {
			agent, err := p.newAgent()
			for n := 0; n < events && err == nil; n += 100 {
				_, err = c.call("POST", agent+"/events", reportOf(100))
			}
			page := strings.Replace(agent, project, "/projects/default", 1)
			return func() (float64, error) { return p50(s.singles, func(int) error { return c.paints(page, cookie) }) }, err
		}
		long, err1 := open(s.events)
		short, err2 := open(100)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		row, err = row.rounds(s.rounds, nothing, long, short)
		return err
	})
	return row, err
}

// paints reads a page to its end.
func (c *caller) paints(path string, cookie *http.Cookie) error {
	req, err := http.NewRequest(http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	req.AddCookie(cookie)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && strings.Count(string(body), "data-entry") < 100 {
		err = errors.New("the page is not full")
	}
	return err
}

// appendEvents measures how many reports of one event each 64 runtimes get recorded in a second, against a bare handler.
func appendEvents(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "append_c64", Unit: "/s", Target: 0.40, atLeast: true, about: "reports of one event, 64 clients; bare handler that reads and writes the same JSON"}
	err = withProduct(ctx, func(p *product) error {
		agent, err := p.newAgent()
		if err != nil {
			return err
		}
		product := dialMany(clients, p.address, p.agent)
		defer product.close()
		answer, err := product[0].call("POST", agent+"/events", says)
		if err != nil {
			return err
		}
		base, err := echoing[api.NewEvents, api.Reported]("/events", answer)
		if err != nil {
			return err
		}
		defer base.Close()
		trips := dialMany(clients, base.address(), "")
		defer trips.close()
		reports := func(all callers, path string) side {
			return func() (float64, error) {
				return all.rate(s.burst, func(c *caller, _ int) error { _, err := c.call("POST", path, says); return err })
			}
		}
		row, err = row.rounds(s.rounds, nothing, reports(product, agent+"/events"), reports(trips, "/events"))
		return err
	})
	return row, err
}

// eventToReaders measures how long an event takes to the last of many readers of one agent's stream, against a bare stream.
func eventToReaders(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "stream_1000", Unit: "µs", Target: 1.6, about: "event to the last of 1,000 readers of its stream, p99; the same bytes to as many bare streams"}
	err = withProduct(ctx, func(p *product) error {
		agent, err := p.newAgent()
		if err != nil {
			return err
		}
		product, err := listen(s.screens, "http://"+p.address+agent+"/events/stream", p.operator)
		if err != nil {
			return err
		}
		defer product.close()
		spout := newSpout()
		defer spout.Close()
		bare, err := listen(s.screens, spout.URL+"/stream", "")
		if err != nil {
			return err
		}
		defer bare.close()
		runtime := dial(p.address, p.agent)
		defer runtime.close()
		row, err = row.rounds(s.rounds, nothing, func() (float64, error) {
			return product.reach(s.fans, 99, func(int) error { _, err := runtime.call("POST", agent+"/events", says); return err })
		}, func() (float64, error) {
			return bare.reach(s.fans, 99, func(int) error { spout.pour([]byte("id: 1\nevent: model_output\ndata: " + says + "\n\n")); return nil })
		})
		return err
	})
	return row, err
}

// spout is a bare stream: a handler per reader that waits on a channel, and writes and flushes what comes.
type spout struct {
	bare
	mu     sync.Mutex
	queues []chan []byte
}

func newSpout() *spout {
	s := &spout{}
	s.bare = newBare(http.MethodGet, "/stream", func(c echo.Context) error {
		queue := make(chan []byte, 16)
		s.mu.Lock()
		s.queues = append(s.queues, queue)
		s.mu.Unlock()
		c.Response().Header().Set(echo.HeaderContentType, "text/event-stream")
		c.Response().WriteHeader(http.StatusOK)
		for m := []byte(": ok\n\n"); m != nil; m = <-queue {
			if _, err := c.Response().Write(m); err != nil {
				return err
			}
			c.Response().Flush()
		}
		return nil
	})
	return s
}

func (s *spout) pour(m []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queue := range s.queues {
		queue <- m
	}
}

// Close ends every stream first: the server waits for them.
func (s *spout) Close() {
	s.mu.Lock()
	for _, queue := range s.queues {
		close(queue)
	}
	s.mu.Unlock()
	s.bare.Close()
}

// listeners read streams, and do nothing with what comes.
type listeners struct {
	screens
	bodies []io.Closer
}

// listen opens n streams, and returns when each has begun.
func listen(n int, address, key string) (*listeners, error) {
	l := &listeners{screens: screens{count: int64(n), last: make(chan time.Time, 1)}}
	client := http.Client{Transport: &http.Transport{}}
	for range n {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			return l, err
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := client.Do(req)
		if err != nil {
			return l, errors.Join(err, l.close())
		}
		l.bodies = append(l.bodies, resp.Body)
		in := bufio.NewReaderSize(resp.Body, 2048)
		if line, err := in.ReadString('\n'); err != nil || line != ": ok\n" {
			return l, errors.Join(fmt.Errorf("the stream began with %q", line), err, l.close())
		}
		l.readers.Go(func() { l.read(in) })
	}
	return l, nil
}

// read counts the events that came whole.
func (l *listeners) read(in *bufio.Reader) {
	data := false
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
		data = data || strings.HasPrefix(string(line), "data: ")
		if data && len(line) == 1 && l.missing.Add(-1) == 0 {
			l.last <- time.Now()
		}
		data = data && len(line) > 1
	}
}

func (l *listeners) close() error {
	var errs []error
	for _, body := range l.bodies {
		errs = append(errs, body.Close())
	}
	l.readers.Wait()
	return errors.Join(errs...)
}
