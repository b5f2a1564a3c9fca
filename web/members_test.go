package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/web"
)

const membersPath = "/projects/default/settings/members"

// as posts a form with somebody's cookie.
func (s *site) as(cookie, path, form string) answer {
	s.t.Helper()
	return s.post(path, form, "Cookie", cookie)
}

// sees gets a page with somebody's cookie.
func (s *site) sees(cookie, path string) answer {
	s.t.Helper()
	return s.call("", "GET", path, "", "Cookie", cookie)
}

// owner signs the owner in.
func (s *site) owner() string { return s.signedIn().String()[:len("sayso=")+43] }

var inviteLink = regexp.MustCompile(`http://[^"<]*/invite\?code=([\w-]{43})`)

// invites makes an invitation on the members page and gives its code.
func (s *site) invites(cookie, role, note string) string {
	s.t.Helper()
	got := s.as(cookie, "/projects/default/settings/invitations", url.Values{"role": {role}, "note": {note}}.Encode())
	m := inviteLink.FindSubmatch(got.body)
	if got.status != http.StatusOK || m == nil {
		s.t.Fatalf("invite: %d %s", got.status, got.body)
	}
	return string(m[1])
}

// newcomer is the form of somebody who takes an invitation up.
func newcomer(code, name, email, password string) string {
	return url.Values{"code": {code}, "name": {name}, "email": {email}, "password": {password}, "again": {password}}.Encode()
}

// cookieOf is the session that an answer begins; "" for none.
func cookieOf(a answer) string {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == "sayso" && c.MaxAge >= 0 {
			return "sayso=" + c.Value
		}
	}
	return ""
}

// done are the actions in the audit log of the default project, oldest first, behind which nothing is wrong.
func (s *site) done() (all []string) {
	s.t.Helper()
	if _, err := s.store.Verify(s.t.Context(), s.project.ID); err != nil {
		s.t.Error("the audit log does not hold:", err)
	}
	rows, err := s.database().Query("SELECT record ->> 'action' FROM admin_events WHERE project = (SELECT key FROM projects WHERE id = ?) ORDER BY sequence", s.project.ID)
	must(s.t, err)
	defer rows.Close()
	for rows.Next() {
		var action string
		must(s.t, rows.Scan(&action))
		all = append(all, action)
	}
	return all
}

const horse = "correct horse battery"

// TestInvitationTakesSomebodyIn goes the whole way of a new person: invited, accepted, at work, and signed in again by password.
func TestInvitationTakesSomebodyIn(t *testing.T) {
	s := newSite(t)
	owner := s.owner()
	code := s.invites(owner, "approver", "Fox \u202e")
	if says := wording(s.sees(owner, membersPath)); strings.Contains(says, code) || !strings.Contains(says, "⟨U+202E⟩ as Approver") {
		t.Errorf("the page afterwards: %s", says)
	}
	for range 2 { // looking uses nothing up
		got := s.call("", "GET", "/invite?code="+code, "")
		if says := wording(got); got.status != http.StatusOK || !strings.Contains(says, "Dana invites you to be Approver of the project Default") {
			t.Fatalf("%d %s", got.status, says)
		}
		s.call("", "HEAD", "/invite?code="+code, "")
	}
	for form, says := range map[string]string{
		newcomer(code, "Fox", "fox@example.com", "too short"):    "password: it has 9 characters; 12 to 128 are allowed",
		newcomer(code, "Fox", "fox", horse):                      "email: that is not an address",
		newcomer(code, " ", "fox@example.com", horse):            "name: must not be blank",
		newcomer(code, "Fox", "fox@example.com", horse) + "x":    "the two are not the same",
		newcomer(code, "Fox", "fox@example.com", horse) + "&x=1": "x: unknown field",
	} {
		if got := s.post("/invite", form); got.status/100 != 4 || !strings.Contains(wording(got), says) || cookieOf(got) != "" {
			t.Errorf("%s: %d, it does not say %q", form, got.status, says)
		}
	}
	joined := s.post("/invite", newcomer(code, "Fox", " Fox@Example.com ", horse))
	fox := cookieOf(joined)
	if joined.status != http.StatusSeeOther || joined.header.Get("Location") != "/projects/default" || fox == "" {
		t.Fatalf("join: %d %s", joined.status, joined.body)
	}
	i, at := s.asks(askable(s), bash)
	if got := s.as(fox, "/projects/default/agents/"+i.AgentID+"/interactions/"+i.ID+"/resolve", "q0=1&digest="+i.Digest); got.status != http.StatusSeeOther {
		t.Errorf("an approver answers: %d %s", got.status, got.body)
	}
	if now := s.call(s.operator, "GET", at, "").interaction(t); now.ResolvedBy == nil || now.ResolvedBy.Name != "Fox" {
		t.Errorf("answered by %+v", now.ResolvedBy)
	}
	if got := s.post("/invite", newcomer(code, "Alex", "alex@example.com", horse)); got.status != http.StatusForbidden || !strings.Contains(wording(got), "This invitation was used or taken back") {
		t.Errorf("the link again: %d %s", got.status, wording(got))
	}
	again := s.post("/signin", "email=FOX@example.com&password="+url.QueryEscape(horse))
	if cookieOf(again) == "" || cookieOf(again) == fox {
		t.Errorf("sign in again: %d %s", again.status, again.body)
	}
	want := "signed_in invitation_created member_added signed_in signed_in"
	if got := strings.Join(s.done(), " "); got != want {
		t.Errorf("audit log: %s, want %s", got, want)
	}
	if n := s.number("SELECT count(*) FROM users WHERE password LIKE '%horse%' OR email <> lower(email)"); n != 0 {
		t.Error("a password or an email is stored as typed")
	}
	if says := wording(s.sees(owner, membersPath)); !strings.Contains(says, "fox@example.com · signs in by password") || !strings.Contains(says, "None. An invitation stands here") {
		t.Errorf("the members: %s", says)
	}
}

