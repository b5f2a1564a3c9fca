// Package agents holds agents that use Sayso. (Stub: being written.)
package agents

import (
	"context"

	"sayso/internal/api"
)

// Demo is the demo agent.
type Demo struct {
	Client *api.Client
	Say    func(format string, args ...any)
}

// Run plays it.
func (d Demo) Run(ctx context.Context) error { return nil }
