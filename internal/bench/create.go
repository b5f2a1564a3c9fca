package main

import (
	"bytes"
	"context"
	"errors"
	"time"

	"sayso/internal/interaction"
)

// frameSize is about what the card of ask takes, as a frame.
const frameSize = 4 << 10

// createToScreen measures how long a new request takes to a screen that watches, against a transaction, a round trip and a frame sent.
func createToScreen(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "create_to_screen_1", Unit: "µs", Target: 2.2, about: "create to one screen, p50; one bare transaction + one bare round trip + one bare frame"}
	err = withSample(ctx, 0, func(raw *raw, answer []byte) error {
		return withScreens(ctx, 1, func(p *product, product, bare *screens, fan *fan) error {
			base, err := bareCreate(answer)
			if err != nil {
				return err
			}
			defer base.Close()
			trip := dial(base.address(), "")
			defer trip.close()
			row, err = row.rounds(s.rounds, nothing, func() (float64, error) { return p.createsReach(product, s.singles, 50) }, func() (float64, error) {
				return bare.reach(s.singles, 50, func(int) error {
					_, err := trip.call("POST", "/create", ask)
					return errors.Join(raw.create(), err, fan.send(frame))
				})
			})
			return err
		})
	})
	return row, err
}

// createToScreens measures how long a new request takes to the last of many screens, against a frame sent to as many.
func createToScreens(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "create_to_screen_1000", Unit: "µs", Target: 1.6, about: "create to the last of 1,000 screens, p99; one bare prepared message to as many"}
	err = withScreens(ctx, s.screens, func(p *product, product, bare *screens, fan *fan) error {
		row, err = row.rounds(s.rounds, nothing, func() (float64, error) { return p.createsReach(product, s.fans, 99) }, func() (float64, error) {
			return bare.reach(s.fans, 99, func(int) error { return fan.send(frame) })
		})
		return err
	})
	return row, err
}

var frame = bytes.Repeat([]byte("x"), frameSize)

// createsReach is one round of n new requests.
func (p *product) createsReach(s *screens, n, percent int) (float64, error) {
	places, err := p.places(n)
	if err != nil {
		return 0, err
	}
	c := dial(p.address, p.agent)
	defer c.close()
	return s.reach(n, percent, func(i int) error {
		_, err := c.call("POST", places[i], ask)
		return err
	})
}

// withScreens runs f with n screens on a product and n on a bare fan.
func withScreens(ctx context.Context, n int, f func(p *product, product, bare *screens, fan *fan) error) error {
	return withProduct(ctx, func(p *product) error {
		fan := newFan()
		defer fan.close()
		bare, err := watch(n, fan.address(), nil)
		if err != nil {
			return err
		}
		product, err := p.watchInbox(n)
		if err != nil {
			return errors.Join(err, bare.close())
		}
		return errors.Join(f(p, product, bare, fan), product.close(), bare.close())
	})
}

// create writes the rows of one new interaction.
func (r *raw) create() error {
	now := time.Now()
	r.sequence++
	m := made{
		agent: 1, at: now.UnixMilli(), id: interaction.NewID(interaction.InteractionPrefix, now), call: interaction.NewID(interaction.ToolCallPrefix, now),
		creator: interaction.NewID(interaction.KeyPrefix, now), head: r.sample.head, sequence: r.sequence,
	}
	return r.transaction(func(b *batch) {
		b.create(&m, interaction.Open, interaction.ToolCallAwaitingPermission, r.sample.created, r.sample.hash)
	})
}
