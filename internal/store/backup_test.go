package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// backedUp makes a backup of a folder, and gives its name.
func backedUp(t testing.TB, folder string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.db")
	r, err := Backup(t.Context(), folder, path, false)
	if must(t, err); !r.OK {
		t.Fatalf("backup: %v", r.Finding)
	}
	return path
}

func TestBackupWhileServing(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	agent := newAgent(t, s)
	settled(t, s, asked(t, s, agent, interaction.Ask{}).ID, denial("no"))
	path := backedUp(t, folder)
	settled(t, s, asked(t, s, agent, interaction.Ask{}).ID, denial("no"))
	for _, name := range []string{path, path + BackupHeads} {
		info, err := os.Stat(name)
		if must(t, err); info.Mode().Perm() != 0o600 {
			t.Errorf("%s may be read by others: %v", name, info.Mode())
		}
	}
	r, err := VerifyBackup(t.Context(), path, "")
	if must(t, err); !r.OK || r.Entries != 2 {
		t.Errorf("the backup: %+v, %v", r, r.Finding)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if must(t, err); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Backup(t.Context(), folder, path, false); !errors.Is(err, ErrThere) {
		t.Errorf("over the first one: %v", err)
	}
	if r, err = Backup(t.Context(), folder, path, true); err != nil || r.Entries != 4 {
		t.Errorf("over the first one, as wished: %+v, %v", r, err)
	}
}

func TestBackupRefusesWhatDoesNotHold(t *testing.T) {
	folder := history(t)
	change(t, folder, "UPDATE ends SET actor_name = 'Eve' WHERE interaction = 1")
	path := filepath.Join(t.TempDir(), "backup.db")
	r, err := Backup(t.Context(), folder, path, false)
	if must(t, err); r.OK || r.Finding.Entry != 2 {
		t.Errorf("a tampered database: %+v", r)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if must(t, err); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestVerifyBackupFindsTampering(t *testing.T) {
	path := backedUp(t, history(t))
	renamed := filepath.Join(filepath.Dir(path), databaseFile)
	must(t, os.Rename(path, renamed))
	must(t, os.Rename(path+BackupHeads, renamed+BackupHeads))
	change(t, filepath.Dir(path), "UPDATE ends SET actor_name = 'Eve' WHERE interaction = 1")
	r, err := VerifyBackup(t.Context(), renamed, "")
	if must(t, err); r.OK || r.Finding.Entry != 2 {
		t.Errorf("a tampered backup: %+v", r)
	}
	must(t, os.WriteFile(renamed, []byte("nothing of the kind"), 0o600))
	if r, err := VerifyBackup(t.Context(), renamed, ""); err == nil {
		t.Errorf("no database: %+v", r)
	}
}

func restored(t testing.TB, folder, path string) Restoration {
	t.Helper()
	done, err := Restore(t.Context(), folder, path)
	if must(t, err); !done.Report.OK {
		t.Fatalf("restore: %v", done.Report.Finding)
	}
	return done
}

// noted checks that a verification finds nothing, and says this.
func remarks(t testing.TB, folder string, notes ...string) {
	t.Helper()
	r := report(t, folder)
	if !r.OK || len(r.Notes) != len(notes) {
		t.Fatalf("%+v, %v; want the notes %q", r, r.Finding, notes)
	}
	for n, want := range notes {
		if !strings.Contains(r.Notes[n].Message, want) {
			t.Errorf("note %q, want %q", r.Notes[n].Message, want)
		}
	}
}

func TestRestoreIsTold(t *testing.T) {
	folder := history(t)
	path := backedUp(t, folder)
	more(t, folder)
	more(t, folder)
	done := restored(t, folder, path)
	remarks(t, folder, "a backup that ends at entry 15; 4 entries after it are gone")
	r, err := files{database: done.Aside}.verify(t.Context(), "")
	if must(t, err); !r.OK || r.Entries != 19 {
		t.Errorf("the old database: %+v", r)
	}
	more(t, folder) // a server goes on with it
	remarks(t, folder, "4 entries after it are gone")
	if r := report(t, folder); r.Entries != 17 {
		t.Errorf("%d entries after the restore", r.Entries)
	}
	// A second one, of the same backup, gives up what came since.
	restored(t, folder, path)
	remarks(t, folder, "4 entries after it are gone", "2 entries after it are gone")
}

func TestRestoreKnowsWhatWasNotRecorded(t *testing.T) {
	folder := history(t)
	path := backedUp(t, folder)
	s := open(t, folder)
	settled(t, s, asked(t, s, newAgent(t, s), interaction.Ask{}).ID, denial("no"))
	killed := copied(t, folder) // as it is when the process is killed: all in the write-ahead log, and no head recorded
	done := restored(t, killed, path)
	remarks(t, killed, "2 entries after it are gone")
	r, err := files{database: done.Aside}.verify(t.Context(), "")
	if must(t, err); !r.OK || r.Entries != 17 {
		t.Errorf("the old database: %+v", r)
	}
}

func TestRestoreNeedsTheFolder(t *testing.T) {
	folder := t.TempDir()
	open(t, folder)
	if _, err := Restore(t.Context(), folder, backedUp(t, history(t))); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("under a running server: %v", err)
	}
}

func TestRestoreElsewhere(t *testing.T) {
	path := backedUp(t, history(t))
	t.Run("into an empty folder", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "new")
		if done := restored(t, folder, path); done.Aside != "" {
			t.Errorf("set aside: %s", done.Aside)
		}
		remarks(t, folder, "no later entry is known to be gone")
		more(t, folder)
		remarks(t, folder, "no later entry is known to be gone")
	})
	t.Run("without the second file", func(t *testing.T) {
		must(t, os.Rename(path+BackupHeads, path+".else"))
		defer os.Rename(path+".else", path+BackupHeads)
		folder := t.TempDir()
		restored(t, folder, path)
		remarks(t, folder, "was begun on", "is not known")
	})
	t.Run("over another history", func(t *testing.T) {
		folder := history(t)
		restored(t, folder, path)
		r := report(t, folder)
		if !r.OK || len(r.Notes) != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	base := history(t)
	path := backedUp(t, base)
	more(t, base)
	for _, c := range []struct {
		name string
		do   func(t *testing.T, folder, path string)
		says string
	}{
		{"a tampered backup", func(t *testing.T, _, path string) {
			must(t, os.Rename(path, filepath.Join(filepath.Dir(path), databaseFile)))
			change(t, filepath.Dir(path), "UPDATE ends SET actor_name = 'Eve' WHERE interaction = 1")
			must(t, os.Rename(filepath.Join(filepath.Dir(path), databaseFile), path))
		}, "Eve"},
		{"a backup written anew", func(t *testing.T, _, path string) {
			must(t, os.Rename(path, filepath.Join(filepath.Dir(path), databaseFile)))
			change(t, filepath.Dir(path), "UPDATE ends SET actor_name = 'Eve' WHERE actor_name = 'Dana'")
			reseal(t, filepath.Dir(path), 1, "Dana", "Eve")
			must(t, os.Rename(filepath.Join(filepath.Dir(path), databaseFile), path))
			must(t, os.Remove(path+BackupHeads))
		}, "is not the one that"},
		{"a second file that was changed", func(t *testing.T, folder, _ string) {
			must(t, os.WriteFile(filepath.Join(folder, audit.HeadsFile), []byte("x\n"), 0o600))
		}, "line 1 is not a line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, path := copied(t, base), filepath.Join(copied(t, filepath.Dir(path)), filepath.Base(path))
			c.do(t, folder, path)
			before, err := os.ReadFile(filepath.Join(folder, databaseFile))
			must(t, err)
			done, err := Restore(t.Context(), folder, path)
			if err != nil || done.Report.OK || !strings.Contains(done.Report.Finding.Error(), c.says) {
				t.Errorf("%+v, %v", done, err)
			}
			after, err := os.ReadFile(filepath.Join(folder, databaseFile))
			if must(t, err); string(before) != string(after) {
				t.Error("the database was changed")
			}
		})
	}
}
