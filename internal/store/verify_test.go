package store

import (
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// history is a folder with a closed store, in which were, in this order: three permissions asked and denied (entries 1 to 6), one that is open (7), two
// decisions by policy (8, 9), one asked and withdrawn (10, 11), one asked and expired (12, 13), one asked, with a deadline, and answered by an
// external person (14, 15).
func history(t testing.TB) (folder string) {
	t.Helper()
	folder = t.TempDir()
	s := open(t, folder)
	agent := newAgent(t, s)
	for range 3 {
		settled(t, s, asked(t, s, agent, interaction.Ask{}).ID, denial("no"))
	}
	asked(t, s, agent, interaction.Ask{})
	decide(t, s, agent, interaction.RuleAllow, "cargo *")
	decide(t, s, agent, interaction.RuleDeny, "git.push*")
	ended(t, s, asked(t, s, agent, interaction.Ask{}).ID, func(i interaction.Interaction) (interaction.Change, error) { return i.Cancel(asker, start) })
	ended(t, s, asked(t, s, agent, interaction.Ask{TimeoutSecs: new(60)}).ID, func(i interaction.Interaction) (interaction.Change, error) {
		return i.Expire(i.ExpiresAt)
	})
	a := denial("never")
	a.External = &interaction.External{ProviderUserID: "U1", DisplayName: "Kim"}
	settled(t, s, asked(t, s, agent, interaction.Ask{TimeoutSecs: new(60)}).ID, a)
	verified(t, s, agent.ProjectID, entries)
	must(t, s.Close())
	return folder
}

const entries = 15

var asker = interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_asker", Name: "swe", Channel: interaction.ChannelAPI}

func settled(t testing.TB, s *Store, id interaction.ID, a interaction.Answers) {
	t.Helper()
	_, _, err := resolve(s, id, a, person)
	must(t, err)
}

func ended(t testing.TB, s *Store, id interaction.ID, end func(interaction.Interaction) (interaction.Change, error)) {
	t.Helper()
	_, _, err := s.Update(t.Context(), id, nil, func(_ interaction.Record, i interaction.Interaction, _ interaction.ID) (interaction.Change, error) {
		return end(i)
	})
	must(t, err)
}

// copied is a copy of a closed store's folder.
func copied(t testing.TB, folder string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(folder)))
	return to
}

// change runs statements with the triggers and the references out of the way, as somebody with the file could.
func change(t testing.TB, folder string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(folder, databaseFile))
	must(t, err)
	defer db.Close()
	drop := "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'"
	rows, err := db.Query(drop)
	must(t, err)
	for rows.Next() {
		var statement string
		must(t, rows.Scan(&statement))
		statements = append([]string{statement}, statements...)
	}
	must(t, rows.Close())
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func report(t testing.TB, folder string) audit.Report {
	t.Helper()
	r, err := VerifyFolder(t.Context(), folder, "")
	must(t, err)
	return r
}

// finds checks that a verification names the entry, and says so.
func finds(t testing.TB, folder string, entry int, says string) {
	t.Helper()
	f := report(t, folder).Finding
	if f == nil {
		t.Fatal("nothing was found")
	}
	if f.Entry != entry || !strings.Contains(f.Error(), says) {
		t.Errorf("found %+v\nwant entry %d, and %q", f, entry, says)
	}
}

// at is the sequence of the nth entry; of is the interaction that it is of.
const (
	at = "(SELECT sequence FROM audit_entries WHERE key = "
	of = "(SELECT interaction FROM events WHERE sequence = " + at
)

