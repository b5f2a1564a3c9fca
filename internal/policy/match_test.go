package policy_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sayso/internal/policy"
)

// slowMatch is the definition of a match, written down as it is: a star is nothing, or one character and again a star.
func slowMatch(pattern, subject []rune) bool {
	if len(pattern) == 0 {
		return len(subject) == 0
	}
	if pattern[0] == '*' {
		return slowMatch(pattern[1:], subject) || len(subject) > 0 && slowMatch(pattern, subject[1:])
	}
	return len(subject) > 0 && pattern[0] == subject[0] && slowMatch(pattern[1:], subject[1:])
}

func TestMatchAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("**abé.")), 0, 10, -1).Draw(t, "pattern")
		subject := rapid.StringOfN(rapid.SampledFrom([]rune("aabé.*\n")), 0, 12, -1).Draw(t, "subject")
		if got, want := policy.Match(pattern, subject), slowMatch([]rune(pattern), []rune(subject)); got != want {
			t.Errorf("Match(%q, %q) = %v, want %v", pattern, subject, got, want)
		}
	})
}

// TestMatchOfWhatItIsMadeFrom: text put in place of the stars is matched, which random subjects seldom are.
func TestMatchOfWhatItIsMadeFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("*ab.")), 0, 20, -1).Draw(t, "pattern")
		var subject strings.Builder
		for _, r := range pattern {
			if r == '*' {
				subject.WriteString(rapid.StringOfN(rapid.SampledFrom([]rune("ab.*;")), 0, 5, -1).Draw(t, "run"))
			} else {
				subject.WriteRune(r)
			}
		}
		if !policy.Match(pattern, subject.String()) {
			t.Errorf("Match(%q, %q) = false", pattern, subject.String())
		}
	})
}

// sixtyStars matches its subject but for the last piece, which is looked for to the end: what backtracking pays most for.
var sixtyStars = strings.Repeat("*a", 58) + "*ab*"

func subjectOf(bytes int) string { return strings.Repeat("a", bytes) }

// TestMatchIsLinear: the time grows with the subject and no faster. A matcher that goes back over what it has tried would not be done with so much in
// this life; by how much the time grows is a row of the benchmarks, where a clock belongs.
func TestMatchIsLinear(t *testing.T) {
	subject := subjectOf(20_000_000)
	for name, pattern := range map[string]string{"short pieces": sixtyStars, "long pieces": strings.Repeat("*"+strings.Repeat("a", 40)+"b", 60)} {
		if policy.Match(pattern, subject) {
			t.Errorf("%s: matched", name)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	for name, size := range map[string]int{"500KB": 500_000, "1MB": 1_000_000} {
		subject := subjectOf(size)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				policy.Match(sixtyStars, subject)
			}
		})
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("cargo *", "cargo test")
	f.Add("*a*b", "aab")
	f.Fuzz(func(t *testing.T, pattern, subject string) {
		got := policy.Match(pattern, subject)
		if got && !policy.Match("*"+pattern+"*", subject) {
			t.Error("more stars match less")
		}
		if !policy.Match(pattern, pattern) {
			t.Error("a pattern does not match itself")
		}
	})
}
