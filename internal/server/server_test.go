package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// started is a running program.
type started struct {
	t      *testing.T
	config Config
	lines  *bufio.Reader
	stop   context.CancelFunc
	done   chan error
	once   sync.Once
}

// start runs the program and gives it once it printed its line, which is given too.
func start(t *testing.T, flags map[string]string) (*started, string) {
	t.Helper()
	if flags["data"] == "" {
		flags["data"] = filepath.Join(t.TempDir(), "data")
	}
	if flags["listen"] == "" {
		flags["listen"] = "127.0.0.1:0"
	}
	config := Default()
	if err := config.Load(given(flags)); err != nil {
		t.Fatal(err)
	}
	out, in := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	s := &started{t: t, config: config, lines: bufio.NewReader(out), stop: stop, done: make(chan error, 1)}
	go func() {
		err := Run(ctx, config, in, t.Output())
		in.CloseWithError(errors.Join(err, io.EOF))
		s.done <- err
	}()
	t.Cleanup(func() { s.finish() })
	line, err := s.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the program printed nothing: %v", err)
	}
	return s, strings.TrimSpace(line)
}

func (s *started) finish() {
	s.once.Do(func() {
		s.stop()
		if err := <-s.done; err != nil {
			s.t.Error("run:", err)
		}
	})
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestStartAndStop(t *testing.T) {
	s, line := start(t, map[string]string{})
	link, ok := strings.CutPrefix(line, "Open ")
	if !ok {
		t.Fatalf("printed %q", line)
	}
	if status, body := get(t, link); status != 200 || !strings.Contains(body, "Sign in and meet the demo agent") {
		t.Errorf("the link: %d %s", status, body)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700 | os.ModeDir, operatorKeyFile: 0o600, agentKeyFile: 0o600, serverFileName: 0o600} {
		info, err := os.Stat(filepath.Join(s.config.Data, name))
		if err != nil || info.Mode() != mode {
			t.Errorf("%q: %v %v, want %v", name, info.Mode(), err, mode)
		}
	}
	file, err := readServerFile(s.config.Data)
	if err != nil || file.PID != os.Getpid() || !strings.HasPrefix(link, file.URL) {
		t.Errorf("server.json: %+v %v", file, err)
	}
	if status, _ := get(t, file.URL+"/readyz"); status != 200 {
		t.Errorf("readyz: %d", status)
	}
	keys := read(t, s.config.Data)
	s.finish()
	if _, err := os.Stat(filepath.Join(s.config.Data, serverFileName)); err == nil {
		t.Error("server.json is there after the stop")
	}
	again, second := start(t, map[string]string{"data": s.config.Data})
	if second == line {
		t.Error("the second start gave the same link")
	}
	if read(t, again.config.Data) != keys {
		t.Error("the second start made other keys")
	}
	first, _ := url.Parse(link)
	now, _ := url.Parse(strings.TrimPrefix(second, "Open "))
	if status, _ := get(t, "http://"+now.Host+first.RequestURI()); status != http.StatusForbidden {
		t.Errorf("the first start's link: %d", status)
	}
}

func read(t *testing.T, folder string) string {
	t.Helper()
	a, err := os.ReadFile(filepath.Join(folder, operatorKeyFile))
	b, err2 := os.ReadFile(filepath.Join(folder, agentKeyFile))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return string(a) + string(b)
}

// TestLoopbackUntilSetup: a server that is to be open to others listens on loopback only until its owner has signed in.
func TestLoopbackUntilSetup(t *testing.T) {
	_, line := start(t, map[string]string{"listen": "0.0.0.0:0"})
	link, err := url.Parse(strings.TrimPrefix(line, "Open "))
	if err != nil {
		t.Fatal(err)
	}
	inside := "http://" + link.Host
	outside := "http://127.0.0.2:" + link.Port() // this machine too, but not the address that was opened
	if _, err := http.Get(outside + "/healthz"); err == nil {
		t.Fatal("answers on another address before the setup")
	}
	resp, err := http.PostForm(inside+"/setup", link.Query())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	// The inner listener is closed and the outer one opened; a dial in between is refused, so wait for it to answer.
	for {
		if resp, err := http.Get(outside + "/healthz"); err == nil {
			resp.Body.Close()
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("does not open up")
		}
	}
}

func TestKeyFileOfTheWrongKind(t *testing.T) {
	s, _ := start(t, map[string]string{})
	s.finish()
	if err := os.Rename(filepath.Join(s.config.Data, agentKeyFile), filepath.Join(s.config.Data, operatorKeyFile)); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), s.config, io.Discard, t.Output())
	if err == nil || !strings.Contains(err.Error(), "does not hold an operator key") {
		t.Errorf("run: %v", err)
	}
}