// TestInvitationEnds checks that one that was taken back, is too old, or whose maker is no admin any more takes nobody in.
func TestInvitationEnds(t *testing.T) {
	s := newSite(t)
	owner := s.owner()
	gone := func(code, why string) {
		t.Helper()
		page, post := s.call("", "GET", "/invite?code="+code, ""), s.post("/invite", newcomer(code, "Fox", "fox@example.com", horse))
		if page.status != http.StatusForbidden || post.status != http.StatusForbidden || wording(page) != wording(post) {
			t.Errorf("%s: %d and %d: %s", why, page.status, post.status, wording(page))
		}
	}
	revoked := s.invites(owner, "viewer", "one")
	id := regexp.MustCompile(`inv_[a-z2-7]{26}`).FindString(string(s.sees(owner, membersPath).body))
	if got := s.as(owner, "/projects/default/settings/invitations/"+id+"/revoke", ""); got.status != http.StatusSeeOther {
		t.Fatalf("revoke: %d %s", got.status, got.body)
	}
	gone(revoked, "taken back")
	if got := s.as(owner, "/projects/default/settings/invitations/"+id+"/revoke", ""); got.status != http.StatusNotFound {
		t.Errorf("revoke again: %d", got.status)
	}
	admin := s.person("walter", interaction.Admin)
	for _, change := range []string{"/role?role=lead", "/remove"} {
		code := s.invites(admin, "admin", "a way back")
		made := s.as(admin, "/projects/default/settings/keys", "kind=operator_key&name=kept&scope=read&scope=manage")
		kept := regexp.MustCompile(`sayso_op_[0-9A-Za-z]{36}`).FindString(string(made.body))
		if got := s.call(kept, "GET", project+"/agents", ""); got.status != http.StatusOK {
			t.Fatalf("the key that the admin made: %d %s", got.status, got.body)
		}
		path, form, _ := strings.Cut(change, "?")
		if got := s.as(owner, membersPath+"/"+s.userID("walter")+path, form); got.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", change, got.status, got.body)
		}
		gone(code, "made by somebody who lost the role by "+change)
		if got := s.call(kept, "GET", project+"/agents", ""); got.status != http.StatusUnauthorized {
			t.Errorf("a key made by somebody who lost the role by %s: %d", change, got.status)
		}
		s.exec("INSERT OR REPLACE INTO members (user, project, role, created_at) SELECT u.key, p.key, 'admin', 1 FROM users u, projects p WHERE u.name = 'walter' AND p.id = ?", s.project.ID)
		s.clock.Advance(time.Second)
	}
	old := s.invites(owner, "viewer", "two")
	s.clock.Advance(auth.InvitationLife - time.Second)
	if got := s.call("", "GET", "/invite?code="+old, ""); got.status != http.StatusOK {
		t.Errorf("within a week: %d", got.status)
	}
	s.clock.Advance(time.Second)
	gone(old, "too old")
	gone("", "no code")
}

