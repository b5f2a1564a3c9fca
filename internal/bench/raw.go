package main

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// raw is the product's own schema on the bare driver: one connection, prepared statements, no database/sql, every commit synced. It writes
// the rows that the product writes and decides nothing.
type raw struct {
	conn       driver.Conn
	statements map[string]driver.Stmt
	sequence   int64
	sample     sample
}

// sample is what the product wrote for one interaction, to be written again.
type sample struct{ head, end, created, answered, hash []byte }

func openRaw(folder, pragmas string) (*raw, error) {
	path := url.PathEscape(filepath.Join(folder, "sayso.db"))
	conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + path + "?_journal_mode=WAL&_foreign_keys=on" + pragmas)
	if err != nil {
		return nil, err
	}
	return &raw{conn: conn, statements: map[string]driver.Stmt{}}, nil
}

// durable is what the product asks of a connection that writes.
const durable = "&_synchronous=FULL"

// openSample opens a store in which the product has answered one interaction, for writing more of the same.
func openSample(folder string) (*raw, error) {
	r, err := openRaw(folder, durable)
	if err != nil {
		return nil, err
	}
	const written = `SELECT r.head, e.record, a.entry, b.entry, a.hash, p.sequence FROM ends e JOIN requests r ON r.interaction = e.interaction
		JOIN events v ON v.interaction = e.interaction AND v.kind = 'interaction_created' JOIN audit_entries a ON a.sequence = v.sequence
		JOIN audit_entries b ON b.sequence = e.sequence JOIN projects p ON p.key = 1 LIMIT 1`
	row, err := r.row(written)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sample: %w", err), r.close())
	}
	s := &r.sample
	s.head, s.end, s.created, s.answered, s.hash = row[0].([]byte), row[1].([]byte), row[2].([]byte), row[3].([]byte), row[4].([]byte)
	r.sequence = row[5].(int64)
	return r, nil
}

func (r *raw) close() error {
	var errs []error
	for _, s := range r.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, r.conn.Close())...)
}

func (r *raw) statement(text string) (driver.Stmt, error) {
	if s := r.statements[text]; s != nil {
		return s, nil
	}
	s, err := r.conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	r.statements[text] = s
	return s, nil
}

// exec writes, and gives the key of the last row inserted.
func (r *raw) exec(text string, args ...driver.Value) (int64, error) {
	s, err := r.statement(text)
	if err != nil {
		return 0, err
	}
	//lint:ignore SA1019 the plain call is the baseline: the one with a context would start a goroutine
	result, err := s.Exec(args)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", text, err)
	}
	return result.LastInsertId()
}

// row reads one row.
func (r *raw) row(text string, args ...driver.Value) ([]driver.Value, error) {
	var first []driver.Value
	err := r.rows(text, args, func(row []driver.Value) error {
		if first == nil {
			first = append(first, row...)
		}
		return nil
	})
	if err == nil && first == nil {
		err = errors.New("no such row")
	}
	return first, err
}

func (r *raw) rows(text string, args []driver.Value, each func([]driver.Value) error) error {
	s, err := r.statement(text)
	if err != nil {
		return err
	}
	//lint:ignore SA1019 as in exec
	rows, err := s.Query(args)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for err = rows.Next(row); err == nil; err = rows.Next(row) {
		if err := each(row); err != nil {
			return err
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// batch writes several things in one go, as far as the first that fails.
type batch struct {
	raw *raw
	key int64 // of the last row inserted
	err error
}

func (b *batch) exec(text string, args ...driver.Value) {
	if b.err == nil {
		b.key, b.err = b.raw.exec(text, args...)
	}
}

func (r *raw) transaction(write func(*batch)) error {
	b := &batch{raw: r}
	b.exec("BEGIN IMMEDIATE")
	write(b)
	b.exec("UPDATE projects SET sequence = ?, audit_head = ? WHERE key = 1", r.sequence, r.sample.hash)
	b.exec("COMMIT")
	return b.err
}
