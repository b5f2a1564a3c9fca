package cli

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"sayso/internal/api"
)

// An outage is told once, and ends the wait when it has lasted; one that is over counts no more.
func TestOutage(t *testing.T) {
	refused := error(&net.OpError{Op: "dial", Err: errors.New("connection refused")})
	broken := errors.New("unexpected EOF")
	type try struct {
		after time.Duration // since the start
		err   error
	}
	for name, test := range map[string]struct {
		tries        []try
		told, gaveUp int
	}{
		"short":                  {[]try{{0, broken}, {time.Second, refused}, {119 * time.Second, refused}}, 1, 0},
		"long":                   {[]try{{0, broken}, {time.Minute, refused}, {2 * time.Minute, refused}}, 1, 1},
		"two short ones":         {[]try{{0, broken}, {time.Second, nil}, {time.Minute, broken}, {150 * time.Second, refused}}, 2, 0},
		"held in between":        {[]try{{0, broken}, {time.Second, refused}, {100 * time.Second, broken}, {150 * time.Second, refused}}, 2, 0},
		"slow to be refused":     {[]try{{0, refused}, {time.Minute, refused}, {2 * time.Minute, refused}}, 1, 1},
		"refused by the process": {[]try{{0, &api.Error{Status: 503}}, {5 * time.Second, &api.Error{Status: 503}}}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SAYSO_URL", "http://127.0.0.1:1")
			var stderr strings.Builder
			gaveUp := 0
			o := &outage{
				program: &program{stdout: io.Discard, stderr: &stderr, patience: awayMost}, client: &api.Client{},
				giveUp: func(error) { gaveUp++ },
			}
			start := time.Now()
			for _, try := range test.tries {
				o.note(try.err, start.Add(try.after))
			}
			if told := strings.Count(stderr.String(), "the server is away"); told != test.told || gaveUp != test.gaveUp {
				t.Errorf("told %d times, gave up %d times; want %d and %d", told, gaveUp, test.told, test.gaveUp)
			}
		})
	}
}
