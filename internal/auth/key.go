package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"hash/crc32"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sayso/internal/interaction"
)

// Key is an API key as it is stored: its secret is known by hash only.
type Key struct {
	ID       interaction.ID
	Kind     interaction.PrincipalKind
	Name     string
	Project  interaction.ID // that it works in; "" for an operator key of the server itself, which works in all
	Agent    interaction.ID // that an agent key is bound to; "": to none
	Scopes   []interaction.Scope
	Hash     Hash
	LastFour string

	Creator   interaction.ID // the user or key that made it; "" as for CreatedBy
	CreatedBy string         // the name of who made it; "": the server, for the commands of its machine
	CreatedAt time.Time
	UsedAt    time.Time // the last use, to the minute; zero: never
	RevokedAt time.Time // zero: it works
}

// NewKey is a key as somebody wants it.
type NewKey struct {
	Kind   interaction.PrincipalKind
	Name   string
	Scopes []interaction.Scope // of an operator key: at least one
	Agent  interaction.ID      // of an agent key: the one agent it is for; "": any that it makes itself
}

const keyNameMost = 100 // characters

// Normalised is n with its name trimmed and its scopes each once, in the order in which they are told. What is wrong with its shape is
// ValidationFailed.
func (n NewKey) Normalised() (NewKey, error) {
	n.Name = strings.TrimSpace(n.Name)
	switch size := utf8.RuneCountInString(n.Name); {
	case size == 0 || size > keyNameMost || strings.ContainsRune(n.Name, 0) || !utf8.ValidString(n.Name):
		return n, invalid("name: 1 to %d characters are allowed, and none of them NUL", keyNameMost)
	case n.Agent != "" && !n.Agent.WellFormed(interaction.AgentPrefix):
		return n, invalid("agent_id: %q is not an id of the form agt_ and 26 characters of a-z and 2-7", n.Agent)
	}
	asked := map[interaction.Scope]bool{}
	for _, scope := range n.Scopes {
		if !slices.Contains(interaction.Scopes, scope) {
			return n, invalid("scopes: %q is unknown; allowed are %v", scope, interaction.Scopes)
		}
		asked[scope] = true
	}
	n.Scopes = slices.SortedFunc(maps.Keys(asked), func(a, b interaction.Scope) int {
		return cmp.Compare(slices.Index(interaction.Scopes, a), slices.Index(interaction.Scopes, b))
	})
	return n, n.fits()
}

// fits says whether the parts of n go with its kind.
func (n NewKey) fits() error {
	switch n.Kind {
	case interaction.OperatorPrincipal:
		if len(n.Scopes) == 0 {
			return invalid("scopes: an operator key needs at least one of %v", interaction.Scopes)
		}
		if n.Agent != "" {
			return invalid("agent_id: an operator key is for no agent; leave it out")
		}
	case interaction.AgentPrincipal:
		if len(n.Scopes) > 0 {
			return invalid("scopes: an agent key has none; leave them out")
		}
	default:
		return invalid("kind: %q is unknown; allowed are %s and %s", n.Kind, interaction.OperatorPrincipal, interaction.AgentPrincipal)
	}
	return nil
}

func invalid(format string, args ...any) error {
	return interaction.Errorf(interaction.ValidationFailed, format, args...)
}

// mayMake says whether the principal may make such a key: nobody gives away what they do not have.
func mayMake(p interaction.Principal, n NewKey) error {
	if !p.Can(interaction.ScopeManage) {
		return errNotManager()
	}
	for _, scope := range n.Scopes {
		if !p.Can(scope) {
			return interaction.Errorf(interaction.Forbidden, "scopes: you cannot give %q, since you do not have it yourself.", scope)
		}
	}
	if n.Agent != "" && !p.Can(interaction.ScopeRead) {
		return interaction.Errorf(interaction.Forbidden, "agent_id: you cannot give a key that reads what this agent asked, since you may not read yourself.")
	}
	return nil
}

func errNotManager() error {
	return interaction.Errorf(interaction.Forbidden, "Keys are for the admins of the project, and for keys with the scope manage.")
}

// CreateKey makes a key of a project, and gives its secret: the only time that it is to be had. When once names a request that was carried
// out before, made is the key of then and secret is "". What the principal may not do is Forbidden, and an agent that is not one of the
// project's InvalidRequest.
func (g *Gate) CreateKey(ctx context.Context, p interaction.Principal, in interaction.Project, n NewKey, once interaction.Once) (made Key, secret string, err error) {
	if n, err = n.Normalised(); err != nil {
		return made, "", err
	}
	if err := mayMake(p, n); err != nil {
		return made, "", err
	}
	now := g.now().UTC().Truncate(time.Millisecond)
	secret = NewSecret(n.Kind)
	k := StoredKey(secret, n.Name, interaction.NewID(interaction.KeyPrefix, now))
	k.Project, k.Agent, k.Scopes, k.CreatedAt = in.ID, n.Agent, n.Scopes, now
	k.Creator, k.CreatedBy = p.ID, cmp.Or(p.Name, string(p.ID))
	made, created, err := g.store.CreateKey(ctx, k, once, p.Administers(in.ID, interaction.KeyCreated, k.subject(), k.detail(), now))
	if err != nil || !created {
		secret = ""
	}
	return made, secret, err
}

