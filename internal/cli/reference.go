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
	if cmd.HasSubCommands() && cmd.Long == "" {
		r.line("%s.\n", strings.TrimSuffix(cmd.Short, "."))
	}
	if cmd.Long != "" || !cmd.HasSubCommands() {
		r.long(cmd)
	}
	if !isGroup(cmd) {
		r.usage(cmd)
	}
	for _, c := range cmd.Commands() {
		r.command(c)
	}
}

// isGroup says whether a command does nothing but print its help.
func isGroup(cmd *cobra.Command) bool { return cmd.Annotations[onlyCommands] != "" }

// long is the text of a command. What is indented in it is to be typed.
func (r *reference) long(cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	for _, paragraph := range strings.Split(text, "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "  "):
			r.code(paragraph)
		case strings.HasPrefix(paragraph, "Exit codes:"):
			r.line("**Exit codes:**%s\n", strings.TrimPrefix(paragraph, "Exit codes:"))
		default:
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

func (r *reference) usage(cmd *cobra.Command) {
	r.line("```\n%s\n```\n", cmd.UseLine())
	r.flags(cmd.LocalNonPersistentFlags())
	if cmd.Example != "" {
		r.line("For example:\n")
		r.code(cmd.Example)
	}
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

func flagName(f *pflag.Flag) string {
	name, value := "--"+f.Name, f.Value.Type()
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	switch value {
	case "bool":
		return name
	case "string", "stringArray", "int", "seconds":
		value = map[string]string{"string": "TEXT", "stringArray": "TEXT", "int": "NUMBER", "seconds": "SECONDS"}[value]
	}
	return name + " " + value
}

// flagUsage is what a flag means, and its default where the text does not tell it.
func flagUsage(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "false" || f.DefValue == "[]" || f.DefValue == "0" || strings.Contains(f.Usage, "default") {
		return f.Usage
	}
	return f.Usage + " (default `" + f.DefValue + "`)"
}
