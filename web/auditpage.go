package web

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

const (
	auditRows   = 50 // of a page
	agentsNamed = 100
	allOutcomes = "all" // the tab; without one the page opens on what was canceled
)

// auditView is what the address of the audit page asks for.
type auditView struct {
	q       *query
	in      interaction.Project
	filter  interaction.AuditFilter
	outcome string // of the tab
	nobody  bool   // no agent is called what was typed
}

// viewAudit reads the address of the page or of its export. Fields of the form that were left empty are not there.
func (s *Server) viewAudit(c echo.Context, more ...string) (v auditView, err error) {
	v.q = queryOf(c, append(append([]string{"agent"}, auditParameters...), more...)...)
	for name := range v.q.values {
		if strings.TrimSpace(v.q.text(name)) == "" {
			v.q.values.Del(name)
		}
	}
	switch v.outcome = v.q.text("outcome"); v.outcome {
	case "":
		v.outcome = string(interaction.OutcomeCanceled)
		v.q.values.Set("outcome", v.outcome)
	case allOutcomes:
		v.q.values.Del("outcome")
	}
	v.filter = auditFilter(v.q)
	if v.in, err = s.inProject(c); err != nil || v.q.err != nil {
		return v, firstOf(v.q.err, err)
	}
	v.filter.Project = v.in.ID
	v.filter.Agent, v.nobody, err = s.agentCalled(c, v.in, strings.TrimSpace(v.q.text("agent")))
	return v, err
}

// agentCalled is the agent that has a key or an id; nobody says that there is none.
func (s *Server) agentCalled(c echo.Context, in interaction.Project, called string) (id interaction.ID, nobody bool, err error) {
	if called == "" || interaction.ID(called).WellFormed(interaction.AgentPrefix) {
		return interaction.ID(called), false, nil
	}
	f := interaction.AgentFilter{Project: in.ID, Key: called, Page: interaction.Page{Limit: 1}}
	found, _, err := s.service.Agents(c.Request().Context(), principal(c), f)
	if err != nil || len(found) == 0 {
		return noAgent, err == nil, err
	}
	return found[0].ID, false, nil
}

// noAgent is the id of no agent: a filter for it finds nothing.
const noAgent interaction.ID = "-"

// auditPage is the team lead's view. It has no state but its address.
func (s *Server) auditPage(c echo.Context) error {
	v, err := s.viewAudit(c, "older", "newer")
	if err != nil {
		return err
	}
	place := interaction.AuditPage{Limit: auditRows, Before: v.q.auditPlace("older"), After: v.q.auditPlace("newer")}
	if v.q.err != nil {
		return v.q.err
	}
	ctx, p := c.Request().Context(), principal(c)
	list, err := s.service.Audit(ctx, p, v.filter, place)
	if err != nil {
		return err
	}
	figures, err := s.service.AuditFigures(ctx, p, v.filter)
	if err != nil {
		return err
	}
	model, err := s.auditModel(c, v, list)
	if err != nil {
		return err
	}
	model.Figures = auditFigures(figures)
	if place.Before > 0 || place.After > 0 {
		model.NewestURL = v.link(s.presenter(v.in, principal(c)), nil)
	}
	return s.render(c, views.AuditPage(model))
}

// exportFromPage is the export of what the page shows.
func (s *Server) exportFromPage(c echo.Context) error {
	v, err := s.viewAudit(c, "format")
	if err != nil {
		return err
	}
	return s.export(c, v.q, v.in, v.filter)
}

func (s *Server) auditModel(c echo.Context, v auditView, list interaction.AuditList) (m views.Audit, err error) {
	page, err := s.pageIn(c, v.in, "Audit", views.SectionAudit)
	if err != nil {
		return m, err
	}
	p := s.presenter(v.in, principal(c))
	m = views.Audit{
		Page: page, Tabs: v.tabs(p), Filtered: v.filtered(), ClearURL: p.url("/audit?outcome=" + v.outcome), Missing: list.Missing, Empty: v.empty(),
		CSVURL: v.exportLink(p, "csv"), JSONURL: v.exportLink(p, "jsonl"),
	}
	if list.Older > 0 {
		m.OlderURL = v.link(p, url.Values{"older": {auditCursor(list.Older)}})
	}
	if list.Newer > 0 {
		m.NewerURL = v.link(p, url.Values{"newer": {auditCursor(list.Newer)}})
	}
	for _, r := range list.Rows {
		row, err := p.auditRow(r)
		if err != nil {
			return m, err
		}
		m.Rows = append(m.Rows, row)
	}
	m.Filter, err = s.auditForm(c.Request().Context(), principal(c), p, v)
	return m, err
}

