package web_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lib "github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"sayso/internal/auth"
	"sayso/internal/egress"
	"sayso/internal/interaction"
	"sayso/internal/oidc"
	"sayso/web"
)

// provider is an OpenID provider on loopback: discovery and keys are the library's, and people are who the test says.
type provider struct {
	t      *testing.T
	http   *httptest.Server
	key    *rsa.PrivateKey
	mu     sync.Mutex
	asked  map[string]url.Values // by code, once each
	who    map[string]any        // claims about whoever signs in next
	change func(claims map[string]any)
	sign   func(claims string) string
	broken string // path that fails
	log    *journal
}

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

// take gives what was written since the last time.
func (j *journal) take() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.text.Reset()
	return j.text.String()
}

const callback = "http://sayso.test/signin/oidc/callback"

// newProvider gives a site that has a provider, and an owner.
func newProvider(t *testing.T, rules ...auth.GroupRole) (*site, *provider) {
	t.Helper()
	p := &provider{t: t, asked: map[string]url.Values{}, log: &journal{}, who: map[string]any{"sub": "u1", "name": "Sam Doe"}}
	var err error
	p.key, err = rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	library := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: p.key.Public(), KeyID: "k", Algorithm: lib.RS256}}}
	mux := http.NewServeMux()
	mux.Handle("/", library)
	mux.HandleFunc("/auth", p.auth)
	mux.HandleFunc("/token", p.token)
	p.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		broken := p.broken
		p.mu.Unlock()
		if broken != "" && strings.HasPrefix(r.URL.Path, broken) {
			http.Error(w, "canary-of-the-provider", http.StatusInternalServerError)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.http.Close)
	library.SetIssuer(p.http.URL)
	var s *site
	s = newSite(t, func(c *web.Config) {
		c.Log = slog.New(slog.NewTextHandler(p.log, nil))
		c.Provider = &web.Provider{Name: "Acme", Roles: rules, Client: oidc.New(oidc.Config{
			Issuer: p.http.URL, ClientID: "sayso", ClientSecret: "canary-secret", Scopes: []string{"profile", "email"}, GroupsClaim: "groups", RedirectURL: callback,
			HTTP: egress.NewClient(egress.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}), Now: func() time.Time { return s.clock.Now() },
		})}
	})
	s.signedIn()
	p.sign = func(claims string) string { return oidctest.SignIDToken(p.key, "k", lib.RS256, claims) }
	p.change = func(map[string]any) {}
	return s, p
}

