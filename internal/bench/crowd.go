package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sayso/internal/api"
)

// road is a way in which an agent asks and waits.
type road struct {
	prefix, name string
	// agent is one, on a connection of its own. It asks anew each time it is called, and tells when it has its answer.
	agent func(h *hosted, key string) (ask func() <-chan error, err error)
}

var roads = []road{{"", "over REST", pollingAgent}, {"mcp_", "over MCP", sessionAgent}}

// releaseInCrowd measures how long an answer takes to its asker while hundreds of other agents wait on the same server. The baseline is the
// same server with this one agent, rather than some bare handler: what is in question is whether those who wait are in each other's way, and
// resolve_to_release has what one answer costs. Each side is a server in a process of its own, and the others wait all the time.
func releaseInCrowd(_ context.Context, s size) (rows []Row, err error) {
	for _, r := range roads {
		some, err := r.releaseInCrowd(s)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", r.name, err)
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

func (r road) releaseInCrowd(s size) ([]Row, error) {
	many, err1 := r.crowd(s.crowd)
	one, err2 := r.crowd(1)
	defer func() { _ = errors.Join(many.stop(), one.stop()) }()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	about := fmt.Sprintf("answer to its asker %s while %d agents wait, ", r.name, s.crowd)
	p50 := Row{Name: r.prefix + "release_500", Unit: "µs", Target: 1.5, about: about + "p50; while no other does"}
	p99 := Row{Name: r.prefix + "release_500_p99", Unit: "µs", Target: 1.5, about: about + "p99; while no other does"}
	p50, err := p50.rounds(s.rounds, nothing, many.typical(s.singles), one.typical(s.singles))
	if err != nil {
		return nil, err
	}
	p99, err = p99.rounds(s.rounds, nothing, taken(many.worst), taken(one.worst)) // of the same answers
	return []Row{p50, p99}, err
}

// taken gives what was measured before, round by round.
func taken(values []float64) side {
	return func() (float64, error) {
		value := values[0]
		values = values[1:]
		return value, nil
	}
}

// crowd is a server and its agents that wait: one asks and is answered over and over, the others are not.
type crowd struct {
	*hosted
	size   int // with the one that is answered
	ask    func() <-chan error
	person *resolving
	others string    // the newest of what the others ask; "" while there are none
	worst  []float64 // p99 of each round, in microseconds
}

func (r road) crowd(n int) (*crowd, error) {
	h, err := host("product")
	if err != nil {
		return nil, err
	}
	c := &crowd{hosted: h, size: n, person: &resolving{caller: dial(h.address, h.operator)}}
	for i := range n {
		if c.ask, err = r.agent(h, fmt.Sprintf("bench-%d", i)); err != nil {
			return c, err
		}
		if i < n-1 {
			c.ask()
		}
	}
	if err := h.until(n-1, await); err != nil || n == 1 {
		return c, err
	}
	path, err := c.newest()
	c.others = path[strings.LastIndex(path, "/")+1:]
	return c, err
}

func (c *crowd) stop() error {
	if c == nil {
		return nil
	}
	return c.hosted.stop()
}

// typical is one round of n answers, or of 100: the p50, in microseconds. The others must be on the line still.
func (c *crowd) typical(n int) side {
	return func() (float64, error) {
		samples := make([]time.Duration, min(n, 100))
		for i := range samples {
			var err error
			if samples[i], err = c.release(); err != nil {
				return 0, err
			}
		}
		c.worst = append(c.worst, micros(percentile(samples, 99)))
		return micros(percentile(samples, 50)), c.until(c.size-1, await)
	}
}

// release answers once, with everybody on the line. It does not look for them there: the garbage of that would be collected meanwhile.
func (c *crowd) release() (time.Duration, error) {
	released := c.ask()
	path, err := c.newest()
	if err != nil {
		return 0, errors.Join(err, anyOf(released))
	}
	time.Sleep(settle / 5)
	took, err := c.person.answerTo(path, released)
	if err != nil {
		return 0, err
	}
	return took, c.person.pickedUp(path)
}

// newest is the path of what was asked last, as soon as it is there.
func (c *crowd) newest() (string, error) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		body, err := c.person.caller.call("GET", project+"/interactions?state=open&order=desc&limit=1", "")
		if err != nil {
			return "", err
		}
		var list api.List[api.Interaction]
		if err := json.Unmarshal(body, &list); err != nil {
			return "", err
		}
		if len(list.Data) == 1 && list.Data[0].ID != c.others {
			return project + "/agents/" + list.Data[0].AgentID + "/interactions/" + list.Data[0].ID, nil
		}
	}
	return "", errors.New("what was asked is not there")
}

// pollingAgent asks over REST.
func pollingAgent(h *hosted, _ string) (func() <-chan error, error) {
	places, err := h.places(1)
	c := dial(h.address, h.agent)
	return func() <-chan error {
		released := make(chan error, 1)
		go func() { released <- c.askAndWait(places[0]) }()
		return released
	}, err
}

func (c *caller) askAndWait(place string) error {
	body, err := c.call("POST", place, blockingAsk)
	if err != nil {
		return err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(body, &made); err != nil {
		return err
	}
	return c.wait(place + "/" + made.ID)
}

// sessionAgent asks over MCP.
func sessionAgent(h *hosted, key string) (func() <-chan error, error) {
	session, err := h.openSession()
	return func() <-chan error {
		released := make(chan error, 1)
		go func() { released <- session.asks(key) }()
		return released
	}, err
}
