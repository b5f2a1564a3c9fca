package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/display"
	"sayso/internal/inbox"
)

func (p *program) showInteraction() *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		ValidArgsFunction: p.completeOpen(),
		Short:             "Show one request in full: what is asked, everything given with it, how it ended",
		Long: `Show one request in full: what is asked, everything given with it, how it ended. What hides in a text is made visible (⟨U+202E⟩,
⟨␠×400⟩); --json gives the exact text.

Exit codes: 0, 2 bad input, 3 no such interaction, 5 no server.`,
		Args: oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := p.operator()
			if err != nil {
				return err
			}
			i, err := o.interaction(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			r, err := o.record(cmd.Context(), i)
			if err != nil {
				return err
			}
			if p.json {
				return p.success(r)
			}
			return o.printInteraction(i, r)
		},
	}
}

func oneID(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return badInput("`sayso agent interactions list` lists the ids", "%s takes one id, got %d arguments", cmd.Name(), len(args))
}

// interaction finds one by its id.
func (o *operator) interaction(ctx context.Context, id string) (api.Interaction, error) {
	i, err := o.Find(ctx, strings.TrimSpace(id))
	var e *api.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return i, fail(exitNotFound, "`sayso agent interactions list --all` lists them", "interaction '%s' not found", id)
	}
	return i, o.missed(err)
}

// printInteraction tells all there is. Whatever an agent wrote is indented, so that it cannot pass for a line of ours.
func (o *operator) printInteraction(i api.Interaction, r inbox.Record) error {
	s := sheet{}
	s.field("id", i.ID)
	s.field("agent", o.known[i.AgentID].Name+" ("+r.AgentID+")")
	s.field("type", i.Kind)
	s.field("status", told(i, r))
	s.field("asked", clock(i.CreatedAt)+", "+age(i.CreatedAt)+" ago")
	if i.ExpiresAt != nil && isOpen(i) {
		s.field("expires", clock(*i.ExpiresAt))
	}
	if i.WorkflowID != "" {
		s.field("workflow", i.WorkflowID)
	}
	s.field("digest", i.Digest)
	s.field("title", i.Request.Title)
	for _, item := range i.Request.Context {
		s.gap()
		fmt.Fprintf(&s.text, "  %s:\n", display.Line(item.Label))
		s.block(item.Value)
	}
	for n, q := range i.Request.Questions {
		s.question(n, q, i)
	}
	s.answer(r)
	if isOpen(i) {
		s.gap()
		s.line("answer with: " + o.answerCommand(i))
		s.line("         or: " + o.otherCommand(i))
	}
	return o.print(strings.TrimSuffix(s.text.String(), "\n"))
}

// told is the status, and why.
func told(i api.Interaction, r inbox.Record) string {
	switch r.Status {
	case "canceled":
		return "canceled: " + inbox.CancelText(i.CancelReason)
	case "answered":
		return "answered by " + r.AnsweredBy + " at " + clock(*i.ResolvedAt)
	}
	return r.Status
}

// sheet is a text for people, as display shows it.
type sheet struct{ text strings.Builder }

func (s *sheet) gap() { s.text.WriteByte('\n') }

func (s *sheet) line(text string) { fmt.Fprintln(&s.text, display.Line(text)) }

func (s *sheet) field(name, value string) {
	fmt.Fprintf(&s.text, "%-10s%s\n", name, display.Line(value))
}

// block is a text with all its lines, indented, and what to beware of in it.
func (s *sheet) block(text string) {
	shown := display.Show(text)
	for line := range strings.SplitSeq(shown.String(), "\n") {
		fmt.Fprintln(&s.text, strings.TrimRight("    "+line, " "))
	}
	for _, chip := range shown.Chips {
		fmt.Fprintf(&s.text, "  ! %s: %s\n", chip.Label, chip.Match)
	}
}

func (s *sheet) question(n int, q api.Question, i api.Interaction) {
	s.gap()
	header := ""
	if q.Header != "" {
		header = " (" + q.Header + ")"
	}
	several := ""
	if q.Multiple {
		several = ", several may be chosen"
	}
	s.line(fmt.Sprintf("Question %d%s%s:", n+1, header, several))
	s.block(q.Prompt)
	for index, o := range q.Options {
		mark := " "
		if chosen(i, n, index) {
			mark = "*"
		}
		text := o.Label
		if o.AllowsText {
			text += " …"
		}
		fmt.Fprintf(&s.text, "  %s - %s\n", mark, display.Line(text))
		if o.Description != "" {
			fmt.Fprintf(&s.text, "        %s\n", display.Line(o.Description))
		}
	}
}

func chosen(i api.Interaction, question, option int) bool {
	if i.Resolution == nil {
		return false
	}
	for _, index := range i.Resolution.Answers[question].OptionIndices {
		if index == option {
			return true
		}
	}
	return false
}

func (s *sheet) answer(r inbox.Record) {
	for _, part := range []struct {
		name string
		text string
	}{{"Answer", deref(r.Answer)}, {"Message", r.AnswerMessage}} {
		if part.text != "" {
			s.gap()
			s.line(part.name + ":")
			s.block(part.text)
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
