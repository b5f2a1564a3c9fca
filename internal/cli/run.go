package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/agents"
	"sayso/internal/api"
)

// runningIn is the variable by which a hook knows that `sayso run` tells the conversation what is said and done.
const runningIn = "SAYSO_RUN"

// runEndMost is how long the end of a run waits until all of it is told.
const runEndMost = 20 * time.Second

// run is one run of Claude Code.
type run struct {
	*program
	agent, workflow, mode string
}

func (p *program) runClient() *cobra.Command {
	r := &run{program: p}
	cmd := &cobra.Command{
		Use: "run [--agent NAME] [flags] -- claude -p PROMPT",

		DisableFlagsInUseLine: true,
		Short:                 "Run Claude Code with its permission prompts answered here",
		Long: `Run Claude Code so that its permission prompts are answered in Sayso, and what it says and does is seen in its conversation.

Added to its flags are --mcp-config with Sayso's tools, --permission-prompt-tool, --output-format stream-json, --verbose, and --permission-mode if
one is given here or the server's configuration names one for the agent. A flag that the command has already is left as it is. Output, exit code
and signals are passed through.

Exit codes: that of the command; or before it starts: 2 bad input, 3 there is no such program, 5 no server.`,
		Example: `  sayso run --agent swe -- claude -p "Update the dependencies"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return badInput(`for example sayso run --agent swe -- claude -p "…"`, "run takes the command to run, after --")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.noJSON(cmd, "what the command prints is passed through; with Claude Code it is JSON anyway"); err != nil {
				return err
			}
			return r.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&r.agent, "agent", "", "which agent it is (env SAYSO_AGENT, SAYSO_MCP_AGENT_ID; default the name of this folder)")
	f.StringVar(&r.workflow, "workflow", "", "workflow that it works on (env SAYSO_MCP_WORKFLOW_ID, ANIMUS_MCP_WORKFLOW_ID)")
	f.StringVar(&r.mode, "permission-mode", "", "Claude Code's permission mode, for example acceptEdits (default the permission_mode of the agent in the server's configuration)")
	return cmd
}

func (r *run) run(ctx context.Context, args []string) error {
	client, err := r.client(agentKey)
	if err != nil {
		return err
	}
	agent, err := r.enter(ctx, client)
	if api.Unreachable(err) {
		return noServer("no server answers at " + client.URL)
	}
	if err != nil {
		return err
	}
	if r.mode == "" {
		r.mode = agent.PermissionMode
	}
	config, err := r.writeConfig(agent.Key)
	if err != nil {
		return err
	}
	defer os.Remove(config)
	telling, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	o := &outage{program: r.program, client: client, giveUp: func(error) {}}
	teller := &agents.Run{Client: client, Agent: agent.ID, Tried: o.tried}
	teller.Start(telling)
	teller.Prompt(promptOf(args))
	r.notice("the conversation is at %s", client.Link("/projects/default/agents/"+agent.ID))
	err = r.command(r.arguments(args, config), agent.Key, teller)
	if left := teller.End(r.atMost(runEndMost)); left > 0 {
		r.notice("warning: the server is away; the last %d lines of output are not in the conversation", left)
	}
	return err
}

// enter is the agent, with the key to call it by.
func (r *run) enter(ctx context.Context, client *api.Client) (api.Agent, error) {
	h := agents.Hooks{Client: client, Agent: pinned(r.agent, "SAYSO_AGENT", "SAYSO_MCP_AGENT_ID")}
	agent, err := h.Enter(ctx, projectFolder())
	if err == nil && agent.Key == "" { // of a key that is bound to it, which decides anyway
		agent, err = client.Agent(ctx, agent.ID)
	}
	return agent, err
}

// mcpConfig has Claude Code start our tools for this agent alone.
type mcpConfig struct {
	Servers map[string]mcpServer `json:"mcpServers"`
}

type mcpServer struct {
	Type       string   `json:"type"`
	Command    string   `json:"command"`
	Args       []string `json:"args"`
	Timeout    int      `json:"timeout"` // milliseconds
	AlwaysLoad bool     `json:"alwaysLoad"`
}

// mcpTimeout is a day: a person may be asleep.
const mcpTimeout = 24 * time.Hour

func (r *run) writeConfig(key string) (path string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	args := []string{"mcp", "serve", "--agent-id", key}
	if workflow := r.workflowID(); workflow != "" {
		args = append(args, "--workflow-id", workflow)
	}
	if os.Getenv("SAYSO_URL") == "" {
		folder, err := r.folder()
		if err != nil {
			return "", err
		}
		if folder, err = filepath.Abs(folder); err != nil {
			return "", err
		}
		args = append(args, "--data", folder)
	}
	text, err := json.Marshal(mcpConfig{map[string]mcpServer{"sayso": {"stdio", self, args, int(mcpTimeout.Milliseconds()), true}}})
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "sayso-mcp-*.json")
	if err != nil {
		return "", err
	}
	_, err = file.Write(text)
	return file.Name(), errors.Join(err, file.Close())
}

func (r *run) workflowID() string {
	return pinned(r.workflow, "SAYSO_MCP_WORKFLOW_ID", "ANIMUS_MCP_WORKFLOW_ID")
}

// arguments adds our flags before the command's own ones.
func (r *run) arguments(args []string, config string) []string {
	ours := []string{}
	add := func(flag ...string) {
		if !hasFlag(args, flag[0]) {
			ours = append(ours, flag...)
		}
	}
	add("--mcp-config", config)
	add("--permission-prompt-tool", "mcp__sayso__request_approval")
	if r.mode != "" {
		add("--permission-mode", r.mode)
	}
	add("--output-format", "stream-json")
	add("--verbose") // last: --mcp-config would take what follows it for another file
	at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if at < 0 {
		at = len(args)
	}
	return slices.Insert(slices.Clone(args), at, ours...)
}

func hasFlag(args []string, flag string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") })
}

// promptOf is what the command is told to do, if that is among its arguments.
func promptOf(args []string) string {
	at := slices.IndexFunc(args, func(arg string) bool { return arg == "-p" || arg == "--print" })
	if at < 0 || at+1 >= len(args) || strings.HasPrefix(args[at+1], "-") {
		return ""
	}
	return args[at+1]
}

// command runs the command to its end. Its exit code is ours.
func (r *run) command(args []string, key string, teller io.Writer) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), runningIn+"=1", "SAYSO_AGENT="+key, "SAYSO_MCP_AGENT_ID="+key)
	if workflow := r.workflowID(); workflow != "" {
		cmd.Env = append(cmd.Env, "SAYSO_MCP_WORKFLOW_ID="+workflow)
	}
	cmd.Stdin, cmd.Stderr, cmd.Stdout = r.stdin, r.stderr, io.MultiWriter(r.stdout, teller)
	signals := make(chan os.Signal, 10)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return fail(exitNotFound, "", "%s", err)
	}
	over := make(chan struct{})
	defer close(over)
	go r.passOn(signals, cmd.Process, over)
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &exit):
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return ended(128 + int(status.Signal()))
	}
	return ended(exit.ExitCode())
}

// passOn sends the signals that we get to the command. What is typed at a terminal reaches both by itself.
func (r *run) passOn(signals <-chan os.Signal, to *os.Process, over <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			if s != os.Interrupt || !isTerminal(r.stderr) {
				_ = to.Signal(s)
			}
		case <-over:
			return
		}
	}
}
