package auth

import (
	"context"
	"strings"
	"testing"
	"time"

	"sayso/internal/interaction"
)

func TestPasswordLength(t *testing.T) {
	for password, good := range map[string]bool{
		strings.Repeat("a", 11): false, strings.Repeat("a", 12): true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false,
		strings.Repeat("é", 11): false, strings.Repeat("é", 12): true, strings.Repeat("🦊", 128): true, strings.Repeat("🦊", 129): false, // code points, not bytes
		"            ": true, "": false, strings.Repeat("a", 12) + "\xff": false,
	} {
		if err := CheckPassword(password); (err == nil) != good {
			t.Errorf("%q: %v", password, err)
		} else if err != nil && interaction.CodeOf(err) != interaction.ValidationFailed {
			t.Errorf("%q: %v", password, err)
		}
	}
}

// TestHash checks that a password matches its own hash and no other, byte for byte as it was typed.
func TestHash(t *testing.T) {
	h := newHasher()
	const password = "correct horse é" // é as one code point
	stored, err := h.hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(stored, "horse") {
		t.Errorf("stored as %s", stored)
	}
	if again, _ := h.hash(t.Context(), password); again == stored {
		t.Error("two hashes of one password share a salt")
	}
	for typed, want := range map[string]bool{
		password: true, "correct horse e\u0301": false, password + " ": false, "Correct horse é": false, "": false, strings.Repeat("a", 10_000): false,
	} {
		if got, err := h.matches(t.Context(), stored, typed); err != nil || got != want {
			t.Errorf("%.40q: %v %v, want %v", typed, got, err, want)
		}
	}
	if got, err := h.matches(t.Context(), "", password); err != nil || got {
		t.Errorf("an account that is not there: %v %v", got, err)
	}
}

// TestHashOfOtherStrength checks that a hash is verified with its own numbers, so that ours may grow.
func TestHashOfOtherStrength(t *testing.T) {
	h := newHasher()
	p := phc{memory: 8, passes: 1, lanes: 1, salt: []byte("0123456789abcdef"), key: make([]byte, 32)}
	var err error
	if p.key, err = h.derive(t.Context(), p, "an older password"); err != nil {
		t.Fatal(err)
	}
	if got, err := h.matches(t.Context(), p.String(), "an older password"); err != nil || !got {
		t.Errorf("%v %v", got, err)
	}
	for _, broken := range []string{
		"plain", "$argon2i$v=19$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAA", "$argon2id$v=16$m=8,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$AAAA",
		"$argon2id$v=19$m=8,t=0,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg", "$argon2id$v=19$m=8,t=1,p=1$!$MDEyMzQ1Njc4OWFiY2RlZg",
	} {
		if got, err := h.matches(t.Context(), broken, "an older password"); err == nil || got {
			t.Errorf("%s: %v %v", broken, got, err)
		}
	}
}

// TestHashingIsBounded checks that only so many hash at once, and that whoever gets no place in time is told to come back.
func TestHashingIsBounded(t *testing.T) {
	h := &hasher{places: make(chan struct{}, 2), within: time.Millisecond}
	h.places <- struct{}{}
	h.places <- struct{}{} // both are taken
	if _, err := h.hash(t.Context(), "correct horse battery"); interaction.CodeOf(err) != interaction.Unavailable || interaction.AsError(err).RetryAfter == 0 {
		t.Errorf("no place: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.within = time.Hour
	if _, err := h.hash(ctx, "correct horse battery"); err != context.Canceled {
		t.Errorf("nobody waits any more: %v", err)
	}
	<-h.places
	if _, err := h.hash(t.Context(), "correct horse battery"); err != nil || len(h.places) != 1 {
		t.Errorf("a place: %v, and %d are taken", err, len(h.places))
	}
}

func TestEmail(t *testing.T) {
	for typed, want := range map[string]string{
		" Dana@Example.COM ": "dana@example.com", "dana+x@example.com": "dana+x@example.com", "d@münchen.example": "d@münchen.example",
		"": "", "dana": "", "dana@": "", "@example.com": "", "dana@x, fox@x": "", "Dana <dana@example.com>": "", "dana@exa mple.com": "",
		"dana@example.com\u200b": "", "da\u202ena@example.com": "", "dana\x00@example.com": "", strings.Repeat("a", 250) + "@x.io": "", "dana@example.com\n": "dana@example.com",
	} {
		got, err := Email(typed)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", typed, got, err, want)
		}
	}
}
