// Package oidc has people sign in by somebody else's word for who they are: an OpenID provider's.
//
// A sign-in begins with [Client.Start], which gives the address at the provider and a ticket for the browser to keep, and ends with
// [Client.Finish], which takes the ticket back beside what the provider sent. State, nonce and PKCE verifier are made from the ticket with a key
// that this process alone has, so nothing is stored for somebody who only knocks, and only the browser that began a sign-in can end it. It can
// once, and within ten minutes.
//
// Failures are [*Failure]: a code for the log. They hold no token, no secret and nothing that the provider said.
package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Config is how the provider knows us.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret string   // "": we are a public client
	Scopes       []string // asked for beside openid
	GroupsClaim  string   // of the ID token
	RedirectURL  string   // ours, exactly as the provider was told
	HTTP         *http.Client
	Now          func() time.Time
}

// Identity is who somebody is, in the provider's words.
type Identity struct {
	Issuer, Subject string
	Name            string // never empty
	Email           string // "" unless the provider has verified it
	Groups          []string
}

// Failure is why a sign-in did not come about.
type Failure struct {
	Code Code
	Err  error // the cause; it may hold what must not be logged
}

// Code says what kind of failure it was.
type Code string

// The codes, as the log has them.
const (
	Unreachable Code = "provider_unreachable" // no answer, or none that makes sense
	BadState    Code = "wrong_state"          // not begun in this browser
	TooOld      Code = "too_old"
	Used        Code = "used_already"
	Refused     Code = "provider_refused" // the provider said no, or the person did
	BadCode     Code = "code_refused"     // the provider gave no token for its code
	BadToken    Code = "token_invalid"    // its signature, issuer, audience or form
	OldToken    Code = "token_expired"
	BadNonce    Code = "wrong_nonce" // a token of another sign-in
)

func (f *Failure) Error() string { return string(f.Code) }

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.Err }

func fail(code Code, err error) error { return &Failure{code, err} }

const (
	attemptMost   = 10 * time.Minute
	rediscover    = time.Hour
	usedMost      = 100_000
	nameMost      = 200 // characters
	subjectMost   = 255 // bytes; the standard's own limit
	groupsMost    = 10_000
	emailMost     = 254
	ticketRandoms = 32
)

// Client signs people in. Its methods may be called at once from anywhere.
type Client struct {
	config Config
	key    [32]byte

	mu       sync.Mutex
	provider *oidc.Provider
	found    time.Time            // when provider was
	used     map[string]time.Time // states, until they are too old anyway
}

// New makes a Client. Nothing is called before somebody signs in.
func New(c Config) *Client {
	client := &Client{config: c, used: map[string]time.Time{}}
	rand.Read(client.key[:])
	return client
}

// Issuer is whose word is taken.
func (c *Client) Issuer() string { return c.config.Issuer }

// Start gives the address where the provider asks the person, and a ticket that the browser brings back.
func (c *Client) Start(ctx context.Context) (address, ticket string, err error) {
	p, err := c.discover(ctx)
	if err != nil {
		return "", "", err
	}
	raw := make([]byte, ticketRandoms+8)
	rand.Read(raw[:ticketRandoms])
	binary.BigEndian.PutUint64(raw[ticketRandoms:], uint64(c.config.Now().UnixMilli()))
	ticket = base64.RawURLEncoding.EncodeToString(raw)
	address = c.oauth(p).AuthCodeURL(c.derive("state", ticket), oidc.Nonce(c.derive("nonce", ticket)), oauth2.S256ChallengeOption(c.derive("verifier", ticket)))
	return address, ticket, nil
}

// derive makes a value for one purpose from a ticket.
func (c *Client) derive(purpose, ticket string) string {
	mac := hmac.New(sha256.New, c.key[:])
	mac.Write([]byte(purpose + "\n" + ticket))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func same(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) }

func (c *Client) oauth(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: c.config.ClientID, ClientSecret: c.config.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: c.config.RedirectURL,
		Scopes: append([]string{oidc.ScopeOpenID}, c.config.Scopes...),
	}
}

// calling is ctx with the client that calls out.
func (c *Client) calling(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, c.config.HTTP)
}

