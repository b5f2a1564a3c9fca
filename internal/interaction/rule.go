package interaction

import (
	"encoding/json"
	"regexp"
	"strings"
)

// SessionRule is what an agent shall not ask about again until its session ends: every call of a tool, or one exact command of the shell.
// It is made here and never by the agent: what a person grants must be what the person read.
type SessionRule struct {
	Tool    string
	Command string // exactly this; "" is every call
}

// shellTool is the tool whose rules name a command.
const shellTool = "Bash"

// namedTool are the names of tools that a rule can only read as that tool. A name with parentheses or a star would be a rule of its own.
var namedTool = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// SessionRule is the rule that an approval of c may come with. InvalidRequest says why there is none: one that the agent's client would
// read as more, or as something else, than what a person sees.
func (c ToolCall) SessionRule() (SessionRule, error) {
	server, isMCP := strings.CutPrefix(c.Name, "mcp__")
	switch {
	case !namedTool.MatchString(c.Name):
		return SessionRule{}, noRule("the name of the tool has characters that a rule would read differently")
	case isMCP && !strings.Contains(strings.Trim(server, "_"), "__"):
		return SessionRule{}, noRule("the name is that of a whole MCP server, and a rule would cover all of its tools")
	case c.Name != shellTool:
		return SessionRule{Tool: c.Name}, nil
	}
	command, ok := c.command()
	if !ok {
		return SessionRule{}, noRule("the input has no single text called command, and a rule would cover every command")
	}
	return SessionRule{Tool: c.Name, Command: command}, checkCommand(command)
}

// command is the string of that name in c's input, if there is exactly one.
func (c ToolCall) command() (command string, ok bool) {
	items, err := inputContext(c.Input)
	if err != nil {
		return "", false
	}
	found := 0
	for _, item := range items {
		if item.Label == contextLabels["command"] {
			found++
		}
	}
	var members map[string]json.RawMessage
	if found != 1 || json.Unmarshal(c.Input, &members) != nil || len(members["command"]) == 0 || members["command"][0] != '"' {
		return "", false
	}
	return command, json.Unmarshal(members["command"], &command) == nil
}

// checkCommand says why a rule would not be for exactly this command.
func checkCommand(command string) error {
	hidden := func(r rune) bool { return !Visible(r) }
	switch {
	case strings.TrimSpace(command) == "":
		return noRule("the command is empty")
	case strings.ContainsAny(command, "\n\r"):
		return noRule("the command has several lines, and a rule has one")
	case strings.ContainsFunc(command, hidden):
		return noRule("the command has characters that cannot be seen")
	case command != strings.TrimSpace(command):
		return noRule("the command begins or ends with blanks, which a rule leaves out")
	case strings.Contains(command, "*"):
		return noRule("the command has a *, which a rule reads as anything")
	case strings.ContainsAny(command, `()\`):
		return noRule("the command has parentheses or a backslash, which a rule would read differently")
	}
	return nil
}

func noRule(why string) error {
	return Errorf(InvalidRequest, "Not asking again in this session is not possible here: %s.", why)
}

// SessionRule is the rule that allowing i may come with.
func (i Interaction) SessionRule() (SessionRule, error) {
	if i.Kind != PermissionKind || i.ToolCall == nil {
		return SessionRule{}, noRule("this is no permission")
	}
	return i.ToolCall.SessionRule()
}

// Redirects says that the command may read or write files by redirection, which Claude Code judges apart, as an access to the file.
func (r SessionRule) Redirects() bool { return strings.ContainsAny(r.Command, "<>") }

// Chains says that the command may be made of several, each of which Claude Code may judge by itself.
func (r SessionRule) Chains() bool { return strings.ContainsAny(r.Command, ";&|`") }

// Updates is the rule as the permission updates of an answer.
func (r SessionRule) Updates() json.RawMessage {
	b := appendString([]byte(`[{"type":"addRules","rules":[{"toolName":`), r.Tool)
	if r.Command != "" {
		b = appendString(append(b, `,"ruleContent":`...), r.Command)
	}
	return append(b, `}],"behavior":"allow","destination":"session"}]`...)
}

// PermissionUpdate is a change of what an agent may do without asking, as far as it can be told in words.
type PermissionUpdate struct {
	Raw         json.RawMessage
	Type        string
	Behavior    string
	Mode        string
	Rules       []PermissionRule
	Directories []string
	Whole       bool // all that Raw says is in the fields
}

// PermissionRule names a tool, and what of it.
type PermissionRule struct {
	Tool    string
	Content string
	Every   bool // no content: every call
}

// Remembered are the suggestions that *remember* would grant, in their order.
func (i Interaction) Remembered() (updates []PermissionUpdate) {
	var all []json.RawMessage
	if kept := remembered(i.Suggestions); kept == nil || json.Unmarshal(kept, &all) != nil {
		return nil
	}
	for _, raw := range all {
		updates = append(updates, readUpdate(raw))
	}
	return updates
}

func readUpdate(raw json.RawMessage) PermissionUpdate {
	u := PermissionUpdate{Raw: raw}
	var m members
	if json.Unmarshal(raw, &m) != nil {
		return u
	}
	var rules []members
	ok := pluck(m, "type", &u.Type) && pluck(m, "behavior", &u.Behavior) && pluck(m, "mode", &u.Mode) && pluck(m, "directories", &u.Directories) && pluck(m, "rules", &rules)
	delete(m, "destination")
	for _, rule := range rules {
		r := PermissionRule{Every: rule["ruleContent"] == nil}
		ok = ok && pluck(rule, "toolName", &r.Tool) && pluck(rule, "ruleContent", &r.Content) && len(rule) == 0
		u.Rules = append(u.Rules, r)
	}
	u.Whole = ok && len(m) == 0 && u.told()
	return u
}

// told says that the type goes with just the fields that are there.
func (u PermissionUpdate) told() bool {
	switch u.Type {
	case "addRules", "replaceRules", "removeRules":
		return len(u.Rules) > 0 && u.Behavior != "" && u.Mode == "" && u.Directories == nil
	case "addDirectories", "removeDirectories":
		return len(u.Directories) > 0 && u.Behavior == "" && u.Mode == "" && u.Rules == nil
	case "setMode":
		return u.Mode != "" && u.Behavior == "" && u.Rules == nil && u.Directories == nil
	}
	return false
}

// pluck moves a member out of m. One that is not there is no mistake.
func pluck(m members, name string, into any) bool {
	raw, ok := m[name]
	delete(m, name)
	return !ok || json.Unmarshal(raw, into) == nil && string(raw) != "null"
}
