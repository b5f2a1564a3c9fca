package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"sayso/internal/audit"
	"sayso/internal/store"
)

func (p *program) verify() *cobra.Command {
	var heads string
	cmd := &cobra.Command{
		Use:   "verify [BACKUP]",
		Short: "Check the whole audit log, and that what is stored is what it tells of",
		Long: `Check the audit log of every project in the data folder, whether the server runs or not: that no entry was changed, removed, added or moved; that
every request, every answer, every other end and every decision by policy is stored as its entry says, and none without an entry; and that the
log holds each of its heads that audit-heads.log recorded, so that an older copy of the database is noticed. The first entry that does not fit is
named. It reads the files itself, and asks no server.

With a file that ` + "`sayso backup`" + ` wrote, that is checked in the same way.

Exit codes: 0 everything fits, 4 something does not, 1 it could not be checked, 2 bad input, 3 there is no database.`,
		Example: `  sayso verify
  sayso verify --heads /mnt/elsewhere/audit-heads.log
  sayso verify /backups/sayso.db`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := p.verified(cmd.Context(), args, heads)
			if err != nil {
				return err
			}
			return p.printReport(report)
		},
	}
	cmd.Flags().StringVar(&heads, "heads", "", "a copy of audit-heads.log that was kept elsewhere, to check against in place of the one there")
	return cmd
}

// atMostOne refuses a second argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return badInput("see `"+cmd.CommandPath()+" --help`", "%s takes one file at most, got %q too", cmd.Name(), args[1])
}

func (p *program) verified(ctx context.Context, args []string, heads string) (audit.Report, error) {
	if len(args) == 1 {
		report, err := store.VerifyBackup(ctx, args[0], heads)
		return report, missing(err)
	}
	folder, err := p.folder()
	if err != nil {
		return audit.Report{}, err
	}
	report, err := store.VerifyFolder(ctx, folder, heads)
	return report, missing(err)
}

// missing tells of a file or a folder that is not there.
func missing(err error) error {
	switch {
	case errors.Is(err, store.ErrNoDatabase):
		return fail(exitNotFound, "give the data folder of a server with --data", "%s", err)
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitNotFound, "", "%s", err)
	}
	return err
}

// printReport prints what a verification came to, and gives the exit code as its error.
func (p *program) printReport(r audit.Report) error {
	if err := p.reportLines(r); err != nil {
		return err
	}
	if !r.OK {
		return ended(exitConflict)
	}
	return nil
}

func (p *program) reportLines(r audit.Report) error {
	if p.json {
		return p.success(r)
	}
	lines := []string{fmt.Sprintf("ok: %d entries fit", r.Entries)}
	slugs := map[string]string{}
	for _, project := range r.Projects {
		slugs[project.Project] = project.Slug
		lines = append(lines, projectLine(project))
	}
	if f := r.Finding; f != nil {
		lines[0] = "finding: " + f.Error()
		if slug := slugs[f.Project]; slug != "" {
			lines[0] = "finding: project " + slug + ", " + f.Error()
		}
	}
	for _, n := range r.Notes {
		lines = append(lines, "note: "+n.Message)
	}
	return p.results(lines...)
}

func projectLine(r audit.ProjectReport) string {
	if r.Entries == 0 {
		return "project " + r.Slug + ": no entry fits or is there"
	}
	return fmt.Sprintf("project %s: %d entries fit, up to sequence %d of %s, hash %s", r.Slug, r.Entries, r.Sequence, r.At, r.Head)
}
