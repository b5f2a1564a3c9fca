package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"sayso/internal/interaction"
)

// How fast passwords may be guessed. A person who mistypes is not held up; after that each failure doubles the wait, so that a day has room for
// about a hundred guesses at one account; NIST SP 800-63B wants no more than a hundred failures in a row. An office shares one address, so an address
// gets more before it waits.
const (
	freeForAccount = 5
	freeForAddress = 20
	waitFirst      = time.Second
	waitMost       = 15 * time.Minute
	forgottenAfter = 24 * time.Hour // without a failure
	throttleMost   = 10_000         // entries of each kind; the least troublesome go first
)

// throttle slows guessing down. What it knows is in memory: a restart forgives.
type throttle struct {
	mu    sync.Mutex
	free  int
	known map[string]attempts
}

// attempts are those of one account or address.
type attempts struct {
	failed int
	last   time.Time
}

func newThrottle(free int) *throttle { return &throttle{free: free, known: map[string]attempts{}} }

// begin counts an attempt as failed until [throttle.undo] or [throttle.succeed] says otherwise, so that many at once are no way around it. It
// gives how long to wait when it is too early for one; then nothing was counted.
func (t *throttle) begin(key string, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.known[key]
	if now.Sub(a.last) > forgottenAfter {
		a = attempts{}
	}
	pause := t.pause(a.failed)
	if wait = min(a.last.Add(pause).Sub(now), pause); wait > 0 { // the least of both: a clock that was set back holds nobody up for longer
		return wait
	}
	if _, there := t.known[key]; !there && len(t.known) >= throttleMost {
		t.makeRoom(now)
	}
	t.known[key] = attempts{a.failed + 1, now}
	return 0
}

// pause is how long to wait after so many failures.
func (t *throttle) pause(failed int) time.Duration {
	over := failed - t.free
	switch {
	case over < 0:
		return 0
	case over >= 10: // 2^10 s is more than the most
		return waitMost
	}
	return min(waitFirst<<over, waitMost)
}

// undo takes back an attempt that was neither right nor wrong.
func (t *throttle) undo(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, there := t.known[key]; there {
		a.failed--
		t.known[key] = a
	}
}

// succeed forgives all before.
func (t *throttle) succeed(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, key)
}

// makeRoom drops what is forgotten, or else whoever failed least.
func (t *throttle) makeRoom(now time.Time) {
	least, fewest := "", 0
	for key, a := range t.known {
		if now.Sub(a.last) > forgottenAfter {
			delete(t.known, key)
		} else if least == "" || a.failed < fewest {
			least, fewest = key, a.failed
		}
	}
	if len(t.known) >= throttleMost {
		delete(t.known, least)
	}
}

// tooEarly is the refusal of an attempt. It does not say whether the account or the address is held up, nor whether the account is there.
func tooEarly(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	unit := "seconds"
	if seconds == 1 {
		unit = "second"
	}
	return &interaction.Error{
		Code: interaction.RateLimited, RetryAfter: seconds,
		Message: fmt.Sprintf("Too many attempts to sign in. Try again in %d %s.", seconds, unit),
	}
}

// network is the part of an address that stands for one subscriber: all of an IPv4 address, the first 64 bits of an IPv6 one, whose holder
// may pick the rest anew each time.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap(); ip.Is6() {
		prefix, _ := ip.WithZone("").Prefix(64) // 64 is within the bits of an IPv6 address
		return prefix.String()
	}
	return ip.String()
}
