package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// page gets one of the owner's pages.
func (s *site) page(cookie *http.Cookie, path string) answer {
	s.t.Helper()
	return s.call("", "GET", path, "", "Cookie", cookie.Name+"="+cookie.Value)
}

// answers posts a card's form as the owner.
func (s *site) answers(cookie *http.Cookie, agent, id, form string) answer {
	s.t.Helper()
	return s.post("/projects/default/agents/"+agent+"/interactions/"+id+"/resolve", form, "Cookie", cookie.Name+"="+cookie.Value)
}

// TestOneRequestCannotFillThePage: tens of thousands of fields are counted and not shown, a danger among them is named all the same, and the
// permalink has them all.
func TestOneRequestCannotFillThePage(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	var fields strings.Builder
	for n := range 20_000 {
		fmt.Fprintf(&fields, `"k%d":"v",`, n)
	}
	i, _ := s.asks(path, `{"tool_call":{"name":"Bash","input":{`+fields.String()+`"command":"sudo rm -rf /"}}}`)
	cookie := s.signedIn()
	inbox := s.page(cookie, "/")
	if len(inbox.body) > 1<<20 {
		t.Errorf("the inbox has %d bytes", len(inbox.body))
	}
	for _, want := range []string{"19901", "Allow (not all shown)", "runs as root (sudo)", "deletes recursively"} {
		if !strings.Contains(string(inbox.body), want) {
			t.Errorf("the inbox does not say %q", want)
		}
	}
	if whole := s.page(cookie, "/projects/default/interactions/"+i.ID+"?full=1"); !strings.Contains(string(whole.body), ">k19999<") {
		t.Error("the permalink does not have all fields")
	}
}

// TestFormIsBoundToWhatWasShown: a decision without the digest, with another one, or with two is no decision.
func TestFormIsBoundToWhatWasShown(t *testing.T) {
	s := newSite(t)
	agent, path := s.newAgent("swe")
	i, at := s.asks(path, bash)
	cookie := s.signedIn()
	for form, want := range map[string]int{
		"q0=0":                                  http.StatusUnprocessableEntity,
		"q0=0&digest=":                          http.StatusUnprocessableEntity,
		"q0=0&digest=" + i.Digest + "&digest=x": http.StatusUnprocessableEntity,
		"q0=0&q0_text=no&digest=" + i.Digest:    http.StatusUnprocessableEntity, // a reason with Allow
		"q0=7&digest=" + i.Digest:               http.StatusUnprocessableEntity,
		"q0=0&x=1&digest=" + i.Digest:           http.StatusUnprocessableEntity,
		"digest=" + i.Digest:                    http.StatusUnprocessableEntity,
		"q0=0&digest=sha256:0":                  http.StatusOK, // what is there now, and that it was too late
	} {
		if got := s.answers(cookie, agent, i.ID, form); got.status != want {
			t.Errorf("%s: %d, want %d", form, got.status, want)
		}
	}
	if now := s.call(s.operator, "GET", at, "").interaction(t); now.State != "open" {
		t.Fatalf("one of them was taken: %s", now.State)
	}
	if got := s.answers(cookie, agent, i.ID, "q0=1&q0_text=not+now&digest="+i.Digest); got.status != http.StatusSeeOther {
		t.Errorf("a good form: %d %s", got.status, got.body)
	}
	if now := s.call(s.operator, "GET", at, "").interaction(t); now.Resolution == nil || now.Resolution.Answers[0].Text != "not now" || now.ResolvedBy.Channel != "dashboard" {
		t.Errorf("recorded: %+v by %+v", now.Resolution, now.ResolvedBy)
	}
}

// TestChangedInputIsShown: an Allow of something else must not look like a plain one.
func TestChangedInputIsShown(t *testing.T) {
	s := newSite(t)
	_, path := s.newAgent("swe")
	i, at := s.asks(path, bash)
	s.call(s.operator, "POST", at+"/resolve", `{"answers":[{"option_indices":[0]}],"updated_input":{"command":"git push origin topic"}}`)
	body := string(s.page(s.signedIn(), "/projects/default/interactions/"+i.ID).body)
	for _, want := range []string{"Allowed, changed", "git push origin topic", "git push --force"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
