package cli

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// inputMost is what a tool's input may have, in bytes.
const inputMost = 512 << 10

func (p *program) approve() *cobra.Command {
	r := &request{program: p}
	var tool, input string
	cmd := &cobra.Command{
		Use:   "approve --tool NAME [--input JSON]",
		Short: "Ask a person to allow something, wait, and print allow or deny",
		Long: `Ask a person to allow something, wait, and print "allow" or "deny: reason".

Exit codes: 0 allowed, 1 denied, 2 bad input, 4 allowed with another input, 5 no server, 6 nobody answered (which is not consent),
7 canceled, 75 left open (--wait suspend or poll), 130 interrupted.`,
		Example: `  sayso approve --tool Bash --input '{"command":"make deploy"}' && make deploy`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			call, err := p.toolCall(tool, input)
			if err != nil {
				return err
			}
			i, err := r.put(cmd.Context(), api.NewInteraction{ToolCall: &call})
			if err != nil {
				return err
			}
			if i.Policy != nil {
				return p.ruled(*i.Policy)
			}
			return p.decided(decision(i))
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&tool, "tool", "", "name of what is to be allowed, for example Bash")
	cmd.Flags().StringVar(&input, "input", "{}", "its input, a JSON object; - reads standard input")
	return cmd
}

func (p *program) toolCall(tool, input string) (call api.ToolCall, err error) {
	if strings.TrimSpace(tool) == "" {
		return call, badInput("", "--tool: must be given, for example --tool Bash")
	}
	if input == "-" {
		if input, err = p.readStdin("--input", inputMost); err != nil {
			return call, err
		}
	}
	if err := checkObject("--input", input); err != nil {
		return call, err
	}
	return api.ToolCall{Name: tool, Input: json.RawMessage(input)}, nil
}

// checkObject says what keeps the value of a flag from being one JSON object, and where.
func checkObject(flag, text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return badJSON(flag, text, err)
	}
	if value[0] != '{' {
		return badInput("", `%s: must be a JSON object, for example {"command":"make deploy"}`, flag)
	}
	if end := dec.InputOffset(); strings.TrimSpace(text[end:]) != "" {
		line, column := position(text, int(end))
		return badInput("", "%s: line %d, column %d: something follows the JSON object; only one is allowed", flag, line, column)
	}
	return nil
}

func badJSON(flag, text string, err error) error {
	what, at := "the JSON ends too early", len(text)
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF:
		return badInput("", `%s: is empty; a JSON object is needed, for example {"command":"make deploy"}`, flag)
	case errors.As(err, &syntax) && int(syntax.Offset) <= len(text):
		what, at = err.Error(), int(syntax.Offset)-1 // it counts the character itself
	case !errors.Is(err, io.ErrUnexpectedEOF):
		what = err.Error()
	}
	line, column := position(text, at)
	return badInput("", "%s: line %d, column %d: %s", flag, line, column, what)
}

// position is a place in a text as editors count: lines, and characters in the line, from 1.
func position(text string, offset int) (line, column int) {
	before := text[:max(offset, 0)]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, len([]rune(before[start:])) + 1
}

// decided prints a decision. One that allows something else than what was asked for must not look like a yes to a script that goes by the
// exit code, since it would run the wrong thing.
func (p *program) decided(o outcome) error {
	switch {
	case p.json:
		if err := p.success(o); err != nil {
			return err
		}
	case o.UpdatedInput != nil:
		return fail(exitConflict, "ask again with that input, or take it from --json", "allowed, but with another input: %s", o.UpdatedInput)
	default:
		if err := p.printDecision(o); err != nil {
			return err
		}
	}
	switch {
	case o.Decision != "allow":
		return ended(exitDenied)
	case o.UpdatedInput != nil:
		return ended(exitConflict)
	}
	return nil
}

// printDecision writes one line, whatever the reason holds: a second one could be taken for another decision.
func (p *program) printDecision(o outcome) error {
	if o.Decision != "allow" {
		return p.resultLine("deny: " + o.Message)
	}
	if o.Message != "" {
		p.notice("note from %s: %s", inbox.AnsweredBy(o.Interaction), o.Message)
	}
	return p.resultLine(o.Decision)
}
