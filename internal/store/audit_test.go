package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/interaction"
)

// past is a project with one of everything that the audit tells.
type past struct {
	*Store
	t       testing.TB
	folder  string
	service *interaction.Service
	project interaction.Project
	agent   interaction.Agent
	at      time.Time
	ids     map[interaction.Outcome]interaction.ID
}

func newPast(t testing.TB) *past {
	p := &past{t: t, folder: t.TempDir(), at: start, ids: map[interaction.Outcome]interaction.ID{}}
	p.Store = open(t, p.folder)
	p.agent = newAgent(t, p.Store)
	var err error
	p.project, err = p.Project(t.Context(), "default", "default")
	must(t, err)
	p.service = interaction.NewService(p.Store, quiet{}, slog.New(slog.DiscardHandler), func() time.Time { return p.at })
	return p
}

func (p *past) asks(command string, seconds int) interaction.Record {
	p.t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	must(p.t, err)
	ask := interaction.Ask{ToolCall: &interaction.ToolCall{Name: "Bash", Input: input}}
	if seconds > 0 {
		ask.TimeoutSecs = &seconds
	}
	return p.creates(ask)
}

func (p *past) creates(ask interaction.Ask) interaction.Record {
	p.t.Helper()
	asker := interaction.Principal{Kind: interaction.AgentPrincipal, ID: "key_asker", ProjectID: p.project.ID}
	r, _, err := p.service.Create(p.t.Context(), asker, p.project, p.agent.ID, ask, interaction.Once{})
	must(p.t, err)
	return r.Record
}

func (p *past) answers(r interaction.Record, after time.Duration, a interaction.Answers) {
	p.t.Helper()
	p.at = p.at.Add(after)
	_, _, err := p.service.Resolve(p.t.Context(), person, interaction.Ref{Project: p.project.ID, ID: r.ID}, a)
	must(p.t, err)
}

func allowance(note string) interaction.Answers {
	return interaction.Answers{Answers: []interaction.Answer{{OptionIndices: []int{interaction.AllowOption}}}, Note: note}
}

// everything makes one row of each outcome, in the order of interaction.Outcomes.
func (p *past) everything() {
	p.t.Helper()
	superseded := p.asks("make zebra", 0)
	_, _, err := p.service.Send(p.t.Context(), person, p.project, p.agent.ID, interaction.NewInput{
		Mode: interaction.Steering, CancelOpen: true, Content: []interaction.ContentBlock{{Type: interaction.TextBlock, Text: "Use the giraffe instead."}},
	}, interaction.Once{})
	must(p.t, err)
	expired := p.asks("make expired", 60)
	p.at = p.at.Add(time.Minute)
	must(p.t, p.service.ExpireDue(p.t.Context()))
	allowed, denied := p.asks("make Übung", 0), p.asks("rm -rf ./build", 0)
	p.answers(allowed, 2*time.Second, allowance("Only this once."))
	p.answers(denied, 8*time.Second, denial("Not on a Friday"))
	question := p.creates(interaction.Ask{Request: &interaction.Request{Title: "Which database?", Questions: []interaction.Question{
		{Prompt: "Which?", Options: []interaction.Option{{Label: "Postgres"}, {Label: "SQLite", AllowsText: true}}},
	}}})
	p.answers(question, 26*time.Hour, interaction.Answers{Answers: []interaction.Answer{{OptionIndices: []int{1}, Text: "because small"}}})
	decide(p.t, p.Store, p.agent, interaction.RuleDeny, "git.push*")
	opened := p.asks("make walrus", 0)
	p.ids = map[interaction.Outcome]interaction.ID{
		interaction.OutcomeOpen: opened.ID, interaction.OutcomeAllowed: allowed.ID, interaction.OutcomeDenied: denied.ID,
		interaction.OutcomeAnswered: question.ID, interaction.OutcomeCanceled: superseded.ID, interaction.OutcomeExpired: expired.ID,
	}
}

