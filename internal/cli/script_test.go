package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sayso": func() { os.Exit(Main()) },
		"hasty": func() { os.Exit(hasty()) },
	})
}

// hasty is sayso with less patience for a server that is away.
func hasty() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, patience: 200 * time.Millisecond}
	return p.run(ctx, os.Args[1:])
}

// TestScript runs the scripts in testdata. Beside the commands of testscript they have:
//
//	exits CODE sayso ARG...       run a command that must end with this exit code
//	serve [FLAG...]               start a server on the data folder, and wait until it says that it is ready
//	stop, crash                   end it with SIGTERM, with SIGKILL
//	asks sayso ARG...             start a command that waits for a person; go on when its request is recorded
//	starts sayso ARG...           start a command that goes on, in its place
//	waits                         go on when it waits for an answer, and nothing did before
//	says PATTERN, tells PATTERN   wait until it writes a line like this to standard error, to standard output
//	answer allow|deny [TEXT]      answer it, with a note or a reason in which \x1b, \n and \u202e are understood
//	answer 0,2 [TEXT]             choose options
//	answer instead JSON           allow it with another input
//	withdraw                      take it back with the agent's key
//	interrupt INT|TERM            send it a signal
//	ends CODE                     wait for its end; stdout and stderr are its output then
//	get PATH                      print what the API says, to an operator: agents, interactions?state=open
//	post agent|operator PATH JSON tell the API something
//	keep NAME PATTERN             set a variable to what the group in PATTERN matches in the last output
//	remote [PATH]                 have commands find the server through SAYSO_URL, with PATH after its address, and SAYSO_KEY
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		RequireUniqueNames: true,
		Setup:              setup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"serve":     onStage((*stage).serve),
			"stop":      onStage((*stage).stop),
			"crash":     onStage((*stage).crash),
			"asks":      onStage((*stage).asks),
			"starts":    onStage((*stage).starts),
			"waits":     onStage((*stage).waits),
			"says":      onStage((*stage).says),
			"tells":     onStage((*stage).tells),
			"answer":    onStage((*stage).answer),
			"withdraw":  onStage((*stage).withdraw),
			"interrupt": onStage((*stage).interrupt),
			"ends":      onStage((*stage).ends),
			"get":       onStage((*stage).get),
			"post":      onStage((*stage).post),
			"keep":      keep,
			"remote":    onStage((*stage).remote),
		},
	})
}

func setup(env *testscript.Env) error {
	env.Setenv("SAYSO_DATA", env.WorkDir+"/data")
	env.Values[stageKey{}] = &stage{}
	return nil
}

type stageKey struct{}

func onStage(command func(*stage, *testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command has no opposite")
		}
		s := ts.Value(stageKey{}).(*stage)
		s.ts = ts
		command(s, ts, args)
	}
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	if got, want := exitCode(ts, ts.Exec(args[1], args[2:]...)), number(ts, args[0]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func keep(ts *testscript.TestScript, _ bool, args []string) {
	match := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if match == nil {
		ts.Fatalf("no match for %s", args[1])
	}
	ts.Setenv(args[0], match[1])
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func exitCode(ts *testscript.TestScript, err error) int {
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		ts.Fatalf("%v", err)
	}
	if ended == nil {
		return 0
	}
	return ended.ExitCode()
}

// inherited are the variables of the script that a command started in the background gets.
var inherited = []string{
	"PATH", "HOME", "SAYSO_DATA", "SAYSO_URL", "SAYSO_KEY", "SAYSO_MCP_AGENT_ID", "ANIMUS_MCP_AGENT_ID", "SAYSO_MCP_WORKFLOW_ID", "GOCOVERDIR",
}
