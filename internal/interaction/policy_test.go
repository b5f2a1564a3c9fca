package interaction

import "testing"

// TestStricterOfTheTwo: a runtime may be stricter than the operator, and never laxer.
func TestStricterOfTheTwo(t *testing.T) {
	modes := []PermissionMode{"", AlwaysAllow, AlwaysAsk, AlwaysDeny}
	for ruling, want := range map[Ruling][]string{
		NoRuling:  {"ask", "allow", "ask", "deny"},
		RuleAllow: {"allow by policy", "allow by policy", "ask", "deny"},
		RuleAsk:   {"ask", "ask", "ask", "deny"},
		RuleDeny:  {"deny by policy", "deny by policy", "deny by policy", "deny by policy"},
	} {
		for n, mode := range modes {
			r, byPolicy := Verdict{Ruling: ruling}.under(mode)
			got := string(r)
			if byPolicy {
				got += " by policy"
			}
			if got != want[n] {
				t.Errorf("ruling %q, mode %q: %s, want %s", ruling, mode, got, want[n])
			}
		}
	}
}
