package cli

import (
	"github.com/spf13/cobra"

	"sayso/internal/audit"
	"sayso/internal/store"
)

// restored is the data of a restore.
type restored struct {
	Aside  string       `json:"aside,omitempty"`
	Report audit.Report `json:"report"`
}

func (p *program) restore() *cobra.Command {
	return &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database; the server must not run",
		Long: `Put a file that ` + "`sayso backup`" + ` wrote in the place of the database in the data folder. The server must be stopped. The backup is
verified first, and must hold every head that audit-heads.log recorded up to where it ends. The old database stays in the folder under another name.

What was done is recorded in audit-heads.log: from then on ` + "`sayso verify`" + ` says when a backup was restored, and how many entries are gone.

Keys, sign-ins and members are those of the backup again: revoke anew what was revoked since.

Exit codes: 0 done, 4 the backup does not fit and nothing was changed, 1 it failed or the server runs, 2 bad input, 3 there is no such file.`,
		Example: `  sayso restore /backups/sayso-2026-12-01.db`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := p.folder()
			if err != nil {
				return err
			}
			done, err := store.Restore(cmd.Context(), folder, args[0])
			if err != nil {
				return missing(err)
			}
			if done.Aside != "" {
				p.notice("the old database is %s", done.Aside)
			}
			if p.json && done.Report.OK {
				return p.success(restored{done.Aside, done.Report})
			}
			return p.printReport(done.Report)
		},
	}
}
