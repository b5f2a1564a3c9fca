package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"sayso/internal/api"
)

// eventList is the data of a list of events.
type eventList struct {
	Count  int                  `json:"count"`
	Events []api.LifecycleEvent `json:"events"`
}

func (p *program) events() *cobra.Command {
	var follow bool
	var limit int
	cmd := &cobra.Command{
		Use:   "events",
		Short: "List what was asked, answered, canceled and expired",
		Long: `List what was asked, answered, canceled and expired, the latest last. What still waits for an answer comes with the command that answers it.

With --json the list is one line, like the result of every command; but with --follow it is one JSON object for each event, as they come. A
program that follows them through --follow misses none and gets none twice, also when the server restarts.

Exit codes: 0, also when --follow is ended with Ctrl-C; 2 bad input, 5 no server.`,
		Example: `  sayso events --follow --json | while read -r event; do …; done`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 || limit == 0 && !follow {
				return badInput("", "--limit: must be at least 1; with --follow 0 leaves out what was before")
			}
			o, err := p.operator()
			if err != nil {
				return err
			}
			if follow {
				err := o.follow(cmd.Context(), limit)
				if cmd.Context().Err() != nil {
					return nil // Ctrl-C is how it ends
				}
				return err
			}
			return o.listEvents(cmd.Context(), limit)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens, until Ctrl-C")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many of the latest events to begin with")
	return cmd
}

func (o *operator) listEvents(ctx context.Context, limit int) error {
	list, err := o.latestEvents(ctx, limit)
	if err != nil {
		return err
	}
	if o.json {
		return o.success(eventList{len(list), append([]api.LifecycleEvent{}, list...)})
	}
	if len(list) == 0 {
		return o.resultLine("nothing has happened yet")
	}
	return o.printEvents(ctx, list)
}

// latestEvents are the last events of the log, oldest first.
func (o *operator) latestEvents(ctx context.Context, limit int) (list []api.LifecycleEvent, err error) {
	query := latest(limit)
	for {
		query.Set("limit", strconv.Itoa(min(limit-len(list), eventsMost)))
		page, err := o.Lifecycle(ctx, query)
		if err != nil {
			return nil, o.missed(err)
		}
		list = append(page.Data, list...)
		if len(list) == limit || !page.HasMore || page.NextBeforeSequence == nil {
			return list, nil
		}
		query.Set("before_sequence", strconv.FormatInt(*page.NextBeforeSequence, 10))
	}
}

// printEvents prints events that have been in the log for a while.
func (o *operator) printEvents(ctx context.Context, list []api.LifecycleEvent) error {
	open, err := o.open(ctx, "")
	if err != nil {
		return err
	}
	for _, e := range list {
		waits := slices.ContainsFunc(open, func(i api.Interaction) bool { return i.ID == e.InteractionID })
		if err := o.printEvent(e, waits); err != nil {
			return err
		}
	}
	return nil
}

// printEvent prints an event; one that asks for something that still waits, with the command that answers it.
func (o *operator) printEvent(e api.LifecycleEvent, waits bool) error {
	if o.json {
		return writeLine(o.stdout, e)
	}
	if err := o.resultLine(clock(e.CreatedAt) + "  " + e.Summary); err != nil || e.EventKind != createdKind || !waits {
		return err
	}
	return o.resultLine("    " + e.AnswerCommand)
}

// createdKind is the kind of event with which an interaction begins.
const createdKind = "interaction_created"

// follow prints the latest events and then every one that happens, until ctx is done.
func (o *operator) follow(ctx context.Context, limit int) error {
	list, err := o.latestEvents(ctx, max(limit, 1))
	if err != nil {
		return err
	}
	var after int64
	if len(list) > 0 {
		after = list[len(list)-1].Sequence
	}
	if limit > 0 {
		if err := o.begin(ctx, list); err != nil {
			return err
		}
	}
	away := &outage{program: o.program, client: o.Client, giveUp: func(error) {}} // a log is followed for ever
	o.Tried = away.tried
	return o.StreamLifecycle(ctx, after, func(e api.LifecycleEvent) error { return o.printEvent(e, o.waits(ctx, e)) })
}

// begin prints what was before.
func (o *operator) begin(ctx context.Context, list []api.LifecycleEvent) error {
	if !o.json {
		return o.printEvents(ctx, list)
	}
	for _, e := range list {
		if err := o.printEvent(e, false); err != nil {
			return err
		}
	}
	return nil
}

// waits says whether what e asks is still worth an answer. If that cannot be found out, it is: the answer will be refused with the reason.
func (o *operator) waits(ctx context.Context, e api.LifecycleEvent) bool {
	if o.json || e.EventKind != createdKind {
		return false
	}
	i, err := o.Interaction(ctx, e.AgentID, e.InteractionID, 0)
	return err != nil || isOpen(i)
}
