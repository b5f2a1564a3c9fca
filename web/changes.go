package web

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

const settingsAtOnce = 50

// changesPage shows a lead what was done to the settings, as the audit log has it.
func (s *Server) changesPage(c echo.Context) error {
	q := queryOf(c, "before")
	before := q.sequence("before")
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	list, more, err := s.service.AdminEvents(c.Request().Context(), principal(c), in, before, settingsAtOnce)
	if err != nil {
		return err
	}
	page, err := s.pageIn(c, in, "Changes of the settings", views.SectionAudit)
	if err != nil {
		return err
	}
	model := views.Changes{Page: page, Rows: convert(list, changeRow)}
	if more {
		model.OlderURL = s.presenter(in, principal(c)).url("/audit/changes?before=" + strconv.FormatInt(list[len(list)-1].Sequence, 10))
	}
	return s.render(c, views.ChangesPage(model))
}

func changeRow(e interaction.AdminEvent) views.ChangeRow {
	row := views.ChangeRow{
		At: e.At, Word: sentence(string(e.Action)), About: display.Line(e.Subject.Name), By: display.Line(e.By.Name), ByID: shortID(e.Credential), Channel: string(e.By.Channel),
	}
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		if e.Detail[name] != "" {
			row.Details = append(row.Details, views.ChangeDetail{Name: strings.ReplaceAll(name, "_", " "), Value: display.Line(e.Detail[name])})
		}
	}
	return row
}

// sentence is a name with underscores as people write it: member_role_changed becomes "Member role changed".
func sentence(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}
