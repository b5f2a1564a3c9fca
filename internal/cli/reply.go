package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// actorTenant is where the names come from that --by gives: nobody has proved them.
const actorTenant = "sayso-cli"

// reply is the answer of an operator, as its flags give it.
type reply struct {
	allow, deny, remember    bool
	message, text, by, input string
	selects                  []string
	given                    func(flag string) bool
}

// answeredData is the data of an answer.
type answeredData struct {
	Interaction inbox.Record `json:"interaction"`
	Warnings    []string     `json:"warnings,omitempty"`
}

func (p *program) answerInteraction() *cobra.Command {
	var r reply
	cmd := &cobra.Command{
		Use:               "answer ID (--allow | --deny | --text TEXT | --select 'QUESTION=LABEL')",
		Short:             "Answer what an agent asks",
		ValidArgsFunction: p.completeOpen(),
		Long: `Answer what an agent asks. A permission takes --allow or --deny, a question --text or --select.

In --select, QUESTION is a number from 1, or else the text or the header of a question; LABELs are separated by commas. Give it once for each
question. With several questions, or beside --select, --text is a response to all of them.

Exit codes: 0 answered, 2 bad input, 3 no such interaction, 4 it is not open any more, 5 no server.`,
		Example: `  sayso inbox answer int_… --deny --message 'not on a Friday'
  sayso inbox answer int_… --select 'Format=Summary' --select '2=Introduction,Conclusion' --text 'keep it short'`,
		Args: oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.given = cmd.Flags().Changed
			if err := r.check(); err != nil {
				return err
			}
			o, err := p.operator()
			if err != nil {
				return err
			}
			return o.answer(cmd.Context(), args[0], r)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&r.allow, "allow", false, "allow it")
	f.BoolVar(&r.deny, "deny", false, "deny it")
	f.StringVar(&r.message, "message", "", "reason with --deny, note with --allow")
	f.StringVar(&r.text, "text", "", "the answer in your own words")
	f.StringArrayVar(&r.selects, "select", nil, "`QUESTION=LABEL[,LABEL…]`; may be given several times")
	f.BoolVar(&r.remember, "remember", false, "with --allow: also allow what the agent suggests to remember")
	f.StringVar(&r.input, "updated-input", "", "with --allow: a JSON object to run instead of what was asked for")
	f.StringVar(&r.by, "by", "human", "name of who answers")
	return cmd
}

// check says which flags do not go together, whatever is answered.
func (r reply) check() error {
	decides, answers := r.allow || r.deny, r.given("text") || r.given("select")
	switch {
	case r.allow && r.deny:
		return badInput("", "--allow and --deny exclude each other")
	case decides && answers:
		return badInput("", "--allow and --deny are for permissions, --text and --select for questions; they exclude each other")
	case !decides && !answers:
		return badInput("give --allow or --deny for a permission, --text or --select for a question", "there is no answer")
	case r.given("message") && !decides:
		return badInput("", "--message: goes with --allow or --deny")
	case (r.remember || r.given("updated-input")) && !r.allow:
		return badInput("", "--remember and --updated-input go with --allow")
	case r.given("text") && strings.TrimSpace(r.text) == "":
		return badInput("", "--text: must not be blank")
	case strings.TrimSpace(r.by) == "":
		return badInput("", "--by: must not be blank")
	case r.given("updated-input"):
		return checkObject("--updated-input", r.input)
	}
	return nil
}

func (o *operator) answer(ctx context.Context, id string, r reply) error {
	i, err := o.interaction(ctx, id)
	if err != nil {
		return err
	}
	if !isOpen(i) {
		return notPending(i)
	}
	answer, err := r.to(i)
	if err != nil {
		return err
	}
	end, err := o.resolve(ctx, i, answer)
	var e *api.Error
	switch {
	case errors.As(err, &e) && e.Interaction != nil:
		return notPending(*e.Interaction)
	case errors.As(err, &e) && e.Status < http.StatusInternalServerError:
		e.Message = inAnswerFlags(e.Message, r)
		return err
	case api.Unreachable(err) && !api.NeverSent(err):
		return fail(exitUnavailable, "look at it with `"+o.itself()+" agent interactions show "+i.ID+"`", "%s; whether the answer was recorded is not known", err)
	case err != nil:
		return o.missed(err)
	case end.Replayed: // somebody else was faster, with the same answer
		return notPending(end)
	}
	return o.printAnswer(ctx, end)
}

// resolve is not broken off by an interrupt: what was decided must be known.
func (o *operator) resolve(ctx context.Context, i api.Interaction, answer api.Resolve) (api.Interaction, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), createWithin)
	defer stop()
	return o.Resolve(ctx, i.AgentID, i.ID, answer)
}

// inAnswerFlags names flags where a message of the server names fields of an answer.
func inAnswerFlags(message string, r reply) string {
	field, rest, _ := strings.Cut(message, ": ")
	switch {
	case strings.HasPrefix(field, "actor"):
		return "--by: " + rest
	case field == "updated_input":
		return "--updated-input: " + rest
	case strings.HasPrefix(field, "updated_input."):
		return "--updated-input: " + strings.TrimPrefix(field, "updated_input.") + ": " + bodyOffset.ReplaceAllString(rest, "")
	case field == "note", r.deny && strings.HasPrefix(field, "answers"):
		return "--message: " + rest
	case field == "response", strings.HasSuffix(field, ".text"):
		return "--text: " + rest
	}
	return message
}

func notPending(i api.Interaction) error {
	return fail(exitConflict, "", "interaction '%s' is not pending (status: %s)", i.ID, inbox.Status(i))
}

// to is r as an answer to i.
func (r reply) to(i api.Interaction) (answer api.Resolve, err error) {
	switch {
	case i.Kind == "permission" && !r.allow && !r.deny:
		return answer, badInput("", "%s is a permission; it takes --allow or --deny", i.ID)
	case i.Kind != "permission" && (r.allow || r.deny):
		return answer, badInput("", "%s is a question; it takes --text or --select", i.ID)
	case r.allow:
		answer = api.Resolve{Answers: []api.Answer{{OptionIndices: []int{0}}}, Note: r.message, Remember: r.remember, UpdatedInput: json.RawMessage(r.input)}
	case r.deny:
		answer = api.Resolve{Answers: []api.Answer{{OptionIndices: []int{1}, Text: r.message}}}
	default:
		var text *string
		if r.given("text") {
			text = &r.text
		}
		if answer, err = choose(i.Request, r.selects, text); err != nil {
			return answer, err
		}
	}
	answer.Digest = i.Digest
	answer.Actor = &api.External{ProviderUserID: r.by, ProviderTenantID: actorTenant, DisplayName: r.by}
	return answer, nil
}

func (o *operator) printAnswer(ctx context.Context, i api.Interaction) error {
	r, err := o.record(ctx, i)
	if err != nil {
		return err
	}
	for _, warning := range i.Warnings {
		o.notice("warning: %s", warning)
	}
	if o.json {
		return o.success(answeredData{r, i.Warnings})
	}
	return o.resultLine(i.ID + " answered: " + deref(r.Answer))
}
