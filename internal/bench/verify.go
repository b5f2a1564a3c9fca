package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"sayso/internal/store"
)

// verifyMany is row 16: `sayso verify` over a large store, against one scan of the same rows that hashes the same bytes.
func verifyMany(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "verify_1m", Unit: "ms", Target: 3, about: "verification of a log of so many entries; SHA-256 of the same bytes and one scan"}
	err = inFolder(func(folder string) error {
		if err := fill(ctx, folder, max(s.stored/2, 1)); err != nil { // two entries each
			return err
		}
		row, err = row.rounds(min(s.rounds, 5), nothing,
			lasting(func() error { return verifyStored(ctx, folder) }), lasting(func() error { return hashStored(folder) }))
		return err
	})
	return row, err
}

func lasting(run func() error) side {
	return func() (float64, error) {
		start := time.Now()
		err := run()
		return micros(time.Since(start)) / 1000, err
	}
}

func verifyStored(ctx context.Context, folder string) error {
	r, err := store.VerifyFolder(ctx, folder, "")
	if err == nil && (!r.OK || r.Entries == 0) {
		err = fmt.Errorf("verified %d entries, found %v", r.Entries, r.Finding)
	}
	return err
}

// hashStored reads each entry and the record that it is bound to, and hashes both.
func hashStored(folder string) error {
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(filepath.Join(folder, "sayso.db"))+"?mode=ro&_query_only=true")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT a.entry, a.hash, CASE v.kind WHEN 'interaction_created' THEN r.head ELSE e.record END FROM audit_entries a
		JOIN events v ON v.project = a.project AND v.sequence = a.sequence JOIN requests r ON r.interaction = v.interaction
		LEFT JOIN ends e ON e.interaction = v.interaction ORDER BY a.key`)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var entry, hash, record sql.RawBytes
		if err := rows.Scan(&entry, &hash, &record); err != nil {
			return err
		}
		sha256.Sum256(record)
		if sum := sha256.Sum256(entry); string(sum[:]) != string(hash) {
			return errors.New("an entry is not what its hash says")
		}
	}
	if n == 0 {
		return errors.New("there are no entries")
	}
	return rows.Err()
}
