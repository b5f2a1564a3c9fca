package web_test

import (
	"net/http"
	"strings"
	"testing"

	"sayso/internal/interaction"
)

// TestChangesPage: what was done to the settings is there to be read, by leads, with who did it by id, page by page.
func TestChangesPage(t *testing.T) {
	s := newSite(t)
	lead := s.person("Walter", interaction.Lead)
	at := "/projects/default/audit/changes"
	sees := func(path string) answer { return s.call("", "GET", path, "", "Cookie", lead) }
	if says := wording(sees(at)); !strings.Contains(says, "Nothing was changed yet") {
		t.Errorf("%s", says)
	}
	for n := range 60 {
		name := "key number " + string(rune('A'+n%26)) + string(rune('A'+n/26))
		s.call(s.operator, "POST", project+"/keys", `{"kind":"operator_key","name":"`+name+`","scopes":["read"]}`)
	}
	s.call(s.operator, "POST", project+"/keys", `{"kind":"agent_key","name":"<b>\u202eevil"}`)
	got := sees(at)
	says := wording(got)
	for _, want := range []string{"Key created", "scopes: read", "key number HC", "operator", "key_…", "⟨U+202E⟩"} {
		if !strings.Contains(says, want) {
			t.Errorf("it does not say %q: %.1500s", want, says)
		}
	}
	if got.status != http.StatusOK || strings.Contains(string(got.body), "<b>") || strings.Contains(says, "key number AA") {
		t.Errorf("%d %s", got.status, says)
	}
	_, rest, _ := strings.Cut(string(got.body), at+"?before=")
	place, _, _ := strings.Cut(rest, `"`)
	if says := wording(sees(at + "?before=" + place)); !strings.Contains(says, "key number AA") || strings.Contains(says, "key number HC") || strings.Contains(says, "Older") {
		t.Errorf("the older page: %s", says)
	}
	if got := sees(at + "?before=x"); got.status != http.StatusBadRequest {
		t.Errorf("a place that is none: %d", got.status)
	}
}
