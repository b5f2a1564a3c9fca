package main

import (
	"cmp"
	"slices"
	"time"
)

// number is what can be ordered and halved.
type number interface {
	~int64 | ~float64
}

// percentile is the smallest of all samples that at least p percent of them do not exceed.
func percentile[T cmp.Ordered](samples []T, p int) T {
	sorted := slices.Sorted(slices.Values(samples))
	rank := (p*len(sorted) + 99) / 100
	return sorted[max(rank, 1)-1]
}

// median is the middle one, or the mean of the two in the middle.
func median[T number](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// micros is a time as the figures give it.
func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
