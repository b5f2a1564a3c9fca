package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sayso/internal/api"
)

// stage is what one script has running: a server, and a command that waits for a person.
type stage struct {
	ts     *testscript.TestScript
	server *actor
	asker  *actor
	asked  api.Interaction
}

// atMost is how long a script waits for something that should come at once.
const atMost = 20 * time.Second

// actor is a command in the background.
type actor struct {
	cmd            *exec.Cmd
	stdout, stderr *transcript
	reading        sync.WaitGroup
}

func start(ts *testscript.TestScript, args []string) *actor {
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	a := &actor{cmd: exec.Command(path, args[1:]...), stdout: newTranscript(), stderr: newTranscript()}
	for _, name := range inherited {
		if value := ts.Getenv(name); value != "" {
			a.cmd.Env = append(a.cmd.Env, name+"="+value)
		}
	}
	a.cmd.Dir = ts.MkAbs(".")
	stdout, err := a.cmd.StdoutPipe()
	ts.Check(err)
	stderr, err := a.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(a.cmd.Start())
	a.reading.Go(func() { a.stdout.follow(stdout) })
	a.reading.Go(func() { a.stderr.follow(stderr) })
	ts.Defer(func() { a.kill() })
	return a
}

func (a *actor) kill() { _ = a.cmd.Process.Kill(); _ = a.wait() }

func (a *actor) wait() error {
	a.reading.Wait()
	return a.cmd.Wait()
}

// transcript is what a command has written so far, by line.
type transcript struct {
	mu    sync.Mutex
	more  *sync.Cond
	lines []string
	over  bool
}

func newTranscript() *transcript {
	t := &transcript{}
	t.more = sync.NewCond(&t.mu)
	return t
}

func (t *transcript) follow(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		t.mu.Lock()
		if line != "" {
			t.lines = append(t.lines, line)
		}
		t.over = err != nil
		t.more.Broadcast()
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// next gives the first line from the given one on that matches, and the number of the line after it. It waits for it.
func (t *transcript) next(from int, pattern *regexp.Regexp) (line string, after int, err error) {
	late := false
	timer := time.AfterFunc(atMost, func() { t.mu.Lock(); late = true; t.more.Broadcast(); t.mu.Unlock() })
	defer timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := from; ; n++ {
		for n >= len(t.lines) && !t.over && !late {
			t.more.Wait()
		}
		if n >= len(t.lines) {
			return "", n, fmt.Errorf("no line like %s came:\n%s", pattern, strings.Join(t.lines, ""))
		}
		if line := strings.TrimSuffix(t.lines[n], "\n"); pattern.MatchString(line) {
			return line, n + 1, nil
		}
	}
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "")
}

func (s *stage) serve(ts *testscript.TestScript, args []string) {
	s.server = start(ts, append([]string{"sayso", "serve", "--listen", "127.0.0.1:0"}, args...))
	if _, _, err := s.server.stdout.next(0, regexp.MustCompile(`^Open http`)); err != nil {
		ts.Fatalf("%v\n%s", err, s.server.stderr)
	}
}

func (s *stage) stop(ts *testscript.TestScript, _ []string) {
	ts.Check(s.server.cmd.Process.Signal(syscall.SIGTERM))
	ts.Check(s.server.wait())
}

func (s *stage) crash(ts *testscript.TestScript, _ []string) {
	ts.Check(s.server.cmd.Process.Kill())
	_ = s.server.wait() // it was killed, which is an error
}

var created = regexp.MustCompile(`method=POST route=\S+/(interactions|events) status=201`)

// asks starts a command. That its request is recorded is seen in the server's log, and that it knows so in what it says, unless that is JSON.
func (s *stage) asks(ts *testscript.TestScript, args []string) {
	before := len(s.open())
	s.asker = start(ts, args)
	s.awaitRequest(ts, before)
	if !slices.Contains(args, "--json") {
		s.says(ts, []string{"^sayso: answer at "})
	}
}

// starts starts a command that waits for nobody.
func (s *stage) starts(ts *testscript.TestScript, args []string) { s.asker = start(ts, args) }

// waits goes on when something is open.
func (s *stage) waits(ts *testscript.TestScript, _ []string) { s.awaitRequest(ts, 0) }