// TestSignedInPersonAccepts: they keep their account, a member uses nothing up, and an email that is taken makes no second account.
func TestSignedInPersonAccepts(t *testing.T) {
	s := newSite(t)
	owner, stranger := s.owner(), s.person("stranger", "")
	code := s.invites(owner, "lead", "a colleague")
	for who, cookie := range map[string]string{"the owner": owner, "a member": s.person("viewer", interaction.Viewer)} {
		if got := s.as(cookie, "/invite", "code="+code); got.status != http.StatusConflict || !strings.Contains(wording(got), "You are in this project already") {
			t.Errorf("%s: %d %s", who, got.status, wording(got))
		}
	}
	if page := wording(s.sees(stranger, "/invite?code="+code)); !strings.Contains(page, "You are signed in as stranger") || strings.Contains(page, "password") {
		t.Errorf("%s", page)
	}
	if got := s.as(stranger, "/invite", "code="+code); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := s.sees(stranger, policiesPath); got.status != http.StatusOK { // at once
		t.Errorf("as a lead: %d", got.status)
	}
	s.exec("UPDATE users SET email = 'fox@example.com' WHERE name = 'viewer'")
	other := s.invites(owner, "admin", "two")
	if got := s.post("/invite", newcomer(other, "Not Fox", "FOX@example.com", horse)); got.status != http.StatusConflict || cookieOf(got) != "" {
		t.Errorf("a taken email: %d %s", got.status, wording(got))
	}
	if got := s.call("", "GET", "/invite?code="+other, ""); got.status != http.StatusOK {
		t.Errorf("and the link afterwards: %d", got.status)
	}
}

// TestRoleChangesAtOnce changes what somebody may do while they have a page open: their next request and their socket know at once.
func TestRoleChangesAtOnce(t *testing.T) {
	s := newSite(t)
	owner, fox := s.owner(), s.person("fox", interaction.Approver)
	i, _ := s.asks(askable(s), bash)
	resolve := "/projects/default/agents/" + i.AgentID + "/interactions/" + i.ID + "/resolve"
	change := func(path, form string) {
		t.Helper()
		socket := s.socket(fox, "/projects/default/live")
		if got := s.as(owner, membersPath+"/"+s.userID("fox")+path, form); got.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		closesWith(t, socket, websocket.CloseServiceRestart)
	}
	change("/role", "role=viewer")
	if got := s.as(fox, resolve, "q0=0&digest="+i.Digest); got.status != http.StatusForbidden {
		t.Errorf("a viewer answers: %d", got.status)
	}
	if page := string(s.sees(fox, "/projects/default").body); !strings.Contains(page, i.ID) || strings.Contains(page, "data-allow") {
		t.Error("a viewer's page has buttons, or no card")
	}
	change("/role", "role=approver")
	if got := s.as(fox, resolve, "q0=0&digest="+i.Digest); got.status != http.StatusSeeOther {
		t.Errorf("an approver answers: %d %s", got.status, got.body)
	}
	change("/remove", "")
	for _, path := range []string{"/projects/default", "/projects/default/cards", "/projects/default/interactions/" + i.ID} {
		if got := s.sees(fox, path); got.status != http.StatusNotFound || strings.Contains(string(got.body), i.ID) {
			t.Errorf("%s after they were removed: %d", path, got.status)
		}
	}
	want := "signed_in member_role_changed member_role_changed member_removed"
	if got := strings.Join(s.done(), " "); got != want {
		t.Errorf("audit log: %s, want %s", got, want)
	}
}

