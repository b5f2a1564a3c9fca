package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// operator is a client with the operator's key, and what it has found out.
type operator struct {
	*program
	*api.Client
	known map[string]api.Agent // agents by id
}

func (p *program) operator() (*operator, error) {
	client, err := p.client(operatorKey)
	if err != nil {
		return nil, err
	}
	return &operator{program: p, Client: client, known: map[string]api.Agent{}}, nil
}

// missed is the error of a call in the words of who cannot reach a server.
func (o *operator) missed(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, "", "interrupted")
	case api.Unreachable(err) && api.NeverSent(err):
		return noServer("no server answers at " + o.URL)
	}
	return err
}

// agent gives an agent by its id.
func (o *operator) agent(ctx context.Context, id string) (api.Agent, error) {
	if a, ok := o.known[id]; ok {
		return a, nil
	}
	a, err := o.Agent(ctx, id)
	if err == nil {
		o.known[id] = a
	}
	return a, err
}

// agentNamed gives an agent by its id, its key, or a name that no other has.
func (o *operator) agentNamed(ctx context.Context, name string) (a api.Agent, err error) {
	if strings.HasPrefix(name, "agt_") {
		if a, err = o.agent(ctx, name); err == nil {
			return a, nil
		}
	}
	for _, by := range []string{"key", "name"} {
		list, err := o.Agents(ctx, url.Values{by: {name}, "limit": {"100"}})
		if err != nil {
			return a, o.missed(err)
		}
		switch len(list.Data) {
		case 0:
		case 1:
			return list.Data[0], nil
		default:
			return a, badInput("give the key of the one you mean: "+keysOf(list.Data), "%d agents have the name %q", len(list.Data), name)
		}
	}
	return a, fail(exitNotFound, "`sayso agents` lists them", "there is no agent %q", name)
}

func keysOf(agents []api.Agent) string {
	var keys []string
	for _, a := range agents {
		keys = append(keys, a.Key)
	}
	return strings.Join(keys, ", ")
}

// record is i with Animus's names.
func (o *operator) record(ctx context.Context, i api.Interaction) (inbox.Record, error) {
	a, err := o.agent(ctx, i.AgentID)
	return inbox.RecordOf(i, a.Key), o.missed(err)
}

// all follows the cursor of a list to its end, or until most are there; 0: all there are.
func all[T any](query url.Values, most int, page func(url.Values) (api.List[T], error)) (items []T, err error) {
	query.Set("limit", "100")
	for {
		list, err := page(query)
		if err != nil {
			return nil, err
		}
		items = append(items, list.Data...)
		if most > 0 && len(items) >= most {
			return items[:most], nil
		}
		if list.NextCursor == nil {
			return items, nil
		}
		query.Set("cursor", *list.NextCursor)
	}
}

// open are the interactions that wait for an answer, oldest first; of one agent, or with "" of all.
func (o *operator) open(ctx context.Context, agentID string) ([]api.Interaction, error) {
	query := url.Values{"state": {"open"}}
	if agentID != "" {
		query.Set("agent_id", agentID)
	}
	open, err := all(query, 0, func(q url.Values) (api.List[api.Interaction], error) { return o.Interactions(ctx, q) })
	return open, o.missed(err)
}

// itself is how this program is called, for commands that a person is told to run.
func (p *program) itself() string {
	if p.data == "" {
		return os.Args[0]
	}
	return os.Args[0] + " --data " + shellWord(p.data)
}

// shellWord quotes a word for a shell, if it needs that.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// answerCommand is how to answer i. It holds nothing that an agent wrote: it is copied into a shell.
func (p *program) answerCommand(i api.Interaction) string {
	switch {
	case i.Kind == "permission":
		return p.answering(i) + " --allow"
	case len(i.Request.Questions) == 1:
		return p.answering(i) + " --text 'YOUR ANSWER'"
	}
	return p.answering(i) + selectEach(i)
}

// otherCommand is another way to answer i.
func (p *program) otherCommand(i api.Interaction) string {
	if i.Kind == "permission" {
		return p.answering(i) + " --deny --message 'REASON'"
	}
	return p.answering(i) + selectEach(i) + " --text 'WHAT ELSE TO SAY'"
}

func (p *program) answering(i api.Interaction) string {
	return p.itself() + " agent interactions answer " + i.ID
}

func selectEach(i api.Interaction) string {
	var flags strings.Builder
	for n := range i.Request.Questions {
		fmt.Fprintf(&flags, " --select '%d=LABEL'", n+1)
	}
	return flags.String()
}