// awaitRequest waits until there are more requests than before.
func (s *stage) awaitRequest(ts *testscript.TestScript, before int) {
	for from := 0; ; {
		_, after, err := s.server.stderr.next(from, created)
		if err != nil {
			ts.Fatalf("%v\n%s", err, s.asker.stderr)
		}
		if open := s.open(); len(open) > before {
			s.asked = open[0]
			return
		}
		from = after
	}
}

func (s *stage) says(ts *testscript.TestScript, args []string) {
	_, _, err := s.asker.stderr.next(0, regexp.MustCompile(args[0]))
	ts.Check(err)
}

func (s *stage) tells(ts *testscript.TestScript, args []string) {
	_, _, err := s.asker.stdout.next(0, regexp.MustCompile(args[0]))
	ts.Check(err)
}

// answer answers the request that was asked last, or the newest one that is open.
func (s *stage) answer(ts *testscript.TestScript, args []string) {
	text := ""
	if len(args) > 1 && args[0] != "instead" {
		var err error
		text, err = strconv.Unquote(`"` + args[1] + `"`)
		ts.Check(err)
	}
	if s.asker == nil {
		s.asked = s.open()[0]
	}
	_, err := s.client(operatorKey).Resolve(context.Background(), s.asked.AgentID, s.asked.ID, resolve(ts, args, text))
	ts.Check(err)
}

func resolve(ts *testscript.TestScript, args []string, text string) api.Resolve {
	choose := func(text string, indices ...int) []api.Answer {
		return []api.Answer{{OptionIndices: indices, Text: text}}
	}
	switch args[0] {
	case "allow":
		return api.Resolve{Answers: choose("", 0), Note: text}
	case "deny":
		return api.Resolve{Answers: choose(text, 1)}
	case "instead":
		return api.Resolve{Answers: choose("", 0), UpdatedInput: json.RawMessage(args[1])}
	}
	var indices []int
	for part := range strings.SplitSeq(args[0], ",") {
		indices = append(indices, number(ts, part))
	}
	return api.Resolve{Answers: choose(text, indices...)}
}

func (s *stage) withdraw(ts *testscript.TestScript, _ []string) {
	_, err := s.client(agentKey).Cancel(context.Background(), s.asked.AgentID, s.asked.ID)
	ts.Check(err)
}

func (s *stage) interrupt(ts *testscript.TestScript, args []string) {
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}
	ts.Check(s.asker.cmd.Process.Signal(signals[args[0]]))
}

func (s *stage) ends(ts *testscript.TestScript, args []string) {
	got, want := exitCode(ts, s.asker.wait()), number(ts, args[0])
	fmt.Fprint(ts.Stdout(), s.asker.stdout)
	fmt.Fprint(ts.Stderr(), s.asker.stderr)
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	s.asker = nil
}

func (s *stage) get(ts *testscript.TestScript, args []string) {
	s.call(ts, s.client(operatorKey), http.MethodGet, args[0], "")
}

func (s *stage) post(ts *testscript.TestScript, args []string) {
	s.call(ts, s.client(args[0]+".key"), http.MethodPost, args[1], args[2])
}

func (s *stage) call(ts *testscript.TestScript, c *api.Client, method, path, body string) {
	req, err := http.NewRequest(method, c.URL+"/api/v1/orgs/default/projects/default/"+path, strings.NewReader(body))
	ts.Check(err)
	req.Header.Set("Authorization", "Bearer "+c.Key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	if resp.StatusCode >= 300 {
		ts.Fatalf("%s %s: %s", method, path, resp.Status)
	}
}

func (s *stage) remote(ts *testscript.TestScript, args []string) {
	c := s.client(agentKey)
	ts.Setenv("SAYSO_URL", c.URL+strings.Join(args, ""))
	ts.Setenv("SAYSO_KEY", c.Key)
}

// open is every open request, newest first.
func (s *stage) open() []api.Interaction {
	list, err := s.client(operatorKey).Interactions(context.Background(), url.Values{"state": {"open"}, "order": {"desc"}})
	s.ts.Check(err)
	return list.Data
}

func (s *stage) client(keyFile string) *api.Client {
	folder := s.ts.Getenv("SAYSO_DATA")
	found, err := findRunning(folder)
	s.ts.Check(err)
	key, err := os.ReadFile(filepath.Join(folder, keyFile))
	s.ts.Check(err)
	return newClient(found.URL, strings.TrimSpace(string(key)))
}