// discover finds out where the provider's endpoints are, at most once an hour.
func (c *Client) discover(ctx context.Context) (*oidc.Provider, error) {
	c.mu.Lock()
	p, fresh := c.provider, c.config.Now().Sub(c.found) < rediscover
	c.mu.Unlock()
	if p != nil && fresh {
		return p, nil
	}
	// The provider keeps its context for later calls for keys, which must outlive this request.
	p, err := oidc.NewProvider(c.calling(context.WithoutCancel(ctx)), c.config.Issuer)
	if err != nil {
		return nil, fail(Unreachable, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.provider, c.found = p, c.config.Now()
	return p, nil
}

// Finish takes what the browser brought back: its ticket, and the query that the provider sent it with.
func (c *Client) Finish(ctx context.Context, ticket string, q url.Values) (Identity, error) {
	if err := c.take(ticket, q.Get("state")); err != nil {
		return Identity{}, err
	}
	if iss := q.Get("iss"); q.Has("error") || iss != "" && iss != c.config.Issuer {
		return Identity{}, fail(Refused, nil)
	}
	p, err := c.discover(ctx)
	if err != nil {
		return Identity{}, err
	}
	token, err := c.oauth(p).Exchange(c.calling(ctx), q.Get("code"), oauth2.VerifierOption(c.derive("verifier", ticket)))
	if err != nil {
		return Identity{}, fail(codeOf(err, BadCode), err)
	}
	raw, _ := token.Extra("id_token").(string)
	checked, err := p.VerifierContext(c.calling(ctx), &oidc.Config{ClientID: c.config.ClientID, Now: c.config.Now}).Verify(c.calling(ctx), raw)
	if err != nil {
		return Identity{}, fail(codeOf(err, BadToken), err)
	}
	if !same(checked.Nonce, c.derive("nonce", ticket)) {
		return Identity{}, fail(BadNonce, nil)
	}
	return c.identity(checked)
}

// codeOf tells a failure of the network and an expired token from others.
func codeOf(err error, otherwise Code) Code {
	var network *url.Error
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return OldToken
	case errors.As(err, &network):
		return Unreachable
	}
	return otherwise
}

// take uses up a ticket, if the state belongs to it: a state is only ever made for the ticket of a browser that began here.
func (c *Client) take(ticket, state string) error {
	raw, err := base64.RawURLEncoding.DecodeString(ticket)
	if err != nil || len(raw) != ticketRandoms+8 || !same(state, c.derive("state", ticket)) {
		return fail(BadState, nil)
	}
	now := c.config.Now()
	ends := time.UnixMilli(int64(binary.BigEndian.Uint64(raw[ticketRandoms:]))).Add(attemptMost)
	if now.After(ends) {
		return fail(TooOld, nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.used) >= usedMost {
		c.forget(now)
	}
	if _, again := c.used[state]; again || len(c.used) >= usedMost {
		return fail(Used, nil)
	}
	c.used[state] = ends
	return nil
}

// forget drops what is too old to be used again.
func (c *Client) forget(now time.Time) {
	for state, ends := range c.used {
		if now.After(ends) {
			delete(c.used, state)
		}
	}
}

// claims are what we read of an ID token.
type claims struct {
	Party    string          `json:"azp"`
	Name     string          `json:"name"`
	Nick     string          `json:"preferred_username"`
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"` // true, or "true" as some write it
}

func (c *Client) identity(token *oidc.IDToken) (Identity, error) {
	var read claims
	var all map[string]json.RawMessage
	if err := errors.Join(token.Claims(&read), token.Claims(&all)); err != nil {
		return Identity{}, fail(BadToken, err)
	}
	if len(token.Audience) > 1 && read.Party != c.config.ClientID || token.Subject == "" || len(token.Subject) > subjectMost {
		return Identity{}, fail(BadToken, nil)
	}
	who := Identity{Issuer: c.config.Issuer, Subject: token.Subject, Groups: groups(all[c.config.GroupsClaim])}
	if v := string(read.Verified); (v == "true" || v == `"true"`) && len(read.Email) <= emailMost {
		who.Email = strings.ToLower(strings.TrimSpace(read.Email))
	}
	for _, name := range []string{read.Name, read.Nick, who.Email, token.Subject} {
		if who.Name = cut(strings.TrimSpace(strings.ReplaceAll(name, "\x00", "")), nameMost); who.Name != "" {
			break
		}
	}
	return who, nil
}

// groups reads a list of names, or one name. Anything else is no group.
func groups(text json.RawMessage) []string {
	var list []string
	var one string
	if json.Unmarshal(text, &list) == nil {
		return list[:min(len(list), groupsMost)]
	}
	if json.Unmarshal(text, &one) == nil && one != "" {
		return []string{one}
	}
	return nil
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string(slices.Clone([]rune(s)[:most]))
}
