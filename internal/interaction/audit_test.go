package interaction_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/interaction"
)

// shelf is a store of rows with the places 1 to n, whose index lacks some changes.
type shelf struct {
	interaction.Store
	n, missing int64
	most       int // rows that were asked for at once
}

func (s *shelf) CatchUp(context.Context) (int64, error) { return s.missing, nil }

func (s *shelf) Audit(_ context.Context, _ interaction.AuditFilter, page interaction.AuditPage) (rows []interaction.AuditRow, err error) {
	s.most = max(s.most, page.Limit)
	first, last := int64(1), s.n
	if page.Before > 0 {
		last = page.Before - 1
	}
	if page.After > 0 {
		first, last = page.After+1, min(s.n, page.After+int64(page.Limit)+1)
	}
	for place := last; place >= first && len(rows) <= page.Limit; place-- {
		rows = append(rows, interaction.AuditRow{Place: place})
	}
	return rows, nil
}

var lead = interaction.Principal{Kind: interaction.UserPrincipal, ID: "usr_lead", Scopes: []interaction.Scope{interaction.ScopeAudit}}

func auditing(s *shelf) *interaction.Service {
	return interaction.NewService(s, nil, slog.New(slog.DiscardHandler), time.Now)
}

// TestAuditTurnsPages checks which rows a page has, and whether there are older and newer ones.
func TestAuditTurnsPages(t *testing.T) {
	for name, c := range map[string]struct {
		n           int64
		page        interaction.AuditPage
		first, last int64
		older       int64
		newer       int64
	}{
		"nothing":                     {0, interaction.AuditPage{Limit: 3}, 0, 0, 0, 0},
		"all on one page":             {3, interaction.AuditPage{Limit: 3}, 3, 1, 0, 0},
		"the newest":                  {7, interaction.AuditPage{Limit: 3}, 7, 5, 5, 0},
		"older":                       {7, interaction.AuditPage{Limit: 3, Before: 5}, 4, 2, 2, 4},
		"the oldest":                  {7, interaction.AuditPage{Limit: 3, Before: 2}, 1, 1, 0, 1},
		"newer":                       {7, interaction.AuditPage{Limit: 3, After: 1}, 4, 2, 2, 4},
		"newer, and exactly the rest": {7, interaction.AuditPage{Limit: 3, After: 4}, 7, 5, 5, 0},
		"newer, and less than a page": {7, interaction.AuditPage{Limit: 3, After: 5}, 7, 6, 6, 0},
	} {
		list, err := auditing(&shelf{n: c.n}).Audit(t.Context(), lead, interaction.AuditFilter{}, c.page)
		if err != nil {
			t.Fatal(err)
		}
		var first, last int64
		if len(list.Rows) > 0 {
			first, last = list.Rows[0].Place, list.Rows[len(list.Rows)-1].Place
		}
		if first != c.first || last != c.last || list.Older != c.older || list.Newer != c.newer {
			t.Errorf("%s: rows %d to %d, older %d, newer %d; want %d to %d, %d, %d", name, first, last, list.Older, list.Newer, c.first, c.last, c.older, c.newer)
		}
	}
}

// TestExportIsWhole: an export has every row once, a few in memory at a time, or none.
func TestExportIsWhole(t *testing.T) {
	for _, n := range []int64{0, 1, 99, 100, 101, 200, 1234} {
		s, next := &shelf{n: n}, n
		err := auditing(s).ExportAudit(t.Context(), lead, interaction.AuditFilter{}, func(r interaction.AuditRow) error {
			if r.Place != next {
				t.Fatalf("of %d: %d, want %d", n, r.Place, next)
			}
			next--
			return nil
		})
		if err != nil || next != 0 || s.most > 100 {
			t.Errorf("of %d: %d left, %d at once, %v", n, next, s.most, err)
		}
	}
	called := false
	each := func(interaction.AuditRow) error { called = true; return nil }
	err := auditing(&shelf{n: 9, missing: 4}).ExportAudit(t.Context(), lead, interaction.AuditFilter{}, each)
	if interaction.CodeOf(err) != interaction.Unavailable || !strings.Contains(err.Error(), "4 changes") || called {
		t.Errorf("with an index that is not whole: %v, a row was told: %v", err, called)
	}
	stop := errors.New("stop")
	if err := auditing(&shelf{n: 300}).ExportAudit(t.Context(), lead, interaction.AuditFilter{}, func(interaction.AuditRow) error { return stop }); err != stop {
		t.Errorf("a reader that fails: %v", err)
	}
}

