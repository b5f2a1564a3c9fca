package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/live"
)

const (
	pingEvery    = 20 * time.Second
	recheckEvery = 5 * time.Second // a session that ended is noticed by then, pushes or none
	silentMost   = 50 * time.Second
	writeMost    = 10 * time.Second
	frameBuffer  = 64 // frames a page may lag behind before it is dropped
	// socketsEach is how many pages of one session may watch at once: more than anybody has tabs, and too few to use us up.
	socketsEach = 100
)

// upgrader keeps small buffers, and shares those for writing: an idle page costs little.
func (s *Server) upgrader() *websocket.Upgrader {
	return &websocket.Upgrader{ReadBufferSize: 1024, WriteBufferSize: 1024, WriteBufferPool: &socketBuffers, CheckOrigin: s.originAllowed}
}

var socketBuffers sync.Pool

// originAllowed lets only our own pages open sockets: browsers send cookies along from anywhere.
func (s *Server) originAllowed(r *http.Request) bool {
	origins := r.Header["Origin"]
	if len(origins) != 1 {
		return false
	}
	if s.config.PublicURL != "" && strings.EqualFold(origins[0], s.config.PublicURL) {
		return true
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return false
	}
	scheme := "http"
	if r.TLS != nil || s.https() {
		scheme = "https"
	}
	return u.Scheme == scheme && strings.EqualFold(u.Host, r.Host)
}

func (s *Server) inboxSocket(c echo.Context) error {
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	return s.openSocket(c, in, in.ID)
}

func (s *Server) conversationSocket(c echo.Context) error {
	in, agent, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	if _, err := s.service.Agent(c.Request().Context(), principal(c), in, agent); err != nil {
		return err
	}
	return s.openSocket(c, in, agent)
}

// openSocket upgrades and returns: the handler's buffers and stack are freed, and two small goroutines stay.
func (s *Server) openSocket(c echo.Context, in interaction.Project, of interaction.ID) error {
	if !websocket.IsWebSocketUpgrade(c.Request()) {
		return interaction.Errorf(interaction.InvalidRequest, "This address is a WebSocket.")
	}
	if !s.originAllowed(c.Request()) {
		return interaction.Errorf(interaction.Forbidden, "Sockets may be opened by our own pages only.")
	}
	if !s.feed.sockets.room(session(c)) {
		return &interaction.Error{Code: interaction.RateLimited, Message: "Too many pages of this session are open.", RetryAfter: 10}
	}
	conn, err := s.upgrader().Upgrade(c.Response(), c.Request(), nil)
	if err != nil {
		return nil // the upgrader has answered
	}
	watches, mine := topic(principal(c), of), session(c)
	k := &socket{
		conn: conn, session: mine, frames: s.feed.frames.Subscribe(watches, frameBuffer), tick: make(chan struct{}, 1),
		ends: func() int { return s.endOf(mine, in, of, watches) },
	}
	k.leave = s.gate.WatchSession(mine, k.look)
	if !s.feed.sockets.add(k) {
		k.leave()
		k.close(websocket.CloseServiceRestart, "restarting")
		return nil
	}
	go k.write(&s.feed.sockets)
	go k.read()
	return nil
}

// endOf is the close code for a socket whose session ended, or whose person is another in the project than when it opened: then the page comes
// back, and sees what it may see now. It is 0 while nothing changed, or that cannot be found out.
func (s *Server) endOf(session auth.Hash, in interaction.Project, of interaction.ID, watches string) int {
	who, err := s.gate.Session(context.Background(), session)
	if interaction.CodeOf(err) == interaction.Unauthorized {
		return websocket.ClosePolicyViolation
	}
	if err != nil {
		return 0
	}
	if who, err = who.In(in); err != nil || topic(who, of) != watches {
		return websocket.CloseServiceRestart
	}
	return 0
}

// socket is one page that watches.
type socket struct {
	conn    *websocket.Conn
	frames  *live.Subscription[frame]
	tick    chan struct{} // from the one clock of all sockets
	session auth.Hash
	ends    func() int // close code once the page may no longer see what it watches; 0: it may
	leave   func()     // ends the watch on the session, or leaves the audience of a frame
	closing sync.Once
	pinged  time.Time
}

