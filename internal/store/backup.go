package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// BackupHeads is what is added to a backup's name for the copy of the second file.
const BackupHeads = ".heads"

// ErrThere is the error of a backup to a file that is there already.
var ErrThere = errors.New("there is a file of that name already")

// Backup writes a copy of the database in a data folder to path, and of the second file to path.heads, while a server may be writing. They are put in
// place only after they have been synced and checked: the report is of the copy, and one with a finding leaves nothing behind. A file that is
// there is replaced only if replace says so.
func Backup(ctx context.Context, folder, path string, replace bool) (report audit.Report, err error) {
	if _, err := os.Stat(path); !replace && !errors.Is(err, fs.ErrNotExist) {
		return report, errors.Join(ErrThere, err)
	}
	from := filesIn(folder)
	if err := from.there(); err != nil {
		return report, err
	}
	to, err := newFiles(filepath.Dir(path))
	if err != nil {
		return report, err
	}
	defer to.remove()
	if err := from.copyHeads(to.heads); err != nil { // before the database: each head in it is then of an entry that the copy has
		return report, err
	}
	if err := from.vacuumInto(ctx, to.database); err != nil {
		return report, fmt.Errorf("copy the database: %w", err)
	}
	if report, err = to.checked(ctx); err != nil || !report.OK {
		return report, err
	}
	return report, errors.Join(put(to.heads, path+BackupHeads), put(to.database, path))
}

// newFiles makes the files of a copy, under names of no meaning, for their owner's eyes only.
func newFiles(folder string) (f files, err error) {
	for _, name := range []*string{&f.database, &f.heads} {
		made, err := os.CreateTemp(folder, ".sayso-copy-*")
		if err != nil {
			f.remove()
			return f, err
		}
		*name = made.Name()
		made.Close()
	}
	return f, nil
}

// remove takes away what was not put in place.
func (f files) remove() {
	for _, name := range []string{f.database, f.heads} {
		if name != "" {
			os.Remove(name)
		}
	}
}

// copyHeads copies the lines that are whole.
func (f files) copyHeads(to string) error {
	in, err := os.Open(f.heads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the copy is empty then, which its check tells
	}
	if err != nil {
		return err
	}
	defer in.Close()
	lines := audit.NewHeadReader(in)
	var damage *audit.Finding
	if _, err := audit.ReadHeads(lines); errors.As(err, &damage) {
		return overwrite(to, f.heads, -1) // damaged as it is: its check tells
	} else if err != nil {
		return err
	}
	length, _ := lines.Position()
	return overwrite(to, f.heads, length)
}

// overwrite copies so many bytes of a file into another that is there, and syncs it; all if length is negative.
func overwrite(to, from string, length int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	var what io.Reader = in
	if length >= 0 {
		what = io.LimitReader(in, length)
	}
	_, err = io.Copy(out, what)
	return errors.Join(err, out.Sync(), out.Close())
}

func (f files) vacuumInto(ctx context.Context, path string) error {
	db, err := f.readOnly()
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err = db.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return err
	}
	return syncFile(path)
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checked checks the pages of a copy, that a server of this version can use it, and its chains.
func (f files) checked(ctx context.Context) (report audit.Report, err error) {
	if err := f.sound(ctx); err != nil {
		return report, err
	}
	return f.verify(ctx, "")
}

// sound checks that SQLite finds nothing wrong with the file, and that it is a database of ours that we understand.
func (f files) sound(ctx context.Context) error {
	db, err := f.readOnly()
	if err != nil {
		return err
	}
	defer db.Close()
	var says string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&says); err != nil {
		return fmt.Errorf("this is no database, or it is damaged: %w", err)
	}
	if says != "ok" {
		return errors.New("the database is damaged: " + says)
	}
	var version int64
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&version); err != nil {
		return fmt.Errorf("this is no database of Sayso: %w", err)
	}
	known, err := newestSchema()
	if err == nil && version > known {
		err = fmt.Errorf("the database has schema %d, made by a newer sayso; this one knows up to %d. Run the newer program", version, known)
	}
	return err
}

// newestSchema is the last migration that this program has.
func newestSchema() (version int64, err error) {
	list, err := fs.ReadDir(migrations, "migrations")
	if err != nil || len(list) == 0 {
		return 0, errors.Join(err, errors.New("there are no migrations"))
	}
	_, err = fmt.Sscanf(list[len(list)-1].Name(), "%d_", &version)
	return version, err
}

// VerifyBackup checks a file that [Backup] made, and what was written beside it. One without the second file is checked for itself alone.
// heads is as for [VerifyFolder].
func VerifyBackup(ctx context.Context, path, heads string) (audit.Report, error) {
	if _, err := os.Stat(path); err != nil {
		return audit.Report{}, err
	}
	return backupAt(path).against(heads).checked(ctx)
}

func backupAt(path string) files {
	f := files{path, path + BackupHeads}
	if _, err := os.Stat(f.heads); err != nil {
		f.heads = ""
	}
	return f
}

// Restoration is what came of a restore.
type Restoration struct {
	Report audit.Report // of the data folder afterwards; of the backup, if that has a finding
	Aside  string       // where the old database is now; "": there was none
}

// Restore puts a backup in the place of the database in a data folder, which no server may have open. The old database is kept beside it. The
// second file stays, and records what was done: heads of entries that the backup does not have are given up there, for everybody to see.
func Restore(ctx context.Context, folder, path string) (done Restoration, err error) {
	if _, err := os.Stat(path); err != nil {
		return done, err
	}
	lock, err := takeFolder(folder)
	if err != nil {
		return done, err
	}
	defer lock.Close()
	r := restoring{ctx: ctx, folder: folder, from: backupAt(path), into: filesIn(folder)}
	return r.run()
}