func TestVerifyFindsTampering(t *testing.T) {
	base := history(t)
	if r := report(t, base); !r.OK || r.Entries != entries || len(r.Notes) > 0 {
		t.Fatalf("before any tampering: %+v, %v", r, r.Finding)
	}
	for _, c := range []struct {
		name      string
		entry     int
		says      string
		statement string
	}{
		// What was answered, by whom, and when.
		{"an answer is another", 2, "not what was recorded", `UPDATE ends SET record = CAST(replace(record, 'no', 'go') AS BLOB) WHERE interaction = 1`},
		{"the name of who answered", 4, `by user "Dana"`, `UPDATE ends SET actor_name = 'Eve' WHERE interaction = 2`},
		{"the credential that answered", 4, "usr_dana", `UPDATE ends SET credential = 'usr_eve' WHERE interaction = 2`},
		{"the external person who answered", 15, "actr_", `UPDATE ends SET actor_id = 'actr_x' WHERE actor_kind = 'external'`},
		{"the proof of who answered", 2, "proved by", `UPDATE ends SET proved_by = 'operator_key' WHERE interaction = 1`},
		{"the time of an answer", 2, "another time", `UPDATE ends SET ended_at = ended_at + 1000 WHERE interaction = 1`},
		{"the time of an answer and of its event", 2, "at 2026-", `UPDATE ends SET ended_at = ended_at + 1000 WHERE interaction = 1;
			UPDATE events SET at = at + 1000 WHERE sequence = ` + at + `2)`},
		{"an answer is marked as none", 2, "other kind of end", `UPDATE ends SET answered = 0 WHERE interaction = 1`},
		{"the reason of a cancellation", 11, "cancel_reason", `UPDATE interactions SET cancel_reason = 'expired' WHERE key = ` + of + `11))`},
		{"an end is another's", 2, "sequence", `UPDATE ends SET interaction = 100 WHERE interaction = 1; UPDATE ends SET interaction = 1 WHERE interaction = 2;
			UPDATE ends SET interaction = 2 WHERE interaction = 100`},
		{"an end is removed", 2, "not stored any more", `DELETE FROM ends WHERE interaction = 1`},
		{"an answered one is canceled", 2, "canceled", `UPDATE interactions SET state = 'canceled', cancel_reason = 'expired' WHERE key = 1`},
		{"an expired one is allowed", 13, "stored as resolved", `UPDATE interactions SET state = 'resolved', cancel_reason = NULL WHERE key = ` + of + `13))`},
		{"an answered one is opened again", 2, "is open", `UPDATE interactions SET state = 'open' WHERE key = 1`},
		{"and its end is removed", 2, "is open", `UPDATE interactions SET state = 'open' WHERE key = 1; DELETE FROM ends WHERE interaction = 1`},
		{"and its event too", 2, "not stored any more", `UPDATE interactions SET state = 'open' WHERE key = 1; DELETE FROM ends WHERE interaction = 1;
			DELETE FROM events WHERE interaction = 1 AND kind <> 'interaction_created'`},
		{"an open one is allowed", 16, "no entry tells of its end",
			`UPDATE interactions SET state = 'resolved' WHERE key = 4; INSERT INTO ends SELECT 4, record, 1, 1, 'user', 'Dana', NULL, 'usr_dana', 'user', 99 FROM ends WHERE interaction = 1`},
		{"an open one is allowed, with an event", 16, "interaction_answered is stored", `UPDATE interactions SET state = 'resolved' WHERE key = 4;
			UPDATE projects SET sequence = sequence + 1;
			INSERT INTO events (project, sequence, agent, id, kind, interaction, at) SELECT 1, sequence, 1, 'evt_x', 'interaction_answered', 4, 1 FROM projects;
			INSERT INTO ends SELECT 4, e.record, 1, 1, 'user', 'Dana', NULL, 'usr_dana', 'user', p.sequence FROM ends e, projects p WHERE e.interaction = 1`},
		{"an open one is final without a word", 16, "no entry tells of its end", `UPDATE interactions SET state = 'resolved' WHERE key = 4`},

		// What was asked, by whom, and when.
		{"a request is another", 3, "not what was recorded", `UPDATE requests SET head = CAST(replace(head, 'ls', 'rm') AS BLOB) WHERE interaction = 2`},
		{"a request is removed", 3, "not stored any more", `DELETE FROM requests WHERE interaction = 2`},
		{"the time of a request", 1, "another time", `UPDATE interactions SET created_at = 1 WHERE key = 1`},
		{"the deadline of a request", 14, "expires_at", `UPDATE interactions SET expires_at = expires_at + 1 WHERE key = ` + of + `14))`},
		{"a deadline where there was none", 7, "expires_at", `UPDATE interactions SET expires_at = 1 WHERE key = 4`},
		{"the kind of a request", 1, "interaction_kind", `UPDATE interactions SET kind = 'question' WHERE key = 1`},
		{"how its asker waits", 1, "wait_mode", `UPDATE interactions SET wait_mode = 'suspend' WHERE key = 1`},
		{"who asked", 1, "key_asker", `UPDATE interactions SET creator = 'key_other' WHERE key = 1`},
		{"the id of an interaction", 1, "int_x", `UPDATE interactions SET id = 'int_x' WHERE key = 1`},
		{"the agent of an interaction", 1, "another agent", `INSERT INTO agents (project, id, name, slug, created_at, updated_at) VALUES (1, 'agt_x', 'x', 'x', 1, 1);
			UPDATE interactions SET agent = 2 WHERE key = 1`},
		{"the agent of an interaction and its events", 1, "agt_x", `INSERT INTO agents (project, id, name, slug, created_at, updated_at) VALUES (1, 'agt_x', 'x', 'x', 1, 1);
			UPDATE interactions SET agent = 2 WHERE key = 1; UPDATE events SET agent = 2 WHERE interaction = 1`},
		{"an interaction is moved to another project", 1, "another agent", `INSERT INTO projects (org, id, slug, name, created_at) VALUES (1, 'proj_x', 'x', 'x', 1);
			UPDATE interactions SET project = 2 WHERE key = 1`},
		{"an interaction is removed", 3, "not stored any more", `PRAGMA foreign_keys = off; DELETE FROM interactions WHERE key = 2`},
		{"an interaction is removed with all its rows", 3, "not stored any more", `DELETE FROM interactions WHERE key = 2;
			DELETE FROM ends WHERE interaction = 2; DELETE FROM requests WHERE interaction = 2; DELETE FROM events WHERE interaction = 2`},
		{"an interaction is slipped in", 16, "no entry tells of its creation", `INSERT INTO interactions (project, agent, id, kind, wait_mode, creator, created_at, sequence)
			VALUES (1, 1, 'int_x', 'permission', 'block', 'key_x', 1, 1)`},
		{"an interaction is slipped in with its event", 2, "interaction_created is stored", `INSERT INTO interactions (key, project, agent, id, kind, wait_mode, creator, created_at, sequence)
			VALUES (99, 1, 1, 'int_x', 'permission', 'block', 'key_x', 1, 3);
			INSERT INTO requests SELECT 99, head, NULL FROM requests WHERE interaction = 1; DELETE FROM events WHERE sequence = 3;
			INSERT INTO events (project, sequence, agent, id, kind, interaction, at) VALUES (1, 3, 1, 'evt_x', 'interaction_created', 99, 1)`},

		// The log of events.
		{"an event is removed", 2, "not stored any more", `DELETE FROM events WHERE sequence = ` + at + `2)`},
		{"an event is of another kind", 2, "interaction_answered", `UPDATE events SET kind = 'interaction_canceled' WHERE sequence = ` + at + `2)`},
		{"an event is of another interaction", 5, "tells of interaction_created", `UPDATE events SET interaction = 1 WHERE sequence = ` + at + `5)`},
		{"an event is moved behind the others", 2, "not as having happened then", `UPDATE events SET sequence = sequence + 1000 WHERE sequence = ` + at + `2)`},

		// Decisions by policy.
		{"a decision by policy", 8, "not what was recorded", `UPDATE policy_decisions SET record = CAST(replace(record, '"allow"', '"deny"') AS BLOB) WHERE key = 1`},
		{"a decision by policy is removed", 8, "not stored any more", `DELETE FROM policy_decisions WHERE key = 1`},
		{"a decision by policy is slipped in", 16, "policy_decided is stored", `INSERT INTO policy_decisions (project, sequence, agent, id, record, at)
			SELECT project, sequence + 1000, agent, 'evt_x', record, at FROM policy_decisions WHERE key = 1`},
		{"a decision by policy in another's place", 9, "not what was recorded", `UPDATE policy_decisions SET record = (SELECT record FROM policy_decisions WHERE key = 1) WHERE key = 2`},
		{"the id of a decision", 8, "id", `UPDATE policy_decisions SET id = 'evt_x' WHERE key = 1`},
		{"the time of a decision", 8, "at 2026-", `UPDATE policy_decisions SET at = 1 WHERE key = 1`},

		// The entries themselves.
		{"an entry's text", 4, "not what its hash says", `UPDATE audit_entries SET entry = CAST(replace(entry, 'Dana', 'Eve') AS BLOB) WHERE key = 4`},
		{"an entry's hash", 3, "not what its hash says", `UPDATE audit_entries SET hash = zeroblob(32) WHERE key = 3`},
		{"an entry's sequence", 2, "sequence", `UPDATE audit_entries SET sequence = sequence - 1 WHERE key = 2`},
		{"an entry is no JSON", 2, "cannot be read", `UPDATE audit_entries SET entry = x'00' WHERE key = 2`},
		{"an entry is cut out", 2, "is missing", `DELETE FROM audit_entries WHERE key = 2`},
		{"an entry is cut out with all it tells of", 8, "does not follow", `DELETE FROM audit_entries WHERE key = 8; DELETE FROM policy_decisions WHERE key = 1`},
		{"the first entry is cut off", 1, "is missing", `DELETE FROM audit_entries WHERE key = 1`},
		{"the last entry is cut off", 15, "is missing", `DELETE FROM audit_entries WHERE key = 15`},
		{"two are swapped", 1, "", `UPDATE audit_entries SET key = 100 WHERE key = 1; UPDATE audit_entries SET key = 1 WHERE key = 2; UPDATE audit_entries SET key = 2 WHERE key = 100`},
		{"an entry is there twice", 16, "", `INSERT INTO audit_entries (project, sequence, entry, hash) SELECT project, sequence, entry, hash FROM audit_entries WHERE key = 8`},
		{"an entry is given to another project", 1, "does not follow", `INSERT INTO projects (org, id, slug, name, created_at) VALUES (1, 'proj_x', 'x', 'x', 1);
			UPDATE audit_entries SET project = 2 WHERE key = 2`},
		{"an entry is of no project", 0, "not stored any more", `UPDATE audit_entries SET project = 99 WHERE key = 1`},

		// The project.
		{"the head", 16, "head", `UPDATE projects SET audit_head = zeroblob(32)`},
		{"the sequence", 15, "has not come to", `UPDATE projects SET sequence = 3`},
		{"the id of the project", 1, "is of project", `UPDATE projects SET id = 'proj_x'`},
		{"everything is gone", 0, "not stored any more", `DELETE FROM projects; DELETE FROM audit_entries; DELETE FROM events; DELETE FROM interactions`},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := copied(t, base)
			change(t, folder, strings.Split(c.statement, ";")...)
			finds(t, folder, c.entry, c.says)
		})
	}
}

