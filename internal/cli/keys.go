package cli

import (
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/api"
)

// keyList is the data of a list of keys.
type keyList struct {
	Count int       `json:"count"`
	Keys  []api.Key `json:"keys"`
}

func (p *program) keysGroup() *cobra.Command {
	var project string
	cmd := group("keys", "API keys of a project: `keys create`, `keys list`, `keys revoke`")
	cmd.PersistentFlags().StringVar(&project, "project", "", "id or slug of the project (default: the one that the key in use works in, else default)")
	cmd.AddCommand(p.createKey(&project), p.listKeys(&project), p.revokeKey(&project))
	return cmd
}

// operatorIn is a client with the operator's key that works in a project.
func (p *program) operatorIn(project string) (*operator, error) {
	o, err := p.operator()
	if err == nil {
		o.Project = project
	}
	return o, err
}

func (p *program) createKey(project *string) *cobra.Command {
	var agent, once string
	var scopes []string
	cmd := &cobra.Command{
		Use:   "create NAME [--agent KEY | --scopes LIST]",
		Short: "Make a key, and print it this once",
		Long: `Make an API key and print it. Sayso keeps only its hash, so it cannot be printed again.

Without flags it is an agent key that may make agents, and sees only what it asked itself. With --agent it acts for that agent alone. With
--scopes it is an operator key: read, resolve, manage, audit, embed. Nobody can give scopes that they do not have.

Exit codes: 0 made, 2 bad input, 3 no such agent, 4 --once was used for another key, 5 no server.`,
		Example: `  sayso keys create 'build machine'
  sayso keys create laptop --agent swe
  sayso keys create 'chat relay' --scopes read,resolve --json`,
		Args: oneArgument("a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if agent != "" && len(scopes) > 0 {
				return badInput("", "--agent, --scopes: give one of them; an operator key is for no agent")
			}
			o, err := p.operatorIn(*project)
			if err != nil {
				return err
			}
			wanted := api.NewKey{Kind: "agent_key", Name: args[0], Scopes: scopes}
			if len(scopes) > 0 {
				wanted.Kind = "operator_key"
			}
			if agent != "" {
				found, err := o.agentNamed(cmd.Context(), agent)
				if err != nil {
					return err
				}
				wanted.AgentID = found.ID
			}
			made, err := o.CreateKey(cmd.Context(), once, wanted)
			if err != nil {
				return o.missed(err)
			}
			return p.printMade(made)
		},
	}
	f := cmd.Flags()
	f.StringVar(&agent, "agent", "", "key, name or id of the one agent that the key is for")
	f.StringSliceVar(&scopes, "scopes", nil, "what an operator key may do, separated by commas")
	f.StringVar(&once, "once", "", "any text: the same again makes no second key")
	return cmd
}

func (p *program) printMade(made api.KeyBody) error {
	switch {
	case p.json:
		return p.success(made)
	case made.Secret == "":
		p.notice("this key was made before, and its secret is not told again; if you did not keep it, revoke it and make another")
		return p.resultLine(made.Key.ID)
	}
	p.notice("made %s; keep it now, it is not shown again", made.Key.ID)
	return p.resultLine(made.Secret)
}

func (p *program) listKeys(project *string) *cobra.Command {
	var revoked bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys",
		Long: `List the API keys of the project, without their secrets: nobody has those any more.

Exit codes: 0, 2 bad input, 5 no server.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.operatorIn(*project)
			if err != nil {
				return err
			}
			list, err := all(url.Values{}, 0, func(q url.Values) (api.List[api.Key], error) { return o.Keys(cmd.Context(), q) })
			if err != nil {
				return o.missed(err)
			}
			shown := []api.Key{}
			for _, k := range list {
				if k.RevokedAt == nil || revoked {
					shown = append(shown, k)
				}
			}
			return p.printKeys(shown)
		},
	}
	cmd.Flags().BoolVar(&revoked, "revoked", false, "also those that are revoked")
	return cmd
}

func (p *program) printKeys(list []api.Key) error {
	if p.json {
		return p.success(keyList{len(list), list})
	}
	if len(list) == 0 {
		return p.resultLine("there are no keys")
	}
	t := table{header: []string{"ID", "NAME", "KIND", "ENDS IN", "MADE BY", "LAST USED", "STATE"}}
	for _, k := range list {
		t.rows = append(t.rows, []string{k.ID, cut(k.Name, summaryMost), keyKind(k), k.LastFour, k.CreatedBy, ago(k.LastUsedAt, "never"), keyState(k)})
	}
	return t.print(p)
}

func keyKind(k api.Key) string {
	switch {
	case k.Kind == "operator_key":
		return "operator: " + strings.Join(k.Scopes, " ")
	case k.AgentID != "":
		return "agent: " + k.AgentID
	}
	return "agent"
}

func keyState(k api.Key) string {
	if k.RevokedAt != nil {
		return "revoked " + ago(k.RevokedAt, "")
	}
	return "works"
}

func ago(t *api.Time, otherwise string) string {
	if t == nil || t.Equal(time.Time{}) {
		return otherwise
	}
	return age(*t) + " ago"
}

func (p *program) revokeKey(project *string) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a key for good: whatever uses it is refused within a second",
		Long: `End a key for good. Whatever uses it is refused within a second, also what waits on an open line. What it asked stays open.

Exit codes: 0 also if it was revoked before, 2 bad input, 3 no such key, 5 no server.`,
		Args: oneArgument("the id of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := p.operatorIn(*project)
			if err != nil {
				return err
			}
			k, err := o.RevokeKey(cmd.Context(), args[0])
			switch {
			case err != nil:
				return o.missed(err)
			case p.json:
				return p.success(api.KeyBody{Key: k})
			}
			return p.resultLine("revoked " + k.ID + " (" + k.Name + ")")
		},
	}
}

// oneArgument refuses all but one, which is what.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return badInput("see `"+cmd.CommandPath()+" --help`", "%s takes %s, got %d arguments", cmd.Name(), what, len(args))
	}
}
