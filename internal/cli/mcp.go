package cli

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/mcp"
	"sayso/internal/server"
)

// mcpPatience is how long an MCP call tries a server that cannot be reached: long enough for a restart.
const mcpPatience = 5 * time.Second

func (p *program) mcpGroup() *cobra.Command {
	cmd := group("mcp", "Sayso as MCP tools")
	cmd.AddCommand(p.mcpServe())
	return cmd
}

func (p *program) mcpServe() *cobra.Command {
	var agent, workflow, toolNames string
	var management bool
	var hold int
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP tools to an agent over standard input and output",
		Long: `Serve MCP tools to an agent over standard input and output: ask, request_approval and await_answer, and with --management
interactions_list and interactions_answer, which use the operator's key.

It talks to the running server and may be started before it. It holds nothing of its own: what is asked survives restarts of either.

Exit codes: 0 its client has closed it, 2 bad input.`,
		Example: `  sayso mcp serve --agent-id swe
  sayso setup claude`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.noJSON(cmd, "it speaks JSON-RPC anyway"); err != nil {
				return err
			}
			config := mcp.Config{
				Version:    version(),
				AgentID:    pinned(agent, "SAYSO_MCP_AGENT_ID", "ANIMUS_MCP_AGENT_ID"),
				WorkflowID: pinned(workflow, "SAYSO_MCP_WORKFLOW_ID", "ANIMUS_MCP_WORKFLOW_ID"),
				Patience:   patience,
				Checkpoint: checkpoint(),
				Log:        slog.New(server.WithoutCredentials(slog.NewTextHandler(p.stderr, nil))),
			}
			switch toolNames {
			case "plain":
			case "animus":
				config.Animus = true
			default:
				return badInput("", "--tool-names: %q is unknown; allowed are plain and animus", toolNames)
			}
			if cmd.Flags().Changed("hold-secs") {
				if hold < 0 {
					return badInput("", "--hold-secs: must not be negative; 0 holds a call for as long as it needs")
				}
				most := time.Duration(hold) * time.Second
				config.Hold = &most
			}
			if management {
				config.Inbox = p.found(operatorKey)
			}
			return mcp.Serve(cmd.Context(), config, p.found(agentKey), io.NopCloser(p.stdin), unclosed{p.stdout})
		},
	}
	f := cmd.Flags()
	f.StringVar(&agent, "agent-id", "", "which agent asks, whatever a call says (env SAYSO_MCP_AGENT_ID, ANIMUS_MCP_AGENT_ID)")
	f.StringVar(&workflow, "workflow-id", "", "workflow that asks, which makes suspend the default (env SAYSO_MCP_WORKFLOW_ID, ANIMUS_MCP_WORKFLOW_ID)")
	f.StringVar(&toolNames, "tool-names", "plain", "plain, or animus for Animus's names, which have dots")
	f.BoolVar(&management, "management", false, "also the tools that list and answer what agents ask, with the operator's key")
	f.IntVar(&hold, "hold-secs", 0, "return a call that nobody answered after so many seconds, to be gone on with by await_answer; 0: never (default: what the client bears)")
	f.DurationVar(&patience, "patience", mcpPatience, "how long a server that cannot be reached is tried")
	_ = f.MarkHidden("patience")
	return cmd
}

type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// checkpoint is where an agent on this machine goes on.
func checkpoint() *api.Checkpoint {
	at := api.Checkpoint{SessionID: os.Getenv("CLAUDE_CODE_SESSION_ID"), CWD: os.Getenv("CLAUDE_PROJECT_DIR")}
	if at.CWD == "" {
		at.CWD, _ = os.Getwd()
	}
	return &at
}

// found speaks to the server wherever it is at the time of each call, so that it may start later, or come back at another port.
func (p *program) found(keyFile string) *api.Client {
	c := newClient("http://sayso.invalid", "")
	c.Channel = "mcp"
	c.HTTP.Transport = finder{p, keyFile}
	return c
}

// finder sends each request to the server that runs now, with its key.
type finder struct {
	*program
	keyFile string
}

func (f finder) RoundTrip(req *http.Request) (*http.Response, error) {
	at, key, err := f.find()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrNoServer, err)
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = at.Scheme, at.Host, ""
	req.URL.Path, req.URL.RawPath = strings.TrimSuffix(at.Path, "/")+req.URL.Path, ""
	req.Header.Set("Authorization", "Bearer "+key)
	return http.DefaultTransport.RoundTrip(req)
}

func (f finder) find() (at *url.URL, key string, err error) {
	if address := os.Getenv("SAYSO_URL"); address != "" {
		c, err := remote(address, os.Getenv("SAYSO_KEY"))
		if err != nil {
			return nil, "", err
		}
		at, err = url.Parse(c.URL)
		return at, c.Key, err
	}
	folder, err := f.folder()
	if err != nil {
		return nil, "", err
	}
	running, err := findRunning(folder)
	if err != nil {
		return nil, "", err
	}
	if key, err = readKey(filepath.Join(folder, f.keyFile)); err != nil {
		return nil, "", err
	}
	at, err = url.Parse(running.URL)
	return at, key, err
}
