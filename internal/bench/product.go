package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sayso/internal/api"
	"sayso/internal/server"
)

// product is the server that is measured, as `sayso serve` runs it: on a folder and a port of its own, logging to nowhere.
type product struct {
	folder   string
	address  string
	operator string // key
	agent    string // key
	setup    string // one-time link that signs the owner in
	agents   int    // made so far
	cancel   context.CancelFunc
	done     chan error
}

const project = "/api/v1/orgs/default/projects/default"

func start(ctx context.Context, folder string) (*product, error) {
	config := server.Default()
	config.Listen, config.Data = "127.0.0.1:0", folder
	ctx, cancel := context.WithCancel(ctx)
	p := &product{folder: folder, cancel: cancel, done: make(chan error, 1)}
	out, in := io.Pipe()
	go func() {
		err := server.Run(ctx, config, in, io.Discard)
		in.CloseWithError(errors.Join(err, io.EOF))
		p.done <- err
	}()
	return p, p.learn(out)
}

// learn reads where the server is from what it prints, and the keys that it left in its folder.
func (p *product) learn(out io.Reader) error {
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	p.setup = strings.TrimSpace(strings.TrimPrefix(line, "Open "))
	at, err := url.Parse(p.setup)
	if err != nil {
		return err
	}
	p.address = at.Host
	operator, err1 := os.ReadFile(filepath.Join(p.folder, "operator.key"))
	agent, err2 := os.ReadFile(filepath.Join(p.folder, "agent.key"))
	p.operator, p.agent = strings.TrimSpace(string(operator)), strings.TrimSpace(string(agent))
	return errors.Join(err1, err2)
}

func (p *product) stop() error {
	p.cancel()
	return <-p.done
}

// signIn gives the cookie of the owner's session.
func (p *product) signIn() (*http.Cookie, error) {
	at, err := url.Parse(p.setup)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.PostForm("http://"+at.Host+at.Path, at.Query())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if cookies := resp.Cookies(); len(cookies) == 1 {
		return cookies[0], nil
	}
	return nil, fmt.Errorf("sign in: %s", resp.Status)
}

// openPerAgent is how many open requests an asker may have for one agent.
const openPerAgent = 50

// places are n paths that take one new interaction each: enough agents that none has too many open.
func (p *product) places(n int) ([]string, error) {
	c := dial(p.address, p.agent)
	defer c.close()
	var paths []string
	for len(paths) < n {
		p.agents++
		body, err := c.call("POST", project+"/agents", fmt.Sprintf(`{"name":"Bench %d"}`, p.agents))
		if err != nil {
			return nil, err
		}
		var made api.AgentBody
		if err := json.Unmarshal(body, &made); err != nil {
			return nil, err
		}
		for range openPerAgent {
			paths = append(paths, project+"/agents/"+made.Agent.ID+"/interactions")
		}
	}
	return paths[:n], nil
}

// asks opens n interactions, and gives their paths.
func (p *product) asks(n int, body string) ([]string, error) {
	places, err := p.places(n)
	if err != nil {
		return nil, err
	}
	all := dialMany(clients, p.address, p.agent)
	defer all.close()
	paths := make([]string, n)
	err = all.share(n, func(c *caller, i int) error {
		answer, err := c.call("POST", places[i], body)
		if err != nil {
			return err
		}
		var made struct{ ID string }
		err = json.Unmarshal(answer, &made)
		paths[i] = places[i] + "/" + made.ID
		return err
	})
	return paths, err
}

// ask is what is asked: its stored record is about 1 KB.
var ask = func() string {
	command := "go test ./... && git push --force-with-lease origin main # " + strings.Repeat("release notes, ", 8)
	body, err := json.Marshal(api.NewInteraction{ToolCall: &api.ToolCall{Name: "Bash", Input: json.RawMessage(fmt.Sprintf(`{"command":%q}`, command))}})
	if err != nil {
		panic(err) // unreachable: it is a constant
	}
	return string(body)
}()

// allow is the answer that is given.
const allow = `{"answers":[{"option_indices":[0]}]}`

// withProduct runs f on a server with an empty store.
func withProduct(ctx context.Context, f func(*product) error) (err error) {
	return inFolder(func(folder string) error {
		p, err := start(ctx, folder)
		if err != nil {
			return err
		}
		return errors.Join(f(p), p.stop())
	})
}

func inFolder(f func(folder string) error) error {
	folder, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return err
	}
	return errors.Join(f(folder), os.RemoveAll(folder))
}
