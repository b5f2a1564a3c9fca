package server

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"sync/atomic"
	"time"

	"sayso/internal/policy"
)

// ReadPolicies reads the policies of a configuration file.
func ReadPolicies(path string) (policy.Set, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return f.policies()
}

// lookEvery is how often the configuration file is looked at. A change is taken at the second look that finds the file as it is, so that one
// that is just being written is not read in the middle.
const lookEvery = 500 * time.Millisecond

// policies keeps the policies of the configuration file up to date. A file that cannot be read leaves them as they were.
type policies struct {
	path     string
	log      *slog.Logger
	now      func() time.Time
	current  atomic.Pointer[policy.Reading]
	settings map[string]string // that the file held when the program started

	// Of the goroutine that watches.
	read, seen look
}

// look is what tells one state of a file from another.
type look struct {
	size int64
	at   time.Time
	err  string
}

func lookAt(path string) look {
	info, err := os.Stat(path)
	if err != nil {
		return look{err: err.Error()}
	}
	return look{size: info.Size(), at: info.ModTime()}
}

// newPolicies reads the file for the first time; "" has no policies.
func newPolicies(path string, log *slog.Logger, now func() time.Time) (*policies, error) {
	p := &policies{path: path, log: log, now: now}
	p.current.Store(&policy.Reading{})
	if path == "" {
		return p, nil
	}
	p.read = lookAt(path)
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	p.settings = f.values()
	return p, p.take(f)
}

// reading is what is in force.
func (p *policies) reading() policy.Reading { return *p.current.Load() }

func (p *policies) take(f fileConfig) error {
	set, err := f.policies()
	if err != nil {
		return err
	}
	p.current.Store(&policy.Reading{Set: set, File: p.path, At: p.now().UTC().Truncate(time.Millisecond)})
	return nil
}

// watch reads the file again when it changed, and at a hangup at once, until ctx is done.
func (p *policies) watch(ctx context.Context, hangup <-chan os.Signal) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			p.reload(lookAt(p.path))
		case <-tick.C:
			p.look()
		}
	}
}

// look reads the file again if it is not as it was read, and rests.
func (p *policies) look() {
	if p.path == "" {
		return
	}
	now := lookAt(p.path)
	if now != p.read && now == p.seen {
		p.reload(now)
	}
	p.seen = now
}

func (p *policies) reload(now look) {
	if p.path == "" {
		return
	}
	p.read = now
	f, err := readFile(p.path)
	if err == nil {
		err = p.take(f)
	}
	if err != nil {
		failed := p.reading()
		failed.Err, failed.FailedAt = err.Error(), p.now().UTC().Truncate(time.Millisecond)
		p.current.Store(&failed)
		p.log.Error("the configuration file was not taken; the policies that were read before stay in force", "err", err, "read", failed.At)
		return
	}
	p.log.Info("the configuration file was read again", "file", p.path, "agents", p.count())
	if !maps.Equal(f.values(), p.settings) {
		p.log.Warn("settings other than agents and projects have changed in the configuration file; they hold from the next start on", "file", p.path)
	}
}

func (p *policies) count() (n int) {
	for _, agents := range p.reading().Set {
		n += len(agents)
	}
	return n
}
