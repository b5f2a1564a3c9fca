// Package store keeps everything on disk: all SQL of the product is here.
//
// # The promise
//
// Acknowledged means on disk. A method that writes returns after its transaction was committed with synchronous=FULL; a process that is
// killed at any moment loses nothing it acknowledged and leaves nothing half-written.
//
// # One writer
//
// SQLite takes one writer at a time, and a commit costs one sync of the disk whatever it holds. So a single goroutine owns the one
// writing connection (writer.go). Callers hand it closures; it runs those that have come together in one transaction, commits, and then
// answers them all. A lone caller waits for nothing, many share a sync. A closure that fails after it has written has the whole
// transaction rolled back and the others run again without it, so closures must do nothing but write to their transaction.
//
// Reads go to a pool of read-only connections and never wait for the writer.
//
// # What is told to others
//
// Each project has a sequence, taken inside the transaction, so that its order is the order of commits. After the commit, and only
// then, the changes are handed to [Store.Follow], in that order. Nothing else publishes.
//
// Conversations change in turns (conversation.go): a closure reads what it needs and gives the list of what is to be written, and both happen in
// one transaction.
//
// An interaction is a narrow row that changes once, beside rows that are only appended: its head, its end, and how far the answer got.
// Triggers refuse to change what is final. Heads never change, so the decoded ones may be kept in memory.
//
// # Audit and search
//
// What the audit lists, sums up and searches is an index in a file of its own, which follows the audit log (index.go). The database has no
// index for it, so nothing that is written waits for it.
package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"

	"sayso/internal/interaction"
)

//go:embed migrations/*.sql
var migrations embed.FS

// readers is how many connections read at once.
const readers = 4

// Store is one SQLite database in a folder. It implements [interaction.Store] and the store of package auth.
type Store struct {
	log      *slog.Logger
	lock     *os.File
	read     *sql.DB
	write    *sql.DB
	writer   *writer
	index    *index
	stmts    sync.Map // query text → *sql.Stmt of the read pool
	projects names
	agents   names
	heads    heads
	files    files
	recorder *recorder
	refs     sync.Map // org and project as a caller spells them → interaction.Project
}

var _ interaction.Store = (*Store)(nil)

// Options are what a Store may be told.
type Options struct {
	Log *slog.Logger
	// Broken is called, once, when the disk fails in a way that leaves it unclear what is stored. The process should end: nothing is
	// acknowledged any more. nil: the process exits at once.
	Broken func(error)
}

// Open opens the database in folder, making or migrating it as needed, and takes it for this process alone.
func Open(ctx context.Context, folder string, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	lock, err := takeFolder(folder)
	if err != nil {
		return nil, err
	}
	s := &Store{log: o.Log, lock: lock, files: filesIn(folder)}
	if err := s.open(ctx, s.files.database, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, path string, o Options) error {
	s.write = sql.OpenDB(connector{dsn: dsn(path, "&_txlock=immediate"), ready: checkPragmas})
	s.write.SetMaxOpenConns(1)
	if err := migrate(ctx, s.write); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil { // also where the folder was there before, and is open to others; the files beside it follow
		return fmt.Errorf("database: %w", err)
	}
	if err := s.openReaders(ctx, path); err != nil {
		return err
	}
	w, err := newWriter(ctx, s.write, o.Log, o.Broken, s.index.committed)
	if err != nil {
		return err
	}
	s.writer = w
	s.projects = names{query: "SELECT id FROM projects WHERE key = ?"}
	s.agents = names{query: "SELECT id FROM agents WHERE key = ?"}
	if s.recorder, err = newRecorder(s, s.files.heads); err != nil {
		return err
	}
	w.sealed = s.recorder.note
	return errors.Join(s.seed(ctx), s.index.follow(ctx))
}

// openReaders opens the index and the connections that read, which see both. An index of another history is made anew.
func (s *Store) openReaders(ctx context.Context, path string) (err error) {
	at := filepath.Join(filepath.Dir(path), indexFile)
	if s.index, err = openIndex(ctx, at, s); err != nil {
		return fmt.Errorf("%s: %w", indexFile, err)
	}
	if !s.index.words {
		s.log.Warn("built without full-text search, so nothing can be searched for; build with make, or with -tags sqlite_fts5")
	}
	s.attachReaders(path)
	if err := s.index.belongs(ctx); err != nil {
		s.log.Warn("the index of the audit is made anew", "why", err)
		s.stmts.Clear()
		if err := errors.Join(s.read.Close(), s.index.remove(at), s.index.open(ctx, at)); err != nil {
			return fmt.Errorf("%s: %w", indexFile, err)
		}
		s.attachReaders(path)
	}
	return nil
}

func (s *Store) attachReaders(path string) {
	s.read = sql.OpenDB(connector{dsn: dsn(path, "&_query_only=true"), ready: attach(filepath.Dir(path))})
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
}

// Close finishes what was handed in, and closes the database.
func (s *Store) Close() error {
	var errs []error
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.recorder != nil {
		s.recorder.close()
	}
	errs = append(errs, s.index.close())
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Ping says whether the database can be read.
func (s *Store) Ping(ctx context.Context) error { return s.read.PingContext(ctx) }

// Commits is how many transactions have been committed since the store was opened. Changes that came together share one.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }

// takeFolder makes sure that no other process has the database: SQLite would allow it, and the sequence, the followers and the
// deadlines would not survive it.
func takeFolder(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(folder, "sayso.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("data folder %s is in use by another sayso; stop that one, or choose another folder with --data", folder)
	}
	return f, nil
}

func dsn(path, more string) string {
	return "file:" + url.PathEscape(path) + "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_foreign_keys=on" + more
}

// connector opens connections. Those of the database are ready by [checkPragmas].
type connector struct {
	dsn   string
	ready func(*sqlite3.SQLiteConn) error // checks and prepares a new connection
}

func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	d := &sqlite3.SQLiteDriver{ConnectHook: c.ready}
	return d.Open(c.dsn)
}

// checkPragmas refuses a connection that does not keep the promise: go-sqlite3's own default for WAL would lose acknowledged answers when
// the power fails.
func checkPragmas(conn *sqlite3.SQLiteConn) error {
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1"} {
		got, err := pragmaValue(conn, pragma)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("SQLite has %s=%s where %s is needed to keep answers safe", pragma, got, want)
		}
	}
	return nil
}

