package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// mayImport says which of our packages each package may import. Standard library and third parties are ruled below.
var mayImport = map[string][]string{
	// The core: the words and rules of the domain depend on nothing of ours.
	"sayso/internal/interaction": {},
	"sayso/internal/display":     {},
	"sayso/internal/inbox":       {"sayso/internal/api"},
	"sayso/internal/live":        {},
	"sayso/internal/api":         {},
	"sayso/internal/audit":       {},
	"sayso/internal/policy":      {},

	"sayso/internal/egress": {},
	"sayso/internal/oidc":   {},

	"sayso/internal/auth":  {"sayso/internal/interaction"},
	"sayso/internal/store": {"sayso/internal/interaction", "sayso/internal/auth", "sayso/internal/audit"},

	"sayso/static":            {},
	"sayso/internal/markdown": {"sayso/internal/display"},
	"sayso/views":             {"sayso/static", "sayso/internal/display", "sayso/internal/markdown"},
	"sayso/views/gallery":     {"sayso/views", "sayso/internal/display"},
	"sayso/web": {
		"sayso/internal/interaction", "sayso/internal/display", "sayso/internal/live", "sayso/internal/api", "sayso/internal/auth", "sayso/internal/mcp",
		"sayso/internal/oidc", "sayso/internal/policy", "sayso/internal/store", "sayso/internal/audit", "sayso/static", "sayso/views", "sayso/views/gallery",
		"sayso/internal/agents", // what a client's hook means is the same over HTTP
	},

	// Agents speak REST, like anybody's.
	"sayso/internal/agents": {"sayso/internal/api", "sayso/internal/display", "sayso/internal/inbox"},
	"sayso/internal/mcp":    {"sayso/internal/api", "sayso/internal/inbox"},
	"sayso/internal/server": {
		"sayso/internal/agents", "sayso/internal/api", "sayso/internal/auth", "sayso/internal/display", "sayso/internal/egress",
		"sayso/internal/interaction", "sayso/internal/oidc", "sayso/internal/policy", "sayso/internal/store", "sayso/web",
	},
	"sayso/internal/cli": {
		"sayso/internal/agents", "sayso/internal/api", "sayso/internal/display", "sayso/internal/inbox", "sayso/internal/mcp", "sayso/internal/policy",
		"sayso/internal/server",
		"sayso/internal/store", "sayso/internal/audit", // verify, backup and restore work on the files, whether a server runs or not
	},
	"sayso/internal/cli/reference": {"sayso/internal/cli"},
	"sayso/cmd/sayso":              {"sayso/internal/cli"},

	// An app of somebody else's: it has our address and nothing of ours.
	"sayso/examples/embed": {},

	"sayso/internal/arch":     {},
	"sayso/internal/licences": {},
	"sayso/internal/e2e":      {"sayso/internal/api", "sayso/internal/server", "sayso/views/gallery"},
	"sayso/internal/outside":  {},
	"sayso/internal/bench": {
		"sayso/internal/api", "sayso/internal/audit", "sayso/internal/auth", "sayso/internal/interaction", "sayso/internal/policy",
		"sayso/internal/server", "sayso/internal/store", "sayso/web",
	},
}

// onlyIn says which packages may use a library: each has one owner, so that it can be replaced in one place.
var onlyIn = map[string][]string{
	"database/sql":                       {"sayso/internal/store", "sayso/internal/bench"},
	"github.com/mattn/go-sqlite3":        {"sayso/internal/store", "sayso/internal/bench"},
	"github.com/pressly/goose/v3":        {"sayso/internal/store"},
	"github.com/labstack/echo/v4":        {"sayso/web", "sayso/internal/bench"},
	"github.com/gorilla/websocket":       {"sayso/web", "sayso/internal/bench"},
	"github.com/a-h/templ":               {"sayso/views", "sayso/views/gallery", "sayso/web", "sayso/internal/markdown"},
	"github.com/yuin/goldmark":           {"sayso/internal/markdown"},
	"github.com/spf13/cobra":             {"sayso/internal/cli"},
	"github.com/spf13/pflag":             {"sayso/internal/cli"},
	"github.com/goccy/go-yaml":           {"sayso/internal/server"},
	"github.com/go-json-experiment/json": {"sayso/web", "sayso/internal/audit"},
	"golang.org/x/crypto/argon2":         {"sayso/internal/auth"},

	"github.com/modelcontextprotocol/go-sdk": {"sayso/internal/mcp", "sayso/internal/bench"},
	"github.com/coreos/go-oidc/v3":           {"sayso/internal/oidc"},
	"golang.org/x/oauth2":                    {"sayso/internal/oidc"},
}

