// Package auth proves who is calling: keys, sessions and one-time sign-in links. It knows no HTTP and no SQL.
//
// Every secret is random, shown once, and kept only as its SHA-256, so what the database holds opens nothing. Keys come in two kinds that
// can never stand in for each other: an agent's key asks and waits, an operator's key reads, answers and manages by its scopes. The kind
// is in the key's own text and in its row, and what a [interaction.Principal] may do is decided where it does it.
//
// [Gate] answers for each request. It remembers what it found for half a second, so that a busy key costs no query and a revoked one
// stops within a second.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"sayso/internal/interaction"
)

// Hash is the SHA-256 of a secret: the only form in which it is stored.
type Hash [sha256.Size]byte

// HashOf is the hash of a secret.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// Store keeps credentials. What is not there is a NotFound error.
type Store interface {
	GuestStore
	// KeyPrincipal is who a key that is not revoked stands for.
	KeyPrincipal(ctx context.Context, h Hash) (interaction.Principal, error)
	// EnsureKey stores a key unless it is there. ReplaceKey also revokes all others of its kind and name.
	EnsureKey(ctx context.Context, k Key, now time.Time) error
	ReplaceKey(ctx context.Context, k Key, now time.Time) error

	// SignIn uses up a code that was made after born and starts a session of the first user, who is made with name if there is none yet;
	// then first is true. All of it happens, or nothing: ok is false when the code was not good.
	SignIn(ctx context.Context, code Hash, born time.Time, name string, session Hash, now time.Time) (ok, first bool, err error)
	// HasOwner says whether somebody has signed in ever.
	HasOwner(ctx context.Context) (bool, error)

	// SessionPrincipal finds a session that began after born and was seen after seen, and tells when it was.
	SessionPrincipal(ctx context.Context, h Hash, born, seen time.Time) (interaction.Principal, time.Time, error)
	TouchSession(h Hash, now time.Time)
	EndSession(ctx context.Context, h Hash) error

	// AddCode stores a one-time code. GoodCode says whether it is there and was made after born; it uses nothing up.
	AddCode(ctx context.Context, h Hash, now time.Time) error
	GoodCode(ctx context.Context, h Hash, born time.Time) (bool, error)
	// DropCodes takes all codes away.
	DropCodes(ctx context.Context) error
}

// How long sign-ins last.
const (
	SessionIdle = 12 * time.Hour
	SessionMost = 30 * 24 * time.Hour
	CodeLife    = 24 * time.Hour
)

const (
	remembered   = 500 * time.Millisecond
	touchEvery   = time.Minute
	rememberMost = 10_000 // entries; beyond that all are looked up again
)

// Gate says who a secret stands for.
type Gate struct {
	store    Store
	now      func() time.Time
	keys     memory
	sessions memory
	guests   guests
}

// memory is what was found of one kind of secret. Each kind has its own: a key must never pass for a session because it was just seen.
type memory struct {
	mu    sync.Mutex
	known map[Hash]verdict
}

// verdict is what was found of a secret.
type verdict struct {
	principal interaction.Principal
	err       error
	at        time.Time // when it was found
	seen      time.Time // when somebody last used the session
}

// NewGate makes a Gate.
func NewGate(store Store, now func() time.Time) *Gate {
	return &Gate{store: store, now: now, keys: memory{known: map[Hash]verdict{}}, sessions: memory{known: map[Hash]verdict{}}, guests: guests{known: map[Hash]guest{}}}
}

func unauthorized(message string) error {
	return interaction.Errorf(interaction.Unauthorized, "%s", message)
}

// Key is who an API key stands for. Any that is malformed, unknown or revoked is Unauthorized, all in the same words.
func (g *Gate) Key(ctx context.Context, secret string) (interaction.Principal, error) {
	denied := unauthorized("The API key is missing, unknown or revoked. Send it as: Authorization: Bearer sayso_…")
	if !WellFormedKey(secret) {
		return interaction.Principal{}, denied
	}
	return g.keys.look(g.now(), HashOf(secret), func(h Hash) (verdict, error) {
		p, err := g.store.KeyPrincipal(ctx, h)
		if interaction.CodeOf(err) == interaction.NotFound {
			err = denied
		}
		return verdict{principal: p}, err
	})
}