// reseal writes the chain anew from the nth entry on, with old replaced by new in what it says: what somebody would do who knows how it is made.
func reseal(t *testing.T, folder string, from int, old, new string) {
	t.Helper()
	change(t, folder)
	db, err := sql.Open("sqlite3", filepath.Join(folder, databaseFile))
	must(t, err)
	defer db.Close()
	var previous audit.Hash
	for key := 1; ; key++ {
		var text, hash []byte
		if err := db.QueryRow("SELECT entry, hash FROM audit_entries WHERE key = ?", key).Scan(&text, &hash); err != nil {
			break
		}
		if key >= from {
			var e audit.Entry
			must(t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), old, new)), &e))
			text, previous, err = e.Seal(previous)
			must(t, err)
			_, err = db.Exec("UPDATE audit_entries SET entry = ?, hash = ? WHERE key = ?", text, previous[:], key)
			must(t, err)
			continue
		}
		previous = audit.Hash(hash)
	}
	_, err = db.Exec("UPDATE projects SET audit_head = ?", previous[:])
	must(t, err)
}

// TestVerifyFindsAChainWrittenAnew shows what the second file is for: the database alone holds together.
func TestVerifyFindsAChainWrittenAnew(t *testing.T) {
	folder := history(t)
	change(t, folder, "UPDATE ends SET actor_name = 'Eve' WHERE actor_name = 'Dana'")
	reseal(t, folder, 1, "Dana", "Eve")
	finds(t, folder, entries, "not the one that audit-heads.log records")
	must(t, os.Remove(filepath.Join(folder, audit.HeadsFile)))
	finds(t, folder, 0, "audit-heads.log is not there")
}

