package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// hosted is a server in a process of its own, so that what it holds can be told from what its clients hold. It is this program, told by
// hostEnv which server to be.
type hosted struct {
	product // of a baseline only the address
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

const hostEnv = "SAYSO_BENCH_HOST"

// servers are what a process can be. Each gives where it is, and serves until the process ends.
var servers = map[string]func(folder string) (*product, error){
	"product": func(folder string) (*product, error) { return start(context.Background(), folder) },
	"poll":    func(string) (*product, error) { return &product{address: newBlocked().address()}, nil },
	"tool":    func(string) (*product, error) { return &product{address: newBlockedTool()}, nil },
	"fan":     func(string) (*product, error) { return &product{address: newFan().address()}, nil },
}

// whereabouts are what the process tells first.
type whereabouts struct{ Address, Operator, Agent, Setup string }

// asHost is the other end: it serves, and answers each line that it reads with a number, until there are no more.
func asHost(kind string, in io.Reader, out io.Writer) error {
	return inFolder(func(folder string) error {
		p, err := servers[kind](folder)
		if err != nil {
			return err
		}
		answers := json.NewEncoder(out)
		if err := answers.Encode(whereabouts{p.address, p.operator, p.agent, p.setup}); err != nil {
			return err
		}
		for questions := bufio.NewScanner(in); questions.Scan() && err == nil; {
			if function := questions.Text(); function != "" {
				err = answers.Encode(within(function))
			} else {
				err = answers.Encode(held())
			}
		}
		return err
	})
}

// held is how many bytes the process needs: live objects and stacks. A collection halves a stack at most, and empties pools in two.
func held() int {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

var stacksOf = regexp.MustCompile(`^(\d+) @ `)

// within is how many goroutines are in a function, or in what it calls.
func within(function string) (n int) {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return -1
	}
	same := 0
	for line := range strings.Lines(profile.String()) {
		if head := stacksOf.FindStringSubmatch(line); head != nil {
			same, _ = strconv.Atoi(head[1])
		} else if strings.Contains(line, "."+function+"+0x") {
			n, same = n+same, 0
		}
	}
	return n
}

// host starts a server in a process of its own.
func host(kind string) (*hosted, error) {
	h := &hosted{process: exec.Command(os.Args[0])}
	h.process.Env, h.process.Stderr = append(os.Environ(), hostEnv+"="+kind), os.Stderr
	in, err1 := h.process.StdinPipe()
	out, err2 := h.process.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	h.in, h.out = in, bufio.NewScanner(out)
	if err := h.process.Start(); err != nil {
		return nil, err
	}
	var at whereabouts
	if err := h.read(&at); err != nil {
		return nil, errors.Join(err, h.stop())
	}
	h.address, h.operator, h.agent, h.setup = at.Address, at.Operator, at.Agent, at.Setup
	return h, nil
}

func (h *hosted) read(into any) error {
	if !h.out.Scan() {
		return fmt.Errorf("the server's process ended (%w)", errors.Join(h.out.Err(), io.EOF))
	}
	return json.Unmarshal(h.out.Bytes(), into)
}

// ask gives how many goroutines of the server are in a function; without one, how many bytes it holds.
func (h *hosted) ask(function string) (n int, err error) {
	if _, err := fmt.Fprintln(h.in, function); err != nil {
		return 0, err
	}
	return n, h.read(&n)
}

// until returns when as many as n goroutines of the server are in a function.
func (h *hosted) until(n int, function string) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(settle / 2) { // counting stops them all
		got, err := h.ask(function)
		if err != nil || got == n {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d wait in %s, not %d", got, function, n)
		}
	}
}

// stop ends the process, and with it every connection to it.
func (h *hosted) stop() error { return errors.Join(h.in.Close(), h.process.Wait()) }
