package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sayso/internal/outside"
)

// TestTypeScriptClient makes a TypeScript client of the OpenAPI document, checks the example against its types, and has the example drive a
// server: what the document promises is what a client of it gets. SAYSO_SKIP=node leaves it out, on purpose and saying so; if Node or its
// packages are merely missing, it fails.
func TestTypeScriptClient(t *testing.T) {
	root, err := filepath.Abs("..")
	must(t, err)
	outside.Node(t, root, "openapi-fetch")
	run := func(environment []string, name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Env = root, append(os.Environ(), environment...)
		said, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c, err, said)
		}
		return string(said)
	}
	run(nil, "npm", "run", "--silent", "typescript")
	s := newSite(t)
	said := run([]string{"SAYSO_URL=" + s.http.URL, "SAYSO_OPERATOR_KEY=" + s.operator, "SAYSO_AGENT_KEY=" + s.agent}, "node", "examples/typescript/generated/flow.js")
	if want := "agent TypeScript flow\nallowed and run: Bash\nsteered: Permission requested for Bash\nstreamed 9 events\n"; said != want {
		t.Errorf("it said\n%s\nwant\n%s", said, want)
	}
}