// more opens the store again and has one more permission asked and denied, so that there are two more entries.
func more(t testing.TB, folder string) {
	t.Helper()
	s := open(t, folder)
	settled(t, s, asked(t, s, newAgent(t, s), interaction.Ask{}).ID, denial("no"))
	must(t, s.Close())
}

func TestVerifyFindsAnOlderCopy(t *testing.T) {
	folder := history(t)
	older := copied(t, folder)
	more(t, folder)
	older = filepath.Join(older, databaseFile)
	back := func(t *testing.T) string {
		folder := copied(t, folder)
		text, err := os.ReadFile(older)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(folder, databaseFile), text, 0o600))
		return folder
	}
	t.Run("at rest", func(t *testing.T) { finds(t, back(t), entries+1, "there were 17 entries") })
	t.Run("a server went on with it", func(t *testing.T) {
		folder := back(t)
		more(t, folder)
		finds(t, folder, entries+2, "is not the one")
	})
	t.Run("the end was cut off", func(t *testing.T) {
		folder := copied(t, folder)
		change(t, folder, "DELETE FROM ends WHERE interaction = 8", "DELETE FROM requests WHERE interaction = 8", "DELETE FROM events WHERE interaction = 8",
			"DELETE FROM interactions WHERE key = 8", "DELETE FROM audit_entries WHERE key > 15",
			"UPDATE projects SET audit_head = (SELECT hash FROM audit_entries WHERE key = 15)")
		finds(t, folder, entries+1, "there were 17 entries")
	})
	t.Run("the server says so when it starts", func(t *testing.T) {
		var log strings.Builder
		s, err := Open(t.Context(), back(t), Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		must(t, err)
		must(t, s.Close())
		if !strings.Contains(log.String(), "does not hold the head") {
			t.Errorf("logged %s", log.String())
		}
	})
}

