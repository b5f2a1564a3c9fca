package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-sqlite3"
)

// The index is what the audit is listed, summed up and searched by: one narrow row for each interaction and each decision by policy, in the
// order in which the audit log has them, and the words of each. It is a file of its own, index.db, and holds nothing that is not in the
// database: it follows the audit log from the place that it has written down, after the commits, so no answer waits for it. Whoever reads it
// has it catch up first. It may be deleted while the server is stopped; the next start makes it anew, as it does when the file is broken, was
// made by another version, or belongs to another history of the database, such as a backup that was put back.

// indexFile is its name in the data folder.
const indexFile = "index.db"

// indexVersion changes with indexSchema and with what is written by it.
const indexVersion = "1"

const indexSchema = `
CREATE TABLE meta (version TEXT NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL);
CREATE TABLE listed (
  key         INTEGER PRIMARY KEY, -- of the audit entry of its creation
  project     INTEGER NOT NULL,
  agent       INTEGER NOT NULL,
  interaction INTEGER UNIQUE,      -- NULL: a decision by policy
  decision    INTEGER,
  entry       INTEGER NOT NULL,    -- the last audit entry about it
  kind        TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  reason      TEXT NOT NULL DEFAULT '',
  who         TEXT NOT NULL DEFAULT '',
  actor       TEXT NOT NULL DEFAULT '',
  channel     TEXT NOT NULL DEFAULT '',
  message     INTEGER,             -- input that superseded it
  at          INTEGER NOT NULL,
  open_ms     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX listed_project ON listed (project);
CREATE INDEX listed_outcome ON listed (project, outcome);
CREATE INDEX listed_reason  ON listed (project, reason) WHERE reason <> '';
CREATE INDEX listed_agent   ON listed (agent);
CREATE INDEX listed_agent_outcome ON listed (agent, outcome);
INSERT INTO meta VALUES (?, 0, x'');`

// wordsSchema keeps where each word is and not the text itself.
const wordsSchema = `CREATE VIRTUAL TABLE words USING fts5(text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2')`

const (
	indexBatch = 500                    // audit entries that a transaction of the index takes in
	indexPause = 200 * time.Millisecond // that it lets changes gather for
	indexShare = 24                     // it pauses so many times as long as it worked, while others write
	indexWait  = 2 * time.Second        // that a reader waits for it at most
)

// index follows the audit log; see above.
type index struct {
	store    *Store
	log      *slog.Logger
	db       *sql.DB
	conn     *sql.Conn // the one that writes it
	stmts    map[string]*sql.Stmt
	words    bool // this program can search for words
	wake     chan struct{}
	wanted   chan struct{}
	ctx      context.Context // done when it is to stop
	cancel   context.CancelFunc
	done     chan struct{}
	waiting  atomic.Int32 // readers that wait
	position atomic.Int64 // key of the last audit entry taken in

	mu    sync.Mutex
	moved chan struct{} // closed when the position has moved
}

// openIndex opens the file of the index beside the database, or makes it. Call [index.follow] when the store can be read.
func openIndex(ctx context.Context, path string, s *Store) (*index, error) {
	x := &index{store: s, log: s.log, wake: make(chan struct{}, 1), wanted: make(chan struct{}, 1), moved: make(chan struct{})}
	err := x.open(ctx, path)
	if err == nil {
		return x, nil
	}
	s.log.Warn("the index of the audit is made anew", "why", err)
	return x, errors.Join(x.remove(path), x.open(ctx, path))
}

// open uses the file if it is of this version.
func (x *index) open(ctx context.Context, path string) (err error) {
	// A commit that a power cut takes back is taken in again, so the disk is not waited for.
	at := "file:" + url.PathEscape(path) + "?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=5000"
	x.db = sql.OpenDB(connector{dsn: at})
	x.db.SetMaxOpenConns(1)
	x.stmts = map[string]*sql.Stmt{}
	if err := x.db.QueryRowContext(ctx, "SELECT sqlite_compileoption_used('ENABLE_FTS5')").Scan(&x.words); err != nil {
		return err
	}
	var tables int
	if err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return x.create(ctx)
	}
	var version string
	var position int64
	if err := x.db.QueryRowContext(ctx, "SELECT version, position FROM meta").Scan(&version, &position); err != nil {
		return err
	}
	if version != x.version() {
		return fmt.Errorf("it is of version %s, and this program makes %s", version, x.version())
	}
	x.position.Store(position)
	return nil
}

