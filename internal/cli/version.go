package cli

import (
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// next is the version of what was built between releases.
const next = "0.1.0-dev"

// version is the release that this was built from, else next.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return next
	}
	tag := info.Main.Version
	if tag == "" || tag == "(devel)" || strings.HasPrefix(tag, "v0.0.0-") {
		return next
	}
	return strings.TrimPrefix(tag, "v")
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version.

Exit codes: 0, 2 bad input.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				return p.success(map[string]string{"version": version()})
			}
			return p.resultLine("sayso " + version())
		},
	}
}
