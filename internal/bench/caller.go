package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// caller is one connection that is kept, for one request at a time. net/http's own client takes more of the two cores than the server that
// is measured, and would hide it; this one is the same for both sides of a row.
type caller struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
	key  string
}

func dial(address, key string) (*caller, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &caller{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), key: key}, nil
}

func (c *caller) close() { c.conn.Close() }

// call sends a request, and reads its answer to the end.
func (c *caller) call(method, path, body string) ([]byte, error) {
	if err := c.send(method, path, body); err != nil {
		return nil, err
	}
	return c.receive(method + " " + path)
}

func (c *caller) send(method, path, body string) error {
	c.out = fmt.Appendf(c.out[:0], "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, c.conn.RemoteAddr())
	if c.key != "" {
		c.out = fmt.Appendf(c.out, "Authorization: Bearer %s\r\n", c.key)
	}
	if body != "" {
		c.out = fmt.Appendf(c.out, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.out = append(append(c.out, "\r\n"...), body...)
	_, err := c.conn.Write(c.out)
	return err
}

func (c *caller) receive(what string) ([]byte, error) {
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %d %s", what, resp.StatusCode, body)
	}
	return body, err
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

func dialMany(n int, address, key string) (all callers, err error) {
	for range n {
		c, err := dial(address, key)
		if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
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
