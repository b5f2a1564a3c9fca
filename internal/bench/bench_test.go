package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sayso/internal/store"
)

// TestMain is a server in a process of its own when it is told so.
func TestMain(m *testing.M) {
	if kind := os.Getenv(hostEnv); kind != "" {
		asHostOrExit(kind)
		return
	}
	os.Exit(m.Run())
}

func TestPercentile(t *testing.T) {
	samples := make([]time.Duration, 200)
	for i := range samples {
		samples[i] = time.Duration((i*7)%200 + 1) // 1 to 200, in no order
	}
	for p, want := range map[int]time.Duration{1: 2, 50: 100, 99: 198, 100: 200} {
		if got := percentile(samples, p); got != want {
			t.Errorf("p%d of 1 to 200 is %d, want %d", p, got, want)
		}
	}
	if got := percentile([]int{3}, 99); got != 3 {
		t.Errorf("p99 of a single 3 is %d", got)
	}
	if samples[1] != 8 {
		t.Error("the samples were sorted in place")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{5}, 5}, {[]float64{9, 1, 4}, 4}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.values, got, c.want)
		}
	}
}

// TestRounds checks who is first, and that the ratio is the median of the rounds' own.
func TestRounds(t *testing.T) {
	var order string
	product, baseline := []float64{10, 40, 90}, []float64{10, 10, 30}
	take := func(name string, from *[]float64) side {
		return func() (float64, error) {
			order += name
			value := (*from)[0]
			*from = (*from)[1:]
			return value, nil
		}
	}
	row, err := Row{Target: 2}.rounds(3, nothing, take("p", &product), take("b", &baseline))
	if err != nil || order != "pbbppb" {
		t.Errorf("order %s (%v), want pbbppb", order, err)
	}
	if row.Value != 40 || row.Against != 10 || row.Ratio != 3 || row.Met {
		t.Errorf("got %+v, want 40 against 10, ratio 3, not met", row)
	}
}

// TestRows runs every row in small, so that none of them rots.
func TestRows(t *testing.T) {
	rows, err := measureAll(t.Context(), tiny, regexp.MustCompile(""))
	if err != nil {
		t.Fatal(err)
	}
	var table bytes.Buffer
	printTable(&table, rows)
	for _, name := range []string{
		"resolve_c1", "resolve_c64", "batching", "create_to_screen_1", "create_to_screen_1000", "resolve_to_release", "page_1m", "growth", "growth_resolve",
		"conversation_10k", "append_c64", "stream_1000", "release_500", "release_500_p99", "mcp_release_500", "mcp_release_500_p99",
		"socket_kb", "waiter_kb", "mcp_waiter_kb", "verify_1m",
	} {
		if !strings.Contains(table.String(), "\n"+name+" ") {
			t.Errorf("there is no row %s in\n%s", name, table.String())
		}
	}
	for _, r := range rows {
		if r.Value <= 0 || r.Ratio <= 0 {
			t.Errorf("%s measured nothing: %+v", r.Name, r)
		}
	}
}

// TestFilledStoreHolds checks that the large store is one that the product could have written.
func TestFilledStoreHolds(t *testing.T) {
	folder := t.TempDir()
	if err := fill(t.Context(), folder, 250); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Project(t.Context(), "default", "default")
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.CountOpen(t.Context(), p.ID)
	if err != nil || open != 125 {
		t.Errorf("%d are open (%v), want 125", open, err)
	}
	if r, err := s.Verify(t.Context(), p.ID); err != nil || r.Entries != 2*250-open {
		t.Errorf("verified %d entries (%v), want %d", r.Entries, err, 2*250-open)
	}
}
