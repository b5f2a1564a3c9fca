package mcp

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"sayso/internal/api"
)

// Backend is what the tools of an agent need of a server. [*api.Client] is one.
type Backend interface {
	Me(ctx context.Context) (api.Me, error)
	CreateAgent(ctx context.Context, a api.NewAgent) (api.Agent, error)
	// CreateInteraction asks. The same once asks once.
	CreateInteraction(ctx context.Context, agent, once string, ask api.NewInteraction) (api.Interaction, error)
	Interaction(ctx context.Context, agent, id string, wait time.Duration) (api.Interaction, error)
	// Await waits for the end through restarts of the server; its caller is heard of as the asker meanwhile.
	Await(ctx context.Context, agent, id string, tried func(error)) (api.Interaction, error)
	Cancel(ctx context.Context, agent, id string) (api.Interaction, error)
}

// Inbox is what the tools of an operator need of a server. [*api.Client] is one.
type Inbox interface {
	Agent(ctx context.Context, id string) (api.Agent, error)
	Agents(ctx context.Context, query url.Values) (api.List[api.Agent], error)
	Interactions(ctx context.Context, query url.Values) (api.List[api.Interaction], error)
	Find(ctx context.Context, id string) (api.Interaction, error)
	Resolve(ctx context.Context, agent, id string, answer api.Resolve) (api.Interaction, error)
}

var (
	_ Backend = (*api.Client)(nil)
	_ Inbox   = (*api.Client)(nil)
)

// Config is how the tools behave.
type Config struct {
	Version    string
	AgentID    string         // a pin: overrides what a call says; "": none
	WorkflowID string         // a pin; only with one can a call suspend
	Animus     bool           // tools have Animus's names
	Inbox      Inbox          // nil: the tools of an operator are not there
	Hold       *time.Duration // how long a call may take, whoever the client is; 0: as long as it needs. nil: by the client's name
	// Patience is how long a server that cannot be reached is tried before a new question is given up.
	Patience   time.Duration
	Checkpoint *api.Checkpoint // where a paused workflow goes on
	Log        *slog.Logger
	// Stopping ends every wait, and withdraws nothing; nil: never.
	Stopping context.Context

	http  bool   // over HTTP, where a call has a connection of its own
	lines *lines // those connections
	left  *departures
}
