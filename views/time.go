package views

import (
	"strconv"
	"time"
)

// Times are written by the server relative to when it rendered them, and kept in step by app.js, which uses the same steps and
// counts from the numbers in data-age and data-remaining: no clock of the viewer is trusted. Exact times are UTC until
// app.js puts them in the viewer's zone.

const exactLayout = "2006-01-02 15:04:05 UTC"

func exact(t time.Time) string   { return t.UTC().Format(exactLayout) }
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }
func clock(t time.Time) string   { return t.UTC().Format("15:04 UTC") }

// span is a length of time in its largest unit: "42 s", "6 min", "3 h", "2 d".
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(max(0, int(d/time.Second))) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + " d"
}

func ago(d time.Duration) string {
	if d < 2*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

// later is how long after another thing something happened.
func later(d time.Duration) string {
	if d < time.Second {
		return "at once"
	}
	return span(d) + " later"
}

// left is what the countdown says. Under two minutes it counts seconds, because that is when they matter.
func left(d time.Duration) string {
	switch {
	case d <= 0:
		return "expiring"
	case d < 2*time.Minute:
		return "expires in " + strconv.Itoa(int(d/time.Second)) + " s"
	}
	return "expires in " + span(d)
}

func soon(d time.Duration) bool { return d < 2*time.Minute }

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
