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
		row, err = row.rounds(s.rounds, r.asks(s.singles), r.releases, r.answers)
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
	paths, err := r.product.asks(n, blockingAsk)
	if err != nil {
		return nil, err
	}
	askers := dialMany(n, r.product.address, r.product.agent)
	defer askers.close()
	released := make([]chan error, n)
	for i, a := range askers {
		released[i] = make(chan error, 1)
		go func() { released[i] <- a.wait(paths[i]) }()
	}
	time.Sleep(settle)
	samples := make([]time.Duration, n)
	for i := range samples {
		if samples[i], err = r.answerTo(paths[i], released[i]); err != nil {
			return nil, err
		}
		if err := r.pickedUp(paths[i]); err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// pickedUp waits until the store has written that the asker has its answer. The next answer would wait for that write too, which those that
// it is held against need not.
func (r *resolving) pickedUp(path string) error {
	for {
		body, err := r.caller.call("GET", path, "")
		if err != nil || strings.Contains(string(body), `"state":"picked_up"`) {
			return err
		}
	}
}

// blockingAsk is an ask whose asker waits on the line.
var blockingAsk = strings.Replace(ask, "{", `{"wait_mode":"block",`, 1)

// wait is an asker on the line until it has its answer.
func (c *caller) wait(path string) error {
	body, err := c.call("GET", path+"?wait_secs=55", "")
	if err == nil && strings.Contains(string(body), `"state":"open"`) {
		return c.wait(path)
	}
	if err == nil && !strings.Contains(string(body), `"state":"resolved"`) {
		err = fmt.Errorf("the asker was told %s", body)
	}
	return err
}

// answerTo answers, and gives the time until the asker had read the answer.
func (r *resolving) answerTo(path string, released <-chan error) (time.Duration, error) {
	answered := make(chan error, 1)
	start := time.Now()
	go func() {
		_, err := r.caller.call("POST", path+"/resolve", allow)
		answered <- err
	}()
	err := <-released
	took := time.Since(start)
	return took, errors.Join(err, <-answered)
}
