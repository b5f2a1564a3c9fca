package e2e

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sayso/internal/server"
)

// dial opens a page's socket as a browser does, with these Origin headers.
func (p *product) dial(t testing.TB, path string, session *http.Cookie, origins ...string) (*websocket.Conn, int) {
	t.Helper()
	header := http.Header{}
	if len(origins) > 0 {
		header["Origin"] = origins
	}
	if session != nil {
		header.Set("Cookie", session.Name+"="+session.Value)
	}
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(p.URL, "http")+path, header)
	if resp == nil {
		t.Fatal(err)
	}
	if err != nil {
		return nil, resp.StatusCode
	}
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetReadDeadline(time.Now().Add(2*time.Minute)))
	return conn, resp.StatusCode
}

// Sockets open for our own pages only: a browser sends the cookie along from anywhere.
func TestSocketOrigins(t *testing.T) {
	p := start(t)
	swe := p.agent("swe")
	own, session := p.origin(), p.session()
	host := strings.TrimPrefix(own, "http://")
	_, port, _ := net.SplitHostPort(host)
	for _, c := range []struct {
		name    string
		origins []string
		opens   bool
	}{
		{"our own", []string{own}, true},
		{"another host", []string{"http://evil.example"}, false},
		{"another port", []string{"http://127.0.0.1:1"}, false},
		{"another scheme", []string{"https://" + host}, false},
		{"null", []string{"null"}, false},
		{"none", nil, false},
		{"a name below ours", []string{"http://evil." + host}, false},
		{"ours as a user name", []string{"http://" + host + "@evil.example:" + port}, false},
		{"two", []string{own, own}, false},
		{"another name of this machine", []string{"http://localhost:" + port}, false},
		{"ours as the beginning", []string{own + ".evil.example"}, false},
	} {
		for _, path := range []string{"/projects/default/live", swe.page() + "/live"} {
			if conn, status := p.dial(t, path, session, c.origins...); (conn != nil) != c.opens {
				t.Errorf("origin %s: %s answered %d, want it open: %v", c.name, path, status, c.opens)
			}
		}
	}
	if conn, status := p.dial(t, "/projects/default/live", nil, own); conn != nil {
		t.Errorf("a socket opened for somebody signed out: %d", status)
	}
}

// Behind a proxy the origin is the public one.
func TestSocketOriginBehindProxy(t *testing.T) {
	p := start(t, func(c *server.Config) { c.PublicURL = "https://sayso.example.com" })
	session := p.session()
	for origin, opens := range map[string]bool{"https://sayso.example.com": true, "http://sayso.example.com": false, "https://sayso.example.com:8443": false, "https://evil.example": false} {
		if conn, status := p.dial(t, "/projects/default/live", session, origin); (conn != nil) != opens {
			t.Errorf("origin %s: answered %d, want it open: %v", origin, status, opens)
		}
	}
}

// A session that ends takes its sockets along: at the next push, or within five seconds, whichever is sooner.
func TestSocketOfEndedSession(t *testing.T) {
	t.Parallel()
	for _, pushed := range []bool{false, true} {
		name := map[bool]string{false: "with nothing to push", true: "before a push"}[pushed]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			swe := p.agent("swe")
			session := p.session()
			conn, _ := p.dial(t, "/projects/default/live", session, p.origin())
			first := swe.wantsToRun("npm ci")
			if _, frame, err := conn.ReadMessage(); err != nil || !strings.Contains(string(frame), first.ID) {
				t.Fatalf("the first push is %.100q, %v", frame, err)
			}
			if a := p.send("POST", "/signout", nil, "Cookie", session.Name+"="+session.Value, "Sec-Fetch-Site", "same-origin"); a.status != http.StatusSeeOther {
				t.Fatalf("sign out: %d", a.status)
			}
			since := time.Now()
			if pushed {
				swe.wantsToRun("npm test")
			}
			_, frame, err := conn.ReadMessage()
			var closed *websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != websocket.ClosePolicyViolation {
				t.Fatalf("after signing out came %.100q, %v; want the socket closed with %d", frame, err, websocket.ClosePolicyViolation)
			}
			if took := time.Since(since); took > 6*time.Second {
				t.Errorf("the socket was closed after %v, want within 5 s", took)
			}
		})
	}
}

// Pages that do not read what they are sent are dropped, and nobody else waits for them.
func TestStalledPagesDelayNobody(t *testing.T) {
	p := start(t)
	swe := p.agent("swe")
	session := p.session()
	reader, _ := p.dial(t, "/projects/default/live", session, p.origin())
	ask := func() {
		asked := swe.wantsToRun("cat <<EOF\n" + strings.Repeat("0123456789abcdef\n", 100<<10/17))
		for {
			_, frame, err := reader.ReadMessage()
			must(t, err)
			if strings.Contains(string(frame), asked.ID) {
				p.choose(asked, "", 0, "")
				return
			}
		}
	}
	for range 20 {
		p.stall(t, session)
	}
	must(t, reader.SetReadDeadline(time.Now().Add(time.Minute))) // a reader that waited for those that stall would wait for good
	for range 40 {
		ask()
	}
}

// TestSocketFlood: one session has only so many sockets, and everybody else is served as before.
func TestSocketFlood(t *testing.T) {
	p := start(t)
	flooder, other := p.session(), p.session()
	opened := 0
	for range 150 {
		conn, status := p.dial(t, "/projects/default/live", flooder, p.origin())
		if conn == nil {
			if status != http.StatusTooManyRequests {
				t.Fatalf("socket %d is refused with %d", opened+1, status)
			}
			break
		}
		opened++
	}
	if opened < 20 || opened > 149 {
		t.Errorf("one session opened %d sockets", opened)
	}
	reader, status := p.dial(t, "/projects/default/live", other, p.origin())
	if reader == nil {
		t.Fatalf("another session's socket: %d", status)
	}
	asked := p.agent("swe").wantsToRun("ls")
	must(t, reader.SetReadDeadline(time.Now().Add(time.Minute)))
	if _, frame, err := reader.ReadMessage(); err != nil || !strings.Contains(string(frame), asked.ID) {
		t.Errorf("%v %.200s", err, frame)
	}
}

// stall opens a socket that takes little and is never read from.
func (p *product) stall(t testing.TB, session *http.Cookie) {
	t.Helper()
	dialer := websocket.Dialer{NetDial: func(network, address string) (net.Conn, error) {
		conn, err := net.Dial(network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(4096)
	}}
	header := http.Header{"Origin": {p.origin()}, "Cookie": {session.Name + "=" + session.Value}}
	conn, _, err := dialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(p.URL, "http")+"/projects/default/live", header)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
}