// version tells indexes with words from those without.
func (x *index) version() string {
	if x.words {
		return indexVersion + " with words"
	}
	return indexVersion
}

func (x *index) create(ctx context.Context) error {
	t, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if _, err := t.Exec(indexSchema, x.version()); err != nil {
		return err
	}
	if x.words {
		if _, err := t.Exec(wordsSchema); err != nil {
			return err
		}
	}
	return t.Commit()
}

// remove deletes the file, and what SQLite has beside it.
func (x *index) remove(path string) error {
	errs := []error{x.db.Close()}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	x.position.Store(0)
	return errors.Join(errs...)
}

// belongs says whether the index was made from the database as it now is.
func (x *index) belongs(ctx context.Context) error {
	if x.position.Load() == 0 {
		return nil
	}
	var hash, there []byte
	if err := x.db.QueryRowContext(ctx, "SELECT hash FROM meta").Scan(&hash); err != nil {
		return err
	}
	err := x.store.row("SELECT hash FROM audit_entries WHERE key = ?", []any{x.position.Load()}, &there)
	if err != nil || string(hash) != string(there) {
		return errors.New("it was made from another history of the database")
	}
	return nil
}

// follow begins to take in what the audit log has and gets.
func (x *index) follow(ctx context.Context) (err error) {
	if x.conn, err = x.db.Conn(ctx); err != nil {
		return err
	}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.done = make(chan struct{})
	go x.loop()
	x.committed()
	return nil
}

// committed says that something was written. It never waits.
func (x *index) committed() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

func (x *index) close() error {
	if x == nil {
		return nil
	}
	if x.cancel != nil {
		x.cancel()
		<-x.done
		x.conn.Close()
	}
	return x.db.Close()
}

func (x *index) loop() {
	defer close(x.done)
	pause, commits := indexPause, x.store.Commits()
	for x.due(pause) {
		began, before := time.Now(), commits
		more, err := x.takeIn()
		if err != nil {
			x.log.Error("index of the audit", "err", err)
		}
		switch commits = x.store.Commits(); {
		case commits != before: // others write
			pause = max(indexPause, indexShare*time.Since(began))
		case more:
			pause = 0
		default:
			pause = indexPause
		}
		if more {
			x.committed()
		}
	}
}

// due waits until there is something to take in and it is time to: after the pause, or at once if a reader waits. It is false in the end.
func (x *index) due(pause time.Duration) bool {
	select {
	case <-x.ctx.Done():
		return false
	case <-x.wanted:
		return true
	case <-x.wake:
	}
	if x.waiting.Load() > 0 {
		return true
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-x.ctx.Done():
		return false
	case <-x.wanted:
	case <-timer.C:
	}
	return true
}

// want has the next step come without a pause.
func (x *index) want() {
	select {
	case x.wanted <- struct{}{}:
	default:
	}
}

// CatchUp has the index take in what was written until now; see [interaction.Store].
func (s *Store) CatchUp(ctx context.Context) (missing int64, err error) {
	var last sql.NullInt64
	if err := s.row("SELECT max(key) FROM audit_entries", nil, &last); err != nil {
		return 0, err
	}
	x := s.index
	if x.position.Load() >= last.Int64 {
		return 0, nil
	}
	x.waiting.Add(1)
	defer x.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	for {
		moved := x.motion()
		if missing = last.Int64 - x.position.Load(); missing <= 0 {
			return 0, nil
		}
		x.want()
		select {
		case <-moved:
		case <-ctx.Done():
			return missing, nil
		case <-x.done:
			return missing, nil
		}
	}
}

// motion is closed when the position moves next.
func (x *index) motion() chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.moved
}

// moveTo tells readers how far the index is.
func (x *index) moveTo(position int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.position.Store(position)
	close(x.moved)
	x.moved = make(chan struct{})
}

// attach makes the index readable as idx on a connection that reads.
func attach(folder string) func(*sqlite3.SQLiteConn) error {
	return func(conn *sqlite3.SQLiteConn) error {
		if err := checkPragmas(conn); err != nil {
			return err
		}
		_, err := conn.Exec("ATTACH DATABASE ? AS idx", []driver.Value{filepath.Join(folder, indexFile)})
		return err
	}
}
