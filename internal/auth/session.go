package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"
	"unicode/utf8"

	"sayso/internal/interaction"
)

// How long sign-ins last.
const (
	SessionIdle = 12 * time.Hour
	SessionMost = 30 * 24 * time.Hour
)

// clientMost is how many bytes of what a browser says of itself are kept: enough to tell a phone from a laptop.
const clientMost = 200

// Session is one browser that somebody is signed in with.
type Session struct {
	ID        interaction.ID
	Hash      Hash   // of its token
	Client    string // the browser, as it says
	Address   string // where it signed in from
	CreatedAt time.Time
	SeenAt    time.Time
}

// From is where somebody signs in.
type From struct {
	Client, Address string
	Instead         Hash // the session that the browser had, which ends; zero: none
}

// Way is how somebody signed in. The texts stand in audit logs for ever; another one is the issuer of an identity.
type Way string

// The ways of our own.
const (
	ByLink       Way = "link"
	ByPassword   Way = "password"
	ByInvitation Way = "invitation"
)

// newSession makes a session and its token, which is told once.
func newSession(from From, now time.Time) (token string, s Session) {
	token = secret()
	client := from.Client
	for len(client) > clientMost {
		_, size := utf8.DecodeLastRuneInString(client)
		client = client[:len(client)-size]
	}
	return token, Session{
		ID: interaction.NewID(interaction.SessionPrefix, now), Hash: HashOf(token), Client: client, Address: from.Address, CreatedAt: now, SeenAt: now,
	}
}

// secret is 256 random bits, for a session or a code.
func secret() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// SignInByPassword starts a session of the account with that email, if the password is its own. Every failure to match is Unauthorized in the
// same words and takes the same time, whether there is such an account or not; too many are RateLimited.
func (g *Gate) SignInByPassword(ctx context.Context, email, password string, from From) (token string, err error) {
	address, err := Email(email)
	if err != nil {
		address = "" // which no account has
	}
	stored, err := g.store.PasswordOf(ctx, address)
	if err != nil && interaction.CodeOf(err) != interaction.NotFound {
		return "", err
	}
	if err := g.guess(ctx, address, from.Address, stored.Password, password); err != nil {
		return "", err
	}
	return g.StartSession(ctx, stored.User, ByPassword, from)
}

// StartSession starts a session of somebody who has proved who they are.
func (g *Gate) StartSession(ctx context.Context, user interaction.ID, way Way, from From) (token string, err error) {
	token, s := newSession(from, g.now())
	if err := g.store.StartSession(ctx, user, s, way, from.Instead); err != nil {
		return "", err
	}
	g.sessions.forget(only(from.Instead))
	return token, nil
}

// guess holds a password against the stored one, and counts what fails for the account and the address.
func (g *Gate) guess(ctx context.Context, account, address, stored, password string) error {
	now, subscriber := g.now(), network(address)
	if wait := g.perAddress.begin(subscriber, now); wait > 0 {
		return tooEarly(wait)
	}
	if wait := g.perAccount.begin(account, now); wait > 0 {
		g.perAddress.undo(subscriber)
		return tooEarly(wait)
	}
	ok, err := g.hasher.matches(ctx, stored, password)
	if err != nil {
		g.perAddress.undo(subscriber)
		g.perAccount.undo(account)
		return err
	}
	if !ok {
		return unauthorized("That email and password do not match.")
	}
	g.perAddress.undo(subscriber) // and not all of its failures: whoever has an account of their own would guess for ever
	g.perAccount.succeed(account)
	return nil
}

// Sessions are where a person is signed in now, the newest first.
func (g *Gate) Sessions(ctx context.Context, who interaction.Principal) ([]Session, error) {
	now := g.now()
	return g.store.Sessions(ctx, who.ID, now.Add(-SessionMost), now.Add(-SessionIdle))
}

// SignOut ends the session with that hash. One that has ended already is left alone.
func (g *Gate) SignOut(ctx context.Context, session Hash) error {
	return g.end(g.store.EndSession(ctx, session, g.now()), only(session))
}

// EndSession ends one session of a person, by its id; one that is not theirs is NotFound.
func (g *Gate) EndSession(ctx context.Context, who interaction.Principal, id interaction.ID) error {
	return g.end(g.store.EndSessionOf(ctx, who, id, g.now()), sessionsOf(who.ID))
}

// EndSessions ends all sessions of a person.
func (g *Gate) EndSessions(ctx context.Context, who interaction.Principal) error {
	return g.end(g.store.EndSessionsOf(ctx, who, g.now()), sessionsOf(who.ID))
}

// end has what a change is about looked up again, if there was a change.
func (g *Gate) end(err error, about func(Hash, verdict) bool) error {
	if err == nil {
		g.sessions.forget(about)
	}
	return err
}

// everything is all that is remembered.
func everything(Hash, verdict) bool { return true }

// only is the one secret with that hash.
func only(h Hash) func(Hash, verdict) bool {
	return func(other Hash, _ verdict) bool { return other == h }
}

// sessionsOf are the remembered sessions of a person.
func sessionsOf(user interaction.ID) func(Hash, verdict) bool {
	return func(_ Hash, v verdict) bool { return v.principal.ID == user }
}
