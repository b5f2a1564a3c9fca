package server

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/policy"
)

const example = `
agents:
  swe:
    permission_mode: acceptEdits
    approval_policy:
      auto_allow: ["cargo *", "git.commit"]
      auto_deny:  ["git.push*"]
      default: ask            # ask | allow | deny
      input_rules:
        - {tool: Bash, field: command, deny: ["rm -rf /*", "* | sh"]}
        - {tool: Bash, field: command, allow: ["cargo test *"]}
  omnara:
    tools: {run_command: {permission: {mode: always_deny}}, read: {permission: {mode: always_allow}}}
  both:
    approval_policy: {default: allow, tools: {x: {permission: {mode: always_allow}}}}
    tools: {x: {permission: {mode: always_ask}}}
  bare: {permission_mode: plan}
  nothing:
projects:
  web:
    agents:
      swe: {approval_policy: {default: deny}}
  empty:
`

func TestReadPolicies(t *testing.T) {
	got, err := ReadPolicies(write(t, example))
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]policy.Mode{}
	want := policy.Set{
		"default": {
			"swe": {PermissionMode: "acceptEdits", Policy: &policy.Policy{
				AutoAllow: []string{"cargo *", "git.commit"}, AutoDeny: []string{"git.push*"}, Default: policy.Ask, Tools: none,
				InputRules: []policy.InputRule{
					{Tool: "Bash", Field: "command", Deny: []string{"rm -rf /*", "* | sh"}},
					{Tool: "Bash", Field: "command", Allow: []string{"cargo test *"}},
				},
			}},
			"omnara":  {Policy: &policy.Policy{Tools: map[string]policy.Mode{"run_command": policy.AlwaysDeny, "read": policy.AlwaysAllow}}},
			"both":    {Policy: &policy.Policy{Default: policy.Allow, Tools: map[string]policy.Mode{"x": policy.AlwaysAsk}}},
			"bare":    {PermissionMode: "plan"},
			"nothing": {},
		},
		"web": {"swe": {Policy: &policy.Policy{Default: policy.Deny, Tools: none}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "# nothing\n", "agents:\n", "listen: 127.0.0.1:1\n"} {
		if got, err := ReadPolicies(write(t, text)); err != nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestTextOfPatterns(t *testing.T) {
	got, err := ReadPolicies(write(t, "agents:\n  a:\n    approval_policy:\n      auto_allow: [\"\", yes, x y, \"010\", '*', \"\\\\*\", &p \"p*\", *p]\n      auto_deny:\n      - |-\n        two\n        lines\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := got["default"]["a"].Policy
	if diff := cmp.Diff([]string{"", "yes", "x y", "010", "*", `\*`, "p*", "p*"}, p.AutoAllow); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"two\nlines"}, p.AutoDeny); diff != "" {
		t.Error(diff)
	}
}

// TestBadPolicies: each is one line that says where, what, and what is allowed.
func TestBadPolicies(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"unknown key of an agent", "agents:\n  swe:\n    aproval_policy: {}", `[3:5] unknown field "aproval_policy"`},
		{"unknown key of a policy", "agents:\n  swe:\n    approval_policy:\n      auto_alow: []", `[4:7] unknown field "auto_alow"`},
		{"unknown key of a rule", "agents:\n  swe:\n    approval_policy:\n      input_rules:\n      - {tool: a, field: b, denied: []}", `[5:29] unknown field "denied"`},
		{"unknown key of a tool", "agents:\n  swe:\n    tools: {a: {mode: always_ask}}", `unknown field "mode"`},
		{"unknown key of a project", "projects:\n  web:\n    agent: {}", `[3:5] unknown field "agent"`},
		{"an agent twice", "agents:\n  swe: {}\n  swe: {}", "[3:3]"},
		{"an agent in two places", "agents: {swe: {}}\nprojects: {default: {agents: {swe: {}}}}", `agent "swe" of project "default" is given twice`},
		{"an unknown default", "agents:\n  swe:\n    approval_policy: {default: maybe}", `[3:32] default: "maybe" is unknown; allowed are ask, allow and deny`},
		{"a default that is no text", "agents:\n  swe:\n    approval_policy: {default: [ask]}", "[3:32] must be text"},
		{"an unknown mode", "agents:\n  swe:\n    tools: {a: {permission: {mode: always}}}", `[3:36] tools: a: permission.mode: "always" is unknown; allowed are always_allow, always_ask and always_deny`},
		{"no mode", "agents:\n  swe:\n    tools: {a: {permission: {}}}", `tools: a: permission.mode: "" is unknown`},
		{"a text where a list is needed", "agents:\n  swe:\n    approval_policy: {auto_deny: Bash}", "[3:34]"},
		{"a number as a pattern", "agents:\n  swe:\n    approval_policy: {auto_deny: [010]}", "[3:35] must be text; put it in quotes"},
		{"a fraction as a pattern", "agents:\n  swe:\n    approval_policy: {auto_deny: [1.5]}", "[3:35] must be text"},
		{"nothing as a pattern", "agents:\n  swe:\n    approval_policy: {auto_deny: [~]}", "auto_deny: pattern 1 is nothing"},
		{"a truth as a pattern", "agents:\n  swe:\n    approval_policy: {auto_deny: [true]}", "[3:35] must be text"},
		{"a mapping as a pattern", "agents:\n  swe:\n    approval_policy: {auto_deny: [a: b]}", "must be text"},
		{"a star without quotes", "agents:\n  swe:\n    approval_policy: {auto_deny: [*]}", "[3:"},
		{"a pattern that looks like an alias", "agents:\n  swe:\n    approval_policy: {auto_deny: [*force]}", "a pattern that begins with * needs quotes"},
		{"a rule without a tool", "agents:\n  swe:\n    approval_policy:\n      input_rules: [{field: b, deny: [x]}]", "[4:29] input_rules: tool: is missing"},
		{"a rule without a field", "agents:\n  swe:\n    approval_policy:\n      input_rules: [{tool: b, deny: [x]}]", "input_rules: field: is missing"},
		{"a rule without patterns", "agents:\n  swe:\n    approval_policy:\n      input_rules: [{tool: b, field: c}]", "input_rules: deny: is missing, and so is allow"},
		{"a rule without anything", "agents:\n  swe:\n    approval_policy:\n      input_rules: [{}]", "input_rules: tool: is missing"},
		{"a second document", "agents: {}\n---\nagents: {}", "only one YAML document is allowed"},
		{"agents as a list", "agents: [swe]", "[1:9]"},
		{"broken", "agents: {", "[1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadPolicies(write(t, c.text))
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want one line that says %s", err, c.says)
			}
			config := Default()
			if config.Load(given(map[string]string{"config": write(t, c.text)})) == nil {
				t.Error("the program would start")
			}
		})
	}
}

