package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/audit"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// verifyWithin is how long a verification that a request asks for may take: less than its answer has.
const verifyWithin = 100 * time.Second

// verifyAudit checks the project's audit log, for programs.
func (s *Server) verifyAudit(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	in, report, err := s.verified(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, wireReport(in, report))
}

// verifyPage tells what a verification checks, and where the log stands.
func (s *Server) verifyPage(c echo.Context) error {
	in, err := s.auditedProject(c)
	if err != nil {
		return err
	}
	return s.showVerify(c, in, nil)
}

// verifyFromPage checks the project's audit log, and shows the page with what came of it.
func (s *Server) verifyFromPage(c echo.Context) error {
	in, report, err := s.verified(c)
	if err != nil {
		return err
	}
	return s.showVerify(c, in, &report)
}

func (s *Server) showVerify(c echo.Context, in interaction.Project, report *audit.Report) error {
	page, err := s.pageIn(c, in, "Verify the audit log", views.SectionAudit)
	if err != nil {
		return err
	}
	p := s.presenter(in, principal(c))
	model := views.Verify{Page: page, PostURL: p.url("/audit/verify")}
	if model.Head, err = s.store.AuditHead(in.ID); err != nil {
		return err
	}
	if report != nil {
		model.Result = p.verification(wireReport(in, *report))
	}
	return s.render(c, views.VerifyPage(model))
}

// auditedProject is the project that the path names, for those who may audit it.
func (s *Server) auditedProject(c echo.Context) (interaction.Project, error) {
	in, err := s.inProject(c)
	if err == nil && !principal(c).Can(interaction.ScopeAudit) {
		err = interaction.Errorf(interaction.Forbidden, "This credential may not audit.")
	}
	return in, err
}

// verified checks the log of the project that the path names. One verification runs at a time: each reads all of the log.
func (s *Server) verified(c echo.Context) (in interaction.Project, report audit.Report, err error) {
	if in, err = s.auditedProject(c); err != nil {
		return in, report, err
	}
	if !s.verifying.TryLock() {
		return in, report, &interaction.Error{Code: interaction.RateLimited, Message: "A verification is running. Try again when it is done.", RetryAfter: 10}
	}
	defer s.verifying.Unlock()
	ctx, stop := context.WithTimeout(c.Request().Context(), verifyWithin)
	defer stop()
	report, err = s.store.Verify(ctx, in.ID)
	if report.Finding != nil {
		return in, report, nil // which is an answer
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &interaction.Error{Code: interaction.Unavailable, Err: err, Message: "The log is too long to be verified while you wait. " +
			"Run `" + s.config.Command + " verify` on the server's machine."}
	}
	return in, report, err
}

// wireReport is a report of one project as the contract has it.
func wireReport(in interaction.Project, r audit.Report) api.Verification {
	v := api.Verification{OK: r.OK, Entries: r.Entries, Notes: []api.AuditNote{}}
	for _, p := range r.Projects {
		if p.Project == string(in.ID) {
			v.Sequence, v.Head = p.Sequence, p.Head
		}
	}
	if f := r.Finding; f != nil {
		v.Finding = &api.AuditFinding{Entry: f.Entry, Sequence: f.Sequence, InteractionID: f.Interaction, Message: f.What}
	}
	for _, n := range r.Notes {
		v.Notes = append(v.Notes, api.AuditNote{Kind: string(n.Kind), At: n.At, Entries: n.Entries, Gone: n.Gone, Message: n.Message})
	}
	return v
}

// verification is what the page says of a report.
func (p presenter) verification(v api.Verification) *views.Verification {
	out := &views.Verification{OK: v.OK, Entries: v.Entries, Sequence: v.Sequence, Head: v.Head, At: p.now}
	if f := v.Finding; f != nil {
		out.Entry, out.EntrySequence, out.What = f.Entry, f.Sequence, display.Line(f.Message)
		if id := interaction.ID(f.InteractionID); id.WellFormed(interaction.InteractionPrefix) {
			out.InteractionURL = p.interactionURL(id)
		}
	}
	for _, n := range v.Notes {
		out.Notes = append(out.Notes, display.Line(n.Message))
	}
	return out
}
