package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sayso/static"
)

// framer gives the part of a policy that says who may frame a page.
func framer(a answer) string {
	_, framers, _ := strings.Cut(a.header.Get("Content-Security-Policy"), "frame-ancestors ")
	return framers
}

// TestFramePage: it is the same for everybody, holds nothing, and only registered sites may frame it.
func TestFramePage(t *testing.T) {
	s := newSite(t)
	i, _ := s.asks(askable(s), bash)
	embed := s.register(`{"name":"Portal of Dana","origins":["https://portal.example","https://portal.example:8443"]}`)
	disabled := s.register(`{"name":"Old","origins":["https://old.example"],"enabled":false}`)
	token := s.token(embed, vouched)
	for name, c := range map[string]struct {
		path, framers, says string
		status              int
		script              bool
	}{
		"a frame":               {embed, "https://portal.example https://portal.example:8443", "Loading requests", 200, true},
		"a disabled one":        {disabled, "https://old.example", "are not shown here any more", 200, false},
		"an unknown one":        {"emb_" + strings.Repeat("a", 26), "*", "not registered with Sayso", 404, false},
		"one of no id":          {"x", "*", "not registered with Sayso", 404, false},
		"a token in the query":  {embed + "?token=" + token, "https://portal.example https://portal.example:8443", "has a token where others may read it", 400, false},
		"anything in the query": {embed + "?x", "https://portal.example https://portal.example:8443", "cannot be used", 400, false},
	} {
		got := s.call("", "GET", "/embed/"+c.path, "", "Cookie", s.signedIn().String())
		text := string(got.body)
		if got.status != c.status || framer(got) != c.framers || !strings.Contains(text, c.says) || strings.Contains(text, "<script") != c.script {
			t.Errorf("%s: %d, framed by %q: %s", name, got.status, framer(got), text)
		}
		if !c.script && !strings.Contains(text, "Open in Sayso") {
			t.Errorf("%s: there is no way out", name)
		}
		for _, leak := range []string{token, i.ID, "Portal of Dana", "git push", "signin"} {
			if strings.Contains(text, leak) {
				t.Errorf("%s: holds %s", name, leak)
			}
		}
		if len(got.header.Values("Set-Cookie")) > 0 || got.header.Get("Cache-Control") != "no-store" || got.header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", name, got.header)
		}
	}
	for _, path := range []string{"/", "/signin", "/projects/default/settings/embeds", "/embed/" + embed + "/cards", "/embed/" + embed + "/live", "/embed.js"} {
		if got := s.call("", "GET", path, "", "Cookie", s.signedIn().String()); framer(got) != "'none'" && !strings.HasPrefix(framer(got), "'none';") {
			t.Errorf("%s: framed by %q", path, framer(got))
		}
	}
}

// TestLoader: the script for the pages of apps has one address, which any site may read and no proxy keeps for long.
func TestLoader(t *testing.T) {
	s := newSite(t)
	got := s.call("", "GET", "/embed.js", "")
	for name, want := range map[string]string{
		"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "public, max-age=300", "Cross-Origin-Resource-Policy": "cross-origin",
		"Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), want)
		}
	}
	tag := got.header.Get("ETag")
	if got.status != 200 || !strings.Contains(string(got.body), "sayso-cards") || !strings.Contains(static.Path("embed.js"), strings.Trim(tag, `"`)) {
		t.Errorf("%d %s %s", got.status, tag, got.body)
	}
	if again := s.call("", "GET", "/embed.js", "", "If-None-Match", tag); again.status != http.StatusNotModified {
		t.Errorf("%d", again.status)
	}
}

// dial opens the socket of a frame and says whose it is.
func (s *site) dial(embed, says string, headers ...string) (*websocket.Conn, int) {
	s.t.Helper()
	h := http.Header{"Origin": {s.http.URL}}
	for n := 0; n+1 < len(headers); n += 2 {
		if h.Set(headers[n], headers[n+1]); headers[n+1] == absent {
			h.Del(headers[n])
		}
	}
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.http.URL, "http")+"/embed/"+embed+"/live", h)
	if err != nil {
		if resp == nil {
			s.t.Fatal(err)
		}
		return nil, resp.StatusCode
	}
	s.t.Cleanup(func() { conn.Close() })
	must(s.t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
	if says != "" {
		must(s.t, conn.WriteMessage(websocket.TextMessage, []byte(says)))
	}
	return conn, http.StatusSwitchingProtocols
}

