package web

import (
	"strings"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// auditRow presents a row of the audit.
func (p presenter) auditRow(r interaction.AuditRow) (views.AuditRow, error) {
	row := views.AuditRow{
		At: r.Record.CreatedAt, Outcome: views.AuditOutcome(r.Outcome), Agent: display.Line(r.AgentName), AgentURL: p.agentURL(r.Record.AgentID),
		OpenFor: r.OpenFor, Hash: r.Hash,
	}
	if r.Decision != nil {
		return row, decisionRow(&row, r.Decision)
	}
	i, err := r.Record.Interaction()
	if err != nil {
		return row, err
	}
	row.URL, row.Title = p.interactionURL(i.ID), display.Line(i.Request.Title)
	if len(i.Request.Context) > 0 {
		row.Gist = display.Line(firstLine(i.Request.Context[0].Value))
	}
	if i.End != nil {
		row.ByID = shortID(r.Credential)
		endRow(&row, i, r.Superseded)
	}
	return row, nil
}

func decisionRow(row *views.AuditRow, record []byte) error {
	d, err := interaction.ReadDecided(record)
	row.Title, row.Gist = display.Line(d.Call.Name), display.Line(gist(d.Call.Input))
	row.Word = "Allowed by policy"
	if d.Ruling == interaction.RuleDeny {
		row.Word = "Denied by policy"
	}
	row.Reason = display.Line(excerpt(d.Message))
	return err
}

func endRow(row *views.AuditRow, i interaction.Interaction, message []interaction.ContentBlock) {
	row.By, row.Channel = display.Line(i.End.By.Name), string(i.End.By.Channel)
	row.Reason = display.Line(excerpt(saidAtEnd(i)))
	if i.Allowed() && i.End.Decision.UpdatedInput != nil {
		row.Word = "Allowed, changed"
	}
	switch row.Outcome {
	case views.AuditExpired:
		row.By, row.ByID, row.Channel = display.Text{}, "", ""
	case views.AuditCanceled:
		row.Cause = causes[i.End.CancelReason]
		row.Message = display.Line(excerpt(messageText(interaction.Input{Content: message})))
	}
}

func auditFigures(f interaction.Figures) views.AuditFigures {
	out := views.AuditFigures{
		Count: f.Count, Answered: f.Answered(), Median: f.Median, P95: f.P95, DaysCapped: f.DaysCapped,
		Allowed: f.By[interaction.OutcomeAllowed], Denied: f.By[interaction.OutcomeDenied],
		Canceled: f.By[interaction.OutcomeCanceled], Expired: f.By[interaction.OutcomeExpired],
	}
	if f.Capped {
		out.CappedAt = f.Count
	}
	for _, day := range f.Days {
		d := views.AuditDay{Date: day.Date, Count: day.Count()}
		for _, o := range interaction.Outcomes {
			if n := day.By[o]; n > 0 {
				d.Parts = append(d.Parts, views.AuditPart{Outcome: views.AuditOutcome(o), Count: n})
			}
		}
		out.Days = append(out.Days, d)
	}
	return out
}

// shortID is as much of an id as tells one person or key from another at a glance; exports have all of it.
func shortID(id interaction.ID) string {
	prefix, rest, found := strings.Cut(string(id), "_")
	if !found || len(rest) < 6 {
		return ""
	}
	return prefix + "_…" + rest[len(rest)-6:]
}
