package web

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/interaction"
)

// auditParameters are the filters of the audit: of the page, the list and the export alike.
var auditParameters = []string{"outcome", "kind", "cancel_reason", "resolved_by", "channel", "from", "to", "q"}

// auditFilter reads the filters, but for the agent.
func auditFilter(q *query) interaction.AuditFilter {
	f := interaction.AuditFilter{
		Outcome: oneOf(q, "outcome", interaction.Outcomes...),
		Kind:    oneOf(q, "kind", interaction.PermissionKind, interaction.QuestionKind), CancelReason: oneOf(q, "cancel_reason", interaction.CancelReasons...),
		By: q.exact("resolved_by"), Channel: oneOf(q, "channel", interaction.Channels...), Words: q.exact("q"),
	}
	f.From, _ = q.moment("from")
	var day bool
	if f.Until, day = q.moment("to"); day {
		f.Until = f.Until.AddDate(0, 0, 1)
	}
	return f
}

// moment reads a time, or a day of UTC, which is its beginning.
func (q *query) moment(name string) (at time.Time, day bool) {
	if !q.has(name) {
		return at, false
	}
	if at, err := time.Parse(time.DateOnly, q.text(name)); err == nil {
		return at, true
	}
	if _, err := time.Parse(time.RFC3339, q.text(name)); err != nil {
		q.fail("%s: %q is neither a day of the form 2026-01-31 nor a time of the form 2026-01-31T12:00:00.000Z", name, clip(q.text(name)))
		return at, false
	}
	return q.time(name), false
}

// agentFilter reads which agent is wanted, by its id.
func agentFilter(q *query) interaction.ID {
	id := interaction.ID(q.text("agent_id"))
	if q.has("agent_id") && !id.WellFormed(interaction.AgentPrefix) {
		q.fail("agent_id: %q is not an id of the form agt_ and 26 characters of a-z and 2-7", clip(string(id)))
	}
	return id
}

// auditAsked reads the filters of a request with a key.
func (s *Server) auditAsked(c echo.Context, q *query) (interaction.AuditFilter, interaction.Project, error) {
	f := auditFilter(q)
	f.Agent = agentFilter(q)
	in, err := s.inProject(c)
	f.Project = in.ID
	return f, in, firstOf(q.err, err)
}

// listAudit answers with one page of the audit, newest first.
func (s *Server) listAudit(c echo.Context) error {
	q := queryOf(c, append([]string{"agent_id", "limit", "cursor"}, auditParameters...)...)
	page := interaction.AuditPage{Limit: q.number("limit", 1, interaction.MaxLimit, interaction.DefaultLimit), Before: q.auditPlace("cursor")}
	f, _, err := s.auditAsked(c, q)
	if err != nil {
		return err
	}
	list, err := s.service.Audit(c.Request().Context(), principal(c), f, page)
	if err := firstOf(err, interaction.Incomplete(list.Missing)); err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, func(b []byte) []byte {
		b = append(appendAll(append(b, `{"data":`...), list.Rows, interaction.AuditRow.AppendListed), `,"next_cursor":`...)
		if list.Older == 0 {
			return append(b, `null}`...)
		}
		return append(quoted(b, auditCursor(list.Older)), '}')
	})
}

// auditCursor is a place in the audit as callers get it.
func auditCursor(place int64) string { return "a" + strconv.FormatInt(place, 36) }

// auditPlace reads what auditCursor wrote; 0 where there is none.
func (q *query) auditPlace(name string) int64 {
	if !q.has(name) {
		return 0
	}
	text, ours := strings.CutPrefix(q.text(name), "a")
	place, err := strconv.ParseInt(text, 36, 64)
	if !ours || err != nil || place <= 0 {
		q.err = firstOf(q.err, interaction.Errorf(interaction.InvalidRequest, "%s: not one that we gave", name))
	}
	return place
}

// exportAudit streams what the filters describe.
func (s *Server) exportAudit(c echo.Context) error {
	q := queryOf(c, append([]string{"agent_id", "format"}, auditParameters...)...)
	f, in, err := s.auditAsked(c, q)
	if err != nil {
		return err
	}
	return s.export(c, q, in, f)
}

// export answers with a file that is written as it is read, so that its length costs no memory. What goes wrong before the first row is told
// like everything; after it, the answer breaks off, so that half a file never looks like a whole one.
func (s *Server) export(c echo.Context, q *query, in interaction.Project, f interaction.AuditFilter) error {
	form := exportForms[cmp.Or(oneOf(q, "format", "csv", "jsonl"), "csv")]
	if q.err != nil {
		return q.err
	}
	out := &exported{response: c.Response(), form: form, name: "sayso-audit-" + in.Slug + "-" + s.service.Time().Format("20060102-150405")}
	err := s.service.ExportAudit(c.Request().Context(), principal(c), f, func(r interaction.AuditRow) error {
		out.begin()
		return out.row(r)
	})
	if err != nil && c.Response().Committed {
		s.config.Log.Warn("export broken off", "err", err)
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		return err
	}
	out.begin()
	return out.end()
}
