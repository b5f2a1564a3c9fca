package mcp_test

import (
	"encoding/json"
	"os"
	"testing"
)

// TestInspector has the official inspector list the tools, in its strict mode, and call them.
func TestInspector(t *testing.T) {
	inspector := checker(t, "inspector", "clients", "launcher", "build", "index.js")
	for _, road := range roads {
		t.Run(road, func(t *testing.T) {
			p := start(t)
			inspect := func(out any, args ...string) {
				t.Helper()
				server := []string{"--cli", p.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + p.agentKey}
				if road == "stdio" {
					server = []string{"--cli", "-e", "SAYSO_TEST_PROGRAM=1", "-e", "SAYSO_DATA=" + p.config.Data}
					args = append(args, "--", os.Args[0], "mcp", "serve")
				}
				said, err := inspector(append(server, args...)...)
				must(t, err)
				must(t, json.Unmarshal([]byte(said), out))
			}
			var list struct{ Tools []struct{ Name string } }
			inspect(&list, "--method", "tools/list", "--strict")
			if len(list.Tools) != 3 || list.Tools[0].Name != "ask" {
				t.Errorf("the tools are %v", list.Tools)
			}
			var asked struct {
				StructuredContent struct {
					Result struct {
						Status, Answer string
						ID             string `json:"interaction_id"`
					}
				}
			}
			inspect(&asked, "--method", "tools/call", "--tool-name", "ask", "--tool-arg", "question=Which branch?", `options=["main","release"]`, "wait=poll")
			i := p.opened()
			if got := asked.StructuredContent.Result; got.Status != "pending" || got.ID != i.ID {
				t.Errorf("ask gave %+v, want pending with %s", got, i.ID)
			}
			p.answers(i, "", 1)
			inspect(&asked, "--method", "tools/call", "--tool-name", "await_answer", "--tool-arg", "interaction_id="+i.ID)
			if got := asked.StructuredContent.Result; got.Answer != "release" {
				t.Errorf("await_answer gave %+v, want release", got)
			}
		})
	}
}
