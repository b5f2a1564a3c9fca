package policy_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sayso/internal/policy"
)

// TestCases holds the package against the worked cases of the contract.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("testdata/policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Policy *struct {
				AutoAllow []string        `json:"auto_allow"`
				AutoDeny  []string        `json:"auto_deny"`
				Default   policy.Decision `json:"default"`
			} `json:"policy"`
			ToolName string          `json:"tool_name"`
			Action   string          `json:"action"`
			Input    json.RawMessage `json:"input"`
			Want     policy.Decision `json:"want"`
			Why      string          `json:"why"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 24 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for n, c := range file.Cases {
		var p *policy.Policy
		if c.Policy != nil {
			p = &policy.Policy{AutoAllow: c.Policy.AutoAllow, AutoDeny: c.Policy.AutoDeny, Default: c.Policy.Default}
		}
		if got := p.Decide(policy.Call{Tool: c.ToolName, Action: c.Action, Input: c.Input}); got.Decision != c.Want {
			t.Errorf("case %d (%.40q %q): got %+v, want %s: %s", n, c.ToolName, c.Action, got, c.Want, c.Why)
		}
	}
}

var rules = &policy.Policy{
	AutoAllow: []string{"Read", "git.*", "Odd*"},
	AutoDeny:  []string{"git.push*", "Oddest"},
	Default:   policy.Ask,
	InputRules: []policy.InputRule{
		{Tool: "Bash", Field: "command", Deny: []string{"rm -rf /*", "* | sh"}},
		{Tool: "Bash", Field: "command", Allow: []string{"cargo test *", "make"}},
		{Tool: "Write", Field: "path", Deny: []string{"/etc/*"}, Allow: []string{"/tmp/*"}},
		{Tool: "mcp__*", Field: "force", Deny: []string{"true", "1"}},
	},
	Tools: map[string]policy.Mode{"Oddly": policy.AlwaysAsk, "git.gc": policy.AlwaysDeny, "Glob": policy.AlwaysAllow, "a*": policy.AlwaysAllow},
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name, tool, action, input string
		want                      policy.Explanation
	}{
		{"allow list", "Read", "", ``, policy.Explanation{"allow", "auto_allow", "Read"}},
		{"deny beats allow", "git.push.force", "", ``, policy.Explanation{"deny", "auto_deny", "git.push*"}},
		{"default", "Other", "", ``, policy.Explanation{"ask", "default", ""}},
		{"the action of a call without a tool", " \t", "git.log", ``, policy.Explanation{"allow", "auto_allow", "git.*"}},
		{"mode: deny beats allow list", "git.gc", "", ``, policy.Explanation{"deny", "auto_deny", "git.gc"}},
		{"mode: ask beats allow list", "Oddly", "", ``, policy.Explanation{"ask", "default", "Oddly"}},
		{"mode: allow", "Glob", "", ``, policy.Explanation{"allow", "auto_allow", "Glob"}},
		{"mode: names are exact", "ab", "", ``, policy.Explanation{"ask", "default", ""}},
		{"mode: a star is a star", "a*", "", ``, policy.Explanation{"allow", "auto_allow", "a*"}},

		{"input: deny", "Bash", "", `{"command":"rm -rf /home"}`, policy.Explanation{"deny", "input_rule", "rm -rf /*"}},
		{"input: deny sees past operators", "Bash", "", `{"command":"curl x | sh"}`, policy.Explanation{"deny", "input_rule", "* | sh"}},
		{"input: allow", "Bash", "", `{"command":"cargo test -p x"}`, policy.Explanation{"allow", "input_rule", "cargo test *"}},
		{"input: other field", "Bash", "", `{"cmd":"cargo test -p x"}`, policy.Explanation{"ask", "default", ""}},
		{"input: field of another case", "Bash", "", `{"Command":"cargo test -p x"}`, policy.Explanation{"ask", "default", ""}},
		{"input: other tool", "Shell", "", `{"command":"cargo test -p x"}`, policy.Explanation{"ask", "default", ""}},
		{"input: nested", "Bash", "", `{"a":{"command":"make"}}`, policy.Explanation{"ask", "default", ""}},
		{"input: no text is not allowed", "Bash", "", `{"command":["make"]}`, policy.Explanation{"ask", "default", ""}},
		{"input: null is not allowed", "Bash", "", `{"command":null}`, policy.Explanation{"ask", "default", ""}},
		{"input: twice is not allowed", "Bash", "", `{"command":"make","command":"make"}`, policy.Explanation{"ask", "default", ""}},
		{"input: twice is denied if one is", "Bash", "", `{"command":"make","command":"rm -rf /"}`, policy.Explanation{"deny", "input_rule", "rm -rf /*"}},
		{"input: a list of words is denied", "Bash", "", `{"command":["rm","-rf","/"]}`, policy.Explanation{"deny", "input_rule", "rm -rf /*"}},
		{"input: a word of a list is denied", "Bash", "", `{"command":["bash","-c","rm -rf /"]}`, policy.Explanation{"deny", "input_rule", "rm -rf /*"}},
		{"input: deep text is denied", "Bash", "", `{"command":{"run":["rm -rf /"]}}`, policy.Explanation{"deny", "input_rule", "rm -rf /*"}},
		{"input: both in one rule, deny", "Write", "", `{"path":"/etc/passwd"}`, policy.Explanation{"deny", "input_rule", "/etc/*"}},
		{"input: both in one rule, allow", "Write", "", `{"path":"/tmp/x"}`, policy.Explanation{"allow", "input_rule", "/tmp/*"}},
		{"input: a truth", "mcp__git__push", "", `{"force":true}`, policy.Explanation{"deny", "input_rule", "true"}},
		{"input: a number", "mcp__git__push", "", `{"force":1}`, policy.Explanation{"deny", "input_rule", "1"}},
		{"input: escapes are read", "Bash", "", `{"\u0063ommand":"rm\u0020-rf /"}`, policy.Explanation{"deny", "input_rule", "rm -rf /*"}},
		{"input: none", "Bash", "", ``, policy.Explanation{"ask", "default", ""}},
		{"input: no object", "Bash", "", `["command","make"]`, policy.Explanation{"ask", "default", ""}},
		{"input: broken", "Bash", "", `{"command":"make"`, policy.Explanation{"ask", "default", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := rules.Decide(policy.Call{Tool: test.tool, Action: test.action, Input: json.RawMessage(test.input)})
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestShellOperators: an allow pattern never covers a second command.
func TestShellOperators(t *testing.T) {
	for _, rest := range []string{
		"; rm x", "& rm x", "&& rm x", "| sh", "|| rm x", "< in", "> out", ">> out", "$(rm x)", "$( rm x", "`rm x`", "\nrm x", "\r\nrm x", "\rrm x", "x) rm x",
	} {
		input, err := json.Marshal(map[string]string{"command": "cargo test " + rest})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Decide(policy.Call{Tool: "Bash", Input: input}); got.Decision == policy.Allow {
			t.Errorf("%q: %+v", rest, got)
		}
	}
	for _, rest := range []string{"-p x", "'a b'", `"$HOME"`, `a\ b`, "--a=b,c # d", "{x}", "[y]", "?", "*", "(", "$x", "~", "!"} {
		input, err := json.Marshal(map[string]string{"command": "cargo test " + rest})
		if err != nil {
			t.Fatal(err)
		}
		if got := rules.Decide(policy.Call{Tool: "Bash", Input: input}); got.Decision != policy.Allow {
			t.Errorf("%q: %+v", rest, got)
		}
	}
}

func TestDefaults(t *testing.T) {
	for want, p := range map[policy.Explanation]*policy.Policy{
		{"ask", "no_policy", ""}: nil,
		{"ask", "default", ""}:   {},
		{"allow", "default", ""}: {Default: policy.Allow},
		{"deny", "default", ""}:  {Default: policy.Deny},
	} {
		if got := p.Decide(policy.Call{Tool: "Read"}); got != want {
			t.Errorf("%+v: got %+v, want %+v", p, got, want)
		}
	}
	for _, question := range []string{"ask_question", "AskUserQuestion"} {
		for _, p := range []*policy.Policy{{Default: policy.Allow}, {AutoDeny: []string{"*"}}} {
			if got := p.Decide(policy.Call{Tool: question}); got.Decision != policy.Ask {
				t.Errorf("%s met the policy: %+v", question, got)
			}
		}
	}
	strict := &policy.Policy{Default: policy.Deny, Tools: map[string]policy.Mode{"Read": policy.AlwaysAsk}}
	if got := strict.Decide(policy.Call{Tool: "Read"}); got.Decision != policy.Ask {
		t.Errorf("a tool to be asked about fell to the default: %+v", got)
	}
}

func TestMessage(t *testing.T) {
	for e, want := range map[policy.Explanation]string{
		{"deny", "auto_deny", "git.push*"}:  `Denied by the approval policy of agent swe: auto_deny "git.push*"; nobody was asked.`,
		{"deny", "default", ""}:             `Denied by the approval policy of agent swe: its default; nobody was asked.`,
		{"allow", "input_rule", "cargo *"}:  `Allowed by the approval policy of agent swe: an input rule "cargo *"; nobody was asked.`,
		{"ask", "default", "Bash"}:          `A person is asked by the approval policy of agent swe: the mode of tool "Bash".`,
		{"ask", "no_policy", ""}:            `A person is asked: no approval policy of agent swe applies.`,
		{"allow", "auto_allow", "a\u202e*"}: `Allowed by the approval policy of agent swe: auto_allow "a\u202e*"; nobody was asked.`,
	} {
		if got := e.Message("swe"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestStricter(t *testing.T) {
	order := []policy.Mode{"", policy.AlwaysAllow, policy.AlwaysAsk, policy.AlwaysDeny}
	for i, a := range order {
		for j, b := range order {
			if got := policy.Stricter(a, b); got != order[max(i, j)] {
				t.Errorf("Stricter(%q, %q) = %q", a, b, got)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for want, r := range map[string]policy.InputRule{
		"tool: ":  {Field: "a", Deny: []string{"b"}},
		"field: ": {Tool: "a", Deny: []string{"b"}},
		"deny: ":  {Tool: "a", Field: "b"},
	} {
		if err := r.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, r := range rules.InputRules {
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
	if policy.Decision("").Known() || policy.Mode("ask").Known() || !policy.Ask.Known() || !policy.AlwaysAsk.Known() {
		t.Error("what is known and what is not")
	}
}
