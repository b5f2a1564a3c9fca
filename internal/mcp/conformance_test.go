package mcp_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sayso/internal/outside"
)

// applicable are the scenarios of the official conformance suite that a server which offers tools has to pass, by the version of the protocol.
var applicable = map[string][]string{
	"2025-11-25": {"server-initialize", "server-session-lifecycle", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"},
	"2026-07-28": {
		"server-stateless", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection", "http-header-validation",
		"input-required-result-unsupported-methods",
	},
}

// Why the others do not apply.
const (
	ownTools   = "it calls tools of its own, which a server is to have for it"
	noOffer    = "we offer no resources, prompts, completions, skills, log levels, and say so; TestOnlyWhatIsDeclared has what they are answered"
	noAsking   = "we do not ask the client: our questions are for people"
	noTasks    = "we offer no tasks: an ask that takes long returns pending, and is taken up again with await_answer"
	noHeaders  = "no argument of our tools is sent as a header"
	noResuming = "a client takes up a wait with await_answer, not by resuming a stream, and the suite only warns of it"
)

// inapplicable are the others, with the reason. A name that ends in a hyphen is of all that begin with it.
var inapplicable = map[string]string{
	"tools-call-": ownTools, "json-schema-2020-12": ownTools, "elicitation-": noAsking, "input-required-result-": noAsking,
	"resources-": noOffer, "prompts-": noOffer, "completion-complete": noOffer, "logging-set-level": noOffer, "sep-2640-skills-": noOffer,
	"sep-2164-resource-not-found": noOffer, "caching": noOffer,
	"tasks-": noTasks, "http-custom-header-server-validation": noHeaders, "server-sse-polling": noResuming,
}

// untestable are checks within scenarios that apply: each needs a tool of the suite's own, and fails without.
var untestable = []string{
	"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400", // test_missing_capability
	"sep-2575-http-server-no-independent-requests-on-stream", // test_streaming_elicitation
	"sep-2575-server-no-log-without-loglevel",                // test_logging_tool
}

// TestConformance has the official suite check the server: each scenario that applies.
func TestConformance(t *testing.T) {
	suite := checker(t, "conformance", "dist", "index.js")
	at := keyless(t, start(t))
	for version, scenarios := range applicable {
		for _, scenario := range scenarios {
			t.Run(version+" "+scenario, func(t *testing.T) {
				folder := t.TempDir()
				said, _ := suite("server", "--url", at+"/mcp", "--spec-version", version, "--scenario", scenario, "--output-dir", folder)
				passed := 0
				for _, c := range checks(t, folder) {
					switch {
					case c.Status == "SUCCESS":
						passed++
					case c.Status == "FAILURE" && !slices.Contains(untestable, c.ID), c.Status == "WARNING":
						t.Errorf("%s: %s: %s", c.Status, c.ID, c.ErrorMessage)
					}
				}
				if passed == 0 {
					t.Errorf("nothing was checked:\n%s", said)
				}
			})
		}
	}
}

// TestConformanceScenarios checks that each scenario of the suite is either run, or left out for a reason.
func TestConformanceScenarios(t *testing.T) {
	said, err := checker(t, "conformance", "dist", "index.js")("list", "--server")
	must(t, err)
	run := slices.Concat(slices.Collect(maps.Values(applicable))...)
	listed := regexp.MustCompile(`(?m)^  - (\S+) \[`).FindAllStringSubmatch(said, -1)
	if len(listed) < len(run) {
		t.Fatalf("the suite lists %d scenarios:\n%s", len(listed), said)
	}
	for _, match := range listed {
		if name := match[1]; !slices.Contains(run, name) && !leftOut(name) {
			t.Errorf("%s is neither run nor left out for a reason", name)
		}
	}
}

func leftOut(scenario string) bool {
	for name := range inapplicable {
		if scenario == name || strings.HasSuffix(name, "-") && strings.HasPrefix(scenario, name) {
			return true
		}
	}
	return false
}

// check is one result in the suite's report.
type check struct{ ID, Status, ErrorMessage string }

func checks(t *testing.T, folder string) (all []check) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("reports: %v (%v)", files, err)
	}
	report, err := os.ReadFile(files[0])
	must(t, err)
	must(t, json.Unmarshal(report, &all))
	return all
}

// keyless is the server for clients that cannot be given a key: what they send is passed on with the agent's.
func keyless(t *testing.T, p *product) (at string) {
	t.Helper()
	to, err := url.Parse(p.url)
	must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // whose check is checked
		r.Out.Header.Set("Authorization", "Bearer "+p.agentKey)
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// checker is an official program that checks servers, which is called with arguments and gives what it printed.
func checker(t *testing.T, name string, file ...string) func(args ...string) (string, error) {
	t.Helper()
	outside.Skip(t, "node")
	folder, err := filepath.Abs("testdata/checkers")
	must(t, err)
	program := filepath.Join(append([]string{folder, "node_modules", "@modelcontextprotocol", name}, file...)...)
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%s is missing: run make programs, or leave this test out with SAYSO_SKIP=node", program)
	}
	return func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "node", append([]string{"--import", filepath.Join(folder, "node20.mjs"), program}, args...)...)
		cmd.Stderr = t.Output()
		out, err := cmd.Output()
		return string(out), err
	}
}
