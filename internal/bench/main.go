// Package main measures Sayso against the limits of the machine it runs on, and says which of its targets are met.
//
// # What a figure is
//
// A time means little on a machine that others use too. So every [Row] is a ratio: the product through its real server, over loopback,
// against a baseline that the same program measures in the same run with the same client. Baselines are the best plain use of the same
// libraries, and no more: a transaction on the bare SQLite driver (raw.go), an Echo handler that does nothing else (bare.go), a
// goroutine per socket and one prepared message (fan.go). A row is the median of several rounds. The two sides take turns within each, and
// take turns at being first.
//
// # The parts
//
//	row.go      what is reported, and the rounds that it comes from
//	product.go  the server that is measured: server.Run on a folder of its own
//	caller.go   one HTTP connection; screens.go: browsers that watch
//	stored.go   a store that has a million interactions already
//	host.go     a server in a process of its own, whose memory is its own; session.go: an agent that speaks MCP
//	resolve.go, create.go, release.go, crowd.go, page.go, search.go, growth.go, conversation.go, waiter.go, policy.go, verify.go   the rows
//
// Run it with `make bench`; QUICK=1 takes three minutes instead of fifteen, with fewer rounds and a smaller store. It prints a table and writes
// bin/bench.json. docs/performance.md tells what the figures mean and where they stand.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"syscall"
	"time"
)

func main() {
	only := flag.String("only", "", "measure the rows whose names match this regular expression")
	out := flag.String("out", "bin/bench.json", "file for the figures; empty writes none")
	profile := flag.String("cpuprofile", "", "file for a CPU profile of all that is measured")
	flag.Parse()
	if kind := os.Getenv(hostEnv); kind != "" {
		asHostOrExit(kind)
		return
	}
	if err := run(*only, *out, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// asHostOrExit is the whole life of a process that host started.
func asHostOrExit(kind string) {
	if err := asHost(kind, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", kind+":", err)
		os.Exit(1)
	}
}

func run(only, out, profile string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	if profile != "" {
		stop, err := profileTo(profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	remove, err := ownFolder()
	if err != nil {
		return err
	}
	defer remove()
	start, size := time.Now(), full
	if os.Getenv("QUICK") != "" {
		size = quick
	}
	rows, err := measureAll(context.Background(), size, match)
	if err != nil {
		return err
	}
	printTable(os.Stdout, rows)
	fmt.Printf("\n%s: %d rounds each, %d interactions stored, in %s\n", size.name, size.rounds, size.stored, time.Since(start).Round(time.Second))
	return writeFigures(out, rows)
}

// ownFolder has all that is stored go into one folder, which is gone in the end, and when somebody interrupts: there may be gigabytes in it.
func ownFolder() (remove func(), err error) {
	folder, err := os.MkdirTemp("", "sayso-bench-")
	if err != nil {
		return nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		remove()
		os.Exit(1)
	}()
	return remove, os.Setenv("TMPDIR", folder)
}

func profileTo(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}

func writeFigures(path string, rows []Row) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
