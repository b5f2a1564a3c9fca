package views

import (
	"testing"
	"time"
)

func TestLength(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 40 * time.Millisecond: "0 s", 1250 * time.Millisecond: "1.3 s", 42 * time.Second: "42 s", 6*time.Minute + 10*time.Second: "6 min 10 s",
		3*time.Hour + 5*time.Minute: "3 h 5 min", 50 * time.Hour: "2 d 2 h",
	} {
		if got := length(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestShareIsNeverRoundedToNothing(t *testing.T) {
	f := AuditFigures{Count: 1000}
	for n, want := range map[int]string{0: "0 %", 1: "under 1 %", 10: "1 %", 999: "over 99 %", 1000: "100 %"} {
		if got := f.share(n); got != want {
			t.Errorf("%d of 1000: %s, want %s", n, got, want)
		}
	}
	if got := (AuditFigures{}).share(0); got != "–" {
		t.Errorf("of nothing: %s", got)
	}
}

// TestBars checks that every part of a day can be seen, and that no column is higher than the chart.
func TestBars(t *testing.T) {
	f := AuditFigures{Days: []AuditDay{
		{Count: 1_000_006, Parts: []AuditPart{{AuditAllowed, 1_000_000}, {AuditDenied, 1}, {AuditAnswered, 1}, {AuditCanceled, 1}, {AuditExpired, 1}, {AuditPolicy, 1}, {AuditOpen, 1}}},
		{Count: 1, Parts: []AuditPart{{AuditOpen, 1}}},
	}}
	bars := f.bars()
	if len(bars) != 8 {
		t.Fatalf("%d bars", len(bars))
	}
	for _, b := range bars {
		if b.height < 1 || b.y < 0 || b.y+b.height > barHeight {
			t.Errorf("%s is from %d, %d high", b.outcome, b.y, b.height)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 50000: "50,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
