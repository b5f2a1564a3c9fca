// Package outside is for tests only: they say here which programs that are not Go they need. One that is missing is a failure, since a skipped
// test looks like a passed one; SAYSO_SKIP names those that are left out on purpose, with commas between them, and the test says so.
package outside

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Skip leaves the test out if SAYSO_SKIP names what it needs: browser or node.
func Skip(t testing.TB, what string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SAYSO_SKIP"), ","), what) {
		t.Skipf("SAYSO_SKIP=%s leaves this test out", what)
	}
}

// Node is for a test that runs Node with a package of the folder node_modules under root.
func Node(t testing.TB, root, pkg string) {
	t.Helper()
	Skip(t, "node")
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%s is missing: install Node 20 or newer, or leave this test out with SAYSO_SKIP=node", name)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules", filepath.FromSlash(pkg))); err != nil {
		t.Fatal("the packages of Node are missing: run make node_modules, or leave this test out with SAYSO_SKIP=node")
	}
}
