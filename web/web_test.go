package web_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/store"
	"sayso/web"
)

// site is the whole product on a real database, without the program around it.
type site struct {
	t        *testing.T
	store    *store.Store
	service  *interaction.Service
	gate     *auth.Gate
	pages    *web.Server
	http     *httptest.Server
	clock    *clock
	waits    *waits
	folder   string // of the database
	log      *log
	logger   *slog.Logger
	project  interaction.Project
	operator string // key
	agent    string // key, bound to no agent

	stopWaiting sync.Once // for the service's Close, which may be called once
	beside      *sql.DB   // the same file, opened by the test
	agents      int       // made by askable
}

// waits is the site's watcher, and tells who has come to wait.
type waits struct {
	hub     *web.Watch
	arrived chan interaction.ID
}

func (w *waits) Watch(id interaction.ID) (<-chan interaction.Record, func()) {
	changes, stop := w.hub.Watch(id)
	select {
	case w.arrived <- id:
	default: // no test is looking
	}
	return changes, stop
}

func (w *waits) WatchAgent(id interaction.ID) (<-chan struct{}, func()) {
	changes, stop := w.hub.WatchAgent(id)
	select {
	case w.arrived <- id:
	default:
	}
	return changes, stop
}

// clock is the time that the site goes by.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newSite(t *testing.T, adjust ...func(*web.Config)) *site {
	t.Helper()
	s := &site{t: t, clock: &clock{now: time.Now().UTC().Truncate(time.Millisecond)}, folder: t.TempDir(), log: &log{more: make(chan struct{})}}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	s.logger = log
	var err error
	s.store, err = store.Open(t.Context(), s.folder, store.Options{Log: log, Broken: func(err error) { t.Error("store broke:", err) }})
	must(t, err)
	watch := &web.Watch{}
	s.waits = &waits{hub: watch, arrived: make(chan interaction.ID, 1000)}
	s.service = interaction.NewService(s.store, s.waits, log, s.clock.Now)
	s.gate = auth.NewGate(s.store, s.clock.Now)
	s.project, err = s.store.Project(t.Context(), "default", "default")
	must(t, err)
	s.operator = s.newKey(interaction.OperatorPrincipal, "operator", interaction.Scopes...)
	s.agent = s.newKey(interaction.AgentPrincipal, "agent")
	config := web.Config{Log: log, OwnerName: "Dana", AllowedHosts: []string{"127.0.0.1", "localhost"}}
	for _, f := range adjust {
		f(&config)
	}
	if config.Policies != nil {
		s.service.UsePolicies(config.Policies)
	}
	t.Cleanup(s.store.Follow(s.log.add))
	s.pages = web.New(config, s.service, s.gate, s.store, watch)
	s.http = httptest.NewServer(s.pages)
	t.Cleanup(s.close)
	return s
}

func (s *site) close() {
	s.stopWaiting.Do(s.service.Close)
	s.pages.Close()
	s.http.Close()
	must(s.t, s.store.Close())
}

func (s *site) newKey(kind interaction.PrincipalKind, name string, scopes ...interaction.Scope) string {
	s.t.Helper()
	secret := auth.NewSecret(kind)
	key := auth.StoredKey(secret, name, interaction.NewID(interaction.KeyPrefix, time.Now()))
	key.Scopes = scopes
	if kind == interaction.AgentPrincipal {
		key.Project = s.project.ID
	}
	s.stores(key)
	return secret
}

// bound makes an agent's key that is bound to the agent.
func (s *site) bound(agent string) string {
	s.t.Helper()
	secret := auth.NewSecret(interaction.AgentPrincipal)
	key := auth.StoredKey(secret, "bound", interaction.NewID(interaction.KeyPrefix, time.Now()))
	key.Project, key.Agent = s.project.ID, interaction.ID(agent)
	s.stores(key)
	return secret
}