// TestErrorsShowNoSecrets: what is told of a broken file is seen in the dashboard.
func TestErrorsShowNoSecrets(t *testing.T) {
	_, err := ReadPolicies(write(t, "database: postgres://u:secret@h/db\nagents:\n  swe: {x: 1}\n"))
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// journal is a log that is written and read at once.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Reset()
}

// watching runs p's watch in a bubble, where its clock is the bubble's.
func watching(t *testing.T, text string, play func(p *policies, path string, log *journal)) {
	path := write(t, text)
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, err := newPolicies(path, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); p.watch(ctx, nil) }()
		play(p, path, &log)
		stop()
		<-done
	})
}

// pass lets the bubble's time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func denying(tool string) string {
	return "agents: {swe: {approval_policy: {auto_deny: [" + tool + "]}}}\n"
}

func (p *policies) denies(tool string) bool {
	return p.reading().Set.Decide("default", "swe", policy.Call{Tool: tool}).Decision == policy.Deny
}

func TestPoliciesFollowTheFile(t *testing.T) {
	watching(t, denying("Bash"), func(p *policies, path string, log *journal) {
		started := p.reading().At
		if !p.denies("Bash") || started.IsZero() || p.reading().File != path {
			t.Fatalf("%+v", p.reading())
		}
		pass(time.Minute)
		if log.String() != "" {
			t.Errorf("nothing happened, and it says %s", log)
		}

		put(t, path, denying("Write")+"# and more\n")
		pass(lookEvery)
		if !p.denies("Bash") {
			t.Error("a file that may still be being written was read")
		}
		pass(lookEvery)
		if p.denies("Bash") || !p.denies("Write") || !p.reading().At.After(started) || !strings.Contains(log.String(), "read again") {
			t.Errorf("%+v\n%s", p.reading(), log)
		}

		// A file that does not parse leaves the last good one, and it is told once.
		good := p.reading()
		log.Reset()
		put(t, path, "agents:\n  swe: {aproval_policy: {}}\n")
		pass(time.Minute)
		bad := p.reading()
		if !p.denies("Write") || !bad.At.Equal(good.At) || !strings.Contains(bad.Err, `[2:9] unknown field "aproval_policy"`) || !bad.FailedAt.After(good.At) {
			t.Errorf("%+v", bad)
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "unknown field") {
			t.Errorf("%d errors are logged: %s", n, log)
		}

		// So does one that is gone.
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if !p.denies("Write") || !strings.Contains(p.reading().Err, "no such file") {
			t.Errorf("%+v", p.reading())
		}

		put(t, path, denying("Read"))
		pass(time.Minute)
		if !p.denies("Read") || p.reading().Err != "" || !p.reading().FailedAt.IsZero() {
			t.Errorf("%+v", p.reading())
		}
	})
}