// list gives the rows of a filter.
func (p *past) list(f interaction.AuditFilter, page interaction.AuditPage) []interaction.AuditRow {
	p.t.Helper()
	f.Project = p.project.ID
	if page.Limit == 0 {
		page.Limit = 50
	}
	missing, err := p.CatchUp(p.t.Context())
	must(p.t, err)
	if missing != 0 {
		p.t.Fatalf("%d changes are missing", missing)
	}
	rows, err := p.Store.Audit(p.t.Context(), f, page)
	must(p.t, err)
	return rows
}

// outcomes are the outcomes of rows, in their order.
func outcomes(rows []interaction.AuditRow) string {
	var all []string
	for _, r := range rows {
		all = append(all, string(r.Outcome))
	}
	return strings.Join(all, " ")
}

const newestFirst = "open policy answered denied allowed expired canceled"

func TestAuditListsEverythingOnce(t *testing.T) {
	p := newPast(t)
	p.everything()
	if got := outcomes(p.list(interaction.AuditFilter{}, interaction.AuditPage{})); got != newestFirst {
		t.Errorf("all: %s, want %s", got, newestFirst)
	}
	for _, o := range interaction.Outcomes {
		rows := p.list(interaction.AuditFilter{Outcome: o}, interaction.AuditPage{})
		if len(rows) != 1 || rows[0].Outcome != o || rows[0].Record.ID != p.ids[o] {
			t.Errorf("%s: %+v", o, rows)
		}
	}
}

// TestAuditRow checks what a row says, against what is stored.
func TestAuditRow(t *testing.T) {
	p := newPast(t)
	p.everything()
	for _, row := range p.list(interaction.AuditFilter{}, interaction.AuditPage{}) {
		var hash string
		must(t, p.row("SELECT lower(hex(hash)) FROM audit_entries WHERE sequence = ?", []any{row.Sequence}, &hash))
		if row.Hash != hash || row.AgentName != "swe" || row.Record.AgentID != p.agent.ID || row.Record.ProjectID != p.project.ID {
			t.Errorf("%s: %+v", row.Outcome, row)
		}
		var line map[string]any
		must(t, json.Unmarshal(row.AppendJSON(nil), &line))
		if line["outcome"] != string(row.Outcome) || line["audit"].(map[string]any)["hash"] != hash || line["digest"] == nil {
			t.Errorf("%s: %s", row.Outcome, row.AppendJSON(nil))
		}
		if row.Decision == nil {
			if r := p.now(t, row.Record.ID); string(r.AppendJSON(nil)) != string(row.Record.AppendJSON(nil)) {
				t.Errorf("%s\nis stored as\n%s", row.Record.AppendJSON(nil), r.AppendJSON(nil))
			}
		}
	}
}

