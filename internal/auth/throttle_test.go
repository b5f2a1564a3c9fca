package auth

import (
	"fmt"
	"testing"
	"time"

	"sayso/internal/interaction"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// TestThrottleGrows checks the free attempts and the waits after them, up to the most.
func TestThrottleGrows(t *testing.T) {
	h, now := newThrottle(3), noon
	for n := range 3 {
		if wait := h.begin("dana", now); wait != 0 {
			t.Fatalf("attempt %d waits %s", n+1, wait)
		}
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900} {
		want *= time.Second
		if wait := h.begin("dana", now); wait != want {
			t.Fatalf("it waits %s, want %s", wait, want)
		}
		if wait := h.begin("dana", now.Add(want-1)); wait != 1 { // being too early does not make it longer
			t.Fatalf("just before: %s", wait)
		}
		now = now.Add(want)
		if wait := h.begin("dana", now); wait != 0 {
			t.Fatalf("when the time has come: %s", wait)
		}
	}
	if wait := h.begin("fox", now); wait != 0 {
		t.Errorf("somebody else waits %s", wait)
	}
	if wait := h.begin("dana", now.Add(-time.Hour)); wait > waitMost {
		t.Errorf("with a clock that was set back it waits %s", wait)
	}
	if wait := h.begin("dana", now.Add(forgottenAfter+time.Second)); wait != 0 {
		t.Errorf("a day later it waits %s", wait)
	}
}

// TestThrottleDay counts how many guesses a day has room for.
func TestThrottleDay(t *testing.T) {
	h, guesses := newThrottle(freeForAccount), 0
	for now := noon; now.Before(noon.Add(24 * time.Hour)); {
		wait := h.begin("dana", now)
		if wait == 0 {
			guesses++
		}
		now = now.Add(wait)
	}
	if guesses > 115 {
		t.Errorf("%d guesses", guesses)
	}
}

func TestThrottleForgives(t *testing.T) {
	h := newThrottle(2)
	for range 2 {
		h.begin("dana", noon)
	}
	h.undo("dana")
	if wait := h.begin("dana", noon); wait != 0 {
		t.Errorf("one was taken back, and it waits %s", wait)
	}
	h.succeed("dana")
	for range 2 {
		if wait := h.begin("dana", noon); wait != 0 {
			t.Errorf("it was right, and it waits %s", wait)
		}
	}
	if wait := h.begin("dana", noon); wait == 0 {
		t.Error("it does not count any more")
	}
}

// TestThrottleIsBounded checks that a flood of names takes no more room, and does not push out whoever failed most.
func TestThrottleIsBounded(t *testing.T) {
	h := newThrottle(1)
	for range 2 {
		h.begin("dana", noon)
	}
	h.begin("dana", noon.Add(time.Second))
	for n := range throttleMost + 50 {
		h.begin(fmt.Sprint(n), noon.Add(time.Second))
	}
	if len(h.known) > throttleMost {
		t.Errorf("%d are known", len(h.known))
	}
	if wait := h.begin("dana", noon.Add(time.Second)); wait != 2*time.Second {
		t.Errorf("dana waits %s", wait)
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "::ffff:203.0.113.7": "203.0.113.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "": "", "nonsense": "nonsense",
	} {
		if got := network(address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

// TestMemberRules goes through who may be changed: never the owner, and not the last admin of a project without one.
func TestMemberRules(t *testing.T) {
	dana, fox := Member{User: "usr_dana", Role: interaction.Admin}, Member{User: "usr_fox", Role: interaction.Viewer}
	walter, owner := Member{User: "usr_walter", Role: interaction.Admin}, Member{User: "usr_owner", Owner: true}
	for _, c := range []struct {
		name string
		all  []Member
		user interaction.ID
		role interaction.Role
		want interaction.Code
	}{
		{"a viewer becomes an admin", []Member{dana, fox}, "usr_fox", interaction.Admin, ""},
		{"a viewer leaves", []Member{dana, fox}, "usr_fox", "", ""},
		{"the last admin steps down", []Member{dana, fox}, "usr_dana", interaction.Lead, interaction.Conflict},
		{"the last admin leaves", []Member{dana, fox}, "usr_dana", "", interaction.Conflict},
		{"the last admin stays one", []Member{dana, fox}, "usr_dana", interaction.Admin, ""},
		{"one of two admins leaves", []Member{dana, walter}, "usr_dana", "", ""},
		{"the last admin leaves, and the owner is there", []Member{owner, dana}, "usr_dana", "", ""},
		{"the owner is changed", []Member{owner, dana}, "usr_owner", interaction.Viewer, interaction.Forbidden},
		{"the owner is removed", []Member{owner, dana}, "usr_owner", "", interaction.Forbidden},
		{"a stranger is changed", []Member{owner, dana}, "usr_stranger", interaction.Viewer, interaction.NotFound},
	} {
		if _, err := changeable(c.all, c.user, c.role); interaction.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
