package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sayso/internal/policy"
	"sayso/web"
)

const policiesPath = "/projects/default/settings/policies"

// wording is a page without its tags, for looking for what it says.
func wording(a answer) string {
	var b strings.Builder
	for _, part := range strings.SplitAfter(string(a.body), "<") {
		_, outside, ok := strings.Cut(part, ">")
		if ok {
			b.WriteString(" " + strings.TrimSuffix(outside, "<"))
		}
	}
	return strings.NewReplacer("&#34;", `"`, "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'").Replace(strings.Join(strings.Fields(b.String()), " "))
}

func TestPoliciesPage(t *testing.T) {
	s := newRuledSite(t)
	got := s.page(s.signedIn(), policiesPath)
	if got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	says := wording(got)
	for _, want := range []string{
		"from /etc/sayso.yaml . To change", "Permission mode of its client: acceptEdits", "No approval policy: a person is asked about every tool call.",
		"Denied name git.push*", "Denied input has Bash: command rm *", "A person is asked name is exactly Slow", "Allowed name cargo *",
		"Allowed input has, as one command, Bash: command make *", "A person is asked every other call",
	} {
		if !strings.Contains(says, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(says, "could not be read") || !strings.Contains(string(got.body), `href="`+policiesPath+`" aria-current="page"`) {
		t.Errorf("%s", says)
	}
	if inbox := s.page(s.signedIn(), "/"); !strings.Contains(string(inbox.body), `href="`+policiesPath+`" aria-current="false"`) {
		t.Error("the inbox does not lead there")
	}
}

// TestPolicyTester tries calls on the page, without scripts, and finds what they would meet.
func TestPolicyTester(t *testing.T) {
	s := newRuledSite(t)
	cookie := s.signedIn()
	before := s.number("SELECT count(*) FROM audit_entries")
	for _, c := range []struct {
		agent, tool, action, input, says string
	}{
		{"swe", "git.push.force", "", "", "Denied by auto_deny git.push*"},
		{" swe ", "", "cargo test", "", "Allowed by auto_allow cargo *"},
		{"swe", "Bash", "", `{"command":"rm x"}`, "Denied by an input rule rm *"},
		{"swe", "Slow", "", "", "A person is asked by the mode of the tool Slow"},
		{"swe", "Read", "", "  ", "A person is asked by the policy's default: no rule matches"},
		{"nobody", "Read", "", "", "A person is asked because no policy applies"},
		{"", "Read", "", "", "Give the key of an agent."},
		{"swe", " ", "", "", "Give a tool, or an action for a call without one."},
		{"swe", "Read", "", "[1]", "The input must be a JSON object"},
		{"swe", "Read", "", "{", "The input must be a JSON object"},
		{"swe", "<b>\u202e", "", "", "A person is asked by the policy's default"},
	} {
		query := url.Values{"agent": {c.agent}, "tool": {c.tool}, "action": {c.action}, "input": {c.input}}.Encode()
		got := s.page(cookie, policiesPath+"?"+query)
		if got.status != http.StatusOK || !strings.Contains(wording(got), c.says) || strings.Contains(string(got.body), "<b>") {
			t.Errorf("%+v: %d, it does not say %q", c, got.status, c.says)
		}
	}
	if n := s.number("SELECT count(*) FROM audit_entries") - before; n != 0 {
		t.Errorf("trying wrote %d audit entries", n)
	}
	if got := s.page(cookie, policiesPath+"?agnet=swe"); got.status != http.StatusBadRequest {
		t.Errorf("an unknown parameter: %d", got.status)
	}
}

// TestPoliciesPageTellsOfABrokenFile: the policies of before, and why they are.
func TestPoliciesPageTellsOfABrokenFile(t *testing.T) {
	failed := written
	failed.Err, failed.FailedAt = `config: /etc/sayso.yaml: [3:5] unknown field "<script>"`, written.At.Add(time.Hour)
	s := newSite(t, func(c *web.Config) { c.Policies = func() policy.Reading { return failed } })
	got := s.page(s.signedIn(), policiesPath)
	says := wording(got)
	if !strings.Contains(says, "could not be read") || !strings.Contains(says, `[3:5] unknown field "<script>"`) || !strings.Contains(says, "git.push*") || strings.Contains(string(got.body), `"<script>`) {
		t.Errorf("%s", says)
	}
	none := newSite(t)
	if says := wording(none.page(none.signedIn(), policiesPath)); !strings.Contains(says, "No policies yet") || !strings.Contains(says, "serve --config sayso.yaml") {
		t.Errorf("%s", says)
	}
}
