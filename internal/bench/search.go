package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/labstack/echo/v4"
)

// needle is a word that one in storedNeedle of the stored requests has, each agent some of them.
const (
	needle       = "needle"
	storedNeedle = 101
)

// searchOfMany measures the first page of a search with filters in a large store, against the bare query behind a bare handler.
func searchOfMany(s size, big *storedPages) (row Row, err error) {
	row = Row{Name: "audit_search_1m", Unit: "µs", Target: 3, about: "first page of a word with agent and outcome, p50; the bare FTS5 query behind a bare handler"}
	base, db, agent, err := bareSearch(big.product.folder)
	if err != nil {
		return row, err
	}
	defer db.Close()
	defer base.Close()
	c := dial(base.address(), "")
	defer c.close()
	path := project + "/audit?" + url.Values{"q": {needle}, "outcome": {"allowed"}, "agent_id": {agent}, "limit": {"50"}}.Encode()
	want, err := c.found("/search")
	if err != nil {
		return row, err
	}
	return row.rounds(s.rounds, nothing, func() (float64, error) {
		return p50(s.singles, func(int) error { return big.caller.finds(path, want) })
	}, func() (float64, error) {
		return p50(s.singles, func(int) error { return c.finds("/search", want) })
	})
}

// found is how many requests an answer has.
func (c *caller) found(path string) (int, error) {
	body, err := c.call("GET", path, "")
	n := strings.Count(string(body), `"interaction_kind"`)
	if err == nil && n == 0 {
		err = errors.New("the search finds nothing")
	}
	return n, err
}

// finds asks, and checks that as much was found as there is.
func (c *caller) finds(path string, want int) error {
	n, err := c.found(path)
	if err == nil && n != want {
		err = fmt.Errorf("the search finds %d, want %d", n, want)
	}
	return err
}

// bareSearch answers with the stored records that a search finds, and checks nothing. agent is the one that it filters by.
func bareSearch(folder string) (base bare, db *sql.DB, agent string, err error) {
	db, err = sql.Open("sqlite3", "file:"+url.PathEscape(filepath.Join(folder, "sayso.db"))+"?_query_only=true")
	if err != nil {
		return bare{}, nil, "", err
	}
	db.SetMaxOpenConns(1) // the index is attached to one
	_, err = db.Exec("ATTACH DATABASE ? AS idx", filepath.Join(folder, "index.db"))
	if err == nil {
		err = db.QueryRow("SELECT id FROM agents WHERE key = 1").Scan(&agent)
	}
	if err != nil {
		return bare{}, nil, "", errors.Join(err, db.Close())
	}
	query, err := db.Prepare(`SELECT r.head FROM idx.words w CROSS JOIN idx.listed l ON l.key = w.rowid JOIN requests r ON r.interaction = l.interaction
		WHERE w.words MATCH '"` + needle + `"*' AND l.agent = 1 AND l.outcome = 'allowed' ORDER BY w.rowid DESC LIMIT 50`)
	if err != nil {
		return bare{}, nil, "", errors.Join(err, db.Close())
	}
	return newBare("GET", "/search", func(c echo.Context) error {
		body, err := heads(query)
		if err != nil {
			return err
		}
		return c.JSONBlob(http.StatusOK, body)
	}), db, agent, nil
}

// indexed waits until the product has taken its whole store into the index of the audit: that is work, and would slow what is measured.
func (b *storedPages) indexed() error {
	for {
		status, err := b.caller.status(project + "/audit?limit=1")
		if err != nil || status == http.StatusOK {
			return err
		}
		if status != http.StatusServiceUnavailable {
			return fmt.Errorf("the audit answers with %d", status)
		}
	}
}