// TestMembersAreForAdmins: what the page refuses, and that the owner and strangers are out of reach.
func TestMembersAreForAdmins(t *testing.T) {
	s := newSite(t)
	owner, admin := s.owner(), s.person("admin", interaction.Admin)
	s.person("stranger", "")
	before := strings.Join(s.done(), " ")
	for name, c := range map[string]struct {
		cookie, user, path, form string
		want                     int
	}{
		"demote the owner":         {admin, "Dana", "/role", "role=viewer", 403},
		"remove the owner":         {admin, "Dana", "/remove", "", 403},
		"the owner removes itself": {owner, "Dana", "/remove", "", 403},
		"an unknown role":          {admin, "admin", "/role", "role=owner", 400},
		"no role":                  {admin, "admin", "/role", "", 400},
		"two roles":                {admin, "admin", "/role", "role=viewer&role=admin", 400},
		"somebody not in it":       {admin, "stranger", "/role", "role=viewer", 404},
	} {
		if got := s.as(c.cookie, membersPath+"/"+s.userID(c.user)+c.path, c.form); got.status != c.want {
			t.Errorf("%s: %d, want %d", name, got.status, c.want)
		}
	}
	if after := strings.Join(s.done(), " "); after != before {
		t.Errorf("something was recorded: %s", after)
	}
	if got := s.as(admin, membersPath+"/"+s.userID("admin")+"/remove", ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/" {
		t.Errorf("an admin leaves, and the owner remains: %d %s", got.status, got.header.Get("Location"))
	}
}

// TestFormsOfPeopleComeFromOurPages: none of them is taken from another site's page.
func TestFormsOfPeopleComeFromOurPages(t *testing.T) {
	s := newSite(t)
	owner := s.owner()
	user := s.userID("Dana")
	s.person("fox", interaction.Viewer)
	for path, form := range map[string]string{
		"/signin": "email=a@example.com&password=x", "/invite": "code=x", "/account": "name=Eve&email=", "/account/password": "password=x&again=x", "/account/sessions/end": "",
		"/account/sessions/ses_aaaaaaaaaaaaaaaaaaaaaaaaaa/end": "", "/settings/orgs": "name=A&slug=a&project_name=A&project_slug=a", "/settings/projects": "org=default&name=A&slug=a",
		membersPath + "/" + user + "/role": "role=viewer", membersPath + "/" + s.userID("fox") + "/remove": "", "/projects/default/settings/invitations": "role=admin&note=Eve",
		"/projects/default/settings/invitations/inv_aaaaaaaaaaaaaaaaaaaaaaaaaa/revoke": "",
	} {
		for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", absent, "Origin", "https://evil.example"}} {
			before := s.writes()
			got := s.post(path, form, append([]string{"Cookie", owner}, headers...)...)
			if got.status != http.StatusForbidden || !strings.Contains(string(got.body), "sent from another site") || s.writes() != before {
				t.Errorf("%s with %v: %d", path, headers, got.status)
			}
		}
	}
}

// socket opens a page's socket.
func (s *site) socket(cookie, path string) *websocket.Conn {
	s.t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.http.URL, "http")+path, http.Header{"Cookie": {cookie}, "Origin": {s.http.URL}})
	if err != nil {
		s.t.Fatalf("%s: %v %+v", path, err, resp)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// closesWith reads until the socket closes, which must be within a second, and checks the code.
func closesWith(t *testing.T, conn *websocket.Conn, code int) {
	t.Helper()
	must(t, conn.SetReadDeadline(time.Now().Add(time.Second)))
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			if !websocket.IsCloseError(err, code) {
				t.Errorf("the socket: %v, want it closed with %d", err, code)
			}
			return
		}
	}
}

// TestAddressBehindProxies: X-Forwarded-For counts from proxies that were named, and from nobody else.
func TestAddressBehindProxies(t *testing.T) {
	for name, c := range map[string]struct {
		proxies   string
		forwarded string
		want      string
	}{
		"no proxy":                 {"", "", "127.0.0.1"},
		"somebody says so":         {"", "203.0.113.9", "127.0.0.1"},
		"a proxy":                  {"127.0.0.1", "203.0.113.9", "203.0.113.9"},
		"a proxy, and a lie":       {"127.0.0.1", "198.51.100.1, 203.0.113.9", "203.0.113.9"},
		"two proxies":              {"127.0.0.1 10.0.0.0/8", "198.51.100.1, 203.0.113.9, 10.1.2.3", "203.0.113.9"},
		"a proxy that says little": {"127.0.0.1", "unknown", "127.0.0.1"},
		"another proxy":            {"10.0.0.0/8", "203.0.113.9", "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(config *web.Config) { config.TrustedProxies = prefixes(t, c.proxies) })
			code, err := s.gate.NewCode(t.Context())
			must(t, err)
			s.post("/setup", "code="+code, "X-Forwarded-For", c.forwarded)
			var got string
			must(t, s.database().QueryRow("SELECT address FROM sessions").Scan(&got))
			if got != c.want {
				t.Errorf("it came from %q, want %q", got, c.want)
			}
		})
	}
}
