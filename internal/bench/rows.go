package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
)

// measurements make the rows, by the row's name.
var measurements = []struct {
	name string
	run  func(context.Context, size) (Row, error)
}{
	{"resolve_c1", resolveOne},
	{"resolve_c64", resolveMany},
	{"batching", batching},
}

func measureAll(ctx context.Context, s size, match *regexp.Regexp) (rows []Row, err error) {
	for _, m := range measurements {
		if !match.MatchString(m.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", m.name)
		row, err := m.run(ctx, s)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
