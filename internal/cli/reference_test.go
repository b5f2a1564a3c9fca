package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestReference: the manual is that of the program as it is.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Reference() {
		t.Error("docs/cli.md is not as the help texts are; run make generate")
	}
}

// TestHelpTexts: every command says what it does and with which exit codes it ends, names its flags, and is in a group, so that the manual has it.
func TestHelpTexts(t *testing.T) {
	root := (&program{}).root()
	manual := Reference()
	for _, cmd := range root.Commands() {
		if cmd.GroupID == "" && cmd.Name() != "help" {
			t.Errorf("%s is in no group", cmd.CommandPath())
		}
	}
	everyCommandOf(root, func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q is no line of a list", path, cmd.Short)
		}
		if !strings.Contains(manual, "# "+path+"\n") && !strings.HasPrefix(path, "sayso agent interactions ") && cmd != root {
			t.Errorf("%s is not in the manual", path)
		}
		shells := cmd.HasParent() && cmd.Parent().Name() == "completion"
		if !isGroup(cmd) && cmd != root && !shells && !strings.Contains(cmd.Long, "Exit code") {
			t.Errorf("%s says nothing of its exit codes", path)
		}
		for _, line := range strings.Split(cmd.Long, "\n") {
			if len([]rune(line)) > 150 {
				t.Errorf("%s: a line of %d characters: %s", path, len([]rune(line)), line)
			}
		}
	})
	codes := []int{exitOK, exitInternal, exitInput, exitNotFound, exitConflict, exitUnavailable, exitTimedOut, exitCanceled, exitPending, exitInterrupted}
	for n, e := range exitMeanings {
		if !slices.Contains(codes, e.code) || n != slices.Index(codes, e.code) {
			t.Errorf("exit code %d at place %d", e.code, n)
		}
	}
}

func everyCommandOf(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		everyCommandOf(c, do)
	}
}
