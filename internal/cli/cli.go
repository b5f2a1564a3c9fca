package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// program is one run of the command line.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json           bool   // --json
	data           string // --data; "" if it was not given
	patience       time.Duration
}

// Main runs the command line of this process, and gives its exit code. The first SIGINT or SIGTERM asks the command to end, the second
// ends it at once.
func Main() int {
	syscall.Umask(0o077) // what we write is for whoever runs us, also in a folder that others may look into
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run runs one command, and gives its exit code. The environment is this process's.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{stdin: stdin, stdout: stdout, stderr: stderr, patience: awayMost}
	return p.run(ctx, args)
}

func (p *program) run(ctx context.Context, args []string) int {
	p.json = asksForJSON(args)
	root := p.root()
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	return p.exit(root.ExecuteContext(ctx))
}

// asksForJSON looks for the flag before the arguments are understood, so that an error about them has the right form too.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sayso",
		Short: "Where AI agents wait for a person's say-so",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("sayso {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badInput("see `"+cmd.CommandPath()+" --help`", "%s", err)
	})
	root.PersistentFlags().StringVar(&p.data, "data", "", "data folder of the server on this machine (env SAYSO_DATA; default "+defaultData+")")
	root.PersistentFlags().BoolVar(&p.json, "json", p.json, "answer in one line of JSON, errors on standard error too")
	grouped(root, "server", "The server:", p.serve(), p.signInLink(), p.demo(), p.verify(), p.backup(), p.restore())
	grouped(root, "operator", "For whoever answers:", p.inbox("inbox", "List what agents ask, look at it, answer it"), p.agents(), p.events(), p.policyGroup(), p.keysGroup(), p.agentGroup())
	grouped(root, "asker", "For scripts that ask:", p.ask(), p.approve())
	grouped(root, "client", "For the programs of agents:", p.setup(), p.runClient(), p.hook(), p.mcpGroup())
	grouped(root, "program", "The program itself:", p.completion(), p.version())
	root.SetHelpCommandGroupID("program")
	return root
}

// grouped adds commands that stand together in the help.
func grouped(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = id
	}
	root.AddCommand(commands...)
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := "`sayso --help` lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean `sayso " + strings.Join(near, "` or `sayso ") + "`?"
	}
	return badInput(hint, "there is no command %q", name)
}

// noArguments refuses arguments that a command would ignore.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return badInput("see `"+cmd.CommandPath()+" --help`", "%s takes flags only, got %q", cmd.Name(), args[0])
}

// noJSON refuses --json for a command that has no result.
func (p *program) noJSON(cmd *cobra.Command, instead string) error {
	if !p.json {
		return nil
	}
	return badInput(instead, "--json: %s has no result to give as JSON", cmd.Name())
}