// TestAuditScope: without the scope, and with every other one, there is nothing to see; an agent's credential has none.
func TestAuditScope(t *testing.T) {
	all := interaction.Scopes
	for _, p := range []interaction.Principal{
		{Kind: interaction.UserPrincipal, Scopes: []interaction.Scope{interaction.ScopeRead, interaction.ScopeResolve, interaction.ScopeManage, interaction.ScopeEmbed}},
		{Kind: interaction.AgentPrincipal, Scopes: all}, {},
	} {
		s := auditing(&shelf{n: 5})
		_, page := s.Audit(t.Context(), p, interaction.AuditFilter{}, interaction.AuditPage{Limit: 5})
		_, figures := s.AuditFigures(t.Context(), p, interaction.AuditFilter{})
		export := s.ExportAudit(t.Context(), p, interaction.AuditFilter{}, func(interaction.AuditRow) error { return nil })
		for _, err := range []error{page, figures, export} {
			if interaction.CodeOf(err) != interaction.Forbidden {
				t.Errorf("%s: %v", p.Kind, err)
			}
		}
	}
}

func TestFigures(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }
	var f interaction.Figures
	f.Add(day(0), interaction.OutcomeAllowed, 2)
	f.Add(day(0), interaction.OutcomeExpired, 1)
	f.Add(day(3), interaction.OutcomeAnswered, 4)
	var counts []int
	for n, d := range f.Days {
		if !d.Date.Equal(day(n)) {
			t.Errorf("day %d is %s", n, d.Date)
		}
		counts = append(counts, d.Count())
	}
	if d := cmp.Diff([]int{3, 0, 0, 4}, counts); d != "" || f.Count != 7 || f.Answered() != 6 || f.DaysCapped {
		t.Errorf("%s, %+v", d, f)
	}
	f.Add(day(61), interaction.OutcomeOpen, 1)
	if len(f.Days) != interaction.FiguresDays || !f.DaysCapped || !f.Days[0].Date.Equal(day(2)) || f.Count != 8 {
		t.Errorf("%d days from %s, capped %v, of %d", len(f.Days), f.Days[0].Date, f.DaysCapped, f.Count)
	}
	f.Add(day(100_000), interaction.OutcomeOpen, 1)
	if len(f.Days) != 1 || f.Count != 9 {
		t.Errorf("after centuries: %d days, of %d", len(f.Days), f.Count)
	}
}

func TestRank(t *testing.T) {
	for _, c := range []struct {
		n       int
		percent float64
		want    int
	}{{0, 50, 0}, {1, 50, 1}, {1, 95, 1}, {2, 50, 1}, {3, 50, 2}, {20, 95, 19}, {21, 95, 20}, {100, 95, 95}} {
		if got := interaction.Rank(c.n, c.percent); got != c.want {
			t.Errorf("%g%% of %d: %d, want %d", c.percent, c.n, got, c.want)
		}
	}
}

// TestDecidedIsReadAsWritten also checks what of a decision can be searched for.
func TestDecidedIsReadAsWritten(t *testing.T) {
	d := interaction.Decided{
		ID: "evt_x", ProjectID: "proj_x", AgentID: "agt_x", Digest: "sha256:00", At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		Call:    interaction.ToolCall{ID: "tcl_x", Name: "Bash", Input: []byte(`{"command":"line\nbreak","n":1.10}`)},
		Verdict: interaction.Verdict{Ruling: interaction.RuleDeny, Source: "auto_deny", Pattern: "B*", Subject: "Bash", Message: "Denied."},
	}
	got, err := interaction.ReadDecided(d.AppendJSON(nil))
	if diff := cmp.Diff(d, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if want := "Bash\nBash\nDenied.\nB*\nCommand\nline\nbreak\nn\n1.10\n"; got.Text() != want {
		t.Errorf("%q, want %q", got.Text(), want)
	}
	if _, err := interaction.ReadDecided([]byte("{")); err == nil {
		t.Error("half a record was read")
	}
}
