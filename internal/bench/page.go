package main

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/labstack/echo/v4"
)

const pagePath = project + "/interactions?state=open&limit=50"

// storedPages are the large store, served by the product and beside it by a bare handler.
type storedPages struct {
	size    size
	product *product
	caller  *caller
}

// pageOfMany measures a page of open interactions in a large store, against the bare query behind a bare handler.
func pageOfMany(s size, big *storedPages) (row Row, err error) {
	row = Row{Name: "page_1m", Unit: "µs", Target: 1.5, about: "page of 50 open ones in the large store, p50; the bare query behind a bare handler"}
	base, db, err := barePage(big.product.folder)
	if err != nil {
		return row, err
	}
	defer db.Close()
	defer base.Close()
	c := dial(base.address(), "")
	defer c.close()
	return row.rounds(s.rounds, nothing, big.page, func() (float64, error) {
		return p50(s.singles, func(int) error { return c.page("/page") })
	})
}

// page is one round of the product.
func (b *storedPages) page() (float64, error) {
	return p50(b.size.singles, func(int) error { return b.caller.page(pagePath) })
}

func (c *caller) page(path string) error {
	body, err := c.call("GET", path, "")
	if err == nil && strings.Count(string(body), `"interaction_kind"`) != 50 {
		err = errors.New("the page is not full")
	}
	return err
}

// barePage answers with the stored records of a page, and checks nothing.
func barePage(folder string) (bare, *sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(filepath.Join(folder, "sayso.db"))+"?_query_only=true")
	if err != nil {
		return bare{}, nil, err
	}
	query, err := db.Prepare(`SELECT r.head FROM interactions i JOIN requests r ON r.interaction = i.key
		WHERE i.project = 1 AND i.state = 'open' ORDER BY i.created_at, i.id LIMIT 50`)
	if err != nil {
		return bare{}, nil, errors.Join(err, db.Close())
	}
	return newBare("GET", "/page", func(c echo.Context) error {
		body, err := heads(query)
		if err != nil {
			return err
		}
		return c.JSONBlob(http.StatusOK, body)
	}), db, nil
}

func heads(query *sql.Stmt) ([]byte, error) {
	rows, err := query.Query()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	body := []byte(`{"data":[`)
	for n := 0; rows.Next(); n++ {
		var head sql.RawBytes
		if err := rows.Scan(&head); err != nil {
			return nil, err
		}
		if n > 0 {
			body = append(body, ',')
		}
		body = append(body, head...)
	}
	return append(body, `]}`...), rows.Err()
}

// withStored runs f on a product whose store has n interactions.
func withStored(ctx context.Context, s size, n int, f func(*storedPages) error) error {
	return inFolder(func(folder string) error {
		if err := fill(ctx, folder, n); err != nil {
			return err
		}
		p, err := start(ctx, folder)
		if err != nil {
			return err
		}
		c := dial(p.address, p.operator)
		defer c.close()
		stored := &storedPages{s, p, c}
		if err := stored.indexed(); err != nil {
			return errors.Join(err, p.stop())
		}
		return errors.Join(f(stored), p.stop())
	})
}