// Keys are those of a project, revoked ones too; next is nil on the last page.
func (g *Gate) Keys(ctx context.Context, p interaction.Principal, in interaction.Project, page interaction.Page) (list []Key, next *interaction.Cursor, err error) {
	if !p.Can(interaction.ScopeManage) {
		return nil, nil, errNotManager()
	}
	list, err = g.store.Keys(ctx, in.ID, page)
	if len(list) > page.Limit {
		list = list[:page.Limit]
		last := list[page.Limit-1]
		next = &interaction.Cursor{At: last.CreatedAt, ID: last.ID}
	}
	return list, next, err
}

// RevokeKey ends a key of a project for good. Calls that hold it end, and what they asked stays as it is. Revoking a revoked one changes nothing.
func (g *Gate) RevokeKey(ctx context.Context, p interaction.Principal, in interaction.Project, id interaction.ID) (Key, error) {
	if !p.Can(interaction.ScopeManage) {
		return Key{}, errNotManager()
	}
	now := g.now().UTC().Truncate(time.Millisecond)
	k, err := g.store.RevokeKey(ctx, in.ID, id, now, func(k Key) interaction.AdminEvent {
		return p.Administers(in.ID, interaction.KeyRevoked, k.subject(), k.detail(), now)
	})
	if err == nil {
		g.keys.forget(only(k.Hash))
	}
	return k, err
}

// subject and detail are what the audit log says of a key.
func (k Key) subject() interaction.Subject {
	return interaction.Subject{Kind: "key", ID: k.ID, Name: k.Name}
}

func (k Key) detail() map[string]string {
	d := map[string]string{"kind": string(k.Kind), "last_four": k.LastFour}
	if k.Agent != "" {
		d["agent_id"] = string(k.Agent)
	}
	if len(k.Scopes) > 0 {
		d["scopes"] = k.ScopeText()
	}
	return d
}

// ScopeText is the scopes with a blank between them.
func (k Key) ScopeText() string {
	var b strings.Builder
	for n, scope := range k.Scopes {
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(scope))
	}
	return b.String()
}

// The form of a key: its kind, 30 random characters, and 6 that check the ones before. The check lets a mistyped key be refused without a
// look-up, and scanners tell a real one from a lookalike.
const (
	operatorPrefix = "sayso_op_"
	agentPrefix    = "sayso_agt_"
	randomLength   = 30
	checkLength    = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewSecret makes a key of a kind.
func NewSecret(kind interaction.PrincipalKind) string {
	prefix := operatorPrefix
	if kind == interaction.AgentPrincipal {
		prefix = agentPrefix
	}
	var b strings.Builder
	b.WriteString(prefix)
	for range randomLength {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(base62)))) // never fails: crypto/rand ends the program instead
		b.WriteByte(base62[n.Int64()])
	}
	return b.String() + check(b.String())
}

func check(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	out := make([]byte, checkLength)
	for i := range out {
		out[checkLength-1-i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}

// KindOf is the kind that a well-formed key says it is.
func KindOf(secret string) (interaction.PrincipalKind, bool) {
	switch {
	case !WellFormedKey(secret):
		return "", false
	case strings.HasPrefix(secret, agentPrefix):
		return interaction.AgentPrincipal, true
	}
	return interaction.OperatorPrincipal, true
}

// WellFormedKey says whether secret has the form of a key, its check included.
func WellFormedKey(secret string) bool {
	for _, prefix := range []string{operatorPrefix, agentPrefix} {
		if strings.HasPrefix(secret, prefix) && len(secret) == len(prefix)+randomLength+checkLength {
			body := secret[:len(secret)-checkLength]
			return check(body) == secret[len(body):]
		}
	}
	return false
}

// StoredKey is how secret is stored.
func StoredKey(secret, name string, id interaction.ID) Key {
	kind, _ := KindOf(secret)
	k := Key{ID: id, Kind: kind, Name: name, Hash: HashOf(secret), LastFour: secret[len(secret)-4:]}
	if kind == interaction.OperatorPrincipal {
		k.Scopes = interaction.Scopes
	}
	return k
}
