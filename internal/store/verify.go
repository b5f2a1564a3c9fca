package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sayso/internal/audit"
	"sayso/internal/interaction"
)

// Verify checks a project's whole audit chain, that everything it tells of is stored as it was recorded, that nothing is stored that it does
// not tell of, and that it holds every head that was recorded in the second file. It reads one state of the database, whatever is written
// meanwhile, on a connection of its own, row by row. What does not fit is in the report, and is the error too, so that nobody overlooks it; any
// other error says that it could not be checked.
func (s *Store) Verify(ctx context.Context, project interaction.ID) (audit.Report, error) {
	report, err := s.files.verify(ctx, string(project))
	if err == nil && report.Finding != nil {
		err = report.Finding
	}
	return report, err
}

// AuditHead is the hash of the last entry of a project's audit log; "": there is none.
func (s *Store) AuditHead(project interaction.ID) (string, error) {
	var head []byte
	if err := s.row("SELECT audit_head FROM projects WHERE id = ?", []any{project}, &head); err != nil || head == nil {
		return "", err
	}
	var hash audit.Hash
	copy(hash[:], head)
	return hash.String(), nil
}

// VerifyFolder checks every project of the database in a data folder, as [Store.Verify] does, whether a server has it open or not. heads, unless "",
// is a copy of the second file that was kept elsewhere, to be used in its place.
func VerifyFolder(ctx context.Context, folder, heads string) (audit.Report, error) {
	f := filesIn(folder).against(heads)
	if err := f.there(); err != nil {
		return audit.Report{}, err
	}
	return f.verify(ctx, "")
}

// files are a database and the file with the heads of its chains.
type files struct{ database, heads string }

// ErrNoDatabase is the error of a data folder without a database.
var ErrNoDatabase = errors.New("there is no database")

func (f files) there() error {
	_, err := os.Stat(f.database)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoDatabase, filepath.Dir(f.database))
	}
	return err
}

// against is f with another second file, unless that is "".
func (f files) against(heads string) files {
	f.heads = cmp.Or(heads, f.heads)
	return f
}

// readOnly opens the database to read it while another process may write it.
func (f files) readOnly() (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(f.database)+"?mode=ro&_busy_timeout=5000")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// verify checks one project, or all if project is "".
func (f files) verify(ctx context.Context, project string) (report audit.Report, err error) {
	heads, err := openHeads(f.heads) // before the database: each head in it is then of an entry that is seen
	if err != nil {
		return report, err
	}
	defer heads.close()
	return f.verifyAgainst(ctx, heads, project)
}

// verifyAgainst is verify with heads that were read before.
func (f files) verifyAgainst(ctx context.Context, heads *recordedHeads, project string) (report audit.Report, err error) {
	db, err := f.readOnly()
	if err != nil {
		return report, err
	}
	defer db.Close()
	t, err := db.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return report, fmt.Errorf("database %s: %w", f.database, err)
	}
	defer t.Rollback()
	v := verification{ctx: ctx, tx: t, heads: heads, project: project, chains: map[int64]*chain{}, agents: map[int64]string{}}
	defer v.close()
	err = v.run()
	return v.report(err)
}

// verification is the verification of a database, or of one project in it.
type verification struct {
	ctx     context.Context
	tx      *sql.Tx
	heads   *recordedHeads
	project string // "": all
	chains  map[int64]*chain
	order   []*chain // by key
	agents  map[int64]string
	open    []*sql.Rows
	seen    int // rows
}

// chain is the verification of one project's.
type chain struct {
	*audit.Verification
	key    int64
	slug   string
	tail   audit.Tail
	events *eventSource
}

func (v *verification) close() {
	for _, rows := range v.open {
		rows.Close()
	}
}

// report tells what came of it: err is what ended the verification.
func (v *verification) report(err error) (report audit.Report, _ error) {
	for _, c := range v.order {
		report.Projects = append(report.Projects, audit.ProjectReport{
			Project: c.Project, Slug: c.slug, Entries: c.Fit, Sequence: c.Last, Head: c.Head.String(), At: c.At,
		})
		report.Entries += c.Fit
	}
	for _, n := range v.heads.log.Notes() {
		if v.project == "" || n.Project == "" || n.Project == v.project {
			report.Notes = append(report.Notes, n)
		}
	}
	var finding *audit.Finding
	if errors.As(err, &finding) {
		report.Finding, err = finding, nil
	} else if err == nil {
		report.Finding = v.heads.finding(report.Entries)
	}
	report.OK = report.Finding == nil
	return report, err
}

