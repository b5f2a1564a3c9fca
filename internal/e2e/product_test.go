package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/server"
	"sayso/internal/store"
)

// owner is the person who answers.
const owner = "Dana Scully"

// product is a running server and the ways in.
type product struct {
	t      testing.TB
	URL    string // with the base path
	link   string // the one-time link that this start printed
	config server.Config

	cancel context.CancelFunc
	ended  chan error
	asking *api.Client // with the agents' key
	ruling *api.Client // with the operator's key
}

// start runs a product whose owner has signed in before, so that no demo agent meddles.
func start(t testing.TB, adjust ...func(*server.Config)) *product {
	t.Helper()
	p := install(t, adjust...)
	folder, err := used()
	must(t, err)
	must(t, os.CopyFS(p.config.Data, os.DirFS(folder)))
	p.run()
	return p
}

// used is a data folder that the owner has signed in to, for all that start with one.
var used = sync.OnceValues(func() (folder string, err error) {
	if folder, err = os.MkdirTemp("", "sayso-e2e-data-"); err != nil {
		return "", err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, folder, store.Options{})
	if err != nil {
		return "", err
	}
	gate := auth.NewGate(s, time.Now)
	code, err := gate.NewCode(ctx)
	if err == nil {
		_, _, err = gate.SignIn(ctx, code, owner, auth.From{})
	}
	return folder, errors.Join(err, s.Close())
})

// removeUsed removes what used made.
func removeUsed() {
	if folder, err := used(); err == nil {
		os.RemoveAll(folder)
	}
}

// undisturbed has no process started meanwhile: until it has become its own program, it holds the locks of all data folders that we have
// open, and one that we close could not be opened again.
func undisturbed(f func()) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f()
}

// startFresh runs a product that nobody has used yet.
func startFresh(t testing.TB, adjust ...func(*server.Config)) *product {
	t.Helper()
	p := install(t, adjust...)
	p.run()
	return p
}

// install has everything ready to run.
func install(t testing.TB, adjust ...func(*server.Config)) *product {
	t.Helper()
	p := &product{t: t, config: server.Default()}
	p.config.Listen, p.config.Data, p.config.LogLevel = "127.0.0.1:0", t.TempDir(), "warn"
	for _, f := range adjust {
		f(&p.config)
	}
	t.Cleanup(p.stop)
	return p
}

func basePath(path string) func(*server.Config) {
	return func(c *server.Config) { c.BasePath = path }
}

// run starts the server and returns when it is ready. Run again, it is reached where it was before.
func (p *product) run() {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.ended = cancel, make(chan error, 1)
	printed := &line{found: make(chan string, 1)}
	go func() { p.ended <- server.Run(ctx, p.config, printed, logged{p.t}) }()
	select {
	case p.link = <-printed.found:
	case err := <-p.ended:
		p.ended = nil
		p.t.Fatalf("the server did not start: %v", err)
	case <-time.After(30 * time.Second):
		p.t.Fatal("the server was not ready within 30 s")
	}
	p.URL = address(p.t, p.config.Data)
	p.config.Listen = strings.TrimPrefix(p.origin(), "http://")
	p.asking = &api.Client{URL: p.URL, Key: p.key("agent.key")}
	p.ruling = &api.Client{URL: p.URL, Key: p.key("operator.key")}
}

// address is where the server of a data folder can be reached, as the commands on its machine find it.
func address(t testing.TB, data string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "server.json"))
	must(t, err)
	var file struct{ URL string }
	must(t, json.Unmarshal(text, &file))
	return file.URL
}

// stop ends the server, if it runs.
func (p *product) stop() {
	if p.ended == nil {
		return
	}
	http.DefaultClient.CloseIdleConnections()
	p.cancel()
	if err := <-p.ended; err != nil {
		p.t.Errorf("the server ended with: %v", err)
	}
	p.ended = nil
}

func (p *product) restart() {
	p.t.Helper()
	undisturbed(func() {
		p.stop()
		p.run()
	})
}

func (p *product) key(file string) string { return keyIn(p.t, p.config.Data, file) }

func keyIn(t testing.TB, data, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, file))
	must(t, err)
	return strings.TrimSpace(string(text))
}

// origin is scheme and host.
func (p *product) origin() string { return strings.TrimSuffix(p.URL, p.config.BasePath) }

// session signs the owner in and gives the cookie.
func (p *product) session() *http.Cookie {
	p.t.Helper()
	link, err := p.ruling.SignInLink(p.t.Context())
	must(p.t, err)
	u, err := url.Parse(link.URL)
	must(p.t, err)
	a := p.send(http.MethodPost, "/setup", url.Values{"code": {u.Query().Get("code")}}, "Sec-Fetch-Site", "same-origin")
	cookies := (&http.Response{Header: a.header}).Cookies()
	if a.status != http.StatusSeeOther || len(cookies) != 1 {
		p.t.Fatalf("sign in: %d with %d cookies: %s", a.status, len(cookies), a.body)
	}
	return cookies[0]
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a plain request, below the base path, with name and value of each header in turn. A form is posted as one.
func (p *product) send(method, path string, form url.Values, headers ...string) answer {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+path, strings.NewReader(form.Encode()))
	must(p.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for n := 0; n+1 < len(headers); n += 2 {
		if headers[n] == "Host" {
			req.Host = headers[n+1]
			continue
		}
		req.Header.Add(headers[n], headers[n+1])
	}
	resp, err := notFollowing.Do(req)
	must(p.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(p.t, err)
	return answer{resp.StatusCode, resp.Header, string(body)}
}

var notFollowing = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// logged is the server's log, in the test's. An error in it is one of ours: nothing that a person or an agent does may cause one.
type logged struct{ t testing.TB }

func (l logged) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "level=ERROR") {
		l.t.Errorf("the server logged: %s", b)
	}
	return l.t.Output().Write(b)
}

// line is a writer that finds the link in what the server prints.
type line struct {
	mu    sync.Mutex
	text  strings.Builder
	found chan string
}

var openLine = regexp.MustCompile(`(?m)^Open (http\S+)$`)

func (l *line) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	if m := openLine.FindStringSubmatch(l.text.String()); m != nil {
		select {
		case l.found <- m[1]:
		default:
		}
	}
	return len(b), nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
