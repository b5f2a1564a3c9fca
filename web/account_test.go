package web_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sayso/internal/interaction"
)

func prefixes(t *testing.T, list string) (all []netip.Prefix) {
	t.Helper()
	for s := range strings.FieldsSeq(list) {
		p, err := netip.ParsePrefix(s)
		if ip, single := netip.ParseAddr(s); single == nil {
			p, err = ip.Prefix(ip.BitLen())
		}
		must(t, err)
		all = append(all, p)
	}
	return all
}

// withPassword gives the person behind a cookie an email and a password.
func (s *site) withPassword(cookie, name, email, password string) {
	s.t.Helper()
	for path, form := range map[string]url.Values{"/account": {"name": {name}, "email": {email}}} {
		if got := s.as(cookie, path, form.Encode()); got.status != http.StatusSeeOther {
			s.t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := s.as(cookie, "/account/password", url.Values{"password": {password}, "again": {password}}.Encode()); got.status != http.StatusSeeOther {
		s.t.Fatalf("password: %d %s", got.status, wording(got))
	}
}

// TestSignInByPassword: the form is there once somebody has a password, a wrong one and an unknown account are told the same, and the session that
// the browser had ends.
func TestSignInByPassword(t *testing.T) {
	s := newSite(t)
	owner := s.owner()
	if page := wording(s.call("", "GET", "/signin", "")); strings.Contains(page, "Password") {
		t.Errorf("nobody has a password: %s", page)
	}
	s.withPassword(owner, "Dana", "Dana@Example.com", horse)
	if page := string(s.call("", "GET", "/signin", "").body); !strings.Contains(page, `name="password"`) || !strings.Contains(page, "signin-link") {
		t.Error("the form, or the other way in, is missing")
	}
	wrong := s.post("/signin", "email=dana@example.com&password=wrong+password")
	unknown := s.post("/signin", "email=fox@example.com&password=wrong+password")
	blank := s.post("/signin", "email=&password=")
	if wrong.status != http.StatusUnauthorized || unknown.status != wrong.status || blank.status != wrong.status ||
		strings.ReplaceAll(wording(wrong), "dana@", "fox@") != wording(unknown) || cookieOf(wrong) != "" {
		t.Errorf("%d %s\n%d %s\n%d", wrong.status, wording(wrong), unknown.status, wording(unknown), blank.status)
	}
	got := s.post("/signin", "email=dana@example.com&password="+url.QueryEscape(horse), "Cookie", owner)
	fresh := cookieOf(got)
	if got.status != http.StatusSeeOther || fresh == "" || fresh == owner {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := s.sees(owner, "/"); got.status != http.StatusSeeOther {
		t.Errorf("the session of before: %d", got.status)
	}
	if got := s.sees(fresh, "/"); got.status != http.StatusOK {
		t.Errorf("the new session: %d", got.status)
	}
	want := "signed_in account_changed password_changed signed_in"
	if got := strings.Join(s.done(), " "); got != want {
		t.Errorf("audit log: %s, want %s", got, want)
	}
}

// TestSignInIsThrottled: guessing at one account is slowed down from any address, and many accounts from one address; the right password in time
// signs in, and tells nobody else anything.
func TestSignInIsThrottled(t *testing.T) {
	s := newSite(t)
	s.withPassword(s.owner(), "Dana", "dana@example.com", horse)
	guess := func(email, password string) answer {
		return s.post("/signin", url.Values{"email": {email}, "password": {password}}.Encode())
	}
	for n := range 5 {
		if got := guess("dana@example.com", "wrong"); got.status != http.StatusUnauthorized {
			t.Fatalf("guess %d: %d", n+1, got.status)
		}
	}
	for _, password := range []string{"wrong", horse} { // the right one too: else the waits would tell
		got := guess("DANA@example.com", password)
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" || !strings.Contains(wording(got), "Try again in 1 second.") {
			t.Errorf("the next: %d %q %s", got.status, got.header.Get("Retry-After"), wording(got))
		}
	}
	if got := s.as(s.owner(), "/account/password", url.Values{"old": {"wrong"}, "password": {horse + "!"}, "again": {horse + "!"}}.Encode()); got.status != http.StatusTooManyRequests {
		t.Errorf("guesses on the account page: %d", got.status)
	}
	s.clock.Advance(time.Second)
	if got := guess("dana@example.com", horse); got.status != http.StatusSeeOther {
		t.Errorf("the right password in time: %d", got.status)
	}
	for n := 0; ; n++ {
		got := guess("x"+strings.Repeat("x", n)+"@example.com", "wrong")
		if got.status == http.StatusTooManyRequests {
			break
		}
		if n > 20 {
			t.Fatal("an address guesses at any number of accounts")
		}
	}
}

// TestPasswordChange asks for the old one, and ends all other sessions at once, on pages and open sockets.
func TestPasswordChange(t *testing.T) {
	s := newSite(t)
	owner := s.owner()
	s.withPassword(owner, "Dana", "dana@example.com", horse)
	elsewhere := cookieOf(s.post("/signin", "email=dana@example.com&password="+url.QueryEscape(horse)))
	fox := s.person("fox", interaction.Viewer)
	change := func(old, fresh, again string) answer {
		return s.as(owner, "/account/password", url.Values{"old": {old}, "password": {fresh}, "again": {again}}.Encode())
	}
	const fresh = "another horse battery"
	for _, c := range []struct{ old, fresh, again, says string }{
		{"", fresh, fresh, "old: that is not your present password"},
		{"wrong", fresh, fresh, "old: that is not your present password"},
		{horse, fresh, fresh + "x", "the two are not the same"},
		{horse, "short", "short", "12 to 128 are allowed"},
	} {
		if got := change(c.old, c.fresh, c.again); got.status != http.StatusUnprocessableEntity || !strings.Contains(wording(got), c.says) {
			t.Errorf("%+v: %d %s", c, got.status, wording(got))
		}
	}
	socket, foxes := s.socket(elsewhere, "/projects/default/live"), s.socket(fox, "/projects/default/live")
	if got := change(horse, fresh, fresh); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, wording(got))
	}
	closesWith(t, socket, websocket.ClosePolicyViolation)
	if got := s.sees(elsewhere, "/"); got.status != http.StatusSeeOther {
		t.Errorf("the other session: %d", got.status)
	}
	if got := s.sees(owner, "/"); got.status != http.StatusOK {
		t.Errorf("this session: %d", got.status)
	}
	must(t, foxes.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	if _, _, err := foxes.ReadMessage(); websocket.IsUnexpectedCloseError(err) {
		t.Errorf("somebody else's socket: %v", err)
	}
	if got := s.post("/signin", "email=dana@example.com&password="+url.QueryEscape(horse)); got.status != http.StatusUnauthorized {
		t.Errorf("the old password: %d", got.status)
	}
}

// TestSessions lists where somebody is signed in, and ends one or all; those of others are out of reach.
func TestSessions(t *testing.T) {
	s := newSite(t)
	code, err := s.gate.NewCode(t.Context())
	must(t, err)
	phone := cookieOf(s.post("/setup", "code="+code, "User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1"))
	s.clock.Advance(time.Second)
	code, err = s.gate.NewCode(t.Context())
	must(t, err)
	odd := cookieOf(s.post("/setup", "code="+code, "User-Agent", "odd\u202e"+strings.Repeat("x", 300)))
	owner := s.owner()
	page := s.sees(owner, "/account")
	ids := regexp.MustCompile(`id="(ses_[a-z2-7]{26})"`).FindAllStringSubmatch(string(page.body), -1)
	says := wording(page)
	if len(ids) != 3 || !strings.Contains(says, "Safari on iPhone") || !strings.Contains(says, "127.0.0.1") || strings.Count(says, "this one") != 1+strings.Count(says, "this one too") ||
		!strings.Contains(says, "⟨U+202E⟩") || strings.Contains(says, strings.Repeat("x", 200)) {
		t.Fatalf("%d sessions: %s", len(ids), says)
	}
	first := ids[2][1] // the oldest stands last
	if got := s.as(s.person("fox", interaction.Admin), "/account/sessions/"+first+"/end", ""); got.status != http.StatusNotFound {
		t.Errorf("somebody else ends it: %d", got.status)
	}
	if got := s.as(owner, "/account/sessions/"+first+"/end", ""); got.status != http.StatusSeeOther {
		t.Errorf("%d %s", got.status, got.body)
	}
	for cookie, want := range map[string]int{phone: 303, odd: 200, owner: 200} {
		if got := s.sees(cookie, "/"); got.status != want {
			t.Errorf("after one ended: %d, want %d", got.status, want)
		}
	}
	if got := s.as(owner, "/account/sessions/end", ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/signin?signed-out" {
		t.Errorf("everywhere: %d %s", got.status, got.header.Get("Location"))
	}
	for _, cookie := range []string{odd, owner} {
		if got := s.sees(cookie, "/"); got.status != http.StatusSeeOther {
			t.Errorf("after all ended: %d", got.status)
		}
	}
	want := "signed_in signed_in signed_in session_ended session_ended session_ended"
	if got := strings.Join(s.done(), " "); got != want {
		t.Errorf("audit log: %s, want %s", got, want)
	}
}

// TestAccountOfNobodysProject: somebody in no project sees their account, and no links into one.
func TestAccountOfNobodysProject(t *testing.T) {
	s := newSite(t)
	cookie := s.person("stranger", "")
	page := string(s.sees(cookie, "/account").body)
	if !strings.Contains(page, "Your account") || strings.Contains(page, "/projects/") {
		t.Errorf("%s", page)
	}
	if got := s.as(cookie, "/account", url.Values{"name": {"Fox\u202e"}, "email": {"fox@example.com"}}.Encode()); got.status != http.StatusSeeOther {
		t.Errorf("%d", got.status)
	}
	if page := wording(s.sees(cookie, "/account")); !strings.Contains(page, "Signed in as Fox⟨U+202E⟩") {
		t.Errorf("%s", page)
	}
	s.withPassword(cookie, "Fox", "fox@example.com", horse)
	if got := s.as(cookie, "/account", "name=Fox&email="); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a password without an email: %d", got.status)
	}
	other := s.person("other", "")
	if got := s.as(other, "/account", "name=Other&email=FOX@example.com"); got.status != http.StatusConflict {
		t.Errorf("somebody else's email: %d", got.status)
	}
	if n := s.number("SELECT count(*) FROM admin_events"); n != 0 {
		t.Errorf("%d events in projects that they are not in", n)
	}
}