func (v *verification) run() error {
	if err := v.begin(); err != nil {
		return err
	}
	if err := v.entries(); err != nil {
		return err
	}
	for _, c := range v.order {
		if err := v.end(c); err != nil {
			return err
		}
	}
	if v.project != "" {
		return nil
	}
	return v.heads.allOf(v.order)
}

// begin finds the projects, and opens what their entries tell of.
func (v *verification) begin() error {
	err := v.each("SELECT key, id, slug, audit_head, sequence FROM projects WHERE ?1 = '' OR id = ?1 ORDER BY key", []any{v.project}, func(rows *sql.Rows) error {
		c := &chain{Verification: &audit.Verification{}}
		v.order = append(v.order, c)
		return rows.Scan(&c.key, &c.Project, &c.slug, &c.tail.Head, &c.tail.Sequence)
	})
	for n := 0; n < len(v.order) && err == nil; n++ {
		err = v.start(v.order[n])
	}
	if err != nil {
		return err
	}
	if v.project != "" && len(v.order) == 0 {
		return interaction.Errorf(interaction.NotFound, "Not found.")
	}
	return nil
}

func (v *verification) start(c *chain) (err error) {
	c.events = &eventSource{v: v, project: c.key}
	sources := []audit.Source{c.events}
	if err := v.openSource(&c.events.rows, eventSubjects, c.key); err != nil {
		return err
	}
	for _, kind := range recordSources {
		there, err := v.has(kind.table)
		if err != nil {
			return err
		}
		if !there { // a backup may be older than the table; an entry that tells of a row in it would be found
			continue
		}
		s := &recordSource{v: v, kind: kind}
		if err := v.openSource(&s.rows, kind.query, c.key); err != nil {
			return err
		}
		sources = append(sources, s)
	}
	v.chains[c.key] = c
	c.Verification, err = audit.NewVerification(c.Project, v.heads.of(c.Project), sources...)
	return err
}

func (v *verification) has(table string) (there bool, err error) {
	err = v.tx.QueryRow("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?)", table).Scan(&there)
	return there, err
}

func (v *verification) openSource(rows **sql.Rows, query string, project int64) (err error) {
	if *rows, err = v.tx.Query(query, project); err == nil {
		v.open = append(v.open, *rows)
	}
	return err
}

// entries goes through all entries once, whichever project they are of: no index leads to those of one.
func (v *verification) entries() error {
	q, args := "SELECT project, sequence, entry, hash FROM audit_entries ORDER BY key", []any(nil)
	if v.project != "" {
		q, args = "SELECT project, sequence, entry, hash FROM audit_entries WHERE project = ? ORDER BY key", []any{v.order[0].key}
	}
	var project int64
	var e audit.Stored
	return v.each(q, args, func(rows *sql.Rows) error {
		if err := rows.Scan(&project, &e.Sequence, (*sql.RawBytes)(&e.Canonical), (*sql.RawBytes)(&e.Hash)); err != nil {
			return err
		}
		c := v.chains[project]
		if c == nil {
			return &audit.Finding{Sequence: e.Sequence, What: "an entry is of a project that is not stored any more"}
		}
		return c.Entry(e)
	})
}

