package store

import (
	"regexp"
	"strings"
	"testing"

	"sayso/internal/auth"
	"sayso/internal/interaction"
)

// bare is a parameter on which a plan may depend.
var bare = regexp.MustCompile(`(=|<|>|LIMIT) \?`)

// TestNoStatementIsParsedAgain asserts the rule that [Store.query] tells, for every statement that is in common use.
func TestNoStatementIsParsedAgain(t *testing.T) {
	s := open(t, t.TempDir())
	agent := newAgent(t, s)
	r := asked(t, s, agent, interaction.Ask{})
	_, _, err := resolve(s, r.ID, denial(""), person)
	must(t, err)
	_, err = s.Interaction(t.Context(), r.ID)
	must(t, err)
	s.MarkPickedUp(r.ID, start)
	for _, state := range []interaction.State{"", interaction.Open, interaction.Resolved} {
		f := interaction.Filter{Project: agent.ProjectID, State: state, Kind: interaction.PermissionKind, ResolvedBy: "Dana", CreatedAfter: start, CreatedBefore: start}
		f.Page = interaction.Page{Limit: 50, After: &interaction.Cursor{At: start, ID: r.ID}}
		_, err = s.Interactions(t.Context(), f)
		must(t, err)
	}
	_, err = s.Agents(t.Context(), interaction.AgentFilter{Project: agent.ProjectID, Name: "swe", Page: interaction.Page{Limit: 50}})
	must(t, err)
	converses(t, s, agent)
	_, err = s.Waiting(t.Context(), agent.ID)
	must(t, err)
	_, err = s.Calls(t.Context(), interaction.CallFilter{Agent: agent.ID, State: interaction.ToolCallReady, Page: interaction.Page{Limit: 50, After: &interaction.Cursor{At: start, ID: r.ID}}})
	must(t, err)
	for _, before := range []int64{0, 9} {
		_, err = s.Events(t.Context(), interaction.EventFilter{Agent: agent.ID, Kinds: interaction.ConversationEvents, After: 1, Before: before, Limit: 9})
		must(t, err)
		_, err = s.Events(t.Context(), interaction.EventFilter{Project: agent.ProjectID, Kinds: interaction.LifecycleEvents, After: 1, Before: before, Limit: 9})
		must(t, err)
	}
	_, err = s.Actors(t.Context(), agent.ProjectID, interaction.Page{Limit: 50, After: &interaction.Cursor{At: start, ID: r.ID}})
	must(t, err)
	audited := interaction.AuditFilter{Project: agent.ProjectID, Agent: agent.ID, Outcome: interaction.OutcomeDenied, CancelReason: interaction.AskerCanceled, By: "Dana", From: start, Until: start}
	_, err = s.Audit(t.Context(), audited, interaction.AuditPage{Limit: 50, Before: 9})
	must(t, err)
	_, err = s.AuditFigures(t.Context(), audited)
	must(t, err)
	_, _ = s.Input(t.Context(), "ain_x")
	_, _ = s.Call(t.Context(), "tcl_x")
	_, _ = s.Actor(t.Context(), "actr_x")
	_, err = s.Due(t.Context(), start, 1)
	must(t, err)
	_, err = s.AdminEvents(t.Context(), agent.ProjectID, 9, 50)
	must(t, err)
	_, err = s.Keys(t.Context(), agent.ProjectID, interaction.Page{Limit: 50, After: &interaction.Cursor{At: start, ID: r.ID}})
	must(t, err)
	_, _, _ = s.KeyPrincipal(t.Context(), auth.Hash{})
	_, _, _ = s.SessionPrincipal(t.Context(), auth.Hash{}, start, start)
	must(t, s.Close()) // the writer prepares no more
	n := 0
	for text := range texts(s) {
		if several := strings.Contains(text, " JOIN ") || strings.Contains(text, "LIMIT"); several && bare.MatchString(outside(text)) {
			t.Errorf("write +? for ? in\n%s", text)
		}
		n++
	}
	if n < 20 {
		t.Errorf("only %d statements were looked at", n)
	}
}

// texts are the statements that have been prepared.
func texts(s *Store) func(func(string) bool) {
	return func(yield func(string) bool) {
		for text := range s.writer.stmts {
			if !yield(text) {
				return
			}
		}
		s.stmts.Range(func(text, _ any) bool { return yield(text.(string)) })
	}
}

var inner = regexp.MustCompile(`\(SELECT key FROM \w+ WHERE id = \?\)`)

// outside is a statement without those inner ones that read one table by its own key: they have one plan only.
func outside(text string) string { return inner.ReplaceAllString(text, "") }
