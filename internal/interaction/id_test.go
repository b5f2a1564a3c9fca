package interaction

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var idStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// TestNewID checks that ids are well-formed UUIDv7s which carry their time and are never the same. Their text does not sort by that time: in
// base32 the digits come last, and in text first.
func TestNewID(t *testing.T) {
	seen := map[ID]bool{}
	for _, prefix := range []string{OrgPrefix, ProjectPrefix, UserPrefix, AgentPrefix, InteractionPrefix, InputPrefix, EventPrefix, ToolCallPrefix, ActorPrefix, KeyPrefix} {
		for ms := range 1000 {
			now := idStart.Add(time.Duration(ms) * time.Millisecond)
			id := NewID(prefix, now)
			if !id.WellFormed(prefix) || seen[id] {
				t.Fatalf("%q is malformed or came twice", id)
			}
			raw, err := idEncoding.DecodeString(strings.TrimPrefix(string(id), prefix+"_"))
			if err != nil || len(raw) != 16 || raw[6]>>4 != 7 || raw[8]>>6 != 2 {
				t.Fatalf("%q is no UUIDv7: %x, %v", id, raw, err)
			}
			var at int64
			for _, b := range raw[:6] {
				at = at<<8 | int64(b)
			}
			if at != now.UnixMilli() {
				t.Fatalf("%q carries %d, want %d", id, at, now.UnixMilli())
			}
			seen[id] = true
		}
	}
}

// TestWellFormed checks the form of ids.
func TestWellFormed(t *testing.T) {
	letters := strings.Repeat("a", 26)
	for id, want := range map[string]bool{
		"agt_" + letters: true, "agt_" + idLetters[6:]: true, "agt_" + strings.Repeat("7", 26): true,
		"": false, "agt": false, "agt_": false, letters: false, "_" + letters: false, "int_" + letters: false, "agt_" + letters[1:]: false, "agt_" + letters + "a": false,
		"agt_" + letters[1:] + "0": false, "agt_" + letters[1:] + "1": false, "agt_" + letters[1:] + "8": false, "agt_" + letters[1:] + "A": false,
		"agt_" + letters[1:] + "=": false, "agt_" + letters[2:] + "é": false, "agt_" + letters[1:] + "\n": false, "AGT_" + letters: false, " agt_" + letters: false,
		"agt_a" + strings.Repeat("_", 24) + "a": false,
	} {
		if got := ID(id).WellFormed(AgentPrefix); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// TestCursor checks that a cursor comes back as it was, and that nothing else is one.
func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(-1<<46, 1<<46).Draw(t, "ms")).UTC()
		want := Cursor{At: at, ID: NewID(rapid.SampledFrom([]string{AgentPrefix, InteractionPrefix}).Draw(t, "prefix"), at)}
		got, err := ParseCursor(want.String())
		if err != nil || *got != want {
			t.Fatalf("%v, want %v: %v", got, want, err)
		}
		if strings.Trim(want.String(), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("%s must be escaped in a query", want)
		}
	})
	good := Cursor{At: idStart, ID: NewID(AgentPrefix, idStart)}.String()
	for _, bad := range []string{"", "x", good[:10], good[:len(good)-1] + "!", good + "=", good + good, "Lg", "YS5hZ3Q"} {
		if _, err := ParseCursor(bad); CodeOf(err) != InvalidRequest {
			t.Errorf("%q: %v, want %s", bad, err, InvalidRequest)
		}
	}
}

// FuzzParseCursor checks that no text makes it panic, and that what it takes is what it would give.
func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{At: idStart, ID: NewID(AgentPrefix, idStart)}.String())
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			return
		}
		if again, err := ParseCursor(c.String()); err != nil || *again != *c {
			t.Errorf("%q gives %v, which gives %v, %v", s, c, again, err)
		}
	})
}