func TestAuditFilters(t *testing.T) {
	p := newPast(t)
	p.everything()
	other, err := interaction.NewAgent{Name: "other"}.Normalised()
	must(t, err)
	idle, _, err := p.CreateAgent(t.Context(), p.project, other, interaction.Once{}, start)
	must(t, err)
	for name, c := range map[string]struct {
		f    interaction.AuditFilter
		want string
	}{
		"agent":              {interaction.AuditFilter{Agent: p.agent.ID}, newestFirst},
		"another agent":      {interaction.AuditFilter{Agent: idle.ID}, ""},
		"agent and outcome":  {interaction.AuditFilter{Agent: p.agent.ID, Outcome: interaction.OutcomeDenied}, "denied"},
		"questions":          {interaction.AuditFilter{Kind: interaction.QuestionKind}, "answered"},
		"reason":             {interaction.AuditFilter{CancelReason: interaction.SupersededByInput}, "canceled"},
		"reason expired":     {interaction.AuditFilter{CancelReason: interaction.DeadlinePassed}, "expired"},
		"canceled, expired":  {interaction.AuditFilter{Outcome: interaction.OutcomeCanceled, CancelReason: interaction.DeadlinePassed}, ""},
		"by Dana":            {interaction.AuditFilter{By: "Dana"}, "answered denied allowed canceled"},
		"by nobody known":    {interaction.AuditFilter{By: "dana"}, ""},
		"channel":            {interaction.AuditFilter{Channel: interaction.ChannelDashboard}, "answered denied allowed canceled"},
		"from":               {interaction.AuditFilter{From: start.Add(time.Minute)}, "open answered denied allowed"},
		"until":              {interaction.AuditFilter{Until: start.Add(time.Minute)}, "policy expired canceled"},
		"from until":         {interaction.AuditFilter{From: start, Until: start.Add(time.Millisecond)}, "policy expired canceled"},
		"words and outcome":  {interaction.AuditFilter{Words: "make", Outcome: interaction.OutcomeExpired}, "expired"},
		"words of a command": {interaction.AuditFilter{Words: "make"}, "open allowed expired canceled"},
	} {
		if c.f.Words != "" && !p.index.words {
			continue
		}
		if got := outcomes(p.list(c.f, interaction.AuditPage{})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAuditStaysInItsProject lists another project, in which there is nothing.
func TestAuditStaysInItsProject(t *testing.T) {
	p := newPast(t)
	p.everything()
	tamper(t, p.Store, "INSERT INTO projects (org, id, slug, name, created_at) VALUES (1, 'proj_other', 'other', 'Other', 0)")
	for _, f := range []interaction.AuditFilter{{}, {Words: "make"}, {Agent: p.agent.ID}, {Outcome: interaction.OutcomeOpen}} {
		if f.Words != "" && !p.index.words {
			continue
		}
		f.Project = "proj_other"
		rows, err := p.Store.Audit(t.Context(), f, interaction.AuditPage{Limit: 50})
		must(t, err)
		sum, err := p.AuditFigures(t.Context(), f)
		must(t, err)
		if len(rows) != 0 || sum.Count != 0 {
			t.Errorf("%+v: %d rows, figures of %d", f, len(rows), sum.Count)
		}
	}
}

func TestAuditPages(t *testing.T) {
	p := newPast(t)
	p.everything()
	all := p.list(interaction.AuditFilter{}, interaction.AuditPage{})
	for name, c := range map[string]struct {
		page interaction.AuditPage
		want string
	}{
		"first":      {interaction.AuditPage{Limit: 2}, "open policy answered"},
		"older":      {interaction.AuditPage{Limit: 2, Before: all[1].Place}, "answered denied allowed"},
		"oldest":     {interaction.AuditPage{Limit: 2, Before: all[5].Place}, "canceled"},
		"newer":      {interaction.AuditPage{Limit: 2, After: all[5].Place}, "answered denied allowed"},
		"the newest": {interaction.AuditPage{Limit: 2, After: all[1].Place}, "open"},
	} {
		if got := outcomes(p.list(interaction.AuditFilter{}, c.page)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAuditPlans asserts that every list is read through an index in its order: nothing is scanned and nothing sorted.
func TestAuditPlans(t *testing.T) {
	p := newPast(t)
	filters := []interaction.AuditFilter{
		{}, {Outcome: interaction.OutcomeCanceled}, {CancelReason: interaction.AskerCanceled}, {Agent: p.agent.ID}, {By: "Dana"},
		{Agent: p.agent.ID, Outcome: interaction.OutcomeOpen}, {Outcome: interaction.OutcomeCanceled, CancelReason: interaction.AskerCanceled},
		{Kind: interaction.QuestionKind, Channel: interaction.ChannelCLI, From: start, Until: start},
	}
	if p.index.words {
		filters = append(filters, interaction.AuditFilter{Words: "make"}, interaction.AuditFilter{Words: "make", Agent: p.agent.ID, Outcome: interaction.OutcomeOpen})
	}
	for _, f := range filters {
		f.Project = p.project.ID
		for _, page := range []interaction.AuditPage{{Limit: 50}, {Limit: 50, Before: 9}, {Limit: 50, After: 9}} {
			for columns, tables := range map[string]string{auditColumns: auditTables, "SELECT l.at FROM ": " "} {
				q, err := p.auditQuery(columns, tables, f)
				must(t, err)
				q.place(f, page)
				planned(t, p.Store, q)
				if plan := planOf(t, p.Store, q.text()); f.Words != "" && !strings.HasPrefix(plan, "SCAN w VIRTUAL TABLE INDEX") {
					t.Errorf("a search begins with %s", plan)
				}
			}
		}
	}
}

func TestAuditFigures(t *testing.T) {
	p := newPast(t)
	p.everything()
	p.list(interaction.AuditFilter{}, interaction.AuditPage{})
	got, err := p.AuditFigures(t.Context(), interaction.AuditFilter{Project: p.project.ID})
	must(t, err)
	one := map[interaction.Outcome]int{}
	for _, o := range interaction.Outcomes {
		one[o] = 1
	}
	first, second := start.Truncate(24*time.Hour), start.Truncate(24*time.Hour).AddDate(0, 0, 1)
	want := interaction.Figures{
		Count: 7, By: one, Median: 10 * time.Second, P95: 26 * time.Hour,
		Days: []interaction.Day{
			{Date: first, By: map[interaction.Outcome]int{"canceled": 1, "expired": 1, "allowed": 1, "denied": 1, "answered": 1, "policy": 1}},
			{Date: second, By: map[interaction.Outcome]int{"open": 1}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	none, err := p.AuditFigures(t.Context(), interaction.AuditFilter{Project: p.project.ID, By: "nobody"})
	if err != nil || none.Count != 0 || none.Median != 0 || len(none.Days) != 0 {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
}

// TestIndexIsMadeAnew starts with the index gone, broken, of another version, and of another history.
func TestIndexIsMadeAnew(t *testing.T) {
	p := newPast(t)
	p.everything()
	want := p.list(interaction.AuditFilter{}, interaction.AuditPage{})
	file := filepath.Join(p.folder, indexFile)
	change := func(statement string) func() {
		return func() {
			db, err := sql.Open("sqlite3", file)
			must(t, err)
			_, err = db.Exec(statement)
			must(t, err)
			must(t, db.Close())
		}
	}
	for name, spoil := range map[string]func(){
		"as it was":       func() {},
		"gone":            func() { must(t, os.Remove(file)) },
		"not a database":  func() { must(t, os.WriteFile(file, []byte(strings.Repeat("no database", 1000)), 0o600)) },
		"another version": change("UPDATE meta SET version = '0'"),
		"another history": change("UPDATE meta SET hash = x'00'"),
		"from the future": change("UPDATE meta SET position = 1000000"),
		"behind":          change("DELETE FROM listed; UPDATE meta SET position = 0"),
	} {
		must(t, p.Close())
		spoil()
		p.Store = open(t, p.folder)
		if d := cmp.Diff(want, p.list(interaction.AuditFilter{}, interaction.AuditPage{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestIndexTakesInManyAtOnce has more entries than one step of the index takes in.
func TestIndexTakesInManyAtOnce(t *testing.T) {
	p := newPast(t)
	const many = 3*indexBatch + 7
	for n := range many {
		decideOnce(t, p.Store, p.agent, interaction.RuleAllow, fmt.Sprint("p", n), interaction.Once{})
	}
	p.list(interaction.AuditFilter{}, interaction.AuditPage{})
	sum, err := p.AuditFigures(t.Context(), interaction.AuditFilter{Project: p.project.ID})
	if err != nil || sum.By[interaction.OutcomePolicy] != many {
		t.Errorf("%d of %d, %v", sum.By[interaction.OutcomePolicy], many, err)
	}
}

// tamper drops the triggers of an open store and runs the statement.
func tamper(t *testing.T, s *Store, statement string) {
	t.Helper()
	var drops []string
	must(t, s.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'", nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		drops = append(drops, "DROP TRIGGER "+name)
		return err
	}))
	must(t, s.writer.do(t.Context(), func(x *tx) error {
		for _, statement := range append(drops, statement) {
			if err := x.run(statement); err != nil {
				return err
			}
		}
		return nil
	}))
}