// auth is where the person is asked, and says yes.
func (p *provider) auth(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "sayso", "redirect_uri": callback, "code_challenge_method": "S256", "scope": "openid profile email",
	} {
		if q.Get(name) != want {
			p.t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if len(q.Get("state")) < 40 || len(q.Get("nonce")) < 40 || q.Get("state") == q.Get("nonce") {
		p.t.Errorf("state %q, nonce %q", q.Get("state"), q.Get("nonce"))
	}
	code := "canary-code-" + rand.Text()
	p.mu.Lock()
	p.asked[code] = q
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token gives an ID token for a code: once, to who asked, with the verifier.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	must(p.t, r.ParseForm())
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.Form.Get("client_id"), r.Form.Get("client_secret")
	}
	asked, ok := p.asked[r.Form.Get("code")]
	delete(p.asked, r.Form.Get("code"))
	challenge := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	if !ok || id != "sayso" || secret != "canary-secret" || r.Form.Get("redirect_uri") != callback || base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"canary-of-the-provider"}`))
		return
	}
	claims := maps.Clone(p.who)
	maps.Copy(claims, map[string]any{"iss": p.http.URL, "aud": "sayso", "nonce": asked.Get("nonce"), "exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix()})
	p.change(claims)
	text, err := json.Marshal(claims)
	must(p.t, err)
	w.Header().Set("Content-Type", "application/json")
	must(p.t, json.NewEncoder(w).Encode(map[string]any{"access_token": "canary-access", "token_type": "Bearer", "id_token": p.sign(string(text))}))
}

// visit is one browser's way through a sign-in.
type visit struct {
	s      *site
	cookie string // the ticket's
	back   string // path and query that the provider sent it to
}

// begins clicks the button, and says yes at the provider.
func (s *site) begins(p *provider) visit {
	s.t.Helper()
	got := s.post("/signin/oidc", "")
	_, address, ok := strings.Cut(got.header.Get("Refresh"), "url=")
	if got.status != http.StatusOK || !ok || !strings.HasPrefix(address, p.http.URL+"/auth?") {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	cookies := (&http.Response{Header: got.header}).Cookies()
	if len(cookies) != 1 || cookies[0].Name != "sayso-oidc" || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].MaxAge != 600 {
		s.t.Fatalf("cookies %v", cookies)
	}
	resp, err := noRedirects.Get(address)
	must(s.t, err)
	resp.Body.Close()
	to, err := resp.Location()
	must(s.t, err)
	return visit{s, cookies[0].Name + "=" + cookies[0].Value, to.RequestURI()}
}

// ends comes back from the provider.
func (v visit) ends(more ...string) answer {
	v.s.t.Helper()
	return v.s.call("", "GET", v.back, "", "Cookie", strings.Join(append([]string{v.cookie}, more...), "; "))
}

// session is the cookie of the session that an answer began; "" if it began none.
func (a answer) session() string {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == "sayso" && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// signsIn goes the whole way, which must work.
func (s *site) signsIn(p *provider) (session string) {
	s.t.Helper()
	got := s.begins(p).ends()
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || got.session() == "" {
		s.t.Fatalf("%d %s", got.status, wording(got))
	}
	return got.session()
}

// members tells who is what, as "name role".
func (s *site) members() (list []string) {
	s.t.Helper()
	rows, err := s.database().Query("SELECT u.name || ' ' || p.slug || ' ' || m.role FROM members m JOIN users u ON u.key = m.user JOIN projects p ON p.key = m.project ORDER BY 1")
	must(s.t, err)
	defer rows.Close()
	for rows.Next() {
		var one string
		must(s.t, rows.Scan(&one))
		list = append(list, one)
	}
	return list
}

var devs = auth.GroupRole{Group: "devs", Project: "default", Role: interaction.Approver}

func TestProviderSignsIn(t *testing.T) {
	s, p := newProvider(t, devs, auth.GroupRole{Group: "all", Project: "default", Role: interaction.Viewer}, auth.GroupRole{Group: "all", Project: "nowhere", Role: interaction.Admin})
	if got := s.call("", "GET", "/signin", ""); !strings.Contains(wording(got), "Sign in with Acme") {
		t.Errorf("%s", wording(got))
	}
	p.who["groups"], p.who["email"], p.who["email_verified"] = []string{"all", "devs"}, "Sam@Example.com", true
	first := s.signsIn(p)
	if got := s.call("", "GET", "/", "", "Cookie", first); got.status != http.StatusOK || !strings.Contains(wording(got), "Signed in as Sam Doe") {
		t.Errorf("%d %s", got.status, wording(got))
	}
	if got := s.members(); !slices.Equal(got, []string{"Sam Doe default approver"}) {
		t.Errorf("%v", got)
	}
	p.who["name"] = "Another name"
	if second := s.signsIn(p); second == first {
		t.Error("the session is the same")
	}
	if n := s.number("SELECT count(*) FROM users WHERE email = 'sam@example.com'"); n != 1 || s.number("SELECT count(*) FROM users") != 2 {
		t.Errorf("%d users with the email", n)
	}
	p.who["sub"], p.who["name"] = "u2", "Second" // with the same email: another person all the same
	s.signsIn(p)
	if n := s.number("SELECT count(*) FROM users"); n != 3 || s.number("SELECT count(email) FROM users") != 1 {
		t.Errorf("%d users", n)
	}
	p.who["sub"], p.who["email"], p.who["email_verified"] = "u3", "u3@example.com", false
	s.signsIn(p)
	if n := s.number("SELECT count(*) FROM users WHERE email = 'u3@example.com'"); n != 0 {
		t.Error("an email that nobody has verified was taken")
	}
	if n := s.number("SELECT count(*) FROM audit_entries WHERE entry LIKE '%member_added%'"); n != 3 {
		t.Errorf("%d audit entries of 3 members", n)
	}
	if text := p.log.take(); strings.Contains(text, "canary") || strings.Contains(text, "eyJ") {
		t.Errorf("the log has what it must not:\n%s", text)
	}
}

// TestProviderRefusals: whatever is wrong, nobody gets in, the page says nothing of tokens, and the log has a code.
func TestProviderRefusals(t *testing.T) {
	s, p := newProvider(t, devs)
	p.who["groups"] = []string{"devs"}
	bad := func(change func(claims map[string]any)) func(visit) answer {
		return func(v visit) answer { p.change = change; return v.ends() }
	}
	signed := p.sign
	for name, c := range map[string]struct {
		play   func(visit) answer
		status int
		code   string
	}{
		"a state of another": {func(v visit) answer { v.back = s.begins(p).back; return v.ends() }, 400, "wrong_state"},
		"no state":           {func(v visit) answer { v.back = strings.Split(v.back, "&state=")[0]; return v.ends() }, 400, "wrong_state"},
		"no cookie":          {func(v visit) answer { v.cookie = "x=y"; return v.ends() }, 400, "wrong_state"},
		"another's cookie":   {func(v visit) answer { v.cookie = s.begins(p).cookie; return v.ends() }, 400, "wrong_state"},
		"a made-up cookie":   {func(v visit) answer { v.cookie = "sayso-oidc=AAAA"; return v.ends() }, 400, "wrong_state"},
		"replayed":           {func(v visit) answer { v.ends(); return v.ends() }, 400, "used_already"},
		"a code of another": {func(v visit) answer {
			other := s.begins(p).back
			_, state, _ := strings.Cut(v.back, "&state=")
			v.back = strings.Split(other, "&state=")[0] + "&state=" + state
			return v.ends()
		}, 403, "code_refused"},
		"too late": {func(v visit) answer {
			s.clock.Advance(11 * time.Minute)
			defer s.clock.Advance(-11 * time.Minute)
			return v.ends()
		}, 400, "too_old"},
		"refused": {func(v visit) answer {
			_, state, _ := strings.Cut(v.back, "&state=")
			v.back = "/signin/oidc/callback?error=access_denied&error_description=canary&state=" + state
			return v.ends()
		}, 403, "provider_refused"},
		"another issuer's answer":    {func(v visit) answer { v.back += "&iss=https%3A%2F%2Fevil.example"; return v.ends() }, 403, "provider_refused"},
		"wrong nonce":                {bad(func(c map[string]any) { c["nonce"] = "canary" }), 403, "wrong_nonce"},
		"no nonce":                   {bad(func(c map[string]any) { delete(c, "nonce") }), 403, "wrong_nonce"},
		"expired":                    {bad(func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() }), 403, "token_expired"},
		"for another":                {bad(func(c map[string]any) { c["aud"] = "other" }), 403, "token_invalid"},
		"for several, by another":    {bad(func(c map[string]any) { c["aud"], c["azp"] = []string{"sayso", "other"}, "other" }), 403, "token_invalid"},
		"by another issuer":          {bad(func(c map[string]any) { c["iss"] = "https://evil.example" }), 403, "token_invalid"},
		"nobody":                     {bad(func(c map[string]any) { c["sub"] = "" }), 403, "token_invalid"},
		"not signed":                 {func(v visit) answer { p.sign = unsigned; return v.ends() }, 403, "token_invalid"},
		"signed by another":          {func(v visit) answer { p.sign = otherKey(t); return v.ends() }, 403, "token_invalid"},
		"not a token":                {func(v visit) answer { p.sign = func(string) string { return "canary" }; return v.ends() }, 403, "token_invalid"},
		"the provider fails":         {func(v visit) answer { p.broken = "/token"; return v.ends() }, 403, "code_refused"},
		"in no group":                {bad(func(c map[string]any) { c["groups"] = []string{"sales"} }), 403, "not_allowed"},
		"groups of another form":     {bad(func(c map[string]any) { c["groups"] = map[string]bool{"devs": true} }), 403, "not_allowed"},
		"groups with another's name": {bad(func(c map[string]any) { c["groups"] = []string{"Devs", "devs "} }), 403, "not_allowed"},
	} {
		p.who["sub"] = "refused"
		v := s.begins(p)
		p.log.take()
		before := s.number("SELECT count(*) FROM sessions")
		if name == "replayed" {
			before++ // the first time is good
			p.who["sub"] = "replayed"
		}
		got := c.play(v)
		text := p.log.take()
		if got.status != c.status || !strings.Contains(text, "code="+c.code) || got.session() != "" || !strings.Contains(wording(got), "Signing in with Acme did not work") {
			t.Errorf("%s: %d %s\n%s", name, got.status, wording(got), text)
		}
		if strings.Contains(string(got.body)+text, "canary") || strings.Contains(text, "eyJ") {
			t.Errorf("%s: it tells what it must not: %s\n%s", name, got.body, text)
		}
		if n := s.number("SELECT count(*) FROM sessions"); n != before {
			t.Errorf("%s: %d sessions, want %d", name, n, before)
		}
		p.change, p.sign, p.broken = func(map[string]any) {}, signed, ""
	}
	if n := s.number("SELECT count(*) FROM identities WHERE subject = 'refused'"); n != 0 {
		t.Error("somebody was made")
	}
}

// unsigned is a token that says it needs no signature.
func unsigned(claims string) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"none","kid":"k"}`)) + "." + enc([]byte(claims)) + "."
}