// restoring is a restore that is under way.
type restoring struct {
	ctx        context.Context
	folder     string
	from, into files
	backup     audit.Report
	last       map[string]audit.Lost // how far each project is known to have come
}

func (r *restoring) run() (done Restoration, err error) {
	next, err := newFiles(r.folder)
	if err != nil {
		return done, err
	}
	defer next.remove()
	if err := overwrite(next.database, r.from.database, -1); err != nil {
		return done, err
	}
	if done.Report, err = (files{next.database, r.from.heads}).checked(r.ctx); err != nil || !done.Report.OK {
		return done, err
	}
	r.backup = done.Report
	if done.Report, err = r.compare(next.database); err != nil || !done.Report.OK {
		return done, err
	}
	if err := r.record(); err != nil {
		return done, fmt.Errorf("%s: %w", audit.HeadsFile, err)
	}
	if done.Aside, err = r.replace(next.database); err != nil {
		return done, err
	}
	done.Report, err = r.into.verify(r.ctx, "")
	return done, err
}

// compare checks that the backup holds the heads that were recorded here, but for those of later entries, and finds out how far those went.
func (r *restoring) compare(database string) (report audit.Report, err error) {
	if _, err := os.Stat(r.into.heads); errors.Is(err, fs.ErrNotExist) {
		if err := r.takeHeads(); err != nil {
			return report, err
		}
	}
	heads, err := openHeads(r.into.heads)
	if err != nil {
		return report, err
	}
	defer heads.close()
	if heads.damage != nil {
		return audit.Report{Finding: heads.damage}, nil
	}
	r.know(heads.log)
	for _, h := range r.lines() {
		heads.log.Add(h)
	}
	return files{database, r.into.heads}.verifyAgainst(r.ctx, heads, "")
}

// takeHeads has a folder without a second file begin with the backup's, else with a new one.
func (r *restoring) takeHeads() error {
	if r.from.heads == "" {
		line, _, err := audit.Head{Kind: audit.Begun, At: now(), InUse: true}.Line("")
		if err != nil {
			return err
		}
		return writeFile(r.into.heads, bytes.NewReader(line))
	}
	f, err := os.Open(r.from.heads)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeFile(r.into.heads, f)
}

// know finds out how far the chains had come: from the heads, and from the old database, which may be further or unreadable.
func (r *restoring) know(log audit.HeadLog) {
	r.last = map[string]audit.Lost{}
	for project, h := range log.Last {
		r.last[project] = audit.Lost{Entries: h.Entries, Sequence: h.Sequence, Hash: h.Hash}
	}
	old, err := r.into.ends(r.ctx)
	if err != nil {
		return
	}
	for project, end := range old {
		if end.Entries > r.last[project].Entries {
			r.last[project] = end
		}
	}
}

// ends are how far each chain of a database has come, unverified.
func (f files) ends(ctx context.Context) (map[string]audit.Lost, error) {
	if _, err := os.Stat(f.database); err != nil {
		return nil, err
	}
	db, err := f.readOnly()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT p.id, count(*), max(a.sequence), p.audit_head FROM audit_entries a JOIN projects p ON p.key = a.project GROUP BY p.key`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]audit.Lost{}
	for rows.Next() {
		var project string
		var end audit.Lost
		var head sql.RawBytes
		if err := rows.Scan(&project, &end.Entries, &end.Sequence, &head); err != nil {
			return nil, err
		}
		if len(head) == len(audit.Hash{}) {
			end.Hash = audit.Hash(head).String()
		}
		all[project] = end
	}
	return all, rows.Err()
}

// lines are what the second file is to say of the restore: one for each project that it or the backup knows.
func (r *restoring) lines() (list []audit.Head) {
	at := now()
	there := map[string]bool{}
	for _, p := range r.backup.Projects {
		there[p.Project] = true
		list = append(list, r.line(at, p))
	}
	for project := range r.last {
		if !there[project] && project != "" {
			list = append(list, r.line(at, audit.ProjectReport{Project: project}))
		}
	}
	return list
}

func (r *restoring) line(at string, p audit.ProjectReport) audit.Head {
	h := audit.Head{Kind: audit.Restored, At: at, Project: p.Project, Entries: p.Entries, Sequence: p.Sequence, Hash: p.Head}
	if lost, known := r.last[p.Project]; known {
		h.Lost = &lost
	}
	return h
}

// record appends the lines. It comes before the files change places: a restore that breaks off in between is told of all the same.
func (r *restoring) record() error {
	w := &recorder{log: slog.New(slog.DiscardHandler), path: r.into.heads, chains: map[interaction.ID]*headOf{}}
	if err := w.reopen(); err != nil {
		return err
	}
	defer w.file.Close()
	return w.append(r.lines()...)
}

// replace puts the new database in place, and gives where the old one is. At no moment is there none, and the old write-ahead log never meets the new
// database.
func (r *restoring) replace(next string) (aside string, err error) {
	current := r.into.database
	if _, err := os.Stat(current); errors.Is(err, fs.ErrNotExist) {
		return "", put(next, current)
	}
	aside = current + ".before-restore-" + time.Now().UTC().Format("20060102T150405.000Z")
	r.into.settle()
	if err := os.Link(current, aside); err != nil {
		return "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(current+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, put(next, current)
}

// settle has SQLite put the write-ahead log that a killed server left into the database, if both are in order. What is not stays as it is.
func (f files) settle() {
	db, err := sql.Open("sqlite3", dsn(f.database, ""))
	if err != nil {
		return
	}
	defer db.Close()
	_, _ = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
}
