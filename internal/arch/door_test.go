package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// searchTag has SQLite compiled with full-text search.
const searchTag = "-tags=sqlite_fts5"

// TestEveryDoorBuildsWithSearch: make and CI set the tag for every command that they run, and a command that documents name has it.
func TestEveryDoorBuildsWithSearch(t *testing.T) {
	for file, sets := range map[string]string{"Makefile": `(?m)^export GOFLAGS :?= .*` + searchTag + `$`, ".ci/run": `(?m)^export GOFLAGS=.*` + searchTag} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(sets).Match(text) {
			t.Errorf("%s does not set GOFLAGS to %s", file, searchTag)
		}
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(documents) == 0 {
		t.Fatal(documents, err)
	}
	command := regexp.MustCompile(`(?m)^.*\bgo (build|run|install|test) .*$`)
	for _, file := range append(documents, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range command.FindAllString(string(text), -1) {
			if ours := strings.Contains(line, "./cmd/sayso") || strings.Contains(line, "./internal"); ours && !strings.Contains(line, "sqlite_fts5") {
				t.Errorf("%s: %s\nbuilds without search", file, line)
			}
		}
	}
}
