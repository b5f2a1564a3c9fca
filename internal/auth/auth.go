// Package auth proves who is calling, by keys, sessions, passwords and one-time links, and keeps who may come in: accounts, members and
// invitations. It knows no HTTP and no SQL.
//
// Every secret that we make is random, shown once, and kept only as its SHA-256; a password, which is not random, as an argon2id hash. So what
// the database holds opens nothing. Keys come in two kinds that
// can never stand in for each other: an agent's key asks and waits, an operator's key reads, answers and manages by its scopes. The kind
// is in the key's own text and in its row, and what a [interaction.Principal] may do is decided where it does it.
//
// [Gate] answers for each request. It remembers what it found for half a second, so that a busy key costs no query and a revoked one
// stops within a second. A call that takes longer than that holds its credential ([Gate.HoldKey], [Gate.WatchSession]), and is told when
// that ends. What changes through the gate itself it forgets at once.
package auth

import (
	"context"
	"crypto/sha256"
	"maps"
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
	// KeyPrincipal is who a key that is not revoked stands for, and when it was last used.
	KeyPrincipal(ctx context.Context, h Hash) (interaction.Principal, time.Time, error)
	// TouchKey remembers that a key was used. It does not wait for the disk, and may be lost.
	TouchKey(h Hash, now time.Time)
	// CreateKey stores a key of a project and what the audit log says of it. created is false when once was carried out before: made is the
	// key of then. An agent that is not one of the project's is InvalidRequest.
	CreateKey(ctx context.Context, k Key, once interaction.Once, e interaction.AdminEvent) (made Key, created bool, err error)
	// Keys are those of a project, and one more than the page's limit if there are more. They have no hashes.
	Keys(ctx context.Context, project interaction.ID, page interaction.Page) ([]Key, error)
	// RevokeKey ends a key of a project, and gives it with its hash. One that is revoked already stays as it is, and said is not called.
	RevokeKey(ctx context.Context, project, id interaction.ID, now time.Time, said func(Key) interaction.AdminEvent) (Key, error)
	// EnsureKey stores a key unless it is there. ReplaceKey also revokes all others of its kind and name that the server made.
	EnsureKey(ctx context.Context, k Key, now time.Time) error
	ReplaceKey(ctx context.Context, k Key, now time.Time) error

	// SignIn uses up a code that was made after born and starts a session of the owner, who is made with name if there is none yet; then
	// first is true. instead, if any, ends. All of it happens, or nothing: ok is false when the code was not good.
	SignIn(ctx context.Context, code Hash, born time.Time, name string, s Session, instead Hash) (ok, first bool, err error)
	// HasOwner says whether somebody has signed in ever.
	HasOwner(ctx context.Context) (bool, error)

	// SignInIdentity starts a session of whom an issuer has named. Their memberships follow roles, by project; see [Membership.Following].
	// allowed is false when they are in no project then: there is no session, and nobody is made.
	SignInIdentity(ctx context.Context, who Identity, roles map[interaction.ID]interaction.Role, s Session, instead Hash) (allowed bool, err error)

	// StartSession starts a session of a person in the place of instead, and writes it into the audit logs of their projects.
	StartSession(ctx context.Context, user interaction.ID, s Session, way Way, instead Hash) error
	// SessionPrincipal finds a session that began after born and was seen after seen, and tells when it was.
	SessionPrincipal(ctx context.Context, h Hash, born, seen time.Time) (interaction.Principal, time.Time, error)
	TouchSession(h Hash, now time.Time)
	// Sessions are those of a person that began after born and were seen after seen, the newest first.
	Sessions(ctx context.Context, user interaction.ID, born, seen time.Time) ([]Session, error)
	// EndSession ends a session by its hash, if it is there; EndSessionOf one of a person by its id; EndSessionsOf all of a person.
	EndSession(ctx context.Context, h Hash, now time.Time) error
	EndSessionOf(ctx context.Context, who interaction.Principal, id interaction.ID, now time.Time) error
	EndSessionsOf(ctx context.Context, who interaction.Principal, now time.Time) error

	// PasswordOf is the password of the account with that email.
	PasswordOf(ctx context.Context, email string) (StoredPassword, error)
	Passwords(ctx context.Context) (anybody, owner bool, err error)
	Account(ctx context.Context, user interaction.ID) (Account, error)
	// ChangeAccount changes an account, and writes what was changed into the audit logs of its projects. An email that another has is a Conflict.
	ChangeAccount(ctx context.Context, who interaction.Principal, c AccountChange, now time.Time) error

	// Members are the people of a project: first the owner, then by name.
	Members(ctx context.Context, in interaction.ID) ([]Member, error)
	// ChangeMember carries out what change makes of the members of a project, in one transaction. Open invitations by a member who is no longer
	// an admin end with it.
	ChangeMember(ctx context.Context, in, user interaction.ID, change func(all []Member) (MemberChange, error)) error

	// Invite stores an invitation; Invitations are those of a project that were made after born and are open, the newest first.
	Invite(ctx context.Context, i Invitation, code Hash, e interaction.AdminEvent) error
	Invitations(ctx context.Context, in interaction.ID, born time.Time) ([]Invitation, error)
	// Invitation finds one that was made after born and is open by its code.
	Invitation(ctx context.Context, code Hash, born time.Time) (Invitation, error)
	RevokeInvitation(ctx context.Context, in, id interaction.ID, born time.Time, record func(Invitation) interaction.AdminEvent) error
	// Accept uses an invitation up for a person, whom decide is told as they stand in its project, and Join for one who is made with it.
	Accept(ctx context.Context, code Hash, born, now time.Time, decide func(Invitation, Member) (interaction.AdminEvent, error), user interaction.ID) (Invitation, error)
	Join(ctx context.Context, code Hash, born time.Time, n Newcomer, s Session, record func(Invitation) interaction.AdminEvent) (Invitation, error)

	// AddCode stores a one-time code. GoodCode says whether it is there and was made after born; it uses nothing up.
	AddCode(ctx context.Context, h Hash, now time.Time) error
	GoodCode(ctx context.Context, h Hash, born time.Time) (bool, error)
	// DropCodes takes all codes away.
	DropCodes(ctx context.Context) error
}