func otherKey(t *testing.T) func(string) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return func(claims string) string { return oidctest.SignIDToken(key, "k", lib.RS256, claims) }
}

// TestProviderDown: before anybody has signed in, and after.
func TestProviderDown(t *testing.T) {
	s, p := newProvider(t, devs)
	p.broken = "/.well-known"
	if got := s.post("/signin/oidc", ""); got.status != http.StatusServiceUnavailable || !strings.Contains(wording(got), "cannot be reached") || strings.Contains(string(got.body), "canary") {
		t.Errorf("%d %s", got.status, wording(got))
	}
	p.broken, p.who["groups"] = "", []string{"devs"}
	v := s.begins(p)
	p.http.CloseClientConnections()
	p.http.Close()
	if got := v.ends(); got.status != http.StatusServiceUnavailable || got.session() != "" {
		t.Errorf("%d %s", got.status, wording(got))
	}
	if text := p.log.take(); strings.Count(text, "code=provider_unreachable") != 2 || strings.Contains(text, "canary") {
		t.Errorf("%s", text)
	}
}

// TestProviderGroupsChange: memberships follow the groups at each sign-in, and what an admin gave by hand stays.
func TestProviderGroupsChange(t *testing.T) {
	s, p := newProvider(t, devs, auth.GroupRole{Group: "leads", Project: "default", Role: interaction.Lead})
	for _, step := range []struct {
		groups []string
		hand   string // statement of an admin before
		want   []string
	}{
		{[]string{"devs"}, "", []string{"Sam Doe default approver"}},
		{[]string{"leads", "devs"}, "", []string{"Sam Doe default lead"}},
		{[]string{"devs"}, "", []string{"Sam Doe default approver"}},
		{nil, "", nil}, // and is refused
		{[]string{"devs"}, "", []string{"Sam Doe default approver"}},
		{nil, "UPDATE members SET role = 'viewer', granted_by = NULL", []string{"Sam Doe default viewer"}},
		{[]string{"leads"}, "", []string{"Sam Doe default lead"}},
		{nil, "", []string{"Sam Doe default viewer"}},
		{[]string{"devs"}, "UPDATE members SET role = 'admin', granted_by = NULL", []string{"Sam Doe default admin"}},
		{nil, "", []string{"Sam Doe default admin"}},
	} {
		if step.hand != "" {
			s.exec(step.hand)
		}
		p.who["groups"] = step.groups
		got := s.begins(p).ends()
		if in := got.session() != ""; in != (step.want != nil) {
			t.Errorf("%v: %d %s", step.groups, got.status, wording(got))
		}
		if got := s.members(); !slices.Equal(got, step.want) {
			t.Errorf("%v: %v, want %v", step.groups, got, step.want)
		}
	}
	for action, want := range map[string]int{"member_added": 2, "member_role_changed": 4, "member_removed": 1} {
		if n := s.number("SELECT count(*) FROM admin_events WHERE instr(record, ?) > 0", `"`+action+`"`); n != want {
			t.Errorf("%d of %s, want %d", n, action, want)
		}
	}
}