func (s *Server) auditForm(ctx context.Context, who interaction.Principal, p presenter, v auditView) (views.AuditFilter, error) {
	q := v.q
	f := views.AuditFilter{
		URL: p.url("/audit"), Outcome: v.outcome, Agent: q.text("agent"), By: q.text("resolved_by"), From: q.text("from"), To: q.text("to"), Words: q.text("q"),
		Kinds:    choices(q, "kind", []interaction.Kind{interaction.PermissionKind, interaction.QuestionKind}, nil),
		Channels: choices(q, "channel", interaction.Channels, nil),
	}
	reasons := interaction.CancelReasons
	if v.outcome == string(interaction.OutcomeCanceled) && v.filter.CancelReason != interaction.DeadlinePassed {
		reasons = interaction.CancelReasons[:len(interaction.CancelReasons)-1] // the last is that it expired, which is a tab of its own
	}
	f.Reasons = choices(q, "cancel_reason", reasons, reasonWords)
	agents, _, err := s.service.Agents(ctx, who, interaction.AgentFilter{Project: v.in.ID, Page: interaction.Page{Limit: agentsNamed, Newest: true}})
	f.Agents = convert(agents, func(a interaction.Agent) string { return a.Key })
	return f, err
}

var reasonWords = map[interaction.CancelReason]string{
	interaction.SupersededByInput: "superseded by a message",
	interaction.AgentCanceled:     "agent stopped",
	interaction.AgentWasArchived:  "agent archived",
	interaction.ToolCallDone:      "completed another way",
	interaction.AskerCanceled:     "withdrawn by the agent",
	interaction.DeadlinePassed:    "expired",
}

// choices are the values of a filter that has few, in words where there are some.
func choices[T ~string](q *query, name string, values []T, words map[T]string) []views.AuditChoice {
	return convert(values, func(v T) views.AuditChoice {
		word, ok := words[v]
		if !ok {
			word = string(v)
		}
		return views.AuditChoice{Value: string(v), Word: word, Chosen: q.text(name) == string(v)}
	})
}

// chosen are the filters of the view but for its tab, as an address has them.
func (v auditView) chosen() url.Values {
	chosen := url.Values{}
	for _, name := range append([]string{"agent"}, auditParameters[1:]...) {
		if v.q.has(name) {
			chosen.Set(name, v.q.text(name))
		}
	}
	return chosen
}

func (v auditView) filtered() bool { return len(v.chosen()) > 0 }

// link is the address of this view, and of a part of it.
func (v auditView) link(p presenter, more url.Values) string {
	all := v.chosen()
	all.Set("outcome", v.outcome)
	for name := range more {
		all.Set(name, more.Get(name))
	}
	return p.url("/audit?" + all.Encode())
}

func (v auditView) exportLink(p presenter, format string) string {
	all := v.chosen()
	all.Set("outcome", v.outcome)
	all.Set("format", format)
	return p.url("/audit/export?" + all.Encode())
}

// tabs keep the filters; a cancel reason stays where there are canceled ones only.
func (v auditView) tabs(p presenter) []views.AuditTab {
	tab := func(word, outcome string) views.AuditTab {
		all := v.chosen()
		all.Set("outcome", outcome)
		if outcome != allOutcomes && outcome != string(interaction.OutcomeCanceled) {
			all.Del("cancel_reason")
		}
		return views.AuditTab{Word: word, URL: p.url("/audit?" + all.Encode()), Current: outcome == v.outcome}
	}
	tabs := []views.AuditTab{tab("All", allOutcomes)}
	for _, o := range interaction.Outcomes {
		tabs = append(tabs, tab(views.AuditOutcome(o).Word(), string(o)))
	}
	return tabs
}

// empty says what appears where nothing is.
func (v auditView) empty() string {
	switch {
	case v.nobody:
		return "No agent of this project has the key " + strconv.Quote(display.Line(v.q.text("agent")).String()) + "."
	case v.outcome == string(interaction.OutcomeCanceled) && v.filter.CancelReason == interaction.DeadlinePassed:
		return "Requests whose time ran out are not among the canceled ones: they are under Expired."
	}
	return map[string]string{
		allOutcomes: "Every request of an agent appears here, whatever became of it, and every decision by policy.",
		"open":      "Requests that wait for an answer appear here.",
		"allowed":   "Permissions that a person allowed appear here.",
		"denied":    "Permissions that a person denied appear here, with the reason.",
		"answered":  "Questions that a person answered appear here.",
		"canceled":  "Requests that ended without an answer appear here: a newer message replaced them, the agent was stopped, or it withdrew them.",
		"expired":   "Requests that nobody answered in time appear here.",
		"policy":    "Tool calls that a policy allowed or denied, so that nobody was asked, appear here.",
	}[v.outcome]
}
