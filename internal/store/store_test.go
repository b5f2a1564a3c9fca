package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sayso/internal/audit"
	"sayso/internal/auth"
	"sayso/internal/interaction"
)

var person = interaction.Principal{Kind: interaction.UserPrincipal, ID: "usr_dana", Name: "Dana", Scopes: interaction.Scopes, Channel: interaction.ChannelDashboard}

func open(t testing.TB, folder string) *Store {
	t.Helper()
	s, err := Open(context.Background(), folder, Options{Broken: func(err error) { t.Error("broken:", err) }})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newAgent(t testing.TB, s *Store) interaction.Agent {
	t.Helper()
	p, err := s.Project(t.Context(), "default", "default")
	must(t, err)
	a, err := interaction.NewAgent{Name: "swe"}.Normalised()
	must(t, err)
	agent, _, err := s.CreateAgent(t.Context(), p, a, interaction.Once{}, start)
	must(t, err)
	return agent
}

// asked opens a permission.
func asked(t testing.TB, s *Store, agent interaction.Agent, ask interaction.Ask) interaction.Record {
	t.Helper()
	if ask.ToolCall == nil {
		ask.ToolCall = &interaction.ToolCall{Name: "Bash", Input: []byte(`{"command":"ls"}`)}
	}
	ask, err := ask.Normalised()
	must(t, err)
	r, _, err := s.Create(t.Context(), agent.ID, interaction.Once{}, func(c interaction.Conversation) (interaction.Step, error) {
		return interaction.Opened{Interaction: interaction.New(ask, c.Agent(), "key_asker", start)}, nil
	})
	must(t, err)
	return r.Record
}

func denial(reason string) interaction.Answers {
	return interaction.Answers{Answers: []interaction.Answer{{OptionIndices: []int{interaction.DenyOption}, Text: reason}}}
}

func resolve(s *Store, id interaction.ID, a interaction.Answers, p interaction.Principal) (interaction.Record, bool, error) {
	return s.Update(context.Background(), id, a.External, func(_ interaction.Record, i interaction.Interaction, actor interaction.ID) (interaction.Change, error) {
		return i.Resolve(a, p, actor, start.Add(time.Second))
	})
}

// count runs a query for a number, straight on the database.
func count(t testing.TB, s *Store, query string, args ...any) (n int) {
	t.Helper()
	must(t, s.read.QueryRow(query, args...).Scan(&n))
	return n
}

func TestResolveWritesEverythingOnce(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	r := asked(t, s, agent, interaction.Ask{})
	got, replay, err := resolve(s, r.ID, denial("not today"), person)
	must(t, err)
	if replay || got.State != interaction.Resolved {
		t.Fatalf("replay %v, state %s", replay, got.State)
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM inputs WHERE kind = 'interaction_response' AND state = 'resolved'": 1,
		"SELECT count(*) FROM ends": 1,
		"SELECT count(*) FROM tool_calls WHERE state = 'completed' AND outcome = 'denied'":                                                  1,
		"SELECT count(*) FROM events WHERE kind = 'agent_input'":                                                                            1,
		"SELECT count(*) FROM events WHERE kind = 'tool_result' AND body LIKE '%not today%'":                                                1,
		"SELECT count(*) FROM events WHERE kind = 'interaction_answered'":                                                                   1,
		"SELECT count(*) FROM audit_entries":                                                                                                2,
		"SELECT count(*) FROM (SELECT DISTINCT sequence FROM events)":                                                                       4,
		"SELECT count(*) FROM projects WHERE sequence = (SELECT max(sequence) FROM events)":                                                 1,
		"SELECT count(*) FROM events e1, events e2 WHERE e1.kind = 'agent_input' AND e2.kind = 'tool_result' AND e1.sequence < e2.sequence": 1,
	} {
		if n := count(t, s, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	again, replay, err := resolve(s, r.ID, denial(" not today "), person)
	must(t, err)
	if !replay || string(again.AppendJSON(nil)) != string(got.AppendJSON(nil)) {
		t.Error("the same answer again is a replay of the stored interaction")
	}
	if _, _, err := resolve(s, r.ID, denial("other"), person); interaction.CodeOf(err) != interaction.IdempotencyKey {
		t.Errorf("another answer: %v", err)
	}
	if n := count(t, s, "SELECT count(*) FROM inputs"); n != 1 {
		t.Errorf("%d inputs after a replay and a conflict", n)
	}
	verified(t, s, agent.ProjectID, 2)
}

func verified(t testing.TB, s *Store, project interaction.ID, want int) {
	t.Helper()
	r, err := s.Verify(t.Context(), project)
	if err != nil || r.Entries != want {
		t.Errorf("verify: %d entries, %v; want %d", r.Entries, err, want)
	}
}

// TestDatabaseRefuses tries to break the promises behind the back of the code.
func TestDatabaseRefuses(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	r := asked(t, s, newAgent(t, s), interaction.Ask{})
	if _, _, err := resolve(s, r.ID, denial(""), person); err != nil {
		t.Fatal(err)
	}
	r2 := asked(t, s, newAgent(t, s), interaction.Ask{})
	decide(t, s, newAgent(t, s), interaction.RuleDeny, "*")
	for _, c := range []struct{ statement, says string }{
		{"UPDATE interactions SET state = 'open', cancel_reason = NULL", "immutable"},
		{"UPDATE interactions SET created_at = 1 WHERE state = 'open'", "never changes"},
		{"DELETE FROM interactions", "kept for ever"},
		{"UPDATE requests SET head = x'00'", "never changes"},
		{"DELETE FROM requests", "kept for ever"},
		{"UPDATE ends SET record = x'00'", "immutable"},
		{"DELETE FROM ends", "immutable"},
		{"UPDATE events SET kind = 'x'", "append-only"},
		{"DELETE FROM events", "append-only"},
		{"UPDATE audit_entries SET entry = x'00'", "append-only"},
		{"DELETE FROM audit_entries", "append-only"},
		{"UPDATE policy_decisions SET record = x'00'", "never changes"},
		{"DELETE FROM policy_decisions", "kept for ever"},
		{fmt.Sprintf("INSERT INTO ends VALUES (%d, x'00', 1, 1, 'api_key', 'a', NULL, 'key_a', 'agent_key', 9)", r2.Key), "CHECK"},
		{fmt.Sprintf("UPDATE interactions SET state = 'canceled' WHERE key = %d", r2.Key), "CHECK"},
	} {
		if err := s.writer.do(t.Context(), func(x *tx) error { return x.run(c.statement) }); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", c.statement, err, c.says)
		}
	}
}

func TestAgentCredentialNeverAnswers(t *testing.T) {
	s := open(t, t.TempDir())
	r := asked(t, s, newAgent(t, s), interaction.Ask{})
	agent := interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_asker", Scopes: interaction.Scopes}
	if _, _, err := resolve(s, r.ID, denial(""), agent); interaction.CodeOf(err) != interaction.Forbidden {
		t.Errorf("an agent's credential with every scope: %v, want forbidden", err)
	}
	if n := count(t, s, "SELECT count(*) FROM ends"); n != 0 {
		t.Errorf("%d ends", n)
	}
}

// TestSpoiler has one closure of a batch fail after it has written: its neighbours must be committed, and it must leave nothing.
func TestSpoiler(t *testing.T) {
	s := open(t, t.TempDir())
	hold, held := make(chan struct{}), make(chan struct{})
	go s.writer.do(t.Context(), func(*tx) error { close(held); <-hold; return nil }) // the next ones queue up behind it
	<-held
	insert := func(x *tx, n int) error {
		return x.run("INSERT INTO signin_codes (hash, created_at) VALUES (?, 1)", []byte{byte(n)})
	}
	errs := make([]error, 20)
	var wait sync.WaitGroup
	for n := range errs {
		wait.Go(func() {
			errs[n] = s.writer.do(t.Context(), func(x *tx) error {
				if err := insert(x, n); err != nil {
					return err
				}
				if n%5 == 0 {
					return errors.New("spoilt")
				}
				return nil
			})
		})
	}
	for len(s.writer.jobs) < len(errs) { // all are in the queue, so they share a transaction
		waitABit(t)
	}
	close(hold)
	wait.Wait()
	for n, err := range errs {
		if there := count(t, s, "SELECT count(*) FROM signin_codes WHERE hash = ?", []byte{byte(n)}); (there == 1) != (n%5 != 0) || (err == nil) != (n%5 != 0) {
			t.Errorf("closure %d: %v, %d rows", n, err, there)
		}
	}
}

// waitABit lets other goroutines run.
func waitABit(t *testing.T) {
	t.Helper()
	select {
	case <-time.After(time.Millisecond):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

func TestOneProcessPerFolder(t *testing.T) {
	folder := t.TempDir()
	open(t, folder)
	if _, err := Open(t.Context(), folder, Options{}); err == nil || !strings.Contains(err.Error(), "in use by another sayso") {
		t.Errorf("second open: %v", err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	must(t, s.writer.do(t.Context(), func(x *tx) error {
		return x.run("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	}))
	must(t, s.Close())
	if _, err := Open(t.Context(), folder, Options{}); err == nil || !strings.Contains(err.Error(), "newer sayso") {
		t.Errorf("open: %v", err)
	}
}

func TestPragmasAreKept(t *testing.T) {
	s := open(t, t.TempDir())
	keeps := func(conn *sql.Conn) {
		var sync, keys int
		var mode string
		must(t, conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&sync))
		must(t, conn.QueryRowContext(t.Context(), "PRAGMA foreign_keys").Scan(&keys))
		must(t, conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
		if sync != 2 || keys != 1 || mode != "wal" {
			t.Errorf("synchronous %d, foreign_keys %d, journal_mode %s", sync, keys, mode)
		}
	}
	must(t, s.writer.do(t.Context(), func(x *tx) error { keeps(x.w.conn); return nil }))
	for range readers {
		conn, err := s.read.Conn(t.Context())
		must(t, err)
		defer conn.Close()
		keeps(conn)
		if _, err := conn.ExecContext(t.Context(), "DELETE FROM sessions"); err == nil {
			t.Error("a reading connection wrote")
		}
	}
	bad := connector{dsn: strings.Replace(dsn(t.TempDir()+"/x.db", ""), "FULL", "NORMAL", 1), ready: checkPragmas}
	if _, err := bad.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "synchronous") {
		t.Errorf("a connection that would lose answers: %v", err)
	}
}

// TestFollowOrder checks that followers get every change once, in commit order, as it stood then.
func TestFollowOrder(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	got := make(chan Change, 1000)
	stop := s.Follow(func(changes []Change) {
		for _, c := range changes {
			got <- c
		}
	})
	const many = 50
	var wait sync.WaitGroup
	for range many {
		wait.Go(func() {
			r := asked(t, s, agent, interaction.Ask{})
			if _, _, err := resolve(s, r.ID, denial(""), person); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	stop()
	close(got)
	var last int64
	states := map[interaction.ID]interaction.State{}
	for c := range got {
		if c.Sequence == 0 {
			continue // not in the log
		}
		if c.Sequence <= last {
			t.Errorf("sequence %d after %d", c.Sequence, last)
		}
		last = c.Sequence
		if !c.Of() {
			continue
		}
		if c.Kind == interaction.AnsweredEvent && states[c.Record.ID] != interaction.Open {
			t.Errorf("%s answered before it was told open", c.Record.ID)
		}
		states[c.Record.ID] = c.Record.State
	}
	if len(states) != many {
		t.Errorf("told of %d interactions, want %d", len(states), many)
	}
}

// TestPlans asserts that every form of a list is read through an index in its order: no scan, no sorting.
func TestPlans(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	after := &interaction.Cursor{At: start, ID: agent.ID}
	for _, f := range []interaction.Filter{
		{}, {State: interaction.Open}, {State: interaction.Canceled}, {State: interaction.Resolved}, {Agent: agent.ID}, {Agent: agent.ID, State: interaction.Open},
		{Agent: agent.ID, Ended: true}, {CancelReason: interaction.DeadlinePassed}, {Kind: interaction.PermissionKind, CreatedAfter: start, CreatedBefore: start},
	} {
		for _, page := range []interaction.Page{{Limit: 50}, {Limit: 50, Newest: true}, {Limit: 50, After: after}} {
			f.Project, f.Page = agent.ProjectID, page
			q, _ := listQuery(f)
			planned(t, s, q)
		}
	}
	q := newQuery(agentColumns)
	q.where("a.project = (SELECT key FROM projects WHERE id = ?)", agent.ProjectID)
	q.page("a", interaction.Page{Limit: 50})
	planned(t, s, q)
}

func planned(t *testing.T, s *Store, q *query) {
	t.Helper()
	must(t, s.rows("EXPLAIN QUERY PLAN "+q.text(), q.args, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		match := strings.HasPrefix(step, "SCAN w VIRTUAL TABLE") && strings.Contains(step, ":M") // by a word, in order
		if strings.HasPrefix(step, "SCAN") && !match || strings.Contains(step, "TEMP B-TREE") {
			t.Errorf("%s\nis read by: %s", q.text(), step)
		}
		return err
	}))
}

func TestAuditEntrySeals(t *testing.T) {
	first, hash, err := audit.Entry{Sequence: 1, Actor: audit.Actor{Name: "é\u2028<&"}}.Seal(audit.Hash{})
	must(t, err)
	second, next, err := audit.Entry{Sequence: 2}.Seal(hash)
	must(t, err)
	var chain audit.Chain
	if _, err := chain.Append(first, hash[:]); err != nil {
		t.Error(err)
	}
	if _, err := chain.Append(second, next[:]); err != nil {
		t.Error(err)
	}
	if chain.N != 2 || chain.Head != next {
		t.Errorf("%d entries, head %s; want 2 and %s", chain.N, chain.Head, next)
	}
	if _, err := chain.Append(first, hash[:]); err == nil {
		t.Error("an entry in another's place was not noticed")
	}
}

func TestSessionsAndCodes(t *testing.T) {
	s := open(t, t.TempDir())
	now := start
	gate := auth.NewGate(s, func() time.Time { return now })
	code, err := gate.NewCode(t.Context())
	must(t, err)
	for range 2 { // looking uses nothing up
		if good, err := gate.CheckCode(t.Context(), code); err != nil || !good {
			t.Fatalf("check: %v %v", good, err)
		}
	}
	token, first, err := gate.SignIn(t.Context(), code, "Dana", auth.From{})
	if err != nil || !first {
		t.Fatalf("sign in: first %v, %v", first, err)
	}
	if _, _, err := gate.SignIn(t.Context(), code, "Dana", auth.From{}); interaction.CodeOf(err) != interaction.Unauthorized {
		t.Errorf("the code again: %v", err)
	}
	session := auth.HashOf(token)
	p, err := gate.Session(t.Context(), session)
	if err != nil || p.Name != "Dana" || !p.Owner || p.Can(interaction.ScopeRead) {
		t.Errorf("session: %+v %v", p, err)
	}
	if there, err := p.In(interaction.Project{ID: "proj_x"}); err != nil || !there.Can(interaction.ScopeManage) {
		t.Errorf("in a project: %+v %v", there, err)
	}
	now = now.Add(auth.SessionIdle + time.Second)
	if _, err := gate.Session(t.Context(), session); interaction.CodeOf(err) != interaction.Unauthorized {
		t.Errorf("idle session: %v", err)
	}
	old, err := gate.NewCode(t.Context())
	must(t, err)
	now = now.Add(auth.CodeLife + time.Second)
	if _, _, err := gate.SignIn(t.Context(), old, "Dana", auth.From{}); interaction.CodeOf(err) != interaction.Unauthorized {
		t.Errorf("old code: %v", err)
	}
}

func TestKeysStopWithinASecond(t *testing.T) {
	s := open(t, t.TempDir())
	now := start
	gate := auth.NewGate(s, func() time.Time { return now })
	secret := auth.NewSecret(interaction.OperatorPrincipal)
	must(t, s.EnsureKey(t.Context(), auth.StoredKey(secret, "op", "key_1"), now))
	if p, err := gate.Key(t.Context(), secret); err != nil || p.Kind != interaction.OperatorPrincipal {
		t.Fatalf("%+v %v", p, err)
	}
	must(t, s.writer.do(t.Context(), func(x *tx) error { return x.run("UPDATE api_keys SET revoked_at = 1") }))
	now = now.Add(time.Second)
	if _, err := gate.Key(t.Context(), secret); interaction.CodeOf(err) != interaction.Unauthorized {
		t.Errorf("revoked a second ago: %v", err)
	}
	mistyped := secret[:len(secret)-1] + "!"
	if _, err := gate.Key(t.Context(), mistyped); interaction.CodeOf(err) != interaction.Unauthorized {
		t.Errorf("mistyped: %v", err)
	}
}

// TestExpiredWhileDown ends what fell due while nobody ran.
func TestExpiredWhileDown(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	secs := 5
	r := asked(t, s, newAgent(t, s), interaction.Ask{WaitMode: interaction.Block, TimeoutSecs: &secs})
	must(t, s.Close())
	s = open(t, folder)
	service := interaction.NewService(s, nil, s.log, func() time.Time { return start.Add(time.Hour) })
	must(t, service.Start(t.Context()))
	got, err := s.Interaction(t.Context(), r.ID)
	must(t, err)
	i, err := got.Interaction()
	must(t, err)
	if i.State != interaction.Canceled || i.End.CancelReason != interaction.DeadlinePassed || i.End.By.Kind != interaction.SystemActor || i.End.InputID != "" {
		t.Errorf("%s %+v", i.State, i.End)
	}
}

// TestKeyIsNoSession: a key that was just used must not open what only a session opens, and the other way round.
func TestKeyIsNoSession(t *testing.T) {
	s := open(t, t.TempDir())
	gate := auth.NewGate(s, func() time.Time { return start })
	secret := auth.NewSecret(interaction.OperatorPrincipal)
	must(t, s.EnsureKey(t.Context(), auth.StoredKey(secret, "op", "key_1"), start))
	for range 2 {
		if _, err := gate.Key(t.Context(), secret); err != nil {
			t.Error(err)
		}
		if p, err := gate.Session(t.Context(), auth.HashOf(secret)); interaction.CodeOf(err) != interaction.Unauthorized {
			t.Errorf("a key as a session: %+v %v", p, err)
		}
	}
}

// TestNewKeyTakesTheOldOnesPlace: a key file that was removed must not leave its key behind.
func TestNewKeyTakesTheOldOnesPlace(t *testing.T) {
	s := open(t, t.TempDir())
	gate := auth.NewGate(s, func() time.Time { return start })
	old, fresh, other := auth.NewSecret(interaction.OperatorPrincipal), auth.NewSecret(interaction.OperatorPrincipal), auth.NewSecret(interaction.OperatorPrincipal)
	must(t, s.EnsureKey(t.Context(), auth.StoredKey(other, "another", "key_0"), start))
	must(t, s.EnsureKey(t.Context(), auth.StoredKey(old, "op", "key_1"), start))
	must(t, s.ReplaceKey(t.Context(), auth.StoredKey(fresh, "op", "key_2"), start))
	if _, err := gate.Key(t.Context(), old); interaction.CodeOf(err) != interaction.Unauthorized {
		t.Errorf("the old key: %v", err)
	}
	for _, good := range []string{fresh, other} {
		if _, err := gate.Key(t.Context(), good); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseLeavesOneFile checks that the write-ahead log is put into the database at a clean stop, so that the one file is all of it.
func TestCloseLeavesOneFile(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	asked(t, s, newAgent(t, s), interaction.Ask{})
	must(t, s.Close())
	for _, name := range []string{"sayso.db-wal", "sayso.db-shm"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
}
