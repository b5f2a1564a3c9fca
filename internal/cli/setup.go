package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// longWait is how long a client waits for an answer, in the unit of each. People take their time, and a client that gives up early looks to its
// model like a broken tool.
const (
	longWaitSecs   = 86400
	longWaitMillis = longWaitSecs * 1000
)

// clientSetup is how an agent's program is told of us.
type clientSetup struct {
	name, file string                        // of its configuration; from the home folder if it begins with ~
	at         []string                      // the members under which its servers stand
	entry      func(command []string) any    // what stands there
	toml       func(command []string) string // instead of these, for one that is configured in TOML
	then       string                        // what else to do
}

var clientSetups = []clientSetup{
	{
		name: "claude", file: ".mcp.json", at: []string{"mcpServers", "sayso"},
		entry: func(command []string) any {
			return mcpServer{Type: "stdio", Command: command[0], Args: command[1:], Timeout: longWaitMillis, AlwaysLoad: true}
		},
		then: "Under claude -p, add: --permission-prompt-tool mcp__sayso__request_approval\nOr let `sayso run -- claude -p \"…\"` do all of it.",
	},
	{
		name: "codex", file: "~/.codex/config.toml",
		toml: func(command []string) string {
			return fmt.Sprintf("[mcp_servers.sayso]\ncommand = %s\nargs = %s\ntool_timeout_sec = %d\n", tomlText(command[0]), tomlList(command[1:]), longWaitSecs)
		},
	},
	{
		name: "gemini", file: "~/.gemini/settings.json", at: []string{"mcpServers", "sayso"},
		entry: func(command []string) any {
			return struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
				Timeout int      `json:"timeout"`
				Trust   bool     `json:"trust"`
			}{command[0], command[1:], longWaitMillis, true}
		},
	},
	{
		name: "opencode", file: "~/.config/opencode/opencode.json", at: []string{"mcp", "sayso"},
		entry: func(command []string) any {
			return struct {
				Type    string   `json:"type"`
				Command []string `json:"command"`
				Enabled bool     `json:"enabled"`
				Timeout int      `json:"timeout"`
			}{"local", command, true, longWaitMillis}
		},
	},
}

// instructions tell an agent without a permission hook to use the tools. They belong into its AGENTS.md or the like.
const instructions = `## Asking people

- When a decision is not yours (requirements that could mean several things, a choice with consequences), ask with the tool ask. Ask everything
  in one call.
- Before anything that is hard to undo, costs money, reaches other people or touches production, call request_approval with the exact tool name
  and its whole input. Go on only if behavior is allow, and then with updatedInput.
- If a tool returns status pending, call await_answer with its interaction_id until there is an answer.
- No answer is not a yes.
`

func (p *program) setup() *cobra.Command {
	var write bool
	var agent string
	var names []string
	for _, c := range clientSetups {
		names = append(names, c.name)
	}
	cmd := &cobra.Command{
		Use:   "setup " + strings.Join(names, "|"),
		Short: "Print how an agent's program is told to use Sayso, or write it",
		Long: `Print how an agent's program is told to use Sayso's tools, with timeouts in its own unit that are long enough for people; --write puts it into
the program's configuration, beside what is there.

Exit codes: 0, 1 the configuration could not be read or written, 2 bad input, or a configuration that cannot be merged with.`,
		Example:   "  sayso setup claude --write",
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return badInput("for example sayso setup claude", "setup takes one of %s", strings.Join(names, ", "))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.noJSON(cmd, "it prints a configuration"); err != nil {
				return err
			}
			for _, c := range clientSetups {
				if c.name == args[0] {
					return p.setUp(c, agent, write)
				}
			}
			return badInput("", "%q is unknown; allowed are %s", args[0], strings.Join(names, ", "))
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "write it into the program's configuration")
	cmd.Flags().StringVar(&agent, "agent-id", "", "which agent asks, whatever a call says")
	return cmd
}

