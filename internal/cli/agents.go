package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/display"
)

// agentList is the data of a list of agents.
type agentList struct {
	Count  int         `json:"count"`
	Agents []api.Agent `json:"agents"`
}

func (p *program) agents() *cobra.Command {
	var archived bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents",
		Long: `List the agents, with what each has open and when it was last heard of.

Exit codes: 0, 2 bad input, 5 no server.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.operator()
			if err != nil {
				return err
			}
			list, err := o.allAgents(cmd.Context(), archived)
			if err != nil {
				return err
			}
			return o.printAgents(list)
		},
	}
	cmd.Flags().BoolVar(&archived, "archived", false, "also those that are archived")
	cmd.AddCommand(p.showAgent())
	return cmd
}

func (o *operator) allAgents(ctx context.Context, archived bool) ([]api.Agent, error) {
	query := url.Values{}
	if !archived {
		query.Set("state", "active")
	}
	list, err := all(query, 0, func(q url.Values) (api.List[api.Agent], error) { return o.Agents(ctx, q) })
	return list, o.missed(err)
}

func (o *operator) printAgents(list []api.Agent) error {
	if o.json {
		return o.success(agentList{len(list), append([]api.Agent{}, list...)})
	}
	if len(list) == 0 {
		return o.resultLine("there are no agents yet")
	}
	t := table{header: []string{"NAME", "KEY", "STATE", "OPEN", "LAST SEEN"}}
	for _, a := range list {
		t.rows = append(t.rows, []string{cut(a.Name, summaryMost), a.Key, a.State, strconv.Itoa(a.OpenInteractions), lastSeen(a)})
	}
	return t.print(o.program)
}

func lastSeen(a api.Agent) string {
	if a.LastSeenAt == nil {
		return "never"
	}
	return age(*a.LastSeenAt) + " ago"
}

// agentView is one agent, and what goes on in its conversation.
type agentView struct {
	Agent        api.Agent         `json:"agent"`
	Interactions []api.Interaction `json:"interactions"` // open
	Waiting      []api.Input       `json:"waiting"`      // queued messages
	Events       []api.Event       `json:"events"`       // the latest, oldest first
}

const eventsMost = 500

func (p *program) showAgent() *cobra.Command {
	var events int
	cmd := &cobra.Command{
		Use:   "show NAME|KEY|ID",
		Short: "Show one agent: what it asks, which messages wait for it, what it did last",
		Long: `Show one agent: what it asks, which messages wait for it, what it did last.

Exit codes: 0, 2 bad input, 3 no such agent, 5 no server.`,
		ValidArgsFunction: first(p.completeAgents()),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return badInput("`sayso agents` lists them", "show takes one agent, got %d arguments", len(args))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if events < 0 || events > eventsMost {
				return badInput("", "--events: 0 to %d are allowed, got %d", eventsMost, events)
			}
			o, err := p.operator()
			if err != nil {
				return err
			}
			v, err := o.view(cmd.Context(), args[0], events)
			switch {
			case err != nil:
				return err
			case p.json:
				return p.success(v)
			}
			return o.printAgent(v)
		},
	}
	cmd.Flags().IntVar(&events, "events", 10, "how many of the latest events to show")
	return cmd
}

func (o *operator) view(ctx context.Context, name string, events int) (v agentView, err error) {
	if v.Agent, err = o.agentNamed(ctx, name); err != nil {
		return v, err
	}
	open, err := o.open(ctx, v.Agent.ID)
	if err != nil {
		return v, err
	}
	waiting, err := all(url.Values{}, 0, func(q url.Values) (api.List[api.Input], error) { return o.Backlog(ctx, v.Agent.ID, q) })
	if err != nil {
		return v, o.missed(err)
	}
	var page api.EventPage[api.Event]
	if events > 0 {
		page, err = o.Events(ctx, v.Agent.ID, latest(events))
	}
	v.Interactions, v.Waiting, v.Events = append([]api.Interaction{}, open...), append([]api.Input{}, waiting...), append([]api.Event{}, page.Data...)
	return v, o.missed(err)
}

// latest asks for the last events of a log.
func latest(n int) url.Values {
	return url.Values{"before_sequence": {strconv.FormatInt(math.MaxInt64, 10)}, "limit": {strconv.Itoa(n)}}
}

func (o *operator) printAgent(v agentView) error {
	var s sheet
	s.field("name", v.Agent.Name)
	s.field("key", v.Agent.Key)
	s.field("id", v.Agent.ID)
	s.field("state", v.Agent.State)
	s.field("last seen", lastSeen(v.Agent))
	s.field("open", strconv.Itoa(len(v.Interactions)))
	for _, i := range v.Interactions {
		s.line(fmt.Sprintf("  %s  %s  %s  %s", i.ID, i.Kind, cut(summary(i), summaryMost), age(i.CreatedAt)))
	}
	s.field("queued", strconv.Itoa(len(v.Waiting)))
	for _, in := range v.Waiting {
		s.line(fmt.Sprintf("  %s: %s", in.Actor.Name, cut(plainText(in.ContentBlocks), eventWidth)))
	}
	if len(v.Events) > 0 {
		s.gap()
	}
	for _, e := range v.Events {
		for _, line := range eventLines(e) {
			fmt.Fprintf(&s.text, "%s  %s\n", clock(e.CreatedAt), display.Line(line))
		}
	}
	if len(v.Interactions) > 0 {
		s.gap()
		s.line("answer with: " + o.answerCommand(v.Interactions[0]))
	}
	return o.print(strings.TrimSuffix(s.text.String(), "\n"))
}

// eventWidth is how much of a text is told in a list of events.
const eventWidth = 160

// eventLines tell an event of a conversation, a line for each thing in it.
func eventLines(e api.Event) (lines []string) {
	switch {
	case e.EventKind == "agent_input" && e.AgentInput != nil:
		return []string{inputLine(*e.AgentInput)}
	case e.EventKind == "tool_result":
		return []string{labelled("result", e.Outcome+": "+plainText(e.ContentBlocks))}
	}
	for _, b := range e.ContentBlocks {
		switch b.Type {
		case "tool_call":
			lines = append(lines, labelled("calls", b.Name+" "+oneLine(b.Input)))
		case "reasoning":
			lines = append(lines, labelled("thinks", b.Text))
		default:
			lines = append(lines, labelled("says", b.Text))
		}
	}
	return lines
}

func labelled(label, text string) string { return fmt.Sprintf("%-7s %s", label, cut(text, eventWidth)) }

func inputLine(in api.Input) string {
	switch in.InputKind {
	case "interaction_response":
		return labelled("answer", in.Actor.Name+" answered "+in.InteractionID)
	case "control":
		return labelled("control", in.Actor.Name+": "+in.Control)
	}
	return labelled("message", in.Actor.Name+": "+plainText(in.ContentBlocks))
}

// plainText are the texts of a message.
func plainText(blocks []api.ContentBlock) string {
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

// oneLine is a JSON text without the blanks between its parts.
func oneLine(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return string(text)
	}
	return b.String()
}