// Session is who a session stands for, by the hash of its token. One that ended or is too old is Unauthorized.
func (g *Gate) Session(ctx context.Context, session Hash) (interaction.Principal, error) {
	return g.sessions.look(g.now(), session, func(h Hash) (verdict, error) {
		now := g.now()
		p, seen, err := g.store.SessionPrincipal(ctx, h, now.Add(-SessionMost), now.Add(-SessionIdle))
		if interaction.CodeOf(err) == interaction.NotFound {
			err = unauthorized("You are signed out.")
		}
		return verdict{principal: p, seen: seen}, err
	})
}

// Active notes that somebody used a session. What pages do by themselves is no use: a tab left open must not keep a session alive.
func (g *Gate) Active(session Hash) {
	if now := g.now(); g.sessions.use(now, session) {
		g.store.TouchSession(session, now)
	}
}

// use says whether it is time to write that the secret was used.
func (m *memory) use(now time.Time, h Hash) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[h]
	if !ok || v.err != nil || now.Sub(v.seen) <= touchEvery {
		return false
	}
	v.seen = now
	m.known[h] = v
	return true
}

// look gives what was found lately, or finds it. Failures of the store are not remembered.
func (m *memory) look(now time.Time, h Hash, find func(Hash) (verdict, error)) (interaction.Principal, error) {
	if v, ok := m.lately(now, h); ok {
		return v.principal, v.err
	}
	v, err := find(h)
	if err != nil && interaction.CodeOf(err) != interaction.Unauthorized {
		return v.principal, err
	}
	v.err, v.at = err, now
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= rememberMost {
		clear(m.known)
	}
	m.known[h] = v
	return v.principal, err
}

func (m *memory) lately(now time.Time, h Hash) (verdict, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[h]
	return v, ok && now.Sub(v.at) < remembered && !now.Before(v.at)
}

// forget has a secret looked up again at once.
func (m *memory) forget(h Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, h)
}

// NewCode makes a one-time code that signs the owner in.
func (g *Gate) NewCode(ctx context.Context) (string, error) {
	code := token()
	return code, g.store.AddCode(ctx, HashOf(code), g.now())
}

// StartCode makes the one code of a fresh start: those of earlier starts no longer sign anybody in.
func (g *Gate) StartCode(ctx context.Context) (string, error) {
	if err := g.store.DropCodes(ctx); err != nil {
		return "", err
	}
	return g.NewCode(ctx)
}

// CheckCode says whether the code would sign somebody in. It uses nothing up, so that opening a link decides nothing.
func (g *Gate) CheckCode(ctx context.Context, code string) (bool, error) {
	return g.store.GoodCode(ctx, HashOf(code), g.now().Add(-CodeLife))
}

// SignIn uses up a code and starts a session of the owner, who is called name if this is the first time ever. A code that is
// unknown, used or too old is Unauthorized.
func (g *Gate) SignIn(ctx context.Context, code, name string) (sessionToken string, first bool, err error) {
	now := g.now()
	sessionToken = token()
	ok, first, err := g.store.SignIn(ctx, HashOf(code), now.Add(-CodeLife), name, HashOf(sessionToken), now)
	if err == nil && !ok {
		err = unauthorized("This link was used already or is too old.")
	}
	return sessionToken, first, err
}

// SignOut ends a session.
func (g *Gate) SignOut(ctx context.Context, session Hash) error {
	defer g.sessions.forget(session)
	return g.store.EndSession(ctx, session)
}

// token is 256 random bits, for a session or a code.
func token() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// First says whether nobody has signed in ever.
func (g *Gate) First(ctx context.Context) (bool, error) {
	has, err := g.store.HasOwner(ctx)
	return !has, err
}