func pragmaValue(conn *sqlite3.SQLiteConn, pragma string) (string, error) {
	rows, err := conn.Query("PRAGMA "+pragma, nil)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	value := make([]driver.Value, 1)
	if err := rows.Next(value); err != nil {
		return "", err
	}
	if text, ok := value[0].([]byte); ok {
		return string(text), nil
	}
	return fmt.Sprint(value[0]), nil
}

// migrate brings the schema forward. A schema that a newer program made is refused rather than guessed at.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	has, target, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if has > target {
		return fmt.Errorf("the database has schema %d, made by a newer sayso; this one knows up to %d. Run the newer program", has, target)
	}
	if _, err := p.Up(ctx); err != nil {
		if failed, _ := diskFailure(err); failed {
			return errors.New("the database cannot be written: is there room on the disk of the data folder, and may we write there? (" + rootCause(err) + ")")
		}
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// rootCause is what SQLite said.
func rootCause(err error) string {
	var e sqlite3.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}

// query is a prepared statement of the read pool.
//
// Statements of several tables say +? where ? would do. SQLite lets the value of a bare parameter bear on the plan, and go-sqlite3 clears the
// old value before each use, so that the statement would be parsed anew each time: that took as long as all the rest of an answer.
func (s *Store) query(text string) (*sql.Stmt, error) {
	if stmt, ok := s.stmts.Load(text); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := s.read.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	if other, loaded := s.stmts.LoadOrStore(text, stmt); loaded {
		stmt.Close()
		return other.(*sql.Stmt), nil
	}
	return stmt, nil
}

// rows runs a query and calls scan for each row. Queries are short, so they are not interrupted when the caller goes away: go-sqlite3
// would start a goroutine for each to watch for that.
func (s *Store) rows(text string, args []any, scan func(*sql.Rows) error) error {
	stmt, err := s.query(text)
	if err != nil {
		return err
	}
	return eachRow(stmt, text, args, scan)
}

func eachRow(stmt *sql.Stmt, text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := stmt.Query(args...)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// row runs a query for one row; none is a NotFound error.
func (s *Store) row(text string, args []any, into ...any) error {
	stmt, err := s.query(text)
	if err != nil {
		return err
	}
	return found(stmt.QueryRow(args...).Scan(into...))
}

// keyOrNull is a reference that may be missing.
func keyOrNull(key int64) any {
	if key == 0 {
		return nil
	}
	return key
}

func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return interaction.Errorf(interaction.NotFound, "Not found.")
	}
	return err
}

// names remembers which public id an integer key stands for; neither ever changes.
type names struct {
	query string
	known sync.Map
}

// reader reads one row: on the read pool, or on the writer's connection inside its transaction. Whoever holds a connection must read on
// that one: waiting for another while holding one is how a pool locks up.
type reader func(text string, args []any, into ...any) error

func (n *names) of(read reader, key int64) (interaction.ID, error) {
	if id, ok := n.known.Load(key); ok {
		return id.(interaction.ID), nil
	}
	var id interaction.ID
	if err := read(n.query, []any{key}, &id); err != nil {
		return "", err
	}
	n.known.Store(key, id)
	return id, nil
}

func ms(t time.Time) int64 { return t.UnixMilli() }

func fromMS(at int64) time.Time { return time.UnixMilli(at).UTC() }

// msOrNull is a time that may be missing.
func msOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return ms(t)
}

func fromNull(at sql.NullInt64) time.Time {
	if !at.Valid {
		return time.Time{}
	}
	return fromMS(at.Int64)
}

// textOrNull is a text that may be missing.
func textOrNull[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}
