package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/agents"
	"sayso/internal/api"
)

// hook is one call of a client's hook.
type hook struct {
	*program
	format, agent, onFailure string
	timeout                  seconds
}

const (
	// hookPatience is how long a hook that gates tries a server that cannot be reached: long enough for a restart.
	hookPatience = 5 * time.Second
	// hookMost is what a client may send to a hook, in bytes. Results of tools come whole.
	hookMost = 64 << 20
)

func (p *program) hook() *cobra.Command {
	h := &hook{program: p}
	cmd := &cobra.Command{
		Use:   "hook claude|codex|gemini|generic",
		Short: "Answer a hook of Claude Code, Codex or Gemini CLI by asking a person",
		Long: `Answer a hook of a coding agent. The call of the hook comes as JSON on standard input, the answer goes to standard output.

PermissionRequest, PreToolUse and Gemini's BeforeTool ask a person, and wait. PostToolUse, UserPromptSubmit, Stop and Notification tell the
conversation what was said and done; PostToolUse and Stop also close the card of a call that was answered in the terminal.

A person who cannot be asked, or does not answer, allows nothing: the hook denies, and says which it was. With --on-failure continue it has no
opinion then, and the client goes on as if there were no hook.

Exit codes: 0 answered, 2 what came is not a hook's call, or with the generic format: denied.`,
		Example: `  sayso hook claude
  sayso hook codex --agent reviewer --timeout-secs 3600`,
		Args: oneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.noJSON(cmd, "it answers in JSON anyway, in the form of its client"); err != nil {
				return err
			}
			return h.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&h.format, "format", "", "form of calls and answers, if it is not the client's: claude, codex, gemini or generic")
	f.StringVar(&h.agent, "agent", "", "which agent asks (env SAYSO_AGENT, SAYSO_MCP_AGENT_ID; default the name of the project's folder)")
	f.StringVar(&h.onFailure, "on-failure", "deny", "what to say when nobody could be asked or nobody answered: deny or continue")
	f.Var(&h.timeout, "timeout-secs", "when nobody answered, deny after this many seconds, 1 to 3600 (default 600)")
	_ = cmd.RegisterFlagCompletionFunc("on-failure", cobra.FixedCompletions([]string{"deny", "continue"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func oneFormat(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return knownFormat("", args[0])
	}
	return badInput("for example `sayso hook claude`", "hook takes the name of a client, got %d arguments", len(args))
}

func knownFormat(flag, name string) error {
	if slices.Contains(agents.Formats, agents.Format(name)) {
		return nil
	}
	return badInput("", "%s%q is unknown; allowed are claude, codex, gemini and generic", flag, name)
}

// run answers one call. A gate answers whatever happens: a client takes a hook that fails for one that has no opinion.
func (h *hook) run(ctx context.Context, client string) error {
	if h.format == "" {
		h.format = client
	}
	format := agents.Format(h.format)
	if err := errors.Join(knownFormat("--format: ", h.format), h.checkFailure()); err != nil {
		return err
	}
	text, err := h.readStdin("hook", hookMost)
	if err != nil {
		return err
	}
	call, err := agents.ReadHook(format, []byte(text))
	if err != nil && h.advises() {
		h.notice("warning: %s", err)
		return h.reply([]byte("{}"))
	}
	if err != nil {
		return badInput("run `sayso hook` from the hooks of a client; see docs/agents", "%s", err)
	}
	v, err := h.answer(ctx, format, call)
	if err != nil {
		h.notice("warning: %s: %s", call.Event, failureOf(err).what)
	}
	if err := h.reply(v.Reply(format, call)); err != nil {
		return err
	}
	if format == agents.GenericFormat && v.Decision == "deny" {
		h.notice("denied: %s", v.Message)
		return ended(exitInput) // which clients take for a denial, and the reason from standard error
	}
	return nil
}

func (h *hook) checkFailure() error {
	if h.onFailure == "deny" || h.advises() {
		return nil
	}
	return badInput("", "--on-failure: %q is unknown; allowed are deny and continue", h.onFailure)
}

func (h *hook) advises() bool { return h.onFailure == "continue" }

// reply writes the answer as it is: it is for a program.
func (h *hook) reply(text []byte) error {
	_, err := fmt.Fprintf(h.stdout, "%s\n", text)
	return err
}

func (h *hook) answer(ctx context.Context, format agents.Format, call agents.Hook) (agents.Verdict, error) {
	client, err := h.find(ctx, call.Gates())
	if err != nil {
		return agents.Unasked(err).Unless(h.advises()), err
	}
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	o := &outage{program: h.program, client: client, giveUp: giveUp}
	if call.CWD == "" {
		call.CWD = projectFolder()
	}
	return agents.Hooks{
		Client: client, Format: format, Notes: h.notes(), Advise: h.advises(), Told: os.Getenv(runningIn) != "", Tried: o.tried, Patience: h.atMost(hookPatience),
		Agent:   pinned(h.agent, "SAYSO_AGENT", "SAYSO_MCP_AGENT_ID"),
		Timeout: time.Duration(h.timeout) * time.Second,
		Opened: func(i api.Interaction) {
			h.notice("answer at %s", client.Link("/projects/default/interactions/"+i.ID))
		},
	}.Answer(waiting, call)
}

// find finds the server. What gates tries for a while, what only tells does not.
func (h *hook) find(ctx context.Context, gates bool) (*api.Client, error) {
	patience := h.atMost(hookPatience)
	trying, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		client, err := h.client(agentKey)
		if err == nil || !gates || failureOf(err).exit != exitUnavailable {
			return client, err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-trying.Done():
			return nil, err
		}
	}
}

func (p *program) atMost(d time.Duration) time.Duration { return min(d, p.patience) }

// notes are kept beside the server's data, also if the server is elsewhere.
func (h *hook) notes() agents.Notes {
	folder, err := h.folder()
	if err != nil {
		return &agents.MemoryNotes{}
	}
	return agents.FolderNotes(filepath.Join(folder, "hooks"))
}

// projectFolder is the folder that a client says it works in.
func projectFolder() string {
	if folder := strings.TrimSpace(os.Getenv("CLAUDE_PROJECT_DIR")); folder != "" {
		return folder
	}
	folder, _ := os.Getwd()
	return folder
}
