package store

import (
	"bytes"
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// When a head is recorded: after so many entries, and after so long when there was any.
const (
	recordEach  = 100
	recordAfter = time.Minute
	// syncApart keeps the syncs of the second file from slowing those of the database, under load.
	syncApart = time.Second
)

// recorder appends heads of the audit chains to the second file, beside the database and behind it: nobody waits for it, and a head is there only after
// what it stands for was committed. What it has not recorded when the process is killed is recorded at the next start.
type recorder struct {
	log  *slog.Logger
	path string
	list func(text string, args []any, scan func(*sql.Rows) error) error

	mu      sync.Mutex
	notes   []noted
	entries int // in notes
	wake    chan struct{}
	stop    chan struct{}
	ending  sync.Once
	done    chan struct{}

	// What follows is the goroutine's alone.
	file    *os.File
	size    int64
	last    string // hash of the last line
	chains  map[interaction.ID]*headOf
	due     []audit.Head
	failing bool
}

// noted is what one commit added to a project's chain.
type noted struct {
	project  interaction.ID
	entries  int
	sequence int64
	hash     audit.Hash
}

// headOf is how far a project's chain has come, and how far of it was recorded.
type headOf struct {
	entries  int
	sequence int64
	hash     string
	recorded int // entries
}

// newRecorder makes the file, if there is none, and starts.
func newRecorder(s *Store, path string) (*recorder, error) {
	r := &recorder{
		log: s.log, path: path, list: s.rows, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		chains: map[interaction.ID]*headOf{},
	}
	if err := r.ensure(); err != nil {
		return nil, fmt.Errorf("%s: %w", audit.HeadsFile, err)
	}
	go r.loop()
	return r, nil
}

// note takes what a transaction that was committed has appended.
func (r *recorder) note(projects map[int64]*projectHead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.entries
	for _, h := range projects {
		if h.sealed > 0 {
			r.notes = append(r.notes, noted{h.id, h.sealed, h.entry, h.audit})
			r.entries += h.sealed
		}
	}
	if before == 0 && r.entries > 0 || before < recordEach && r.entries >= recordEach {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

func (r *recorder) close() {
	r.ending.Do(func() { close(r.stop) })
	<-r.done
}

func (r *recorder) loop() {
	defer close(r.done)
	if err := errors.Join(r.reopen(), r.catchUp()); err != nil {
		r.fail(err)
	}
	pause := time.NewTimer(recordAfter)
	defer pause.Stop()
	for stopped := false; !stopped; {
		due := false
		select {
		case <-r.stop:
			stopped, due = true, true
		case <-pause.C:
			due = true
		case <-r.wake:
		}
		r.fold()
		if due {
			r.takeRest()
		}
		if r.write() {
			stopped = r.rest() || stopped
		}
		if due {
			pause.Reset(recordAfter)
		}
	}
	r.finish()
}

// rest waits until the file may be synced again; true: the server stops.
func (r *recorder) rest() (stopped bool) {
	pause := time.NewTimer(syncApart)
	defer pause.Stop()
	select {
	case <-r.stop:
		return true
	case <-pause.C:
		return false
	}
}

// finish records what is left, and closes the file.
func (r *recorder) finish() {
	r.fold()
	r.takeRest()
	r.write()
	if r.file != nil {
		r.file.Close()
	}
}

// fold takes up what was noted, and makes a head due for each hundred entries.
func (r *recorder) fold() {
	r.mu.Lock()
	notes := r.notes
	r.notes, r.entries = nil, 0
	r.mu.Unlock()
	for _, n := range notes {
		c := r.chains[n.project]
		if c == nil {
			c = &headOf{}
			r.chains[n.project] = c
		}
		if n.sequence <= c.sequence { // it was there when the database was read
			continue
		}
		c.entries, c.sequence, c.hash = c.entries+n.entries, n.sequence, n.hash.String()
		if c.entries-c.recorded >= recordEach {
			r.take(n.project, c)
		}
	}
}

func (r *recorder) take(project interaction.ID, c *headOf) {
	c.recorded = c.entries
	r.due = append(r.due, audit.Head{
		Kind: audit.Recorded, At: now(), Project: string(project), Entries: c.entries, Sequence: c.sequence, Hash: c.hash,
	})
}

// takeRest makes a head due for each project that has come further than was recorded.
func (r *recorder) takeRest() {
	for project, c := range r.chains {
		if c.entries > c.recorded {
			r.take(project, c)
		}
	}
}

func now() string { return time.Now().UTC().Format(interaction.TimeFormat) }

// dueMost bounds what is kept while the file cannot be written.
const dueMost = 10_000

// write appends what is due, and syncs it. What could not be written stays due.
func (r *recorder) write() (wrote bool) {
	if len(r.due) == 0 {
		return false
	}
	if err := r.append(r.due...); err != nil {
		r.fail(err)
		r.due = r.due[max(0, len(r.due)-dueMost):]
		return false
	}
	r.due, r.failing = nil, false
	return true
}

// fail is logged once, until it goes well again.
func (r *recorder) fail(err error) {
	if !r.failing {
		r.log.Error("heads of the audit log cannot be recorded; answers are not affected", "file", r.path, "err", err)
	}
	r.failing = true
}

// append writes lines whole or not at all.
func (r *recorder) append(heads ...audit.Head) error {
	if err := r.check(); err != nil {
		return err
	}
	var all []byte
	last := r.last
	for _, h := range heads {
		line, hash, err := h.Line(last)
		if err != nil {
			return err
		}
		all, last = append(all, line...), hash
	}
	_, err := r.file.Write(all)
	if err = errors.Join(err, r.file.Sync()); err != nil {
		return errors.Join(err, r.file.Truncate(r.size))
	}
	r.size, r.last = r.size+int64(len(all)), last
	return nil
}

// check makes sure that what is appended to is what others will read. A line that was changed or taken out meanwhile stays told: the next one
// carries the hash of what stood there.
func (r *recorder) check() error {
	there, err := os.Stat(r.path)
	if errors.Is(err, fs.ErrNotExist) || r.file == nil {
		r.log.Error("the file with the heads of the audit log was removed, and is begun anew", "file", r.path)
		return errors.Join(r.ensure(), r.reopen())
	}
	if err != nil {
		return err
	}
	ours, err := r.file.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(there, ours) {
		r.file.Close()
		if r.file, err = os.OpenFile(r.path, os.O_RDWR|os.O_APPEND, 0o600); err != nil {
			return err
		}
	}
	r.size = there.Size()
	return nil
}

// ensure begins the file, if there is none.
func (r *recorder) ensure() error {
	if _, err := os.Stat(r.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	begun := audit.Head{Kind: audit.Begun, At: now()}
	err := r.list("SELECT EXISTS (SELECT 1 FROM projects WHERE audit_head IS NOT NULL)", nil, func(rows *sql.Rows) error { return rows.Scan(&begun.InUse) })
	if err != nil {
		return err
	}
	line, _, err := begun.Line("")
	if err != nil {
		return err
	}
	return writeFile(r.path, bytes.NewReader(line))
}

// reopen reads the file through, and cuts off a line that was never finished.
func (r *recorder) reopen() (err error) {
	if r.file != nil {
		r.file.Close()
	}
	if r.file, err = os.OpenFile(r.path, os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	lines := audit.NewHeadReader(r.file)
	log, err := audit.ReadHeads(lines)
	var damage *audit.Finding
	if errors.As(err, &damage) {
		r.log.Error("the file with the heads of the audit log was tampered with; run `sayso verify`", "file", r.path, "what", damage.What)
		return r.behindDamage()
	}
	if err != nil {
		return err
	}
	for project, h := range log.Last {
		r.chains[interaction.ID(project)] = &headOf{h.Entries, h.Sequence, h.Hash, h.Entries}
	}
	r.size, r.last = lines.Position()
	return r.file.Truncate(r.size)
}

// behindDamage finds the last line of a file in which one before does not fit.
func (r *recorder) behindDamage() error {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	if r.size = int64(end); end > 0 {
		start := bytes.LastIndexByte(text[:end-1], '\n') + 1
		r.last = audit.LineHash(text[start : end-1])
	}
	return r.file.Truncate(r.size)
}

// catchUp finds out how far each chain has come since its last recorded head.
func (r *recorder) catchUp() error {
	type project struct {
		key  int64
		id   interaction.ID
		head audit.Hash
	}
	var all []project
	err := r.list("SELECT key, id, audit_head FROM projects WHERE audit_head IS NOT NULL", nil, func(rows *sql.Rows) error {
		var p project
		var head []byte
		err := rows.Scan(&p.key, &p.id, &head)
		copy(p.head[:], head)
		all = append(all, p)
		return err
	})
	for n := 0; n < len(all) && err == nil; n++ {
		if c := r.chains[all[n].id]; c == nil || c.hash != all[n].head.String() {
			err = r.countOn(all[n].key, all[n].id)
		}
	}
	return err
}

// errEnough ends a query early.
var errEnough = errors.New("enough")

// countOn counts the entries of a chain from its end back to its last recorded head.
func (r *recorder) countOn(key int64, project interaction.ID) error {
	from := cmp.Or(r.chains[project], &headOf{})
	c := headOf{recorded: from.recorded}
	met := from.entries == 0
	err := r.list("SELECT sequence, hash FROM audit_entries WHERE project = ? ORDER BY key DESC", []any{key}, func(rows *sql.Rows) error {
		var sequence int64
		var hash []byte
		if err := rows.Scan(&sequence, &hash); err != nil {
			return err
		}
		if sequence == from.sequence && audit.Hash(hash).String() == from.hash {
			met = true
			c.entries += from.entries
			return errEnough
		}
		if c.entries++; c.hash == "" {
			c.sequence, c.hash = sequence, audit.Hash(hash).String()
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if c.hash == "" {
		c.sequence, c.hash = from.sequence, from.hash
	}
	if !met {
		r.log.Error("the database does not hold the head that was recorded last: it may be an older copy; run `sayso verify`",
			"project", project, "recorded_at_sequence", from.sequence)
		c.recorded = 0
	}
	r.chains[project] = &c
	return nil
}

// writeFile writes a file so that it is there whole or not at all, for its owner's eyes only, and syncs its folder.
func writeFile(path string, content io.Reader) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return put(f.Name(), path)
}

// put renames a file to where it belongs, and syncs that folder.
func put(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
