package auth

import (
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"strings"

	"sayso/internal/interaction"
)

// Key is an API key as it is stored: its secret is known by hash only.
type Key struct {
	ID       interaction.ID
	Kind     interaction.PrincipalKind
	Name     string
	Project  interaction.ID // of an agent key; "" for an operator's
	Agent    interaction.ID // that an agent key is bound to; "": to none
	Scopes   []interaction.Scope
	Hash     Hash
	LastFour string
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