// TestPoliciesWaitForTheWriter: a file that changes at every look is read when it rests.
func TestPoliciesWaitForTheWriter(t *testing.T) {
	watching(t, denying("Bash"), func(p *policies, path string, log *journal) {
		text := "# "
		for range 5 {
			text += "x"
			put(t, path, text) // a part that parses, and denies nothing
			pass(lookEvery)
			if !p.denies("Bash") {
				t.Fatal("a part was read")
			}
		}
		put(t, path, text+"\n"+denying("Bash"))
		pass(time.Minute)
		if !p.denies("Bash") || strings.Count(log.String(), "read again") != 1 {
			t.Errorf("%s", log)
		}
	})
}

func TestOtherSettingsWaitForTheNextStart(t *testing.T) {
	watching(t, "log_level: info\n", func(p *policies, path string, log *journal) {
		for _, text := range []string{"log_level: debug\n", "log_level: info\noidc: {issuer: 'https://id.example.com', client_id: x, client_secret: s3cret}\n", "log_level: info\negress: {allow: ['10.0.0.0/8']}\n"} {
			put(t, path, text)
			pass(time.Minute)
			if !strings.Contains(log.String(), "hold from the next start on") || strings.Contains(log.String(), "s3cret") {
				t.Errorf("%s: %s", text, log)
			}
			log.Reset()
		}
	})
}

// TestHangup: the program reads its file at once when it is told to, and the tool calls of the next request meet what it says.
func TestHangup(t *testing.T) {
	path := write(t, denying("Bash"))
	s, line := start(t, map[string]string{"config": path})
	key, err := os.ReadFile(filepath.Join(s.config.Data, "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	client := api.Client{URL: strings.TrimPrefix(line[:strings.Index(line, "/setup")], "Open "), Key: strings.TrimSpace(string(key))}
	agent, err := client.CreateAgent(t.Context(), api.NewAgent{Name: "swe"})
	if err != nil {
		t.Fatal(err)
	}
	denied := func(tool string) bool {
		t.Helper()
		i, err := client.CreateInteraction(t.Context(), agent.ID, "", api.NewInteraction{ToolCall: &api.ToolCall{Name: tool}})
		if err != nil {
			t.Fatal(err)
		}
		return i.Policy != nil && i.Policy.Decision == "deny"
	}
	if !denied("Bash") || denied("Write") {
		t.Error("the policy of the start is not in force")
	}
	put(t, path, denying("Write"))
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		got, err := client.Policies(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Data) == 1 && got.Data[0].ApprovalPolicy.AutoDeny[0] == "Write" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("not read: %+v", got)
		}
	}
	if denied("Bash") || !denied("Write") {
		t.Error("the policy of the hangup is not in force")
	}
}

func TestNoFile(t *testing.T) {
	p, err := newPolicies("", slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	p.look()
	p.reload(look{})
	if diff := cmp.Diff(policy.Reading{}, p.reading()); diff != "" {
		t.Error(diff)
	}
	if _, err := newPolicies(filepath.Join(t.TempDir(), "none"), slog.New(slog.DiscardHandler), time.Now); err == nil {
		t.Error("a file that is not there was read")
	}
}

// FuzzFile: whatever the file holds, it is refused in one line or gives policies that hold together.
func FuzzFile(f *testing.F) {
	for _, text := range []string{example, "", "agents: {", "agents: {a: {tools: {x: {permission: {mode: always_ask}}}}}", "agents: &x {a: *x}", "a: &a [*a]", "agents: {a: {approval_policy: {input_rules: [{tool: a, field: b, deny: [~]}]}}}", denying("'*'")} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var file fileConfig
		if err := file.parse([]byte(text)); err != nil {
			if said := oneLine(err); said == "" || strings.Contains(said, "\n") {
				t.Errorf("%q", said)
			}
			return
		}
		set, err := file.policies()
		if err != nil {
			t.Fatal(err)
		}
		for project, agents := range set {
			for agent, a := range agents {
				if e := set.Decide(project, agent, policy.Call{Tool: "Bash", Input: []byte(`{"command":"ls"}`)}); !e.Decision.Known() {
					t.Errorf("%+v decides %+v", a.Policy, e)
				}
			}
		}
	})
}
