package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mattn/go-sqlite3"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// batchMost is how many closures share a transaction at most.
const batchMost = 256

// writer owns the writing connection; see the package comment.
type writer struct {
	log    *slog.Logger
	broken func(error)
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	jobs   chan *job
	done   chan struct{}

	closing sync.RWMutex // held for reading while a job is handed in
	closed  bool

	sealed    func(map[int64]*projectHead) // told after each commit, before anybody is answered
	followers followers
	committed func()       // called after each commit; must not wait
	commits   atomic.Int64 // transactions that held at least one change
	failed    error        // the disk failed: what is stored is unclear, and nothing is written any more
}

// job is one closure and what became of it.
type job struct {
	run  func(*tx) error
	err  error
	done chan struct{} // nil: nobody waits
	what string        // for the log, when nobody waits
}

// tx is the transaction that a closure writes to.
type tx struct {
	w        *writer
	projects map[int64]*projectHead
	changes  []Change
	writes   int
}

// projectHead is what each change of a project moves on. It is written back once, before the commit.
type projectHead struct {
	id       interaction.ID
	sequence int64
	audit    audit.Hash
	entry    int64 // sequence of the last audit entry that this transaction wrote
	sealed   int   // audit entries that it wrote
}

func newWriter(ctx context.Context, db *sql.DB, log *slog.Logger, broken func(error), committed func()) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if broken == nil {
		broken = func(err error) {
			log.Error("the disk failed; stopping rather than guessing what is stored", "err", err)
			os.Exit(1)
		}
	}
	w := &writer{
		log: log, broken: once(broken), conn: conn, committed: committed,
		stmts: map[string]*sql.Stmt{}, jobs: make(chan *job, 4*batchMost), done: make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// do runs a closure in a transaction and returns when it is committed, or was not. A caller that goes away does not undo it.
func (w *writer) do(ctx context.Context, run func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{run: run, done: make(chan struct{})}
	if err := w.hand(j); err != nil {
		return err
	}
	<-j.done
	return j.err
}

// later is do that does not wait for the disk; a failure is logged.
func (w *writer) later(what string, run func(*tx) error) {
	if err := w.hand(&job{run: run, what: what}); err != nil {
		w.log.Warn(what, "err", err)
	}
}

func (w *writer) hand(j *job) error {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return interaction.Errorf(interaction.Unavailable, "The server is stopping; nothing was recorded. Try again.")
	}
	w.jobs <- j
	return nil
}

// close finishes what was handed in. Then the connection is closed.
func (w *writer) close() error {
	w.closing.Lock()
	already := w.closed
	w.closed = true
	w.closing.Unlock()
	if !already {
		close(w.jobs)
	}
	<-w.done
	w.followers.close()
	for _, stmt := range w.stmts { // one that stays open keeps SQLite from putting the log into the database, and taking it away
		stmt.Close()
	}
	return w.conn.Close()
}

func (w *writer) loop() {
	defer close(w.done)
	batch := make([]*job, 0, batchMost)
	for j := range w.jobs {
		batch = w.gather(append(batch[:0], j))
		w.carryOut(batch)
	}
}

// gather takes what has queued up meanwhile. It waits for nobody, but lets those run who could: some are about to hand something in, and would
// otherwise wait for the next sync.
func (w *writer) gather(batch []*job) []*job {
	for before := 0; len(batch) > before && len(batch) < batchMost; {
		before = len(batch)
		runtime.Gosched()
		batch = w.take(batch)
	}
	return batch
}

