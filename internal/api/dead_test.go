package api_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"sayso/internal/api"
)

// dead is a connection over which nothing comes any more, and that nobody closes.
type dead struct{ tries []time.Duration }

func (d *dead) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(d.tries) == 2 {
		return nil, errors.New("unplugged")
	}
	d.tries = append(d.tries, time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
	return &http.Response{StatusCode: http.StatusOK, Body: silent{req}}, nil
}

// silent is a body that says nothing until its request is given up.
type silent struct{ req *http.Request }

func (s silent) Read([]byte) (int, error) {
	<-s.req.Context().Done()
	return 0, s.req.Context().Err()
}

func (silent) Close() error { return nil }

// A stream that hears no heartbeat comes back over a new connection, also when its client gives up calls much sooner.
func TestStreamNoticesADeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dead{}
		c := &api.Client{URL: "http://sayso.example", HTTP: &http.Client{Transport: d, Timeout: time.Second}}
		failed := 0
		c.Tried = func(err error) {
			if err != nil {
				failed++
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		_ = c.StreamLifecycle(ctx, 0, func(api.LifecycleEvent) error { return nil })
		if len(d.tries) != 2 || d.tries[1]-d.tries[0] < 45*time.Second || d.tries[1]-d.tries[0] > time.Minute {
			t.Errorf("connected at %v, want the second time when a few heartbeats were missed", d.tries)
		}
		if failed < 3 {
			t.Errorf("%d failures were told", failed)
		}
	})
}
