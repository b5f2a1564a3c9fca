package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

const stdinMost = 1 << 20

func (p *program) ask() *cobra.Command {
	r := &request{program: p}
	var options []string
	var multiple bool
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Ask a person a question, wait, and print the answer",
		Long: `Ask a person a question, wait, and print the answer. A QUESTION of - is read from standard input.

A text of their own is always possible. Without options it is the only answer.

Exit codes: 0 answered, 2 bad input, 5 no server, 6 nobody answered, 7 canceled, 75 left open (--wait suspend or poll), 130 interrupted.`,
		Example: `  branch=$(sayso ask "Which branch shall I deploy?" --option main --option release)`,
		Args:    oneQuestion,
		RunE: func(cmd *cobra.Command, args []string) error {
			form, err := p.form(args[0], options, multiple)
			if err != nil {
				return err
			}
			i, err := r.put(cmd.Context(), api.NewInteraction{Request: &form})
			if err != nil {
				return err
			}
			return p.answered(i)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringArrayVar(&options, "option", nil, "an answer to choose from; may be given several times")
	cmd.Flags().BoolVar(&multiple, "multiple", false, "several options may be chosen")
	return cmd
}

func oneQuestion(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return badInput("put the question in quotes: sayso ask \"Which branch?\"", "ask takes one question, got %d arguments", len(args))
}

// form is the form of one flat question.
func (p *program) form(question string, options []string, multiple bool) (form api.Request, err error) {
	if question == "-" {
		if question, err = p.readStdin("question", stdinMost); err != nil {
			return form, err
		}
	}
	question = strings.TrimSpace(question)
	if question == "" {
		return form, badInput("", "question: must not be blank")
	}
	if multiple && len(options) == 0 {
		return form, badInput("", "--multiple: needs options to choose from; give them with --option")
	}
	q := api.Question{Prompt: question, Multiple: multiple, Options: inbox.Choices(options)}
	return api.Request{Title: inbox.Title(question), Questions: []api.Question{q}}, nil
}

func (p *program) answered(i api.Interaction) error {
	text := inbox.AnswerText(i.Request.Questions[0], i.Resolution.Answers[0])
	if p.json {
		o := outcome{Interaction: i, Answer: &text}
		if i.Decision != nil {
			o.Message = i.Decision.Note
		}
		return p.success(o)
	}
	return p.result(text)
}

// readStdin reads all of standard input, most bytes of it at most. what is named in the error.
func (p *program) readStdin(what string, most int) (string, error) {
	text, err := io.ReadAll(io.LimitReader(p.stdin, int64(most)+1))
	if err != nil {
		return "", badInput("", "%s: reading standard input: %s", what, err)
	}
	if len(text) > most {
		return "", badInput("", "%s: standard input is too long; at most %d bytes are allowed", what, most)
	}
	return string(text), nil
}
