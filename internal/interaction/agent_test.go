package interaction

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSlug checks the keys that are made of names.
func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"SWE": "swe", "Release bot": "release-bot", "  a  --  b ": "a-b", "v1.2_x": "v1.2_x", "C++/C#": "c-c", "!?": "agent", "-": "agent",
		strings.Repeat("n", 100): strings.Repeat("n", 100),
	} {
		if got := slug(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// TestSlugIsAKey checks that every name has a key, the same each time, and that names which lose letters keep apart.
func TestSlugIsAKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(1, 200, -1).Draw(t, "name")
		got := slug(name)
		if !keyForm(got) || slug(name) != got {
			t.Fatalf("%q: %q", name, got)
		}
		other := rapid.StringOfN(rapid.RuneFrom([]rune("éüжя语🙂")), 1, 200, -1).Draw(t, "other")
		if other != name && slug(other) == got {
			t.Fatalf("%q and %q are both %q", name, other, got)
		}
	})
}
