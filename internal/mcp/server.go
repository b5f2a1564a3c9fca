package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
)

// server is the tools for one caller.
type server struct {
	config  Config
	backend Backend
	names   names

	mu     sync.Mutex
	agents map[string]string // ids by key
	asked  map[string]string // the agent's id by interaction, of what was asked here
}

// New makes a server for one caller, whose key the backend has.
func New(config Config, backend Backend) *sdk.Server {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Stopping == nil {
		config.Stopping = context.Background()
	}
	if config.left == nil {
		config.left = newDepartures()
	}
	s := &server{config: config, backend: backend, names: plainNames, agents: map[string]string{}, asked: map[string]string{}}
	if config.Animus {
		s.names = animusNames
	}
	out := sdk.NewServer(
		&sdk.Implementation{Name: "sayso", Title: "Sayso", Version: config.Version},
		&sdk.ServerOptions{
			Instructions: s.instructions(),
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
			Logger:       slog.New(slog.DiscardHandler), // what clients do wrong they are told
		},
	)
	out.AddReceivingMiddleware(declared)
	s.addTools(out)
	return out
}

// call is one call of a tool.
type call struct {
	*server
	request *sdk.CallToolRequest
	tool    string
	in      arguments
	started time.Time
	session context.Context // ends with the session, and when the client cancels the call
	native  bool            // Claude Code's own permission prompt
}

// handle makes a handler of the SDK of one of ours.
func (s *server) handle(name string, do func(*call, context.Context) *sdk.CallToolResult) sdk.ToolHandler {
	return func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := &call{server: s, request: request, tool: name, in: argumentsOf(request.Params.Arguments), started: time.Now(), session: ctx}
		ctx, stop := c.bound(ctx)
		defer stop()
		defer c.tellProgress(ctx)()
		return do(c, ctx), nil
	}
}

func (c *call) client() string {
	if info := c.request.ClientInfo(); info != nil {
		return info.Name
	}
	return ""
}

// pinned is the first of a pin and what the call says that is not blank.
func pinned(pin, said string) string {
	if pin = strings.TrimSpace(pin); pin != "" {
		return pin
	}
	return strings.TrimSpace(said)
}

// agentID is the id of the agent that asks: the pinned one, else the one that the call names, else "agent". A key that is bound to an agent is
// that agent.
func (c *call) agentID(ctx context.Context) (string, error) {
	key := pinned(c.config.AgentID, c.in.text("agent_id"))
	if key == "" {
		key = "agent"
	}
	c.mu.Lock()
	id := c.agents[key]
	c.mu.Unlock()
	if id != "" {
		return id, nil
	}
	id, err := c.findAgent(ctx, key)
	if err == nil {
		c.mu.Lock()
		c.agents[key] = id
		c.mu.Unlock()
	}
	return id, err
}

func (c *call) findAgent(ctx context.Context, key string) (id string, err error) {
	err = c.patiently(ctx, func(ctx context.Context) error {
		agent, err := c.backend.CreateAgent(ctx, api.NewAgent{Name: key, Key: key})
		var refused *api.Error
		if errors.As(err, &refused) && refused.Status == http.StatusForbidden {
			if me, meErr := c.backend.Me(ctx); meErr == nil && me.AgentID != "" {
				id = me.AgentID
				return nil
			}
		}
		id = agent.ID
		return err
	})
	return id, err
}

// askedMost bounds what a server remembers.
const askedMost = 10_000

// remember keeps whose interaction it is: await_answer is given its id only.
func (s *server) remember(interaction, agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) >= askedMost {
		clear(s.asked)
	}
	s.asked[interaction] = agent
}

func (s *server) askedBy(interaction string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[interaction]
}