// take appends what is queued.
func (w *writer) take(batch []*job) []*job {
	for len(batch) < batchMost {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// carryOut commits the batch and answers everybody in it. A job that failed after writing is answered alone, and the others run again.
func (w *writer) carryOut(batch []*job) {
	for len(batch) > 0 {
		t := &tx{w: w, projects: map[int64]*projectHead{}}
		spoiler, err := w.attempt(t, batch)
		if spoiler == nil {
			w.finish(t, batch, err)
			return
		}
		batch = slices.DeleteFunc(batch, func(j *job) bool { return j == spoiler })
		w.answer(spoiler)
	}
}

// attempt runs the batch in one transaction. It gives the job that spoilt it, if one did, or the error that beat them all.
func (w *writer) attempt(t *tx, batch []*job) (spoiler *job, err error) {
	if w.failed != nil {
		return nil, w.failed
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	if spoiler, err = t.runAll(batch); spoiler != nil || err != nil || t.writes == 0 {
		w.rollback()
		return spoiler, err
	}
	if err := errors.Join(t.writeHeads(), w.exec("COMMIT")); err != nil {
		w.rollback()
		return nil, err
	}
	w.commits.Add(1)
	w.sealed(t.projects)
	return nil, nil
}

// runAll runs the closures one after another, until one spoils the transaction or the disk fails.
func (t *tx) runAll(batch []*job) (spoiler *job, err error) {
	for _, j := range batch {
		before := t.writes
		j.err = t.runOne(j)
		if failed, _ := diskFailure(j.err); failed {
			return nil, j.err
		}
		if j.err != nil && t.writes > before {
			return j, nil
		}
	}
	return nil, nil
}

// runOne runs a closure. One that panics spoils the transaction like one that fails: others must not pay for it.
func (t *tx) runOne(j *job) (err error) {
	defer func() {
		if v := recover(); v != nil {
			t.writes++
			err = fmt.Errorf("panic in a transaction: %v", v)
		}
	}()
	return j.run(t)
}

// finish tells followers and callers. What a job found out holds only if the transaction that it looked at was committed.
func (w *writer) finish(t *tx, batch []*job, err error) {
	if err != nil {
		err = w.failure(err)
	} else {
		w.followers.tell(t.changes)
		w.committed()
	}
	for _, j := range batch {
		if err != nil {
			j.err = err
		}
		w.answer(j)
	}
}

// failure is what callers are told of an error of the transaction itself.
func (w *writer) failure(err error) error {
	if _, passing := diskFailure(err); passing {
		w.log.Warn("nothing can be written", "err", err)
		return &interaction.Error{Code: interaction.Unavailable, Message: "The disk is full, or the database is locked; nothing was recorded.", Err: err, RetryAfter: 5}
	}
	w.failed = err
	w.broken(err)
	return &interaction.Error{Code: interaction.Unavailable, Message: "The database failed; nothing was recorded.", Err: err}
}

// diskFailure says whether err is the database's own failure rather than a refusal of what was written, and whether it may pass: a
// full disk may get room again. Any other failure of the disk leaves it unclear what is stored.
func diskFailure(err error) (failed, passing bool) {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return false, false
	}
	switch e.Code {
	case sqlite3.ErrFull, sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrNomem:
		return true, true
	case sqlite3.ErrIoErr, sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrReadonly, sqlite3.ErrCantOpen:
		return true, false
	}
	return false, false
}

func (w *writer) answer(j *job) {
	switch {
	case j.done != nil:
		close(j.done)
	case j.err != nil:
		w.log.Error(j.what, "err", j.err)
	}
}

// rollback drops what was written. SQLite may have done so itself, which is as good.
func (w *writer) rollback() { _ = w.exec("ROLLBACK") }

func (w *writer) exec(text string) error {
	stmt, err := w.stmt(text)
	if err == nil {
		_, err = stmt.Exec()
	}
	return err
}

func (w *writer) stmt(text string) (*sql.Stmt, error) {
	if stmt := w.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	w.stmts[text] = stmt
	return stmt, nil
}

// exec writes, and gives the number of rows and the key of the last one inserted.
func (t *tx) exec(text string, args ...any) (sql.Result, error) {
	t.writes++
	stmt, err := t.w.stmt(text)
	if err != nil {
		return nil, err
	}
	result, err := stmt.Exec(args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return result, nil
}

// insert is exec that gives the key of the new row.
func (t *tx) insert(text string, args ...any) (int64, error) {
	result, err := t.exec(text, args...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// run is exec for its effect alone.
func (t *tx) run(text string, args ...any) error {
	_, err := t.exec(text, args...)
	return err
}

// row reads one row; none is a NotFound error.
func (t *tx) row(text string, args []any, into ...any) error {
	stmt, err := t.w.stmt(text)
	if err != nil {
		return err
	}
	return found(stmt.QueryRow(args...).Scan(into...))
}

// rows runs a query and calls scan for each row.
func (t *tx) rows(text string, args []any, scan func(*sql.Rows) error) error {
	stmt, err := t.w.stmt(text)
	if err != nil {
		return err
	}
	return eachRow(stmt, text, args, scan)
}

// head is the project's head as this transaction has moved it.
func (t *tx) head(project int64) (*projectHead, error) {
	if h := t.projects[project]; h != nil {
		return h, nil
	}
	var h projectHead
	var hash []byte
	if err := t.row("SELECT id, sequence, audit_head FROM projects WHERE key = ?", []any{project}, &h.id, &h.sequence, &hash); err != nil {
		return nil, err
	}
	copy(h.audit[:], hash)
	t.projects[project] = &h
	return &h, nil
}

// next takes the next sequence of a project.
func (t *tx) next(project int64) (int64, error) {
	h, err := t.head(project)
	if err != nil {
		return 0, err
	}
	t.writes++
	h.sequence++
	return h.sequence, nil
}

func (t *tx) writeHeads() error {
	for key, h := range t.projects {
		if err := t.run("UPDATE projects SET sequence = ?, audit_head = ? WHERE key = ?", h.sequence, h.audit[:], key); err != nil {
			return err
		}
	}
	return nil
}

// once calls f for the first error only.
func once(f func(error)) func(error) {
	var o sync.Once
	return func(err error) { o.Do(func() { f(err) }) }
}
