package main

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// screens are browsers that watch: each reads frames and does nothing with them.
type screens struct {
	count   int64
	conns   []*websocket.Conn
	missing atomic.Int64   // how many have still to read the frame that is under way
	last    chan time.Time // when the last of them had read it
	readers sync.WaitGroup
}

// watch opens n sockets at a ws:// address.
func watch(n int, address string, header http.Header) (*screens, error) {
	s := &screens{count: int64(n), last: make(chan time.Time, 1)}
	dialer := websocket.Dialer{ReadBufferSize: 1024, WriteBufferSize: 1024}
	for range n {
		conn, _, err := dialer.Dial(address, header)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.conns = append(s.conns, conn)
		s.readers.Go(func() { s.read(conn) })
	}
	return s, nil
}

func (s *screens) read(conn *websocket.Conn) {
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return
		}
		if s.missing.Add(-1) == 0 {
			s.last <- time.Now()
		}
	}
}

// reached is how long it takes from the start of show until all have read the one frame that it brings about.
func (s *screens) reached(show func() error) (time.Duration, error) {
	s.missing.Store(s.count)
	start := time.Now()
	if err := show(); err != nil {
		return 0, err
	}
	select {
	case at := <-s.last:
		return at.Sub(start), nil
	case <-time.After(10 * time.Second):
		return 0, errors.New("a frame did not reach all screens")
	}
}

// reach is the percentile p of n such times, in microseconds.
func (s *screens) reach(n, p int, show func(i int) error) (float64, error) {
	samples := make([]time.Duration, n)
	for i := range samples {
		var err error
		if samples[i], err = s.reached(func() error { return show(i) }); err != nil {
			return 0, err
		}
	}
	return micros(percentile(samples, p)), nil
}

func (s *screens) close() error {
	var errs []error
	for _, conn := range s.conns {
		errs = append(errs, conn.Close())
	}
	s.readers.Wait()
	return errors.Join(errs...)
}

// watchInbox opens n sockets of the inbox, each as the owner's page would.
func (p *product) watchInbox(n int) (*screens, error) {
	cookie, err := p.signIn()
	if err != nil {
		return nil, err
	}
	return watch(n, "ws://"+p.address+"/projects/default/live", p.ofPage(cookie))
}

// ofPage are the headers that the owner's browser sends.
func (p *product) ofPage(cookie *http.Cookie) http.Header {
	return http.Header{"Cookie": {cookie.String()}, "Origin": {"http://" + p.address}}
}
