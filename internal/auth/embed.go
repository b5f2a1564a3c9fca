package auth

import (
	"context"
	"sync"
	"time"

	"sayso/internal/interaction"
)

// An app vouches for its own users with tokens, which its back end asks for with an operator key. A token is good for minutes and for one
// session; the session is kept in memory alone, and is never more than what its embed allows at the moment.

// How long the session of a guest lasts.
const (
	GuestIdle = 15 * time.Minute // without anything that the person did
	GuestMost = 8 * time.Hour
)

// guestsMost bounds the sessions that are kept. Beyond it, new ones are refused until others have ended.
const guestsMost = 100_000

// Voucher is what a token stands for.
type Voucher struct {
	Embed     interaction.ID
	Key       interaction.ID // of the operator key that vouches
	Grant     interaction.EmbedGrant
	ExpiresAt time.Time
}

// GuestStore keeps tokens. What is not there is a NotFound error.
type GuestStore interface {
	AddEmbedToken(ctx context.Context, h Hash, v Voucher, now time.Time) error
	// UseEmbedToken takes a token away for good, and tells what it stood for: of several that use it at once, one finds it.
	UseEmbedToken(ctx context.Context, h Hash) (Voucher, error)
	// Vouching gives an embed, and says whether an operator key is there and not revoked.
	Vouching(ctx context.Context, embed, key interaction.ID) (e interaction.Embed, vouches bool, err error)
}

// guests are the sessions in frames.
type guests struct {
	mu    sync.Mutex
	known map[Hash]guest
	swept time.Time // when those that had ended were last forgotten
}

type guest struct {
	voucher     Voucher
	began, seen time.Time
	found       verdict // what it was last
}

func (g guest) ends() time.Time {
	idle, most := g.seen.Add(GuestIdle), g.began.Add(GuestMost)
	if idle.Before(most) {
		return idle
	}
	return most
}

// tokenPrefix lets scanners tell a token from other random text.
const tokenPrefix = "sayso_emt_"

// EmbedToken makes a token for what an operator key vouches for, which was checked by [interaction.Service.Vouch].
func (g *Gate) EmbedToken(ctx context.Context, embed, key interaction.ID, grant interaction.EmbedGrant) (token string, expires time.Time, err error) {
	token = tokenPrefix + secret()
	now := g.now().UTC().Truncate(time.Millisecond)
	v := Voucher{Embed: embed, Key: key, Grant: grant, ExpiresAt: now.Add(grant.ExpiresIn)}
	return token, v.ExpiresAt, g.store.AddEmbedToken(ctx, HashOf(token), v, now)
}

// The failures of tokens and guests' sessions. Which of the reasons it was is told to nobody who does not hold the secret.
var (
	errToken = unauthorized("The token is unknown, used or too old. Ask the app for a new one.")
	errGuest = unauthorized("This session has ended. Ask the app for a new token.")
)

// Admit uses up a token for an embed and begins a session. origin is the page's that holds the frame, "" if the frame cannot know: where it is
// not the token's it is InvalidRequest, and the token is used up all the same. A token that is unknown, used, of another embed or too old is
// Unauthorized; one whose embed is disabled, or whose key is revoked, Forbidden.
func (g *Gate) Admit(ctx context.Context, embed interaction.ID, token, origin string) (session string, err error) {
	now := g.now()
	v, err := g.store.UseEmbedToken(ctx, HashOf(token))
	switch {
	case interaction.CodeOf(err) == interaction.NotFound:
		return "", errToken
	case err != nil:
		return "", err
	case v.Embed != embed || !now.Before(v.ExpiresAt):
		return "", errToken
	case origin != "" && origin != v.Grant.Origin:
		return "", interaction.Errorf(interaction.InvalidRequest, "The token was made for another site than the one that shows this.")
	}
	if _, err := g.standing(ctx, v); err != nil {
		return "", err
	}
	return g.guests.begin(v, now)
}

func (g *guests) begin(v Voucher, now time.Time) (session string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now.Sub(g.swept) > time.Minute {
		g.sweep(now)
	}
	if len(g.known) >= guestsMost {
		return "", &interaction.Error{Code: interaction.RateLimited, Message: "Too many sessions are open.", RetryAfter: 60}
	}
	session = secret()
	g.known[HashOf(session)] = guest{voucher: v, began: now, seen: now}
	return session, nil
}

// sweep needs the lock.
func (g *guests) sweep(now time.Time) {
	g.swept = now
	for h, one := range g.known {
		if !now.Before(one.ends()) {
			delete(g.known, h)
		}
	}
}

// standing is who a voucher stands for now. Where the embed is disabled or gone, or the key revoked, it is Forbidden: a new token would help
// nobody.
func (g *Gate) standing(ctx context.Context, v Voucher) (interaction.Principal, error) {
	e, vouches, err := g.store.Vouching(ctx, v.Embed, v.Key)
	if err != nil && interaction.CodeOf(err) != interaction.NotFound {
		return interaction.Principal{}, err
	}
	p, ok := e.Guest(v.Grant, v.Key)
	if err != nil || !ok || !vouches {
		return interaction.Principal{}, interaction.Errorf(interaction.Forbidden, "This embed is disabled, or no longer vouched for.")
	}
	return p, nil
}

// Guest is who the session in an embed's frame stands for, and until when if nothing is done in it. One that ended, or is of another embed, is
// Unauthorized; see [Gate.standing] for one that ended because the embed or its key did. What was found is remembered for half a second.
func (g *Gate) Guest(ctx context.Context, embed interaction.ID, session Hash) (p interaction.Principal, ends time.Time, err error) {
	now := g.now()
	one, ok := g.guests.of(session)
	if !ok || one.voucher.Embed != embed || !now.Before(one.ends()) {
		return p, ends, errGuest
	}
	if one.found.err != nil { // it does not come back when the embed does
		return p, ends, one.found.err
	}
	if at := one.found.at; at.IsZero() || now.Sub(at) >= remembered || now.Before(at) {
		p, err := g.standing(ctx, one.voucher)
		if err != nil && interaction.CodeOf(err) != interaction.Forbidden {
			return p, ends, err
		}
		one.found = verdict{principal: p, err: err, at: now}
		g.guests.keep(session, one.found)
	}
	return one.found.principal, one.ends(), one.found.err
}

func (g *guests) of(session Hash) (guest, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.known[session]
	return one, ok
}

// keep remembers what was found of a session.
func (g *guests) keep(session Hash, found verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.known[session]
	if one.found = found; ok {
		g.known[session] = one
	}
}

// GuestActive notes that the person in a frame did something, and gives the end that the session has now.
func (g *Gate) GuestActive(session Hash) (ends time.Time) {
	g.guests.mu.Lock()
	defer g.guests.mu.Unlock()
	one, ok := g.guests.known[session]
	if one.seen = g.now(); ok {
		g.guests.known[session] = one
	}
	return one.ends()
}

// EndGuest ends a session of an embed: another has taken its place.
func (g *Gate) EndGuest(embed interaction.ID, session Hash) {
	g.guests.mu.Lock()
	defer g.guests.mu.Unlock()
	if g.guests.known[session].voucher.Embed == embed {
		delete(g.guests.known, session)
	}
}
