package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sayso/internal/policy"
)

// longSubject is row 15: a pattern of sixty stars against a megabyte that it does not match, and against half of that.
func longSubject(_ context.Context, s size) (Row, error) {
	row := Row{Name: "policy_1mb", Unit: "µs", Target: 2.2, about: "pattern of 60 stars against 1 MB; against 500 KB"}
	pattern := strings.Repeat("*a", 58) + "*ab*"
	matching := func(bytes int) side {
		subject := strings.Repeat("a", bytes)
		return func() (float64, error) {
			start := time.Now()
			for range s.singles {
				if policy.Match(pattern, subject) {
					return 0, fmt.Errorf("%d bytes matched", bytes)
				}
			}
			return float64(time.Since(start).Microseconds()) / float64(s.singles), nil
		}
	}
	return row.rounds(s.rounds, nothing, matching(1_000_000), matching(500_000))
}