// stores stores a key whose use is not noted: it is no write that tests look for.
func (s *site) stores(key auth.Key) {
	s.t.Helper()
	must(s.t, s.store.EnsureKey(context.Background(), key, time.Now()))
	s.exec("UPDATE api_keys SET used_at = ? WHERE id = ?", s.clock.Now().AddDate(100, 0, 0).UnixMilli(), key.ID)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// database is the site's file, opened beside the store: to see what is really there, and to make what no route makes yet.
func (s *site) database() *sql.DB {
	s.t.Helper()
	if s.beside == nil {
		db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.folder, "sayso.db")+"?_busy_timeout=5000")
		must(s.t, err)
		db.SetMaxOpenConns(1)
		s.t.Cleanup(func() { db.Close() })
		s.beside = db
	}
	return s.beside
}

// number runs a query for a number.
func (s *site) number(query string, args ...any) (n int) {
	s.t.Helper()
	must(s.t, s.database().QueryRow(query, args...).Scan(&n))
	return n
}

// exec changes the database behind the store's back.
func (s *site) exec(statement string, args ...any) {
	s.t.Helper()
	_, err := s.database().Exec(statement, args...)
	must(s.t, err)
}

// writes changes whenever the store has committed anything at all, also what nobody waits for.
func (s *site) writes() int {
	s.t.Helper()
	s.settle()
	return s.number("PRAGMA data_version")
}

// settle returns when the store has done all that it was told so far: it does one thing after the other, and this changes nothing.
func (s *site) settle() {
	s.t.Helper()
	must(s.t, s.store.EndSession(context.Background(), auth.Hash{}, time.Time{}))
}

// log is what the store has told its followers.
type log struct {
	mu      sync.Mutex
	changes []store.Change
	more    chan struct{} // closed when there are more
}

func (l *log) add(changes []store.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, changes...)
	close(l.more)
	l.more = make(chan struct{})
}

// find gives the first change of an interaction that is as wanted, and what is closed when there are more.
func (l *log) find(id string, wanted func(store.Change) bool) (found bool, more chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.changes, func(c store.Change) bool { return string(c.Record.ID) == id && wanted(c) }), l.more
}

// until returns when such a change of an interaction was committed: now, before, or soon.
func (s *site) until(id, what string, wanted func(store.Change) bool) {
	s.t.Helper()
	tooLong := time.After(30 * time.Second)
	for {
		found, more := s.log.find(id, wanted)
		if found {
			return
		}
		select {
		case <-more:
		case <-tooLong:
			s.t.Fatalf("%s: it never came", what)
		}
	}
}

func pickedUp(c store.Change) bool { return !c.Record.Delivery.PickedUpAt.IsZero() }

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) code() string {
	var e api.Error
	_ = json.Unmarshal(a.body, &e)
	return e.Code
}

// message is what an error says.
func (a answer) message() string {
	var e api.Error
	_ = json.Unmarshal(a.body, &e)
	return e.Message
}

func (a answer) interaction(t testing.TB) (i api.Interaction) {
	t.Helper()
	read(t, a, &i)
	return i
}

// read decodes an answer.
func read(t testing.TB, a answer, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
}

func (a answer) agent(t testing.TB) api.Agent {
	t.Helper()
	var body api.AgentBody
	if err := json.Unmarshal(a.body, &body); err != nil || body.Agent.ID == "" {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return body.Agent
}

// page is an answer with a list.
func page[T any](t testing.TB, a answer) (list api.List[T]) {
	t.Helper()
	if err := json.Unmarshal(a.body, &list); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return list
}

const project = "/api/v1/orgs/default/projects/default"

// call sends JSON text with a key.
func (s *site) call(key, method, path, body string, headers ...string) answer {
	s.t.Helper()
	a, err := s.try(key, method, path, body, headers...)
	must(s.t, err)
	return a
}

// try is call that may fail, for goroutines of a test. What goes over the wire is held against openapi.yaml.
func (s *site) try(key, method, path, body string, headers ...string) (a answer, err error) {
	req, err := http.NewRequest(method, s.http.URL+path, strings.NewReader(body))
	if err != nil {
		return a, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n+1 < len(headers); n += 2 {
		if req.Header.Set(headers[n], headers[n+1]); headers[n+1] == absent {
			req.Header.Del(headers[n])
		}
	}
	loose := req.Header.Get(loosely) != ""
	req.Header.Del(loosely)
	resp, err := noRedirects.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	var all io.Reader = resp.Body
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		all = io.LimitReader(all, int64(len(": ok\n\n"))) // it does not end
	}
	text, err := io.ReadAll(all)
	a = answer{resp.StatusCode, resp.Header, text}
	if err == nil {
		s.keepsContract(req, body, a, loose)
	}
	return a, err
}

// absent as the value of a header takes out one that is otherwise sent.
const absent = "absent"

// loosely as a header says that the request is more than openapi.yaml promises to take, and may yet be taken.
const loosely = "Loosely"

var noRedirects = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 300},
}

