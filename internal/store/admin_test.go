package store

import (
	"testing"
	"time"

	"sayso/internal/interaction"
)

// TestVerifyFindsChangedSettings: what was done to the settings is in the chain like everything else.
func TestVerifyFindsChangedSettings(t *testing.T) {
	base := t.TempDir()
	s := open(t, base)
	project := newAgent(t, s).ProjectID
	for _, name := range []string{"laptop", "server"} {
		e := person.Administers(project, interaction.KeyCreated, interaction.Subject{Kind: "key", ID: "key_a", Name: name}, map[string]string{"scopes": "read"}, time.Now())
		must(t, s.writer.do(t.Context(), func(t *tx) error { return t.administered(e) }))
	}
	must(t, s.Close())
	if r := report(t, base); !r.OK || r.Entries != 2 {
		t.Fatalf("before any tampering: %+v, %v", r, r.Finding)
	}
	for _, c := range []struct {
		name, says, statement string
		entry                 int
	}{
		{"a record", "not what was recorded", `UPDATE admin_events SET record = CAST(replace(record, 'laptop', 'phone') AS BLOB)`, 1},
		{"one is cut out", "not stored any more", `DELETE FROM admin_events WHERE key = 1`, 1},
		{"one is slipped in", "is missing", `INSERT INTO admin_events (project, sequence, id, record, at) SELECT project, sequence + 1000, 'adm_x', record, at FROM admin_events WHERE key = 2`, 3},
		{"its time", "but stored is", `UPDATE admin_events SET at = at + 1000 WHERE key = 2`, 2},
		{"its id", "the column beside it", `UPDATE admin_events SET id = 'adm_y' WHERE key = 2`, 2},
		{"its entry", "not what its hash says", `UPDATE audit_entries SET entry = CAST(replace(entry, 'laptop', 'phone') AS BLOB) WHERE key = 1`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := copied(t, base)
			change(t, folder, c.statement)
			finds(t, folder, c.entry, c.says)
		})
	}
}