func (p *program) setUp(c clientSetup, agent string, write bool) error {
	path, err := home(c.file)
	if err != nil {
		return err
	}
	command, err := p.serving(agent)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return badInput("", "%s", err)
	}
	if !write {
		before = nil // only ours is shown
	}
	after, err := c.merged(path, before, command)
	if err != nil {
		return err
	}
	if !write {
		return p.result(c.file + ":\n\n" + string(after) + hint(c.then) + "\nFor its instructions (AGENTS.md, CLAUDE.md, GEMINI.md):\n\n" + strings.TrimSuffix(instructions, "\n"))
	}
	if err := replaceFile(path, after); err != nil {
		return badInput("", "%s", err)
	}
	return p.result("wrote " + path + strings.TrimSuffix(hint(c.then), "\n"))
}

func hint(then string) string {
	if then == "" {
		return ""
	}
	return "\n" + then + "\n"
}

// serving is the command that serves the tools. A client may not pass the environment on, so the folder is in it.
func (p *program) serving(agent string) ([]string, error) {
	itself, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := []string{itself, "mcp", "serve"}
	if p.data != "" || os.Getenv("SAYSO_DATA") != "" {
		folder, err := p.folder()
		if err == nil {
			folder, err = filepath.Abs(folder)
		}
		if err != nil {
			return nil, err
		}
		command = append(command, "--data", folder)
	}
	if agent != "" {
		command = append(command, "--agent-id", agent)
	}
	return command, nil
}

func home(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path, nil
	}
	folder, err := os.UserHomeDir()
	if err != nil {
		return "", badInput("", "%s needs a home folder, and there is none", path)
	}
	return filepath.Join(folder, rest), nil
}

// merged is a configuration with ours in it. All else stays as it is.
func (c clientSetup) merged(path string, before []byte, command []string) ([]byte, error) {
	if c.toml != nil {
		return c.appended(path, before, c.toml(command))
	}
	entry, err := encodeLine(c.entry(command))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}")
	}
	merged, err := withMember(before, c.at, entry)
	if err != nil {
		return nil, badInput("run `sayso setup "+c.name+"` and put it there yourself", "%s: is not plain JSON, so it is left alone (%s)", path, err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, merged, "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// appended is a TOML file with our table at its end.
func (c clientSetup) appended(path string, before []byte, table string) ([]byte, error) {
	header, _, _ := strings.Cut(table, "\n")
	switch {
	case len(before) == 0:
		return []byte(table), nil
	case bytes.Contains(before, []byte(table)):
		return before, nil
	case bytes.Contains(before, []byte(header)):
		return nil, badInput("run `sayso setup "+c.name+"` and change it yourself", "%s: has %s already, and another one", path, header)
	}
	return append(append(bytes.TrimRight(before, "\n"), "\n\n"...), table...), nil
}

// withMember is a JSON object with a member at a path of names; what else is in it stays, in its order.
func withMember(object []byte, at []string, value []byte) ([]byte, error) {
	if len(at) == 0 {
		return value, nil
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(err, errors.New("an object is needed"))
	}
	out, found := []byte{'{'}, false
	for dec.More() {
		name, err := dec.Token()
		var member json.RawMessage
		if err == nil {
			err = dec.Decode(&member)
		}
		if err == nil && name == at[0] {
			found = true
			member, err = withMember(member, at[1:], value)
		}
		if err != nil {
			return nil, err
		}
		out = appendMember(out, name.(string), member)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err == nil {
		return nil, errors.New("something follows the object")
	}
	if !found {
		member, err := withMember([]byte("{}"), at[1:], value)
		if err != nil {
			return nil, err
		}
		out = appendMember(out, at[0], member)
	}
	return append(out, '}'), nil
}

func appendMember(object []byte, name string, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	quoted, _ := encodeLine(name)
	return append(append(append(object, quoted...), ':'), value...)
}

// replaceFile writes a file whole or not at all, and leaves who may read it.
func replaceFile(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".sayso-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func tomlText(s string) string {
	quoted, _ := encodeLine(s) // a JSON string is a basic string of TOML
	return string(quoted)
}

func tomlList(items []string) string {
	quoted := make([]string, len(items))
	for n, item := range items {
		quoted[n] = tomlText(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
