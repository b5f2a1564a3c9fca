package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"sayso/internal/audit"
	"sayso/internal/store"
)

// backedUp is the data of a backup.
type backedUp struct {
	File   string       `json:"file"`
	Heads  string       `json:"heads"`
	Report audit.Report `json:"report"`
}

func (p *program) backup() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database to a file, while the server runs",
		Long: `Copy the database of the data folder to a file, whether the server runs or not, and audit-heads.log to FILE.heads. The copy is one state of
the database. It gets its name only after it was synced to disk, SQLite found its pages in order, and its audit log was verified. Only you can
read it: it holds all that agents asked and people answered.

Exit codes: 0 done, 4 the audit log does not fit and nothing was written, 1 it failed, 2 bad input or the file is there already, 3 there is no
database, or no such folder.`,
		Example: `  sayso backup /backups/sayso-$(date +%F).db`,
		Args:    oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := p.folder()
			if err != nil {
				return err
			}
			report, err := store.Backup(cmd.Context(), folder, args[0], force)
			if errors.Is(err, store.ErrThere) {
				return badInput("choose another name, or replace it with --force", "%s: %s", args[0], store.ErrThere)
			}
			if err != nil {
				return missing(err)
			}
			if !report.OK {
				p.notice("nothing was written: the database does not agree with its audit log; see `sayso verify`")
				return p.printReport(report)
			}
			if p.json {
				return p.success(backedUp{args[0], args[0] + store.BackupHeads, report})
			}
			if err := p.resultLine(args[0]); err != nil {
				return err
			}
			p.notice("%d entries of the audit log were verified in the copy; %s belongs to it", report.Entries, args[0]+store.BackupHeads)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	return cmd
}

// oneFile needs exactly one argument.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	return badInput("see `"+cmd.CommandPath()+" --help`", "%s needs one file, got %d arguments", cmd.Name(), len(args))
}
