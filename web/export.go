package web

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
)

// exportForm is a form that an export has.
type exportForm struct {
	kind, extension string
	begin           func(*exported)
	row             func(*exported, interaction.AuditRow) error
}

var exportForms = map[string]exportForm{
	"csv":   {"text/csv; charset=utf-8", ".csv", (*exported).csvHead, (*exported).csvRow},
	"jsonl": {"application/x-ndjson", ".jsonl", func(*exported) {}, (*exported).jsonRow},
}

// exported is an export on its way. Its head is written with the first row, or in the end.
type exported struct {
	response *echo.Response
	form     exportForm
	name     string
	csv      *csv.Writer
	line     []byte
	begun    bool
}

func (e *exported) begin() {
	if e.begun {
		return
	}
	e.begun = true
	h := e.response.Header()
	h.Set(echo.HeaderContentType, e.form.kind)
	h.Set(echo.HeaderContentDisposition, `attachment; filename="`+e.name+e.form.extension+`"`)
	e.response.WriteHeader(http.StatusOK)
	e.form.begin(e)
}

func (e *exported) row(r interaction.AuditRow) error { return e.form.row(e, r) }

func (e *exported) end() error {
	if e.csv == nil {
		return nil
	}
	e.csv.Flush()
	return e.csv.Error()
}

// jsonRow writes the published record with its audit entry, on a line of its own, as it was received.
func (e *exported) jsonRow(r interaction.AuditRow) error {
	e.line = append(r.AppendJSON(e.line[:0]), '\n')
	if cap(e.line) > keepBuffer {
		defer func() { e.line = nil }()
	}
	_, err := e.response.Write(e.line)
	return err
}

var csvColumns = []string{
	"asked_at", "outcome", "kind", "agent", "agent_id", "interaction_id", "decision_id", "request", "evidence", "cancel_reason", "reason", "superseded_by_input",
	"superseding_message", "by", "by_id", "channel", "ended_at", "open_seconds", "policy", "digest", "audit_sequence", "audit_hash",
}

func (e *exported) csvHead() {
	e.csv = csv.NewWriter(e.response)
	_ = e.csv.Write(csvColumns) // its error comes with the next row
}

// csvRow writes a row for people: hidden characters are marks, and no cell is a formula.
func (e *exported) csvRow(r interaction.AuditRow) error {
	cells, err := csvCells(r)
	if err != nil {
		return err
	}
	for n := range cells {
		cells[n] = formulaSafe(cells[n])
	}
	if err := e.csv.Write(cells); err != nil {
		return err
	}
	return e.csv.Error()
}

// formulaSafe is a cell that no spreadsheet takes for a formula: one that begins like one gets an apostrophe before it.
func formulaSafe(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

// csvCells are the cells of a row, in the order of csvColumns.
func csvCells(r interaction.AuditRow) ([]string, error) {
	var of map[string]string
	var err error
	if r.Decision != nil {
		of, err = decisionCells(r)
	} else {
		of, err = interactionCells(r)
	}
	of["asked_at"], of["outcome"] = r.Record.CreatedAt.Format(interaction.TimeFormat), string(r.Outcome)
	of["agent"], of["agent_id"] = display.Line(r.AgentName).String(), string(r.Record.AgentID)
	of["audit_sequence"], of["audit_hash"] = strconv.FormatInt(r.Sequence, 10), r.Hash
	cells := make([]string, len(csvColumns))
	for n, column := range csvColumns {
		cells[n] = of[column]
	}
	return cells, err
}

func interactionCells(r interaction.AuditRow) (map[string]string, error) {
	i, err := r.Record.Interaction()
	if err != nil {
		return map[string]string{}, err
	}
	of := map[string]string{
		"kind": string(i.Kind), "interaction_id": string(i.ID), "request": display.Line(i.Request.Title).String(), "evidence": evidence(i.Request.Context),
		"digest": i.Digest,
	}
	if i.End == nil {
		return of, nil
	}
	of["by_id"] = string(r.Credential)
	of["by"], of["channel"] = display.Line(i.End.By.Name).String(), string(i.End.By.Channel)
	of["cancel_reason"], of["reason"] = string(i.End.CancelReason), display.Show(saidAtEnd(i)).String()
	of["ended_at"], of["open_seconds"] = i.End.At.Format(interaction.TimeFormat), strconv.FormatFloat(r.OpenFor.Seconds(), 'f', 3, 64)
	if i.End.CancelReason == interaction.SupersededByInput {
		of["superseded_by_input"] = string(i.End.InputID)
		of["superseding_message"] = display.Show(messageText(interaction.Input{Content: r.Superseded})).String()
	}
	return of, nil
}

func decisionCells(r interaction.AuditRow) (map[string]string, error) {
	d, err := interaction.ReadDecided(r.Decision)
	request, _ := interaction.PermissionRequest(d.Call) // an input that cannot be taken apart has no evidence
	return map[string]string{
		"kind": string(interaction.PermissionKind), "decision_id": string(d.ID), "request": display.Line(d.Call.Name).String(), "evidence": evidence(request.Context),
		"reason": display.Show(d.Message).String(), "policy": display.Line(strings.TrimSpace(string(d.Ruling) + " by " + d.Source + " " + d.Pattern)).String(), "digest": d.Digest,
	}, err
}

// evidence is what the request showed, one line for each item's name.
func evidence(context []interaction.ContextItem) string {
	lines := make([]string, len(context))
	for n, item := range context {
		lines[n] = display.Line(item.Label).String() + ": " + display.Show(item.Value).String()
	}
	return strings.Join(lines, "\n")
}

// saidAtEnd is the reason, the note, or the answers to the questions.
func saidAtEnd(i interaction.Interaction) string {
	var lines []string
	for n, a := range i.End.Answers {
		line := a.Text
		if i.Kind == interaction.QuestionKind {
			line = i.Request.Questions[n].Prompt + ": " + chosen(i.Request.Questions[n], a)
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	for _, text := range []string{i.End.Decision.Note, i.End.Decision.Response} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// chosen is an answer in a line: the options that were chosen, and what was written beside them.
func chosen(q interaction.Question, a interaction.Answer) string {
	text := strings.Join(convert(a.OptionIndices, func(o int) string { return q.Options[o].Label }), ", ")
	if a.Text != "" {
		text += " (" + a.Text + ")"
	}
	return text
}