// CodeLife is how long a one-time sign-in link is good.
const CodeLife = 24 * time.Hour

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
	checking checking

	hasher                 *hasher
	perAccount, perAddress *throttle
}

// memory is what was found of one kind of secret. Each kind has its own: a key must never pass for a session because it was just seen.
type memory struct {
	mu    sync.Mutex
	known map[Hash]verdict
	held  map[Hash]map[*hold]struct{}
}

// verdict is what was found of a secret.
type verdict struct {
	principal interaction.Principal
	err       error
	at        time.Time // when it was found
	seen      time.Time // when it was last used
}

// NewGate makes a Gate.
func NewGate(store Store, now func() time.Time) *Gate {
	return &Gate{
		store: store, now: now, keys: newMemory(), sessions: newMemory(), guests: guests{known: map[Hash]guest{}},
		hasher: newHasher(), perAccount: newThrottle(freeForAccount), perAddress: newThrottle(freeForAddress),
	}
}

func newMemory() memory {
	return memory{known: map[Hash]verdict{}, held: map[Hash]map[*hold]struct{}{}}
}

func unauthorized(message string) error {
	return interaction.Errorf(interaction.Unauthorized, "%s", message)
}

// Key is who an API key stands for. Any that is malformed, unknown or revoked is Unauthorized, all in the same words.
func (g *Gate) Key(ctx context.Context, secret string) (interaction.Principal, error) {
	if !WellFormedKey(secret) {
		return interaction.Principal{}, errBadKey()
	}
	h := HashOf(secret)
	p, err := g.keyOf(ctx, h)
	if now := g.now(); err == nil && g.keys.use(now, h) {
		g.store.TouchKey(h, now)
	}
	return p, err
}

func errBadKey() error {
	return unauthorized("The API key is missing, unknown or revoked. Send it as: Authorization: Bearer sayso_…")
}

// keyOf is who a key stands for, by its hash. Looking is no use of it.
func (g *Gate) keyOf(ctx context.Context, h Hash) (interaction.Principal, error) {
	return g.keys.look(g.now(), h, func(h Hash) (verdict, error) {
		p, used, err := g.store.KeyPrincipal(ctx, h)
		if interaction.CodeOf(err) == interaction.NotFound {
			err = errBadKey()
		}
		return verdict{principal: p, seen: used}, err
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

// use says whether it is time to write that a secret was used.
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

// forget has secrets looked up again at once, and tells the calls that go on: one of those may be meant that nobody remembers any more.
func (m *memory) forget(which func(Hash, verdict) bool) {
	m.mu.Lock()
	maps.DeleteFunc(m.known, which)
	m.mu.Unlock()
	for _, h := range m.allHeld() {
		m.tell(h)
	}
}

// NewCode makes a one-time code that signs the owner in.
func (g *Gate) NewCode(ctx context.Context) (string, error) {
	code := secret()
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
func (g *Gate) SignIn(ctx context.Context, code, name string, from From) (token string, first bool, err error) {
	now := g.now()
	token, session := newSession(from, now)
	ok, first, err := g.store.SignIn(ctx, HashOf(code), now.Add(-CodeLife), name, session, from.Instead)
	if err == nil && !ok {
		err = unauthorized("This link was used already or is too old.")
	}
	return token, first, g.end(err, only(from.Instead))
}

// First says whether nobody has signed in ever.
func (g *Gate) First(ctx context.Context) (bool, error) {
	has, err := g.store.HasOwner(ctx)
	return !has, err
}