// TestSecondFileChanged says which changes of the file itself are found. The last ones of the table are those that cannot be.
func TestSecondFileChanged(t *testing.T) {
	base := history(t)
	more(t, base)
	more(t, base)
	lines := func(text string) []string { return strings.SplitAfter(text, "\n") }
	for _, c := range []struct {
		name   string
		says   string // "": not found
		change func(string) string
	}{
		{"a hash in the middle", "line 3 does not follow", func(s string) string { return strings.Replace(s, `"entries":15`, `"entries":14`, 1) }},
		{"a hash at the end", "not the one that", func(s string) string { return strings.Replace(s, `"entries":19`, `"entries":18`, 1) }},
		{"a line in the middle is taken out", "line 3 does not follow", func(s string) string { l := lines(s); return l[0] + l[1] + l[3] }},
		{"the first line is taken out", "line 1 does not follow", func(s string) string { return strings.Join(lines(s)[1:], "") }},
		{"two lines are swapped", "line 2 does not follow", func(s string) string { l := lines(s); return l[0] + l[2] + l[1] + l[3] }},
		{"a line is no JSON", "line 4 is not a line", func(s string) string { return strings.Join(lines(s)[:3], "") + "x\n" }},
		{"a line of another kind", "line 5 is not a line", func(s string) string { return s + "{\"x\":1}\n" }},
		{"it is empty", "or empty", func(string) string { return "" }},
		{"the last line is taken out", "", func(s string) string { return strings.Join(lines(s)[:3], "") }},
		{"a line that was never finished", "", func(s string) string { return s + `{"kind":"he` }},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := copied(t, base)
			path := filepath.Join(folder, audit.HeadsFile)
			text, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, []byte(c.change(string(text))), 0o600))
			if c.says != "" {
				f := report(t, folder).Finding
				if f == nil || !strings.Contains(f.What, c.says) {
					t.Errorf("found %v, want %q", f, c.says)
				}
			} else if r := report(t, folder); !r.OK {
				t.Errorf("found %v", r.Finding)
			}
			s := open(t, folder) // a server that starts afterwards hides nothing
			must(t, s.Close())
			more(t, folder)
			if r := report(t, folder); r.OK != (c.says == "") && c.name != "it is empty" {
				t.Errorf("after a start: %+v", r)
			}
		})
	}
}

// TestVerifyAnOlderSchema: a database from before a table came is whole without it, unless the log tells of a row.
func TestVerifyAnOlderSchema(t *testing.T) {
	folder := t.TempDir()
	more(t, folder)
	change(t, folder, "DROP TABLE policy_decisions")
	if r := report(t, folder); !r.OK || r.Entries != 2 {
		t.Errorf("%+v, %v", r, r.Finding)
	}
	folder = history(t)
	change(t, folder, "DROP TABLE policy_decisions")
	finds(t, folder, 8, "not stored any more")
}
