package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"time"

	"sayso/internal/interaction"
	"sayso/internal/store"
)

// resolving is one client that answers on the product, and the same work on the bare libraries.
type resolving struct {
	size    size
	product *product
	caller  *caller
	bare    bare
	trip    *caller
	raw     *raw
	open    []made   // for the bare driver to answer
	paths   []string // for the product to answer
}

// resolveOne measures a durable answer from one client, against one transaction of the same rows and one round trip.
func resolveOne(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "resolve_c1", Unit: "µs", Target: 1.6, about: "answer, one client, p50; one bare transaction of its rows + one bare round trip"}
	err = withResolving(ctx, s, s.rounds*s.singles, func(r *resolving) error {
		row, err = row.rounds(s.rounds, r.asks(s.singles), r.answers, r.bareAnswers)
		return err
	})
	return row, err
}

// withResolving runs f on a product, and beside it a second store with n open interactions for the bare driver.
func withResolving(ctx context.Context, s size, n int, f func(*resolving) error) error {
	return withSample(ctx, n, func(raw *raw, answer []byte) error {
		return withProduct(ctx, func(p *product) (err error) {
			r := &resolving{size: s, product: p, raw: raw}
			if r.open, err = raw.openOnes(); err != nil {
				return err
			}
			if r.bare, err = bareResolve(answer); err != nil {
				return err
			}
			defer r.bare.Close()
			r.trip = dial(r.bare.address(), "")
			defer r.trip.close()
			r.caller = dial(p.address, p.operator)
			defer r.caller.close()
			return f(r)
		})
	})
}

// asks prepares a round of n.
func (r *resolving) asks(n int) func() error {
	return func() (err error) {
		r.paths, err = r.product.asks(n, ask)
		return err
	}
}

// answers is one round of the product.
func (r *resolving) answers() (float64, error) {
	return p50(len(r.paths), func(i int) error {
		_, err := r.caller.call("POST", r.paths[i]+"/resolve", allow)
		return err
	})
}

// bareAnswers is one round of the baseline.
func (r *resolving) bareAnswers() (float64, error) {
	todo := r.open[:r.size.singles]
	r.open = r.open[r.size.singles:]
	return p50(len(todo), func(i int) error {
		if err := r.raw.answer(&todo[i]); err != nil {
			return err
		}
		_, err := r.trip.call("POST", "/resolve", allow)
		return err
	})
}

// answer writes the rows of one answer.
func (r *raw) answer(m *made) error {
	m.sequence, m.at = r.sequence, time.Now().UnixMilli()
	r.sequence += 2
	return r.transaction(func(b *batch) {
		b.exec("UPDATE interactions SET state = ?, cancel_reason = NULL WHERE key = ? AND state = 'open'", "resolved", m.key)
		b.exec("UPDATE tool_calls SET state = 'ready' WHERE interaction = ?", m.key)
		b.answer(m, m.key, r.sample.answered, r.sample.hash)
	})
}

// openOnes are the open interactions of the store, to be answered with what the sample was.
func (r *raw) openOnes() (all []made, err error) {
	err = r.rows("SELECT key, agent FROM interactions WHERE state = 'open' ORDER BY key", nil, func(row []driver.Value) error {
		now := time.Now()
		all = append(all, made{
			key: row[0].(int64), agent: row[1].(int64), input: interaction.NewID(interaction.InputPrefix, now),
			decider: interaction.NewID(interaction.KeyPrefix, now), end: r.sample.end,
		})
		return nil
	})
	return all, err
}

// withSample runs f on the bare driver, on a store in which the product has opened n interactions and answered one more with answer.
func withSample(ctx context.Context, n int, f func(r *raw, answer []byte) error) error {
	return inFolder(func(folder string) error {
		answer, err := fillSample(ctx, folder, n+1)
		if err != nil {
			return err
		}
		r, err := openSample(folder)
		if err != nil {
			return err
		}
		return errors.Join(f(r, answer), r.close())
	})
}

func fillSample(ctx context.Context, folder string, n int) (answer []byte, err error) {
	p, err := start(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	paths, err := p.asks(n, ask)
	if err != nil {
		return nil, err
	}
	c := dial(p.address, p.operator)
	defer c.close()
	return c.call("POST", paths[0]+"/resolve", allow)
}

// resolveMany measures durable answers per second from many clients, against a handler that reads and writes the same JSON.
func resolveMany(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "resolve_c64", Unit: "/s", Target: 0.4, atLeast: true, about: "answers, 64 clients; bare handler that reads and writes the same JSON"}
	err = withResolving(ctx, s, 0, func(r *resolving) error {
		trips := dialMany(clients, r.bare.address(), "")
		defer trips.close()
		row, err = row.rounds(s.rounds, r.asks(s.burst), func() (float64, error) { return r.product.answerAll(r.paths) }, func() (float64, error) {
			return trips.rate(s.burst, func(c *caller, _ int) error {
				_, err := c.call("POST", "/resolve", allow)
				return err
			})
		})
		return err
	})
	return row, err
}

// answerAll is how many of the paths the clients answer in a second.
func (p *product) answerAll(paths []string) (float64, error) {
	all := dialMany(clients, p.address, p.operator)
	defer all.close()
	return all.rate(len(paths), func(c *caller, i int) error {
		_, err := c.call("POST", paths[i]+"/resolve", allow)
		return err
	})
}

// batching measures how many answers share a commit.
func batching(ctx context.Context, s size) (Row, error) {
	row := Row{Name: "batching", Unit: "per commit", Target: 16, atLeast: true, about: "answers that share a commit, 64 clients"}
	values := make([]float64, s.rounds)
	err := withStore(ctx, func(p *product, store *store.Store) error {
		for i := range values {
			paths, err := p.asks(s.burst, ask)
			if err != nil {
				return err
			}
			before := store.Commits()
			if _, err := p.answerAll(paths); err != nil {
				return err
			}
			values[i] = float64(s.burst) / float64(store.Commits()-before)
		}
		return nil
	})
	if err != nil {
		return row, err
	}
	row.Value = median(values)
	row.Ratio = row.Value
	return row.judged(), nil
}