// newAgent makes an agent and gives its path.
func (s *site) newAgent(name string) (id, path string) {
	s.t.Helper()
	a := s.call(s.agent, "POST", project+"/agents", fmt.Sprintf(`{"name":%q}`, name))
	var body api.AgentBody
	must(s.t, json.Unmarshal(a.body, &body))
	if body.Agent.ID == "" {
		s.t.Fatalf("create agent: %d %s", a.status, a.body)
	}
	return body.Agent.ID, project + "/agents/" + body.Agent.ID
}

const bash = `{"tool_call":{"name":"Bash","input":{"command":"git push --force"}}}`

// asks opens an interaction and gives it and its path.
func (s *site) asks(agentPath, body string) (api.Interaction, string) {
	s.t.Helper()
	a := s.call(s.agent, "POST", agentPath+"/interactions", body)
	if a.status != http.StatusCreated {
		s.t.Fatalf("create interaction: %d %s", a.status, a.body)
	}
	i := a.interaction(s.t)
	return i, agentPath + "/interactions/" + i.ID
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must(t, e.Encode(v))
	return b.String()
}

// signedIn gives the cookie of the owner's session.
func (s *site) signedIn() *http.Cookie {
	s.t.Helper()
	code, err := s.gate.NewCode(s.t.Context())
	must(s.t, err)
	a := s.post("/setup", "code="+code)
	if a.status != http.StatusSeeOther {
		s.t.Fatalf("sign in: %d %s", a.status, a.body)
	}
	cookies := (&http.Response{Header: a.header}).Cookies()
	if len(cookies) != 1 {
		s.t.Fatalf("sign in set %d cookies", len(cookies))
	}
	return cookies[0]
}

// person signs somebody in who has a role in the project, and gives the cookie. What is no role gives none.
func (s *site) person(name string, role interaction.Role) string {
	s.t.Helper()
	now := s.clock.Now()
	user, token := interaction.NewID(interaction.UserPrefix, now), "session-of-"+name
	hash := auth.HashOf(token)
	s.exec("INSERT INTO users (id, name, created_at) VALUES (?, ?, ?)", user, name, now.UnixMilli())
	s.exec("INSERT INTO sessions (hash, user, created_at, seen_at) SELECT ?, key, ?, ? FROM users WHERE id = ?", hash[:], now.UnixMilli(), now.UnixMilli(), user)
	if role.Scopes() != nil {
		s.exec("INSERT INTO members (user, project, role, created_at) SELECT u.key, p.key, ?, ? FROM users u, projects p WHERE u.id = ? AND p.id = ?",
			role, now.UnixMilli(), user, s.project.ID)
	}
	return "sayso=" + token
}

// userID is the id of the person with that name.
func (s *site) userID(name string) (id string) {
	s.t.Helper()
	must(s.t, s.database().QueryRow("SELECT id FROM users WHERE name = ?", name).Scan(&id))
	return id
}

// post sends a form, as our own page would.
func (s *site) post(path, form string, headers ...string) answer {
	s.t.Helper()
	return s.call("", "POST", path, form, append([]string{"Content-Type", "application/x-www-form-urlencoded", "Origin", s.http.URL, "Sec-Fetch-Site", "same-origin"}, headers...)...)
}
