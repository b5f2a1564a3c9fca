package views

import (
	"testing"
	"time"
)

func TestTimesInWords(t *testing.T) {
	for _, c := range []struct {
		d                     time.Duration
		span, ago, left, then string
	}{
		{-time.Second, "0 s", "just now", "expiring", "at once"},
		{0, "0 s", "just now", "expiring", "at once"},
		{1999 * time.Millisecond, "1 s", "just now", "expires in 1 s", "1 s later"},
		{42 * time.Second, "42 s", "42 s ago", "expires in 42 s", "42 s later"},
		{119 * time.Second, "1 min", "1 min ago", "expires in 119 s", "1 min later"},
		{6*time.Minute + 59*time.Second, "6 min", "6 min ago", "expires in 6 min", "6 min later"},
		{23 * time.Hour, "23 h", "23 h ago", "expires in 23 h", "23 h later"},
		{50 * time.Hour, "2 d", "2 d ago", "expires in 2 d", "2 d later"},
	} {
		for _, w := range []struct{ what, got, want string }{
			{"span", span(c.d), c.span},
			{"ago", ago(c.d), c.ago},
			{"left", left(c.d), c.left},
			{"later", later(c.d), c.then},
		} {
			if w.got != w.want {
				t.Errorf("%s(%v) = %q, want %q", w.what, c.d, w.got, w.want)
			}
		}
	}
}
