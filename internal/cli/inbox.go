package cli

import (
	"context"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// inbox is what waits for people, and how to answer it. It has two names: Animus's, and a short one.
func (p *program) inbox(use, short string) *cobra.Command {
	cmd := group(use, short)
	cmd.AddCommand(p.listInteractions(), p.showInteraction(), p.answerInteraction())
	return cmd
}

// agentGroup is the long way to the inbox.
func (p *program) agentGroup() *cobra.Command {
	cmd := group("agent", "The inbox by its long name: `agent interactions list|show|answer`")
	interactions := p.inbox("interactions", "List what agents ask, look at it, answer it")
	interactions.Annotations[sameAs] = "sayso inbox"
	cmd.AddCommand(interactions)
	return cmd
}

// The annotations of commands: that one does nothing by itself, and that it is another one by its long name.
const (
	onlyCommands = "only-commands"
	sameAs       = "same-as"
)

// group is a command that only has commands.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: knownCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Annotations: map[string]string{onlyCommands: "true"},
	}
}

func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return badInput("`"+cmd.CommandPath()+" --help` lists the commands", "there is no command %q in %s", args[0], cmd.CommandPath())
}

// interactionList is the data of a list.
type interactionList struct {
	Count        int            `json:"count"`
	Interactions []inbox.Record `json:"interactions"`
}

func (p *program) listInteractions() *cobra.Command {
	var every bool
	var agent string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what waits for an answer",
		Long: `List what waits for an answer, the longest waiting first.

Exit codes: 0 also when nothing waits, 2 bad input, 3 no such agent, 5 no server.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return badInput("", "--limit: must not be negative; 0 is all")
			}
			o, err := p.operator()
			if err != nil {
				return err
			}
			interactions, err := o.interactions(cmd.Context(), every, agent, limit)
			if err != nil {
				return err
			}
			return o.printInteractions(cmd.Context(), interactions, every)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "also what is answered, expired or canceled")
	cmd.Flags().StringVar(&agent, "agent", "", "of one agent only: its key, name or id")
	_ = cmd.RegisterFlagCompletionFunc("agent", p.completeAgents())
	cmd.Flags().IntVar(&limit, "limit", 0, "the newest ones only, as many as this; 0 is all")
	return cmd
}

// interactions are oldest first; with a limit the newest ones.
func (o *operator) interactions(ctx context.Context, every bool, agent string, limit int) ([]api.Interaction, error) {
	query := url.Values{"order": {"desc"}}
	if !every {
		query.Set("state", "open")
	}
	if agent != "" {
		a, err := o.agentNamed(ctx, agent)
		if err != nil {
			return nil, err
		}
		query.Set("agent_id", a.ID)
	}
	list, err := all(query, limit, func(q url.Values) (api.List[api.Interaction], error) { return o.Interactions(ctx, q) })
	slices.Reverse(list)
	return list, o.missed(err)
}

func (o *operator) printInteractions(ctx context.Context, list []api.Interaction, withStatus bool) error {
	records := make([]inbox.Record, 0, len(list))
	for _, i := range list {
		r, err := o.record(ctx, i)
		if err != nil {
			return err
		}
		records = append(records, r)
	}
	if o.json {
		return o.success(interactionList{len(records), records})
	}
	if len(list) == 0 {
		return o.resultLine("nothing waits for an answer")
	}
	if err := o.interactionTable(list, records, withStatus); err != nil {
		return err
	}
	if n := slices.IndexFunc(list, isOpen); n >= 0 {
		return o.results("", "answer with: "+o.answerCommand(list[n]))
	}
	return nil
}

func isOpen(i api.Interaction) bool { return i.State == "open" }

func (o *operator) interactionTable(list []api.Interaction, records []inbox.Record, withStatus bool) error {
	t := table{header: []string{"ID", "AGENT", "TYPE", "SUMMARY", "AGE"}}
	if withStatus {
		t.header = append(t.header, "STATUS")
	}
	for n, i := range list {
		row := []string{i.ID, records[n].AgentID, i.Kind, cut(summary(i), summaryMost), age(i.CreatedAt)}
		if withStatus {
			row = append(row, records[n].Status)
		}
		t.rows = append(t.rows, row)
	}
	return t.print(o.program)
}

const summaryMost = 60

// summary says in a line what i asks. The title of a permission only names the tool; what it is to do stands in the context.
func summary(i api.Interaction) string {
	if i.Kind != "permission" || i.ToolCall == nil {
		return i.Request.Title
	}
	if len(i.Request.Context) == 0 {
		return i.ToolCall.Name
	}
	return i.ToolCall.Name + ": " + i.Request.Context[0].Value
}