// look has the socket find out soon whether it may stay.
func (k *socket) look() {
	select {
	case k.tick <- struct{}{}:
	default: // it is writing, and looks before each frame; or it is about to look
	}
}

// read notices that the page is gone. Pages say nothing.
func (k *socket) read() {
	defer k.frames.Stop()
	k.conn.SetReadLimit(512)
	alive := func(string) error { return k.conn.SetReadDeadline(time.Now().Add(silentMost)) }
	k.conn.SetPongHandler(alive)
	if alive("") != nil {
		return
	}
	for {
		if _, _, err := k.conn.NextReader(); err != nil {
			return
		}
	}
}

// write sends frames until the page is gone, is too slow, or may no longer see them.
func (k *socket) write(all *sockets) {
	defer all.remove(k)
	defer k.frames.Stop()
	for {
		select {
		case f, ok := <-k.frames.C:
			if !ok {
				k.close(websocket.CloseTryAgainLater, "too slow") // or gone: then nobody hears it
				return
			}
			if !k.allowed() || k.send(f) != nil {
				return
			}
		case <-k.tick:
			if !k.allowed() || k.ping() != nil {
				return
			}
		}
	}
}

// allowed closes the socket of a session that has ended, or of a person who has another role now.
func (k *socket) allowed() bool {
	code := k.ends()
	if code != 0 {
		k.close(code, "no longer allowed")
	}
	return code == 0
}

func (k *socket) send(f frame) error {
	if err := k.conn.SetWriteDeadline(time.Now().Add(writeMost)); err != nil {
		return err
	}
	err := k.conn.WritePreparedMessage(f)
	if err != nil {
		k.conn.Close()
	}
	return err
}

func (k *socket) ping() error {
	now := time.Now()
	if now.Sub(k.pinged) < pingEvery {
		return nil
	}
	k.pinged = now
	err := k.conn.WriteControl(websocket.PingMessage, nil, now.Add(writeMost))
	if err != nil {
		k.conn.Close()
	}
	return err
}

// close says why, if anybody listens, and ends the connection.
func (k *socket) close(code int, why string) {
	k.closing.Do(func() {
		_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(time.Second))
		k.conn.Close()
	})
}

// sockets are all that are open, with one clock for all.
type sockets struct {
	mu     sync.Mutex
	open   map[*socket]struct{}
	each   map[auth.Hash]int // how many a session has
	closed bool
	done   chan struct{}
}

func (s *sockets) start() {
	s.open, s.each, s.done = map[*socket]struct{}{}, map[auth.Hash]int{}, make(chan struct{})
	go s.run()
}

func (s *sockets) run() {
	clock := time.NewTicker(recheckEvery)
	defer clock.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-clock.C:
			s.tick()
		}
	}
}

func (s *sockets) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.open {
		k.look()
	}
}

// room says whether a session may have one more. Some that ask at once may all get it; what counts is the order of magnitude.
func (s *sockets) room(session auth.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.each[session] < socketsEach
}

// add is false when the server is closing.
func (s *sockets) add(k *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open[k] = struct{}{}
		s.each[k.session]++
	}
	return !s.closed
}

func (s *sockets) remove(k *socket) {
	k.leave()
	k.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[k]; !open {
		return
	}
	delete(s.open, k)
	if s.each[k.session]--; s.each[k.session] == 0 {
		delete(s.each, k.session)
	}
}

// close sends every page to the next server.
func (s *sockets) close() {
	s.mu.Lock()
	s.closed = true
	all := make([]*socket, 0, len(s.open))
	for k := range s.open {
		all = append(all, k)
	}
	s.mu.Unlock()
	close(s.done)
	var wait sync.WaitGroup
	for _, k := range all {
		wait.Go(func() { k.close(websocket.CloseServiceRestart, "restarting") })
	}
	wait.Wait()
}
