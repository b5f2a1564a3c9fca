package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/agents"
	"sayso/internal/api"
)

func (p *program) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Play an agent that asks for permission, to try Sayso out",
		Long: `Play a coding agent that asks for permission and asks questions, and goes on depending on the answers. It reads what you write to it in
its conversation: a message that takes the place of what it asks changes its plan. Nothing it asks for is ever run.

Exit codes: 0 its story is told, 5 no server, 130 interrupted.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.noJSON(cmd, "demo tells its story in words"); err != nil {
				return err
			}
			client, err := p.client(agentKey)
			if err != nil {
				return err
			}
			p.notice("answer at %s", client.Link("/"))
			return p.play(cmd.Context(), client)
		},
	}
}

// lingers is how long the demo agent still reads what people write when its story is told.
const lingers = 5 * time.Minute

func (p *program) play(ctx context.Context, client *api.Client) error {
	playing, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	o := &outage{program: p, client: client, giveUp: giveUp}
	say := func(format string, args ...any) { _ = p.result(fmt.Sprintf(format, args...)) }
	err := agents.Demo{Client: client, Say: say, Tried: o.tried, Linger: lingers}.Run(playing)
	switch {
	case err == nil:
		return nil
	case context.Cause(playing) == errAway:
		return fail(exitUnavailable, "start it with `sayso serve`", "the server was away for %s", p.patience)
	case ctx.Err() != nil:
		return fail(exitInterrupted, "", "interrupted; the demo agent has withdrawn what it waited for")
	case api.Unreachable(err) && api.NeverSent(err):
		return noServer("no server answers at " + client.URL)
	}
	return err
}