// each runs a query, and stops when nobody waits for it any more. The query itself cannot be interrupted: go-sqlite3 would start a goroutine for
// each row to watch for that.
func (v *verification) each(text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := v.tx.Query(text, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		if v.seen++; v.seen%1024 == 0 && v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// end checks that the chain is whole, and that nothing is stored that no entry tells of.
func (v *verification) end(c *chain) error {
	if err := c.End(c.tail); err != nil {
		return err
	}
	var all int
	if err := v.tx.QueryRow("SELECT count(*) FROM interactions WHERE project = ?", c.key).Scan(&all); err != nil {
		return err
	}
	if all == c.Actions[string(interaction.CreatedEvent)] && c.events.final == c.events.ended {
		return nil
	}
	return v.untold(c)
}

// untold are queries for what is stored without an event that led to it, and so without an entry. They are slow, and asked only when the numbers do
// not fit.
var untold = []struct{ query, what string }{
	{`SELECT i.sequence, i.id FROM interactions i WHERE i.project = ? AND NOT EXISTS
		(SELECT 1 FROM events v WHERE v.interaction = i.key AND v.kind = 'interaction_created') ORDER BY i.key LIMIT 1`,
		"is missing: an interaction is stored, and no entry tells of its creation"},
	{`SELECT coalesce(e.sequence, i.sequence), i.id FROM interactions i LEFT JOIN ends e ON e.interaction = i.key
		WHERE i.project = ? AND (i.state <> 'open' OR e.interaction IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM events v WHERE v.interaction = i.key
		AND (v.kind = 'interaction_answered' OR v.kind = 'interaction_canceled' OR v.kind = 'interaction_expired')) ORDER BY i.key LIMIT 1`,
		"is missing: an interaction is stored as ended, and no entry tells of its end"},
}

func (v *verification) untold(c *chain) error {
	for _, u := range untold {
		f := audit.Finding{Project: c.Project, Entry: c.Chain.N + 1, What: u.what}
		err := v.tx.QueryRow(u.query, c.key).Scan(&f.Sequence, &f.Interaction)
		if err == nil {
			return &f
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return &audit.Finding{Project: c.Project, What: "the numbers of interactions, of ends and of entries do not fit one another"}
}

// recordKind is a kind of subject that is one row with its record in a table of its own. Another kind is another line here.
type recordKind struct {
	table  string
	action string // of its entries; "": the query's last column, and if that is NULL any
	query  string // project → sequence, id, record, agent's key or NULL, time, action or NULL; in the order of sequences
}

var recordSources = []recordKind{
	{"policy_decisions", interaction.DecidedByPolicy, "SELECT sequence, id, record, agent, at, NULL FROM policy_decisions WHERE project = ? ORDER BY sequence"},
	{"admin_events", "", "SELECT sequence, id, record, NULL, at, NULL FROM admin_events WHERE project = ? ORDER BY sequence"},
}

// recordSource gives the subjects of a recordKind.
type recordSource struct {
	v       *verification
	kind    recordKind
	rows    *sql.Rows
	subject audit.Subject
	facts   [1]audit.Fact
	times   clock
}

// Next gives the next subject.
func (s *recordSource) Next() (*audit.Subject, error) {
	if !s.rows.Next() {
		return nil, s.rows.Err()
	}
	var id, action sql.NullString
	var agent sql.NullInt64
	var at int64
	err := s.rows.Scan(&s.subject.Sequence, &id, (*sql.RawBytes)(&s.subject.Record), &agent, &at, &action)
	if err != nil {
		return nil, err
	}
	s.facts[0] = audit.Fact{Name: "id", Value: id.String}
	s.subject.Facts, s.subject.At = s.facts[:], s.times.text(at)
	if s.subject.Action = s.kind.action; action.Valid {
		s.subject.Action = action.String
	}
	s.subject.Agent, err = s.v.agent(agent.Int64)
	return &s.subject, err
}

// agent is the id of the agent with the key; "" for none.
func (v *verification) agent(key int64) (id string, err error) {
	if id, ok := v.agents[key]; ok || key == 0 {
		return id, nil
	}
	err = v.tx.QueryRow("SELECT id FROM agents WHERE key = ?", key).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = "nobody", nil
	}
	v.agents[key] = id
	return id, err
}

// clock writes times as entries have them.
type clock struct {
	at   int64
	last string
}

func (c *clock) text(at int64) string {
	if c.last == "" || c.at != at {
		c.at, c.last = at, fromMS(at).Format(interaction.TimeFormat)
	}
	return c.last
}

// leadsTo is the state in which an action leaves an interaction for ever.
var leadsTo = map[string]string{
	string(interaction.AnsweredEvent): "resolved", string(interaction.CanceledEvent): "canceled", string(interaction.ExpiredEvent): "canceled",
}

// eventSubjects are the lifecycle events of a project with what they left. The database compares rows with one another; what is compared with the
// entry comes out, in few columns: each has its price.
var eventSubjects = `SELECT v.sequence, v.kind, v.agent, coalesce(i.id, ''), coalesce(CASE
	WHEN i.key IS NULL THEN 'it is not stored any more'
	WHEN i.project <> v.project OR i.agent <> v.agent THEN 'it is stored as another agent''s'
	WHEN v.kind = 'interaction_created' THEN CASE
		WHEN r.interaction IS NULL THEN 'what was asked is not stored any more'
		WHEN i.sequence <> v.sequence THEN 'it is stored as created at sequence ' || i.sequence
		WHEN i.created_at <> v.at THEN 'it is stored as created at another time than its event' END
	WHEN i.state = 'open' THEN 'it is open, though it has ended'
	WHEN i.state <> CASE v.kind WHEN 'interaction_answered' THEN 'resolved' ELSE 'canceled' END THEN 'it is stored as ' || i.state
	WHEN e.interaction IS NULL THEN 'how it ended is not stored any more'
	WHEN e.sequence <> v.sequence THEN 'it is stored as ended at sequence ' || e.sequence
	WHEN e.answered <> (i.state = 'resolved') THEN 'its end is marked as the other kind of end'
	WHEN e.ended_at <> v.at THEN 'it is stored as ended at another time than its event'
	WHEN e.proved_by <> CASE e.actor_kind WHEN 'user' THEN 'user' WHEN 'system' THEN 'system' ELSE e.proved_by END
		OR e.proved_by IN ('user', 'system') AND e.actor_kind NOT IN ('user', 'system', 'external') THEN 'its end is marked as proved by ' || e.proved_by
	END, ''), v.at,
	CASE v.kind WHEN 'interaction_created' THEN r.head ELSE e.record END,
	CASE v.kind WHEN 'interaction_created' THEN i.creator ELSE e.credential END,
	e.actor_kind, e.actor_name, e.actor_id, i.kind, i.wait_mode, i.expires_at, i.cancel_reason, i.state <> 'open'
	FROM events v LEFT JOIN interactions i ON i.key = v.interaction LEFT JOIN requests r ON r.interaction = i.key LEFT JOIN ends e ON e.interaction = i.key
	WHERE v.project = ? AND (` + anyOf("v.kind", interaction.LifecycleEvents) + `) ORDER BY v.sequence`

func anyOf(column string, kinds []interaction.EventKind) string {
	list := make([]string, len(kinds))
	for n, kind := range slices.Sorted(slices.Values(kinds)) {
		list[n] = column + " = '" + string(kind) + "'"
	}
	return strings.Join(list, " OR ")
}

// eventSource gives the lifecycle events of a project, each with its interaction.
type eventSource struct {
	v       *verification
	project int64
	rows    *sql.Rows
	subject audit.Subject
	facts   [3]audit.Fact
	times   clock
	expires clock
	final   int // interactions that are final, among those whose creation was read
	ended   int // events of an end that were read
}

// Next gives the next subject.
func (s *eventSource) Next() (*audit.Subject, error) {
	if !s.rows.Next() {
		return nil, s.rows.Err()
	}
	var agent, at int64
	var credential, actorKind, actorName, actorID, kind, wait, reason sql.NullString
	var expires sql.NullInt64
	var final sql.NullBool
	t := &s.subject
	err := s.rows.Scan(&t.Sequence, &t.Action, &agent, &t.Interaction, &t.Problem, &at, (*sql.RawBytes)(&t.Record),
		&credential, &actorKind, &actorName, &actorID, &kind, &wait, &expires, &reason, &final)
	if err != nil {
		return nil, err
	}
	t.At = s.times.text(at)
	if leadsTo[t.Action] != "" {
		s.ended++
		t.Actor = audit.Actor{Kind: actorKind.String, Name: actorName.String, ID: actorID.String, Credential: credential.String}
		t.Facts = append(s.facts[:0], audit.Fact{Name: "cancel_reason", Value: reason.String})
	} else {
		if final.Bool {
			s.final++
		}
		t.Actor = audit.Actor{Kind: "asker", Credential: credential.String}
		t.Facts = append(s.facts[:0], audit.Fact{Name: "interaction_kind", Value: kind.String}, audit.Fact{Name: "wait_mode", Value: wait.String},
			audit.Fact{Name: "expires_at"})
		if expires.Valid {
			t.Facts[2].Value = s.expires.text(expires.Int64)
		}
	}
	t.Agent, err = s.v.agent(agent)
	return t, err
}
