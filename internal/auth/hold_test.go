package auth

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sayso/internal/interaction"
)

// shelf is a store with one key, which another process may revoke.
type shelf struct {
	Store
	revoked atomic.Bool
	scopes  atomic.Pointer[[]interaction.Scope]
	looks   atomic.Int64
}

func (s *shelf) KeyPrincipal(context.Context, Hash) (interaction.Principal, time.Time, error) {
	s.looks.Add(1)
	p := interaction.Principal{Kind: interaction.OperatorPrincipal, ID: "key_1"}
	if more := s.scopes.Load(); more != nil {
		p.Scopes = *more
	}
	if s.revoked.Load() {
		return p, time.Time{}, interaction.Errorf(interaction.NotFound, "Not found.")
	}
	return p, time.Now(), nil
}

func (s *shelf) TouchKey(Hash, time.Time) {}

// held has n calls hold one key, in a bubble where time is the test's.
func held(t *testing.T, n int, play func(s *shelf, calls []context.Context, release func())) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		g := NewGate(s, time.Now)
		secret := NewSecret(interaction.OperatorPrincipal)
		p, err := g.Key(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		var calls []context.Context
		var ends []func()
		for range n {
			ctx, end := g.HoldKey(t.Context(), secret, p)
			calls, ends = append(calls, ctx), append(ends, end)
		}
		play(s, calls, func() {
			for _, end := range ends {
				end()
			}
		})
		synctest.Wait() // and the bubble fails if the clock still runs
	})
}

// TestHeldKeyRevokedElsewhere: a key that another process has revoked ends within a second, for all calls by one look at a time.
func TestHeldKeyRevokedElsewhere(t *testing.T) {
	held(t, 100, func(s *shelf, calls []context.Context, release func()) {
		defer release()
		<-time.After(10 * time.Second)
		if looks := s.looks.Load(); looks > 25 {
			t.Errorf("%d looks in ten seconds", looks)
		}
		for _, ctx := range calls {
			if ctx.Err() != nil {
				t.Fatal("a call ended without a reason")
			}
		}
		s.revoked.Store(true)
		<-time.After(time.Second)
		synctest.Wait()
		for _, ctx := range calls {
			var why *interaction.Error
			if !errors.As(context.Cause(ctx), &why) || why.Code != interaction.Unauthorized {
				t.Fatalf("it ended by %v", context.Cause(ctx))
			}
		}
	})
}

func TestHeldKeyThatMayDoOtherThings(t *testing.T) {
	held(t, 1, func(s *shelf, calls []context.Context, release func()) {
		defer release()
		s.scopes.Store(&[]interaction.Scope{interaction.ScopeRead})
		<-time.After(time.Second)
		synctest.Wait()
		if calls[0].Err() == nil {
			t.Error("it goes on")
		}
	})
}

// TestReleasedKey: what is over is looked at no more.
func TestReleasedKey(t *testing.T) {
	held(t, 3, func(s *shelf, calls []context.Context, release func()) {
		release()
		before := s.looks.Load()
		<-time.After(time.Minute)
		if s.looks.Load() != before {
			t.Error("it is still looked at")
		}
		var why *interaction.Error
		if errors.As(context.Cause(calls[0]), &why) {
			t.Error("a call that was over ended as if its key had")
		}
	})
}
