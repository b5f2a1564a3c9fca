package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sayso/internal/audit"
)

// databaseFile is the name of the database in a data folder.
const databaseFile = "sayso.db"

func filesIn(folder string) files {
	return files{filepath.Join(folder, databaseFile), filepath.Join(folder, audit.HeadsFile)}
}

// recordedHeads is the second file as it was when it was opened. What is appended later is not looked at.
type recordedHeads struct {
	file   *os.File // nil: there is none
	lines  int64    // bytes of the lines that follow one another
	log    audit.HeadLog
	damage *audit.Finding // the first line that does not
	absent bool           // it should be there
}

// openHeads reads the second file through. path "": there need not be one.
func openHeads(path string) (*recordedHeads, error) {
	r := &recordedHeads{}
	if path == "" {
		return r, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.absent = true
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.file = f
	lines := audit.NewHeadReader(f)
	if r.log, err = audit.ReadHeads(lines); err != nil && !errors.As(err, &r.damage) {
		return nil, errors.Join(err, f.Close())
	}
	r.lines, _ = lines.Position()
	return r, nil
}

func (r *recordedHeads) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// of gives the heads that a project's chain must hold; nil: there are none to be held against it, or somebody changed them.
func (r *recordedHeads) of(project string) audit.HeadSource {
	if r.file == nil || r.damage != nil {
		return nil
	}
	return &audit.ProjectHeads{Project: project, Lines: audit.NewHeadReader(io.NewSectionReader(r.file, 0, r.lines)), Restores: r.log.Restores}
}

// allOf checks that each project that heads were recorded of is there.
func (r *recordedHeads) allOf(projects []*chain) error {
	if r.damage != nil {
		return nil
	}
	there := map[string]bool{}
	for _, c := range projects {
		there[c.Project] = true
	}
	for id, h := range r.log.Last {
		if !there[id] && h.Entries > 0 {
			return &audit.Finding{Project: id, What: fmt.Sprintf(
				"%s records at %s that the project had %d entries; the project is not stored any more", audit.HeadsFile, h.At, h.Entries)}
		}
	}
	return nil
}

// finding is what is wrong with the file itself, when the database has so many entries.
func (r *recordedHeads) finding(entries int) *audit.Finding {
	switch {
	case r.damage != nil:
		return r.damage
	case entries > 0 && (r.absent || r.file != nil && r.log.Lines == 0):
		return &audit.Finding{What: fmt.Sprintf("%s is not there, or empty, and the database has %d entries: whether it is an older copy cannot be told. "+
			"The server begins the file when it starts", audit.HeadsFile, entries)}
	}
	return nil
}
