package server

import (
	"net"
	"net/http"
	"sync"
)

// unused are the connections on which nothing was asked yet. Browsers open some in advance, and a stop would wait five seconds for each to
// say something.
type unused struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// note follows a connection; it is the server's ConnState.
func (u *unused) note(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.open, c)
		return
	}
	if u.closed {
		c.Close()
		return
	}
	if u.open == nil {
		u.open = map[net.Conn]struct{}{}
	}
	u.open[c] = struct{}{}
}

// close closes them, and those that still come.
func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for c := range u.open {
		c.Close()
	}
}
