package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mattn/go-sqlite3"

	"sayso/internal/interaction"
)

// TestListsDoNotLockThePool reads many lists at once on a fresh process, when no name is known yet: a list that needed a second connection
// while it held one would wait for ever.
func TestListsDoNotLockThePool(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	agent := newAgent(t, s)
	for range 3 {
		asked(t, s, agent, interaction.Ask{})
	}
	must(t, s.Close())
	for range 20 {
		s := open(t, folder)
		var wait sync.WaitGroup
		for range 4 * readers {
			wait.Go(func() {
				f := interaction.Filter{Project: agent.ProjectID, State: interaction.Open, Page: interaction.Page{Limit: 50}}
				if list, err := s.Interactions(t.Context(), f); err != nil || len(list) != 3 {
					t.Errorf("%d interactions, %v", len(list), err)
				}
			})
		}
		wait.Wait()
		must(t, s.Close())
	}
}

// TestNothingIsAcknowledgedAfterTheDiskFailed: whether what follows an I/O error is on the disk, nobody knows.
func TestNothingIsAcknowledgedAfterTheDiskFailed(t *testing.T) {
	broke := make(chan error, 2)
	s, err := Open(t.Context(), t.TempDir(), Options{Broken: func(err error) { broke <- err }})
	must(t, err)
	defer s.Close()
	fails := func(*tx) error { return sqlite3.Error{Code: sqlite3.ErrIoErr} }
	works := func(x *tx) error { return x.run("INSERT INTO signin_codes (hash, created_at) VALUES (x'01', 1)") }
	for _, run := range []func(*tx) error{fails, works, works} {
		if err := s.writer.do(t.Context(), run); interaction.CodeOf(err) != interaction.Unavailable {
			t.Errorf("%v, want unavailable", err)
		}
	}
	if <-broke; len(broke) > 0 {
		t.Error("told that it broke more than once")
	}
	if n := count(t, s, "SELECT count(*) FROM signin_codes"); n != 0 {
		t.Errorf("%d rows written after the failure", n)
	}
}

// TestFullDiskPasses: a full disk is told to the caller, and the next one succeeds when there is room again.
func TestFullDiskPasses(t *testing.T) {
	s := open(t, t.TempDir())
	err := s.writer.do(t.Context(), func(*tx) error { return sqlite3.Error{Code: sqlite3.ErrFull} })
	if e := interaction.AsError(err); e.Code != interaction.Unavailable || e.RetryAfter == 0 {
		t.Errorf("full disk: %v", err)
	}
	must(t, s.writer.do(t.Context(), func(x *tx) error { return x.run("DELETE FROM signin_codes") }))
}

// TestPanicSpoilsItsOwnTransactionOnly: others in the batch, and those after it, are served.
func TestPanicSpoilsItsOwnTransactionOnly(t *testing.T) {
	s := open(t, t.TempDir())
	err := s.writer.do(t.Context(), func(x *tx) error {
		must(t, x.run("INSERT INTO signin_codes (hash, created_at) VALUES (x'02', 1)"))
		panic("a bug")
	})
	if err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("%v", err)
	}
	must(t, s.writer.do(t.Context(), func(x *tx) error { return x.run("DELETE FROM sessions") }))
	if n := count(t, s, "SELECT count(*) FROM signin_codes"); n != 0 {
		t.Errorf("%d rows of the closure that panicked", n)
	}
}

// failures gathers what is logged as an error.
type failures struct {
	slog.Handler
	got chan string
}

func (f failures) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		f.got <- r.Message
	}
	return nil
}

func TestFailureThatNobodyWaitsForIsLogged(t *testing.T) {
	got := make(chan string, 1)
	s, err := Open(t.Context(), t.TempDir(), Options{Log: slog.New(failures{slog.NewTextHandler(t.Output(), nil), got})})
	must(t, err)
	defer s.Close()
	s.writer.later("mark something", func(*tx) error { return errors.New("no") })
	if message := <-got; message != "mark something" {
		t.Errorf("logged %q", message)
	}
}
