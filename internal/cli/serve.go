package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/server"
)

func (p *program) serve() *cobra.Command {
	var dev bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server. It prints one line with the link that signs its owner in, and logs to standard error.

Every flag is also an environment variable (--log-level: SAYSO_LOG_LEVEL) and a key of the configuration file (log_level). A flag goes
before the environment, and that before the file.

Exit codes: 0 it was told to stop, 1 it could not start, 2 a setting is wrong.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.noJSON(cmd, "for logs in JSON, use --log-format json"); err != nil {
				return err
			}
			config := server.Default()
			if err := config.Load(given(cmd)); err != nil {
				return badInput("`sayso serve --help` lists the settings", "%s", err)
			}
			config.Dev, config.Version = dev, version()
			return server.Run(cmd.Context(), config, p.stdout, p.stderr)
		},
	}
	for _, s := range server.Settings() {
		if s.Name != "data" { // which every command has
			cmd.Flags().String(s.Name, s.Default, s.Usage+" (env SAYSO_"+strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))+")")
		}
	}
	cmd.Flags().BoolVar(&dev, "dev", false, "show /gallery")
	_ = cmd.Flags().MarkHidden("dev")
	return cmd
}

// given gives the values of flags that were set on the command line.
func given(cmd *cobra.Command) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			return "", false
		}
		return flag.Value.String(), true
	}
}
