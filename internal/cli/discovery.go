package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sayso/internal/api"
)

const defaultData = "~/.sayso"

// The key files that the server makes in its data folder.
const (
	agentKey    = "agent.key"
	operatorKey = "operator.key"
)

// callMost is longer than any call that the server may hold, so that a connection which is dead without a word is noticed.
const callMost = 70 * time.Second

// running is the server.json that a server keeps in its data folder while it runs.
type running struct {
	URL       string `json:"url"`
	PublicURL string `json:"public_url"`
	PID       int    `json:"pid"`
}

// client speaks to the server that SAYSO_URL names with SAYSO_KEY, else to the one of the data folder with its key file.
func (p *program) client(keyFile string) (*api.Client, error) {
	if address := os.Getenv("SAYSO_URL"); address != "" {
		return remote(address, os.Getenv("SAYSO_KEY"))
	}
	folder, err := p.folder()
	if err != nil {
		return nil, err
	}
	found, err := findRunning(folder)
	if err != nil {
		return nil, err
	}
	key, err := readKey(filepath.Join(folder, keyFile))
	c := newClient(found.URL, key)
	c.PublicURL = found.PublicURL
	return c, err
}

func newClient(address, key string) *api.Client {
	return &api.Client{URL: strings.TrimSuffix(address, "/"), Key: key, Channel: "cli", HTTP: &http.Client{Timeout: callMost}}
}

// remote never takes a key from this machine's data folder: it must not be sent elsewhere.
func remote(address, key string) (*api.Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, badInput("", "SAYSO_URL: %q is not the address of a server; give one like https://sayso.example.com", address)
	}
	if key == "" {
		return nil, badInput("set SAYSO_KEY, or unset SAYSO_URL to use the server of this machine", "SAYSO_URL is set, but SAYSO_KEY is not")
	}
	return newClient(address, key), nil
}

// rediscover points the client to where the server is now: a restarted one may listen on another port.
func (p *program) rediscover(c *api.Client) {
	if os.Getenv("SAYSO_URL") != "" {
		return
	}
	folder, err := p.folder()
	if err != nil {
		return
	}
	if found, err := findRunning(folder); err == nil {
		c.URL, c.PublicURL = found.URL, found.PublicURL
	}
}

// folder is the data folder.
func (p *program) folder() (string, error) {
	folder := p.data
	if folder == "" {
		folder = os.Getenv("SAYSO_DATA")
	}
	if folder == "" {
		folder = defaultData
	}
	rest, ok := strings.CutPrefix(folder, "~/")
	if !ok {
		return folder, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", badInput("give a folder with --data", "the data folder %s needs a home folder, and there is none", folder)
	}
	return filepath.Join(home, rest), nil
}

// findRunning finds the server of a data folder. The file of one that was killed names a process that is gone.
func findRunning(folder string) (found running, err error) {
	text, err := os.ReadFile(filepath.Join(folder, "server.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return found, badInput("give the folder of a server with --data", "%s", err)
	}
	if err != nil || json.Unmarshal(text, &found) != nil || found.URL == "" || gone(found.PID) {
		return found, noServer("no server is running on the data folder " + folder)
	}
	return found, nil
}

func noServer(what string) *failure {
	return fail(exitUnavailable, "start it with `sayso serve`", "%s; nothing was recorded", what)
}

// gone says whether a process has ended. One that we may not signal runs.
func gone(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	return errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// readKey reads a key file; SAYSO_KEY goes before it.
func readKey(path string) (string, error) {
	if key := os.Getenv("SAYSO_KEY"); key != "" {
		return key, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", badInput("the server makes it when it starts; or set SAYSO_KEY", "%s", err)
	}
	return strings.TrimSpace(string(text)), nil
}