// next is what comes next over a socket; an error is the code of its end.
func next(conn *websocket.Conn) string {
	_, text, err := conn.ReadMessage()
	if end, ok := err.(*websocket.CloseError); ok {
		return fmt.Sprint("closed ", end.Code)
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestFrameSocket: cards come to those to whom they are shown, once it is known who that is.
func TestFrameSocket(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	embed := s.register(`{"name":"Portal","permission":"resolve","origins":["https://portal.example"],"agents":["` + agent + `"]}`)
	dana := s.admitted(embed, vouched)
	conn, _ := s.dial(embed, dana.session)
	s.watched(conn)
	s.asks(askable(s), bash) // another agent's
	i, _ := s.asks(path, bash)
	text := next(conn)
	if !strings.Contains(text, i.ID) || !strings.Contains(text, "/embed/"+embed+"/interactions/"+i.ID+"/resolve") || strings.Contains(text, "open-count") {
		t.Errorf("pushed: %s", text)
	}
	dana.answers(i, "q0=0")
	if text := next(conn); !strings.Contains(text, "Dana, vouched for by Portal") {
		t.Errorf("pushed: %s", text)
	}
	s.call(s.operator, "PATCH", project+"/embeds/"+embed, `{"permission":"read"}`)
	s.clock.Advance(time.Second)
	if text := next(conn); text != "closed 1012" {
		t.Errorf("what they may changed: %s", text)
	}
	conn, _ = s.dial(embed, dana.session)
	s.watched(conn)
	s.call(s.operator, "PATCH", project+"/embeds/"+embed, `{"enabled":false}`)
	s.clock.Advance(time.Second)
	if text := next(conn); text != "closed 1008" { // at the next look, which is every five seconds
		t.Errorf("disabled: %s", text)
	}
	if _, status := s.dial(embed, ""); status != http.StatusForbidden {
		t.Errorf("a socket of a disabled embed: %d", status)
	}
}

// watched returns when a socket gets what is drawn from then on, which an empty message tells.
func (s *site) watched(conn *websocket.Conn) {
	s.t.Helper()
	if text := next(conn); text != "" {
		s.t.Fatalf("greeted with %q", text)
	}
}

// TestFrameSocketIsRefused: to other origins before it is opened, and after it to whoever has no session there.
func TestFrameSocketIsRefused(t *testing.T) {
	s := newSite(t)
	embed, other := s.register(newEmbed), s.register(newEmbed)
	dana := s.admitted(embed, vouched)
	for _, origin := range []string{
		absent, "", "null", "https://portal.example", "http://evil.example", s.http.URL + ".evil.example", s.http.URL + "/", strings.Replace(s.http.URL, "http:", "https:", 1), s.http.URL + "0",
	} {
		if _, status := s.dial(embed, dana.session, "Origin", origin); status != http.StatusForbidden {
			t.Errorf("origin %q: %d", origin, status)
		}
	}
	if _, status := s.dial("emb_"+strings.Repeat("a", 26), ""); status != http.StatusNotFound {
		t.Errorf("an unknown embed: %d", status)
	}
	for name, c := range map[string]struct{ embed, says string }{
		"nonsense": {embed, "x"}, "a key": {embed, s.operator}, "a token": {embed, s.token(embed, vouched)}, "a session of another embed": {other, dana.session},
	} {
		conn, _ := s.dial(c.embed, c.says)
		if text := next(conn); text != "closed 1008" {
			t.Errorf("%s: %s", name, text)
		}
	}
	conn, _ := s.dial(embed, strings.Repeat("x", 300))
	if text := next(conn); !strings.HasPrefix(text, "closed 10") {
		t.Errorf("a long greeting: %s", text)
	}
}

// TestEmbedSettings walks through the page as an admin does, without scripts.
func TestEmbedSettings(t *testing.T) {
	s := newSite(t)
	admin := s.person("admin", "admin")
	agent, _ := s.newAgent("swe")
	at := "/projects/default/settings/embeds"
	look := func() string {
		a := s.call("", "GET", at, "", "Cookie", admin)
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return string(a.body)
	}
	if text := look(); !strings.Contains(text, "No app is registered") || !strings.Contains(text, `aria-current="page"`) {
		t.Error(text)
	}
	bad := s.post(at, "name=Portal&permission=resolve&origins=https://portal.example/", "Cookie", admin)
	if text := string(bad.body); bad.status != 422 || !strings.Contains(text, "is not an origin") || !strings.Contains(text, "https://portal.example/</textarea>") {
		t.Errorf("%d %s", bad.status, bad.body)
	}
	if got := s.post(at, "name=Portal&permission=resolve&agent="+agent+"&origins=https://portal.example%0D%0Ahttps://two.example", "Cookie", admin); got.status != 303 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	var id string
	must(t, s.database().QueryRow("SELECT id FROM embeds").Scan(&id))
	text := look()
	for _, want := range []string{"Portal", "https://portal.example\nhttps://two.example", "1 agent", id, s.http.URL + "/embed.js", "Answer", "Delete for good"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	bad = s.post(at+"/"+id, "name=+&permission=resolve&origins=https://portal.example", "Cookie", admin)
	if bad.status != 422 || !strings.Contains(string(bad.body), "name: must not be blank") || !strings.Contains(string(bad.body), `class="embed-change" open`) {
		t.Errorf("%d %s", bad.status, bad.body)
	}
	if got := s.post(at+"/"+id, "name=Portal&permission=read&origins=https://portal.example&open_in_sayso=1", "Cookie", admin); got.status != 303 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := s.number("SELECT count(*) FROM embeds WHERE permission = 'read' AND agents = '' AND open_in_sayso = 1 AND enabled = 0 AND origins = 'https://portal.example'"); n != 1 {
		t.Error("the form was not followed")
	}
	if text := look(); !strings.Contains(text, "Disabled") {
		t.Error("the page does not say that it is disabled")
	}
	if got := s.post(at+"/"+id+"/delete", "", "Cookie", admin); got.status != 303 || s.number("SELECT count(*) FROM embeds") != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := s.number("SELECT count(*) FROM admin_events WHERE json_extract(record, '$.by.name') = 'admin'"); n != 3 {
		t.Errorf("%d admin events", n)
	}
}
