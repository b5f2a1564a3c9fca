package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// database reads what is stored beside the server, to compare or to check; it writes nothing.
func (p *product) database(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(p.config.Data, "sayso.db")+"?mode=ro&_query_only=true&_busy_timeout=5000")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// bookkeeping are the columns that say when somebody was last here.
var bookkeeping = []string{"seen_at", "last_seen_at"}

// rows is everything that is stored, one line for each row.
func rows(t testing.TB, db *sql.DB) (all []string) {
	t.Helper()
	for _, table := range column(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
		columns := column(t, db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", table)
		columns = slices.DeleteFunc(columns, func(c string) bool { return slices.Contains(bookkeeping, c) })
		for n, c := range columns {
			columns[n] = fmt.Sprintf("quote(%q)", c)
		}
		all = append(all, column(t, db, fmt.Sprintf("SELECT '%s: ' || %s FROM %q ORDER BY 1", table, strings.Join(columns, " || ', ' || "), table))...)
	}
	return all
}

// column is the results of a query for one text per row.
func column(t testing.TB, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	found, err := db.Query(query, args...)
	must(t, err)
	defer found.Close()
	for found.Next() {
		var s string
		must(t, found.Scan(&s))
		all = append(all, s)
	}
	must(t, found.Err())
	return all
}
