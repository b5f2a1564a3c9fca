package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
	"sayso/internal/cli"
	"sayso/internal/server"
)

// TestMain is the program itself when it is told so: the tests of standard input and output start it as clients do.
func TestMain(m *testing.M) {
	if os.Getenv("SAYSO_TEST_PROGRAM") != "" {
		os.Exit(cli.Main())
	}
	os.Exit(m.Run())
}

// product is a running server, and its keys.
type product struct {
	t        *testing.T
	config   server.Config
	url      string
	end      func() error
	operator *api.Client
	agentKey string
	seen     int64 // sequence of the last event that a test looked at
}

func start(t *testing.T) *product {
	t.Helper()
	p := &product{t: t, config: server.Default()}
	p.config.Listen, p.config.Data, p.config.LogLevel = "127.0.0.1:0", t.TempDir(), "warn"
	p.config.Version = "test"
	p.run()
	t.Cleanup(func() { p.stop() })
	return p
}

// run starts the server and returns when it is ready. Run again, it is where it was before.
func (p *product) run() {
	p.t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := server.Run(ctx, p.config, in, p.t.Output())
		in.CloseWithError(errors.Join(err, io.EOF))
		done <- err
	}()
	p.end = func() error { cancel(); return <-done }
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		p.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	var running struct{ URL string }
	must(p.t, json.Unmarshal(p.file("server.json"), &running))
	p.url, p.config.Listen = running.URL, strings.TrimPrefix(running.URL, "http://")
	p.operator = &api.Client{URL: p.url, Key: string(p.file("operator.key"))}
	p.agentKey = string(p.file("agent.key"))
}

func (p *product) stop() {
	if p.end != nil {
		if err := p.end(); err != nil {
			p.t.Error("run:", err)
		}
		p.end = nil
	}
}

func (p *product) file(name string) []byte {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.config.Data, name))
	must(p.t, err)
	return []byte(strings.TrimSpace(string(text)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// next waits for the next event of a kind, and gives its interaction.
func (p *product) next(kind string) api.Interaction {
	p.t.Helper()
	found := errors.New("found")
	var event api.LifecycleEvent
	err := p.operator.StreamLifecycle(p.t.Context(), p.seen, func(e api.LifecycleEvent) error {
		p.seen, event = e.Sequence, e
		if e.EventKind == kind {
			return found
		}
		return nil
	})
	if !errors.Is(err, found) {
		p.t.Fatal(err)
	}
	i, err := p.operator.Interaction(p.t.Context(), event.AgentID, event.InteractionID, 0)
	must(p.t, err)
	return i
}

func (p *product) opened() api.Interaction { return p.next("interaction_created") }

func (p *product) answers(i api.Interaction, text string, indices ...int) {
	p.t.Helper()
	_, err := p.operator.Resolve(p.t.Context(), i.AgentID, i.ID, api.Resolve{Answers: []api.Answer{{OptionIndices: indices, Text: text}}})
	must(p.t, err)
}

// open are those that wait for an answer.
func (p *product) open() []api.Interaction {
	p.t.Helper()
	list, err := p.operator.Interactions(p.t.Context(), url.Values{"state": {"open"}})
	must(p.t, err)
	return list.Data
}

// The ways in, and the generations of the protocol.
var (
	roads    = []string{"stdio", "http"}
	versions = []string{"2025-11-25", "2026-07-28"}
)

// everyWay runs a test for each way in and each generation.
func everyWay(t *testing.T, test func(t *testing.T, p *product, connect func(*sdk.ClientOptions) *sdk.ClientSession)) {
	for _, road := range roads {
		for _, version := range versions {
			t.Run(road+" "+version, func(t *testing.T) {
				p := start(t)
				test(t, p, func(o *sdk.ClientOptions) *sdk.ClientSession {
					if road == "stdio" {
						return p.connect(&sdk.CommandTransport{Command: p.command()}, version, o)
					}
					return p.connect(p.overHTTP(p.agentKey), version, o)
				})
			})
		}
	}
}

func (p *product) connect(by sdk.Transport, version string, options *sdk.ClientOptions) *sdk.ClientSession {
	p.t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "claude-code", Version: "1"}, options).Connect(p.t.Context(), by, &sdk.ClientSessionOptions{ProtocolVersion: version})
	must(p.t, err)
	p.t.Cleanup(func() { _ = session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != version {
		p.t.Fatalf("the protocol is %s, want %s", got, version)
	}
	return session
}

// command is `sayso mcp serve`.
func (p *product) command(flags ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"mcp", "serve"}, flags...)...)
	cmd.Env = append(os.Environ(), "SAYSO_TEST_PROGRAM=1", "SAYSO_DATA="+p.config.Data)
	cmd.Stderr = p.t.Output()
	return cmd
}

func (p *product) overHTTP(key string) *sdk.StreamableClientTransport {
	return &sdk.StreamableClientTransport{Endpoint: p.url + "/mcp", HTTPClient: &http.Client{Transport: keyed(key)}, MaxRetries: -1}
}

// keyed sends a key with each request.
type keyed string

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// called is a call that waits.
type called struct {
	t      *testing.T
	done   chan struct{}
	result *sdk.CallToolResult
	err    error
}

func call(t *testing.T, ctx context.Context, session *sdk.ClientSession, tool, arguments string) *called {
	c := &called{t: t, done: make(chan struct{})}
	p := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	p.SetProgressToken("token-" + tool)
	go func() {
		defer close(c.done)
		c.result, c.err = session.CallTool(ctx, p)
	}()
	return c
}

// text is what came back.
func (c *called) text() string {
	c.t.Helper()
	<-c.done
	must(c.t, c.err)
	if len(c.result.Content) != 1 {
		c.t.Fatalf("%d blocks", len(c.result.Content))
	}
	return c.result.Content[0].(*sdk.TextContent).Text
}
