package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// caller is one client on one connection that it keeps: net/http's, as the product's own Go client is.
type caller struct {
	http http.Client
	base string
	key  string
}

func dial(address, key string) *caller {
	return &caller{http: http.Client{Transport: &http.Transport{}}, base: "http://" + address, key: key}
}

func (c *caller) close() { c.http.CloseIdleConnections() }

// call sends a request, and reads its answer to the end.
func (c *caller) call(method, path, body string) ([]byte, error) {
	req, err := c.request(method, path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}

// status asks, and gives the status of the answer.
func (c *caller) status(path string) (int, error) {
	req, err := c.request("GET", path, "")
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func (c *caller) request(method, path, body string) (*http.Request, error) {
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// timed is how long each of n calls of f takes, one after another.
func timed(n int, f func(i int) error) ([]time.Duration, error) {
	samples := make([]time.Duration, n)
	for i := range samples {
		start := time.Now()
		if err := f(i); err != nil {
			return nil, err
		}
		samples[i] = time.Since(start)
	}
	return samples, nil
}

// p50 is the median of n calls of f, in microseconds.
func p50(n int, f func(i int) error) (float64, error) {
	samples, err := timed(n, f)
	if err != nil {
		return 0, err
	}
	return micros(percentile(samples, 50)), nil
}

// callers are connections that share a load.
type callers []*caller

func dialMany(n int, address, key string) (all callers) {
	for range n {
		all = append(all, dial(address, key))
	}
	return all
}

func (all callers) close() {
	for _, c := range all {
		c.close()
	}
}

// share has the callers do n things among them; each takes the next as soon as it is free.
func (all callers) share(n int, do func(c *caller, i int) error) error {
	var next atomic.Int64
	var group errgroup.Group
	for _, c := range all {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(c, int(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// rate is how many of n things the callers do in a second.
func (all callers) rate(n int, do func(c *caller, i int) error) (float64, error) {
	start := time.Now()
	err := all.share(n, do)
	return float64(n) / time.Since(start).Seconds(), err
}
