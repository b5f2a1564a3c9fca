package main

import "context"

// growthSmall is how many interactions the store has that the large one is held against.
const growthSmall = 1000

// ofMany measures what a large store costs: its page against a bare one (row 7), a search in it (row 10), the page against that of a small store, and answers per
// second against those of an empty one (row 8).
func ofMany(ctx context.Context, s size) (rows []Row, err error) {
	err = withStored(ctx, s, s.stored, func(big *storedPages) error {
		return withStored(ctx, s, min(growthSmall, s.stored), func(small *storedPages) error {
			return withProduct(ctx, func(empty *product) error {
				rows, err = big.held(small, empty)
				return err
			})
		})
	})
	return rows, err
}

func (b *storedPages) held(small *storedPages, empty *product) ([]Row, error) {
	page, err := pageOfMany(b.size, b)
	if err != nil {
		return nil, err
	}
	search, err := searchOfMany(b.size, b)
	if err != nil {
		return nil, err
	}
	growth := Row{Name: "growth", Unit: "µs", Target: 1.1, about: "the same page, p50; in a store of 1,000"}
	if growth, err = growth.rounds(b.size.rounds, nothing, b.page, small.page); err != nil {
		return nil, err
	}
	resolves := Row{Name: "growth_resolve", Unit: "/s", Target: 0.95, atLeast: true, about: "answers in the large store, 64 clients; in an empty one"}
	var here, there []string
	resolves, err = resolves.rounds(b.size.rounds, func() (err error) {
		if here, err = b.product.asks(b.size.burst, ask); err != nil {
			return err
		}
		there, err = empty.asks(b.size.burst, ask)
		return err
	}, func() (float64, error) { return b.product.answerAll(here) }, func() (float64, error) { return empty.answerAll(there) })
	return []Row{page, growth, resolves, search}, err
}
