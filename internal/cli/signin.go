package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/api"
)

func (p *program) signInLink() *cobra.Command {
	return &cobra.Command{
		Use:   "signin-link",
		Short: "Print a one-time link that signs the owner in",
		Long: `Print a one-time link that signs the owner in. The browser that opens it first is signed in.

Exit codes: 0, 2 bad input, 5 no server.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := p.client(operatorKey)
			if err != nil {
				return err
			}
			link, err := client.SignInLink(cmd.Context())
			switch {
			case api.Unreachable(err) && api.NeverSent(err):
				return noServer("no server answers at " + client.URL)
			case err != nil:
				return err
			case p.json:
				return p.success(link)
			}
			return p.resultLine(link.URL)
		},
	}
}
