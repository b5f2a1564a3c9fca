package gallery

import (
	"time"

	"sayso/internal/display"
	"sayso/views"
)

func audit(adjust ...func(*views.Audit)) views.Audit {
	a := views.Audit{
		Page: frame("Audit", views.SectionAudit, 2), Tabs: auditTabs("Canceled"), ClearURL: "/projects/default/audit?outcome=canceled",
		Filter:  auditFilter(),
		Figures: auditFigures(), Rows: auditRows(), Empty: "Requests that ended without an answer appear here.",
		OlderURL: "/projects/default/audit?older=a1", CSVURL: "/projects/default/audit/export?format=csv", JSONURL: "/projects/default/audit/export?format=jsonl",
	}
	a.LiveURL, a.CardsURL = "", ""
	for _, f := range adjust {
		f(&a)
	}
	return a
}

func auditTabs(current string) (tabs []views.AuditTab) {
	for _, word := range []string{"All", "Open", "Allowed", "Denied", "Answered", "Canceled", "Expired", "By policy"} {
		tabs = append(tabs, views.AuditTab{Word: word, URL: "/projects/default/audit?outcome=" + word, Current: word == current})
	}
	return tabs
}

func auditFilter() views.AuditFilter {
	return views.AuditFilter{
		URL: "/projects/default/audit", Outcome: "canceled", Agents: []string{"swe", "release"},
		Kinds:    []views.AuditChoice{{Value: "permission", Word: "permission"}, {Value: "question", Word: "question"}},
		Reasons:  []views.AuditChoice{{Value: "superseded_by_input", Word: "superseded by a message"}, {Value: "agent_canceled", Word: "agent stopped"}},
		Channels: []views.AuditChoice{{Value: "dashboard", Word: "dashboard"}},
	}
}

func auditFigures() views.AuditFigures {
	f := views.AuditFigures{Count: 4120, Answered: 3001, Median: 41 * time.Second, P95: 14*time.Minute + 9*time.Second, Allowed: 2800, Denied: 201, Canceled: 640, Expired: 12}
	for n := range 21 {
		f.Days = append(f.Days, views.AuditDay{Date: now.AddDate(0, 0, n-20), Count: 20 + 9*(n%5), Parts: []views.AuditPart{
			{Outcome: views.AuditAllowed, Count: 14 + 5*(n%5)}, {Outcome: views.AuditDenied, Count: 2}, {Outcome: views.AuditCanceled, Count: 4 * (n%5 + 1)},
		}})
	}
	return f
}

func auditRows() []views.AuditRow {
	row := func(o views.AuditOutcome, title, gist string, change func(*views.AuditRow)) views.AuditRow {
		r := views.AuditRow{
			At: before(3 * time.Hour), Outcome: o, URL: "/projects/default/interactions/int_" + string(o), Agent: display.Line("swe"), AgentURL: "/projects/default/agents/agt_sampleswe",
			Title: display.Line(title), Gist: display.Line(gist), By: display.Line("Dana Scully"), ByID: "usr_…3lqnxy", Channel: "dashboard", OpenFor: 42 * time.Second,
		}
		change(&r)
		return r
	}
	return []views.AuditRow{
		row(views.AuditCanceled, "Permission requested for run_command", "rm -rf ./build && npm run build", func(r *views.AuditRow) {
			r.Cause, r.Message = "A newer message to the agent replaced this request.", display.Line("Leave the build alone, please.")
		}),
		row(views.AuditOpen, "Which database?", "", func(r *views.AuditRow) { r.By, r.Channel = display.Text{}, "" }),
		row(views.AuditAllowed, "Permission requested for Bash", "go test ./...", func(r *views.AuditRow) { r.OpenFor = 0 }),
		row(views.AuditDenied, "Permission requested for Bash", "curl x \u202e| sh", func(r *views.AuditRow) {
			r.Reason, r.By, r.Channel = display.Line("Never pipe a download into a shell."), display.Line("Fox\u200b Mulder"), "chat"
		}),
		row(views.AuditAnswered, "Which branch?", "", func(r *views.AuditRow) { r.Reason = display.Line("Which branch?: main") }),
		row(views.AuditExpired, "Permission requested for deploy", "production", func(r *views.AuditRow) {
			r.By, r.Channel, r.OpenFor = display.Text{}, "", 10*time.Minute
		}),
		row(views.AuditPolicy, "Bash", "git push --force", func(r *views.AuditRow) {
			r.By, r.Channel, r.URL, r.Word, r.Reason = display.Text{}, "", "", "Denied by policy", display.Line("Denied by the policy of swe: auto_deny git.push*")
		}),
	}
}

func nothingFound(a *views.Audit) {
	a.Rows, a.Figures, a.OlderURL, a.Filtered = nil, views.AuditFigures{}, "", true
	a.Filter.Words, a.Filter.Agent, a.Filter.From, a.Filter.To = `"zebra`, "swe", "2026-11-01", "2026-11-30"
	a.Filter.Reasons[0].Chosen = true
}

func nothingYet(a *views.Audit) {
	a.Rows, a.Figures, a.OlderURL = nil, views.AuditFigures{}, ""
}

func manyMore(a *views.Audit) {
	a.Tabs, a.Missing, a.NewerURL, a.NewestURL = auditTabs("All"), 1200, "/projects/default/audit?newer=a9", "/projects/default/audit"
	a.Figures.Count, a.Figures.CappedAt, a.Figures.DaysCapped = 50000, 50000, true
}

// changes are what was done to the settings.
func changes() views.Changes {
	return views.Changes{
		Page: frame("Changes of the settings", views.SectionAudit, 2), OlderURL: "/projects/default/audit/changes?before=12",
		Rows: []views.ChangeRow{
			{At: now, Word: "Key created", About: display.Line("build machine"), By: display.Line("Dana Scully"), ByID: "usr_…3lqnxy", Channel: "dashboard",
				Details: []views.ChangeDetail{{Name: "kind", Value: display.Line("operator_key")}, {Name: "scopes", Value: display.Line("read resolve")}}},
			{At: now, Word: "Member removed", About: display.Line("Fox \u202eredluM"), By: display.Line("Sayso")},
		},
	}
}
