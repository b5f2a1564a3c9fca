package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// settle is how long askers are given to be on the line before they are answered. An answer that came first would release nobody.
const settle = 50 * time.Millisecond

// resolveToRelease measures how long an answer takes to the asker who waits for it, against the answer alone.
func resolveToRelease(ctx context.Context, s size) (row Row, err error) {
	row = Row{Name: "resolve_to_release", Unit: "µs", Target: 2, about: "answer to its waiting asker, p50; the answer's own response (resolve_c1)"}
	err = withResolving(ctx, s, 0, func(r *resolving) error {
		row, err = row.rounds(s.rounds, r.releases, r.answers)
		return err
	})
	return row, err
}

// releases is one round: a crowd of askers wait, and are answered one after another.
func (r *resolving) releases() (float64, error) {
	const crowd = 25
	var samples []time.Duration
	for len(samples) < r.size.singles {
		some, err := r.release(min(crowd, r.size.singles-len(samples)))
		if err != nil {
			return 0, err
		}
		samples = append(samples, some...)
	}
	return micros(percentile(samples, 50)), nil
}

func (r *resolving) release(n int) ([]time.Duration, error) {
	paths, err := r.product.asks(n, strings.Replace(ask, "{", `{"wait_mode":"block",`, 1))
	if err != nil {
		return nil, err
	}
	askers, err := dialMany(n, r.product.address, r.product.agent)
	if err != nil {
		return nil, err
	}
	defer askers.close()
	for i, a := range askers {
		if err := a.send("GET", paths[i]+"?wait_secs=55", ""); err != nil {
			return nil, err
		}
	}
	time.Sleep(settle)
	return timed(n, func(i int) error { return r.answerTo(askers[i], paths[i]) })
}

// answerTo answers, and returns when the asker has read the answer.
func (r *resolving) answerTo(asker *caller, path string) error {
	if err := r.caller.send("POST", path+"/resolve", allow); err != nil {
		return err
	}
	body, err := asker.receive("GET " + path)
	if err == nil && !strings.Contains(string(body), `"state":"resolved"`) {
		err = fmt.Errorf("the asker was told %s", body)
	}
	_, answered := r.caller.receive("POST " + path)
	return errors.Join(err, answered)
}
