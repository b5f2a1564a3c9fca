package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Reference is the manual of the commands in Markdown, made from their help texts: docs/cli.md. It is the same on every machine.
func Reference() string {
	root := (&program{stdout: io.Discard, stderr: io.Discard}).root()
	root.InitDefaultHelpFlag()
	r := &reference{}
	r.line("# The command line\n")
	r.line("This page is made from the help texts of the program, by `make generate`; change them there. `sayso COMMAND --help` prints the same.\n")
	for _, g := range root.Groups() {
		r.list(g, root)
	}
	r.line("## For every command\n")
	r.flags(root.PersistentFlags())
	r.line("%s\n", everyCommand)
	r.exitCodes()
	for _, g := range root.Groups() {
		for _, cmd := range inGroup(root, g) {
			r.command(cmd)
		}
	}
	return strings.TrimSpace(r.text.String()) + "\n"
}

// everyCommand is what no help text has room for.
const everyCommand = "Commands that talk to a server take the one that runs on the data folder of this machine, with its keys. These variables name another:\n" +
	"`SAYSO_URL` is its address and `SAYSO_KEY` an API key of it: an agent's for the commands that ask, an operator's for those that answer.\n\n" +
	"The result goes to standard output, everything else to standard error after `sayso: `. With `--json` the result is one line,\n" +
	"`{\"schema\":\"animus.cli.v1\",\"ok\":true,\"data\":…}`, and an error one on standard error, `{\"schema\":\"animus.cli.v1\",\"ok\":false,\"error\":{\"code\",\"message\",\"exit_code\"}}`."

// exitMeanings are the exit codes; commands that give them another meaning say so.
var exitMeanings = []struct {
	code  int
	means string
}{
	{exitOK, "done: answered, or allowed"},
	{exitInternal, "a fault of Sayso; of `approve`: a person denied it"},
	{exitInput, "the command was called wrongly"},
	{exitNotFound, "what was named is not there"},
	{exitConflict, "it is not open any more, or was allowed with another input"},
	{exitUnavailable, "no server answers"},
	{exitTimedOut, "nobody answered in time, which is not consent"},
	{exitCanceled, "it ended without an answer"},
	{exitPending, "it is still open: come back later"},
	{exitInterrupted, "interrupted"},
}

type reference struct{ text strings.Builder }

func (r *reference) line(format string, args ...any) { fmt.Fprintf(&r.text, format+"\n", args...) }

func inGroup(root *cobra.Command, g *cobra.Group) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool { return c.GroupID != g.ID || c.Hidden })
}

// list is the table of contents of one group.
func (r *reference) list(g *cobra.Group, root *cobra.Command) {
	r.line("%s\n", g.Title)
	for _, cmd := range inGroup(root, g) {
		r.line("- [`%s`](#%s): %s", cmd.CommandPath(), anchor(cmd), short(cmd))
	}
	r.line("")
}

func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// short is what a command does, in a sentence that begins small, as it follows a colon.
func short(cmd *cobra.Command) string {
	first, rest, _ := strings.Cut(cmd.Short, " ")
	if first != "MCP" && first != "Sayso" {
		first = strings.ToLower(first)
	}
	return strings.TrimSpace(first + " " + rest)
}

func (r *reference) exitCodes() {
	r.line("### Exit codes\n")
	r.line("| Code | Meaning |\n|---|---|")
	for _, e := range exitMeanings {
		r.line("| %d | %s |", e.code, e.means)
	}
	r.line("")
}

// command is one command, and then those that it has.
func (r *reference) command(cmd *cobra.Command) {
	depth := strings.Count(cmd.CommandPath(), " ")
	r.line("%s %s\n", strings.Repeat("#", depth+1), cmd.CommandPath())
	if same := cmd.Annotations[sameAs]; same != "" {
		r.line("The same as [`%s`](#%s), by its long name.\n", same, strings.ReplaceAll(same, " ", "-"))
		return
	}
	if !isGroup(cmd) {
		r.line("```\n%s\n```\n", cmd.UseLine())
	}
	does, codes := explained(cmd)
	r.paragraphs(does)
	r.flags(cmd.LocalNonPersistentFlags())
	if codes != "" {
		r.line("**Exit codes:** %s\n", codes)
	}
	if cmd.Example != "" {
		r.line("For example:\n")
		r.code(cmd.Example)
	}
	for _, c := range cmd.Commands() {
		r.command(c)
	}
}

// isGroup says whether a command does nothing but print its help.
func isGroup(cmd *cobra.Command) bool { return cmd.Annotations[onlyCommands] != "" }

// explained is the text of a command in two: what it does, and its exit codes.
func explained(cmd *cobra.Command) (does, codes string) {
	if cmd.Long == "" {
		return cmd.Short + ".", ""
	}
	does, codes, _ = strings.Cut(cmd.Long, "\n\nExit codes: ")
	return does, codes
}

// paragraphs writes a text; what is indented in it is to be typed.
func (r *reference) paragraphs(text string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			r.code(paragraph)
		} else {
			r.line("%s\n", paragraph)
		}
	}
}

func (r *reference) code(text string) {
	lines := strings.Split(text, "\n")
	for n := range lines {
		lines[n] = strings.TrimPrefix(lines[n], "  ")
	}
	r.line("```sh\n%s\n```\n", strings.Join(lines, "\n"))
}

func (r *reference) flags(flags *pflag.FlagSet) {
	some := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		some = true
		r.line("- `%s`: %s", flagName(f), flagUsage(f))
	})
	if some {
		r.line("")
	}
}

// flagValues are the types of flags in the words of a manual.
var flagValues = map[string]string{"string": "TEXT", "stringArray": "TEXT", "int": "NUMBER", "seconds": "SECONDS"}

func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, _ := pflag.UnquoteUsage(f) // the usage may name it
	if known := flagValues[value]; known != "" {
		value = known
	}
	return strings.TrimSpace(name + " " + value)
}

// flagUsage is what a flag means, and its default where the text does not tell it.
func flagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	if slices.Contains([]string{"", "false", "[]", "0"}, f.DefValue) || strings.Contains(usage, "default") {
		return usage
	}
	return usage + " (default `" + f.DefValue + "`)"
}
