package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"sayso/internal/interaction"
)

// How long a password may be, in code points. Twelve is where guessing one that a person made up gets dear; the most keeps what is hashed short.
const (
	PasswordLeast = 12
	PasswordMost  = 128
)

// The work that one hash takes: 19 MiB, two passes, one lane, which is the least that OWASP's "Password Storage" names for argon2id where the
// memory is shared with a service. A hash carries its own numbers, so that these may grow.
const (
	hashMemory = 19 << 10 // KiB
	hashPasses = 2
	hashLanes  = 1
	hashLength = 32 // bytes, as RFC 9106 recommends
	saltLength = 16 // bytes, as RFC 9106 recommends
)

// What hashing may take of the server. Four at once are 76 MiB; whoever has not got a place within five seconds is told to come back, so that
// a flood of sign-ins cannot pile up.
const (
	hashesAtOnce = 4
	hashWithin   = 5 * time.Second
)

// CheckPassword says what is wrong with a new password, as ValidationFailed. Any characters will do, and it is kept as it was typed.
func CheckPassword(password string) error {
	n := utf8.RuneCountInString(password)
	if n < PasswordLeast || n > PasswordMost {
		return interaction.Errorf(interaction.ValidationFailed, "password: it has %d characters; %d to %d are allowed", n, PasswordLeast, PasswordMost)
	}
	if !utf8.ValidString(password) {
		return interaction.Errorf(interaction.ValidationFailed, "password: it is not valid UTF-8")
	}
	return nil
}

// hasher hashes passwords, a few at a time.
type hasher struct {
	places chan struct{}
	within time.Duration
}

func newHasher() *hasher {
	return &hasher{places: make(chan struct{}, hashesAtOnce), within: hashWithin}
}

// hash is the stored form of a password: a PHC string with a salt of its own.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltLength)
	rand.Read(salt) // never fails: crypto/rand ends the program instead
	p := phc{memory: hashMemory, passes: hashPasses, lanes: hashLanes, salt: salt, key: make([]byte, hashLength)}
	key, err := h.derive(ctx, p, password)
	p.key = key
	return p.String(), err
}

// matches says whether a password is the one that was stored. stored may be "", of an account that is not there or has none: that takes as long,
// and never matches.
func (h *hasher) matches(ctx context.Context, stored, password string) (bool, error) {
	p := phc{memory: hashMemory, passes: hashPasses, lanes: hashLanes, salt: make([]byte, saltLength), key: make([]byte, hashLength)}
	if stored != "" {
		var err error
		if p, err = parsePHC(stored); err != nil {
			return false, err
		}
	}
	if utf8.RuneCountInString(password) > PasswordMost {
		password = "" // which no stored one is
	}
	key, err := h.derive(ctx, p, password)
	return err == nil && stored != "" && subtle.ConstantTimeCompare(key, p.key) == 1, err
}

// derive does the work once there is a place. No place in time is Unavailable.
func (h *hasher) derive(ctx context.Context, p phc, password string) ([]byte, error) {
	timer := time.NewTimer(h.within)
	defer timer.Stop()
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	case <-timer.C:
		return nil, &interaction.Error{Code: interaction.Unavailable, Message: "Too many people are signing in at once. Try again in a moment.", RetryAfter: 1}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(password), p.salt, p.passes, p.memory, p.lanes, uint32(len(p.key))), nil
}

// phc is a hash with what it was made with, in the string format of the Password Hashing Competition.
type phc struct {
	memory, passes uint32
	lanes          uint8
	salt, key      []byte
}

var phcBase64 = base64.RawStdEncoding

func (p phc) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes, phcBase64.EncodeToString(p.salt), phcBase64.EncodeToString(p.key))
}

func parsePHC(s string) (p phc, err error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, fmt.Errorf("a stored password is no argon2id hash")
	}
	if _, err = fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); err != nil {
		return p, fmt.Errorf("a stored password: %w", err)
	}
	if p.salt, err = phcBase64.DecodeString(parts[4]); err == nil {
		p.key, err = phcBase64.DecodeString(parts[5])
	}
	if err == nil && (p.passes == 0 || p.lanes == 0 || len(p.key) < saltLength) {
		err = fmt.Errorf("its numbers are too small")
	}
	if err != nil {
		return p, fmt.Errorf("a stored password: %w", err)
	}
	return p, nil
}
