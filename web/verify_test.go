package web_test

import (
	"net/http"
	"strings"
	"testing"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

const verifyPath = "/projects/default/audit/verify"

// verifies has the audit log checked over REST.
func (s *site) verifies() (v api.Verification) {
	s.t.Helper()
	got := s.call(s.operator, "POST", project+"/audit/verify", "")
	if got.status != http.StatusOK {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	read(s.t, got, &v)
	return v
}

// checks presses the button.
func (s *site) checks(cookie *http.Cookie) answer {
	s.t.Helper()
	return s.post(verifyPath, "", "Cookie", cookie.String())
}

// forges changes who answered, with the triggers out of the way.
func (s *site) forges() {
	s.t.Helper()
	s.exec("DROP TRIGGER ends_immutable")
	s.exec("UPDATE ends SET actor_name = '<b>Eve\u202e'")
}

func TestVerifyOverREST(t *testing.T) {
	s := newSite(t)
	if v := s.verifies(); !v.OK || v.Entries != 0 || v.Head != "" || v.Finding != nil {
		t.Errorf("nothing has happened: %+v", v)
	}
	i, at := s.asks(askable(s), bash)
	s.call(s.operator, "POST", at+"/resolve", allow)
	v := s.verifies()
	if !v.OK || v.Entries != 2 || len(v.Head) != 64 || v.Sequence == 0 || v.Finding != nil || len(v.Notes) != 0 {
		t.Errorf("asked and answered: %+v", v)
	}
	s.forges()
	v = s.verifies()
	if v.OK || v.Entries != 1 || v.Finding == nil || v.Finding.Entry != 2 || v.Finding.InteractionID != i.ID || !strings.Contains(v.Finding.Message, "Eve") {
		t.Errorf("forged: %+v, %+v", v, v.Finding)
	}
	if got := s.call(s.operator, "POST", project+"/audit/verify?x=1", ""); got.status != http.StatusBadRequest {
		t.Errorf("an unknown parameter: %d", got.status)
	}
	if got := s.call(s.operator, "POST", "/api/v1/orgs/default/projects/nowhere/audit/verify", ""); got.status != http.StatusNotFound {
		t.Errorf("another project: %d", got.status)
	}
}

func TestVerifyPage(t *testing.T) {
	s := newSite(t)
	name, value, _ := strings.Cut(s.person("Dana", interaction.Lead), "=") // whose sign-in is not in the log
	cookie := &http.Cookie{Name: name, Value: value}
	if says := wording(s.page(cookie, verifyPath)); !strings.Contains(says, "The log has no entry yet.") || strings.Contains(says, "Everything fits") {
		t.Errorf("nothing has happened: %s", says)
	}
	i, at := s.asks(askable(s), bash)
	s.call(s.operator, "POST", at+"/resolve", allow)
	head := s.verifies().Head
	if says := wording(s.page(cookie, verifyPath)); !strings.Contains(says, "Head of the log now: "+head) {
		t.Errorf("before: %s", says)
	}
	got := s.checks(cookie)
	if says := wording(got); got.status != http.StatusOK || !strings.Contains(says, "Everything fits. 2 entries, up to sequence") || !strings.Contains(says, "Head: "+head) {
		t.Errorf("checked: %d %s", got.status, says)
	}
	s.forges()
	got = s.checks(cookie)
	says := wording(got)
	for _, want := range []string{"Something does not fit. The first of it is entry 2 (sequence", `"<b>Eve\u202e"`, "The interaction as it is stored", "1 entry before it fit."} {
		if !strings.Contains(says, want) {
			t.Errorf("it does not say %q: %s", want, says)
		}
	}
	if strings.Contains(string(got.body), "<b>") || !strings.Contains(string(got.body), `href="/projects/default/interactions/`+i.ID+`"`) {
		t.Errorf("%s", got.body)
	}
}

// TestVerifyOneAtATime: a second verification is told to come back, on the page and over REST.
func TestVerifyOneAtATime(t *testing.T) {
	s := newSite(t)
	cookie := s.signedIn()
	release := s.pages.HoldVerification()
	got := s.call(s.operator, "POST", project+"/audit/verify", "")
	if got.status != http.StatusTooManyRequests || got.code() != "rate_limited" || got.header.Get("Retry-After") == "" {
		t.Errorf("over REST: %d %s", got.status, got.body)
	}
	if got := s.checks(cookie); got.status != http.StatusTooManyRequests || !strings.Contains(wording(got), "A verification is running.") {
		t.Errorf("on the page: %d %s", got.status, wording(got))
	}
	release()
	if v := s.verifies(); !v.OK {
		t.Errorf("afterwards: %+v", v)
	}
}
