package mcp_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sayso/internal/outside"
)

// TestTypeScriptClient has the official TypeScript SDK, on which most clients are built, ask and cancel.
func TestTypeScriptClient(t *testing.T) {
	outside.Node(t, filepath.Join("..", ".."), "@modelcontextprotocol/sdk")
	for _, road := range roads {
		t.Run(road, func(t *testing.T) {
			p := start(t)
			cmd := exec.CommandContext(t.Context(), "node", "testdata/client.mjs")
			cmd.Env, cmd.Stderr = append(os.Environ(), "SAYSO_TEST_PROGRAM=1", "SAYSO_DATA="+p.config.Data, "COMMAND="+os.Args[0]), t.Output()
			if road == "http" {
				cmd.Env = append(cmd.Env, "URL_OF_MCP="+p.url+"/mcp", "KEY="+p.agentKey)
			}
			out, err := cmd.StdoutPipe()
			must(t, err)
			end, err := cmd.StdinPipe()
			must(t, err)
			must(t, cmd.Start())
			lines := bufio.NewScanner(out)
			says := func(want string) {
				t.Helper()
				if !lines.Scan() {
					t.Fatalf("it ended: %v", lines.Err())
				}
				if got := lines.Text(); got != want {
					t.Errorf("it said\n%s\nwant\n%s", got, want)
				}
			}
			says(`["ask","await_answer","request_approval"]`)
			i := p.opened()
			p.answers(i, "", 1)
			says(`{"structured":{"tool":"ask","result":{"id":"` + i.ID + `","answer":"release","answered_by":"` + p.me() + `"}},"isError":false,"progress":true}`)
			i = p.opened()
			p.answers(i, "", 0)
			says(`{"text":{"tool":"request_approval","result":{"id":"` + i.ID + `","decision":"allow","answered_by":"` + p.me() + `","source":"human"},"behavior":"allow","updatedInput":{"command":"echo <hi> > out","n":10}},"blocks":1,"structured":"none"}`)
			says(`"canceled"`)
			if end := p.next("interaction_canceled"); end.CancelReason != "asker_canceled" {
				t.Errorf("%s", end.CancelReason)
			}
			must(t, end.Close())
			must(t, cmd.Wait())
		})
	}
}