// TestProviderAndBack: the back button after a sign-in leads to the inbox; and nobody signs in over a session without ending it.
// TestProviderTakesAdminAway: with the group ends what its admin gave out.
func TestProviderTakesAdminAway(t *testing.T) {
	s, p := newProvider(t, devs, auth.GroupRole{Group: "admins", Project: "default", Role: interaction.Admin})
	p.who["groups"] = []string{"admins", "devs"}
	if got := s.begins(p).ends(); got.session() == "" {
		t.Fatalf("%d %s", got.status, wording(got))
	}
	s.exec(`INSERT INTO invitations (id, project, role, note, hash, created_by, created_at)
		SELECT 'inv_' || substr(u.id, 5), p.key, 'admin', 'a way back', randomblob(32), u.id, ? FROM users u, projects p WHERE u.name = 'Sam Doe'`, s.clock.Now().UnixMilli())
	p.who["groups"] = []string{"devs"}
	s.begins(p).ends()
	if n := s.number("SELECT count(*) FROM invitations WHERE ended_at IS NULL"); n != 0 {
		t.Error("the invitation is open still")
	}
	if _, err := s.store.Verify(t.Context(), s.project.ID); err != nil {
		t.Error(err)
	}
}

func TestProviderAndBack(t *testing.T) {
	s, p := newProvider(t, devs)
	p.who["groups"] = []string{"devs"}
	v := s.begins(p)
	session := v.ends().session()
	v.cookie = "x=y" // it was taken away
	if got := v.ends(session); got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || got.session() != "" {
		t.Errorf("%d %s", got.status, wording(got))
	}
	if got := s.call("", "HEAD", v.back, "", "Cookie", v.cookie); got.status != http.StatusNoContent {
		t.Errorf("HEAD: %d", got.status)
	}
	again := s.begins(p).ends(session)
	if again.session() == "" || again.session() == session {
		t.Errorf("%d %s", again.status, wording(again))
	}
	if got := s.call("", "GET", "/projects/default/cards", "", "Cookie", session); got.status != http.StatusUnauthorized {
		t.Errorf("the session before: %d", got.status)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		if got := s.post("/signin/oidc", "", "Sec-Fetch-Site", site, "Origin", "https://evil.example"); got.status != http.StatusForbidden || len(got.header["Set-Cookie"]) > 0 {
			t.Errorf("%s: %d", site, got.status)
		}
	}
}

// TestProviderBeforeTheOwner: nobody comes in before the owner has.
func TestProviderBeforeTheOwner(t *testing.T) {
	s, p := newProvider(t, devs)
	s.exec("DELETE FROM sessions")
	s.exec("DELETE FROM users")
	p.who["groups"] = []string{"devs"}
	if got := s.begins(p).ends(); got.status != http.StatusForbidden || got.session() != "" || s.number("SELECT count(*) FROM users") != 0 {
		t.Errorf("%d %s", got.status, wording(got))
	}
}
