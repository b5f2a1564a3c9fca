package auth

import (
	"strings"
	"testing"

	"sayso/internal/interaction"
)

func TestKeyForm(t *testing.T) {
	for _, kind := range []interaction.PrincipalKind{interaction.OperatorPrincipal, interaction.AgentPrincipal} {
		secret := NewSecret(kind)
		if got, ok := KindOf(secret); !ok || got != kind {
			t.Errorf("%s is a %s, want %s", secret, got, kind)
		}
		if other := NewSecret(kind); other == secret {
			t.Error("two keys are the same")
		}
		for n := range secret { // one wrong character anywhere is noticed
			wrong := "x"
			if secret[n] == 'x' {
				wrong = "y"
			}
			if bad := secret[:n] + wrong + secret[n+1:]; WellFormedKey(bad) {
				t.Errorf("%s passes with character %d changed", bad, n)
			}
		}
	}
	for _, bad := range []string{"", "sayso_op_", "sayso_agt_", strings.Repeat("a", 45), "sayso_op_" + strings.Repeat("é", 18)} {
		if WellFormedKey(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestStoredKeyHoldsNoSecret(t *testing.T) {
	secret := NewSecret(interaction.AgentPrincipal)
	k := StoredKey(secret, "a", "key_1")
	if len(k.Scopes) != 0 {
		t.Errorf("an agent's key has scopes %v", k.Scopes)
	}
	if k.Hash != HashOf(secret) || k.LastFour != secret[len(secret)-4:] {
		t.Error("hash and last four are of another key")
	}
}