// standardOnly are the packages that import the standard library and nothing else.
var standardOnly = []string{"sayso/internal/interaction", "sayso/internal/live", "sayso/internal/api", "sayso/internal/policy", "sayso/internal/egress", "sayso/examples/embed"}

// source is one Go file of ours.
type source struct {
	path    string // from the root
	pkg     string // import path
	test    bool
	file    *ast.File
	text    string
	imports []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"node_modules", "bin", "data", ".git", "testdata"}, d.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		s, err := read(p)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(p string) (source, error) {
	text, err := os.ReadFile(p)
	if err != nil {
		return source{}, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), p, text, parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	rel := filepath.ToSlash(strings.TrimPrefix(p, root+"/"))
	s := source{path: rel, pkg: path.Join("sayso", path.Dir(rel)), test: strings.HasSuffix(p, "_test.go"), file: file, text: string(text)}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return s, err
		}
		s.imports = append(s.imports, name)
	}
	return s, nil
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		seen[s.pkg] = true
		allowed, ruled := mayImport[s.pkg]
		if !ruled {
			t.Errorf("%s: package %s has no rule in mayImport", s.path, s.pkg)
		}
		if s.test {
			continue
		}
		for _, name := range s.imports {
			if strings.HasPrefix(name, "sayso/") && !slices.Contains(allowed, name) {
				t.Errorf("%s imports %s, which it may not", s.path, name)
			}
			if third(name) && slices.Contains(standardOnly, s.pkg) {
				t.Errorf("%s imports %s; this package keeps to the standard library", s.path, name)
			}
		}
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("there is a rule for %s, which is gone", pkg)
		}
	}
}

// third says whether an import is somebody else's: neither ours nor the standard library's.
func third(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first != "sayso" && strings.Contains(first, ".")
}

func TestLibraryOwners(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		for _, name := range s.imports {
			for library, owners := range onlyIn {
				if name != library && !strings.HasPrefix(name, library+"/") {
					continue
				}
				used[library] = true
				if !s.test && !slices.Contains(owners, s.pkg) {
					t.Errorf("%s imports %s; only %v may", s.path, name, owners)
				}
			}
		}
	}
	for library := range onlyIn {
		if !used[library] {
			t.Errorf("there is a rule for %s, which nothing uses", library)
		}
	}
}

func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		comments[s.pkg] += 0
		if s.file.Doc != nil {
			comments[s.pkg]++
		}
	}
	for pkg, n := range comments {
		if n != 1 {
			t.Errorf("package %s has %d package comments, want 1", pkg, n)
		}
	}
}

// forbidden are texts that must not stand in our source, with the reason. Comments count too.
var forbidden = []struct {
	what   string
	in     *regexp.Regexp
	tests  bool     // in tests only
	except []string // paths
	reason string
}{
	{"unescaped HTML", regexp.MustCompile(`templ\.Raw\(|templ\.ComponentFunc\b|template\.HTML\b`), false, []string{"internal/markdown/markdown.go"}, "what agents write must be escaped"},
	{"time.Sleep in a test", regexp.MustCompile(`time\.Sleep\(`), true, nil, "wait for what is meant, or use testing/synctest"},
	{"a skipped test", regexp.MustCompile(`\bt\.Skip(f|Now)?\(`), true, nil, "a skipped test looks like a passed one; internal/outside has the one way to leave tests out"},
}

func TestForbidden(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "sayso/internal/arch" {
			continue
		}
		for _, rule := range forbidden {
			if rule.in.MatchString(s.text) && (s.test || !rule.tests) && !slices.Contains(rule.except, s.path) {
				t.Errorf("%s: %s: %s", s.path, rule.what, rule.reason)
			}
		}
	}
}

func TestFileNames(t *testing.T) {
	vague := regexp.MustCompile(`(^|_)(util|utils|common|helper|helpers|manager|misc)(_|\.|$)`)
	for _, s := range sources(t) {
		if vague.MatchString(path.Base(s.path)) || vague.MatchString(s.file.Name.Name) {
			t.Errorf("%s: a file is a noun of the domain, not a drawer", s.path)
		}
	}
}

func TestTopLevel(t *testing.T) {
	want := []string{"cmd", "docs", "internal", "static", "views", "web"}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		known := slices.Contains(append(want, "node_modules", "bin", "data", "examples"), e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !known {
			t.Errorf("folder %s is not part of the layout %v", e.Name(), want)
		}
	}
}
