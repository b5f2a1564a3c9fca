package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// given are flags.
func given(flags map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := flags[name]; return v, ok }
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sayso.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrecedence(t *testing.T) {
	path := write(t, "listen: 127.0.0.1:1\nlog_level: warn\nlog_format: json\nallowed_hosts: [a.example, b.example]\n")
	t.Setenv("SAYSO_LISTEN", "127.0.0.1:2")
	t.Setenv("SAYSO_LOG_LEVEL", "debug")
	c := Default()
	if err := c.Load(given(map[string]string{"config": path, "listen": "127.0.0.1:3", "data": "/tmp/x"})); err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:3" || c.LogLevel != "debug" || c.LogFormat != "json" || strings.Join(c.AllowedHosts, " ") != "a.example b.example" {
		t.Errorf("flag, environment, file, in this order: %+v", c)
	}
}

// TestBadSettings: each stops the start with one line that says which, why and what is allowed.
func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ name, value, says string }{
		{"listen", "7777", "host:port"},
		{"listen", "example.com:80", "IP address"},
		{"database", "postgres://u:secret@h/db", "PostgreSQL comes later"},
		{"database", "mysql", "only sqlite"},
		{"base-path", "sayso", "like /sayso"},
		{"base-path", "/a?b", "like /sayso"},
		{"public-url", "example.com", "https://"},
		{"public-url", "https://example.com/sayso", "base-path"},
		{"trusted-proxies", "proxy.example.com", "10.0.0.0/8"},
		{"trusted-proxies", "10.0.0.1, 10.0.0.0/33", "10.0.0.0/8"},
		{"log-format", "xml", "text and json"},
		{"log-level", "loud", "debug, info, warn and error"},
		{"data", "", "must not be empty"},
		{"config", "/no/such/file", "no such file"},
	} {
		config := Default()
		err := config.Load(given(map[string]string{c.name: c.value}))
		if err == nil || !strings.HasPrefix(err.Error(), c.name+":") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s=%q: %v, want it to name the setting and say %q", c.name, c.value, err, c.says)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s=%q: not one line without secrets: %v", c.name, c.value, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"lissen: 127.0.0.1:1", "[1:1]"},
		{"log_level: info\nlog_level: warn", "[2:1]"},
		{"listen: [1]", "[1:"},
		{"listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2", "only one YAML document"},
		{"listen: [", "sayso.yaml"},
		{strings.Repeat("#", fileMost+1), "too many"},
	} {
		config := Default()
		err := config.Load(given(map[string]string{"config": write(t, c.text)}))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60q: %v, want it to say %q", c.text, err, c.says)
		}
	}
	config := Default()
	if err := config.Load(given(map[string]string{"config": write(t, "# nothing\n"), "data": "/tmp/x"})); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Listen: "127.0.0.1:7777"}, "localhost 127.0.0.1 [::1]"},
		{Config{Listen: "0.0.0.0:7777"}, ""},
		{Config{Listen: "0.0.0.0:7777", PublicURL: "https://s.example"}, "s.example localhost 127.0.0.1 [::1]"},
		{Config{Listen: "127.0.0.1:7777", AllowedHosts: []string{"box"}}, "box localhost 127.0.0.1 [::1]"},
	} {
		if got := strings.Join(c.config.hosts(), " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.config, got, c.want)
		}
	}
}

// TestCommandTellsNoPath: only a server that this machine alone reaches says where program and data lie.
func TestCommandTellsNoPath(t *testing.T) {
	for _, c := range []struct {
		config Config
		tells  bool
	}{
		{Config{Listen: "127.0.0.1:7777", Data: "/srv/secret"}, true},
		{Config{Listen: "0.0.0.0:7777", Data: "/srv/secret"}, false},
		{Config{Listen: "127.0.0.1:7777", Data: "/srv/secret", PublicURL: "https://s.example"}, false},
	} {
		if got := c.config.command(); strings.Contains(got, "/srv/secret") != c.tells || !c.tells && got != "sayso" {
			t.Errorf("%+v: %q", c.config, got)
		}
	}
}
