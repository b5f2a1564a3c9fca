//go:build sqlite_fts5

package web_test

import (
	"fmt"
	"strings"
	"testing"

	"sayso/internal/api"
)

// TestAuditSearch looks for words on the page, in the list of the audit and in that of interactions.
func TestAuditSearch(t *testing.T) {
	a := newAudited(t)
	for words, want := range map[string]string{
		"zebra": "canceled", "giraffe": "canceled", "build": "canceled allowed", "walrus": "policy", "hyperlink": "denied", `"`: "", "zebra%20OR%20walrus": "",
		"%00": "", "NEAR(": "", "%EF%BF%BF": "", "text:zebra": "",
	} {
		if got := a.listed("q=" + words); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
		if got := a.shown("outcome=all&q=" + words); got != want {
			t.Errorf("page of %s: %s, want %s", words, got, want)
		}
		var found []string
		for _, i := range page[api.Interaction](t, a.call(a.operator, "GET", project+"/interactions?q="+words, "")).Data {
			found = append(found, i.ID)
		}
		for _, o := range strings.Fields(strings.ReplaceAll(want, "policy", "")) {
			if len(found) == 0 || found[0] != a.ids[o] {
				t.Errorf("interactions with %s: %v, want %s", words, found, o)
				break
			}
			found = found[1:]
		}
		if len(found) > 0 {
			t.Errorf("interactions with %s: %v beside %s", words, found, want)
		}
	}
}

// TestAuditSearchesWhatWasJustWritten asks at once, many times: the index lags behind and nobody may notice.
func TestAuditSearchesWhatWasJustWritten(t *testing.T) {
	a := newAudited(t)
	for n := range 20 {
		word := fmt.Sprintf("word%dx", n)
		_, at := a.asks(a.path, asking("Slow", fmt.Sprintf(`{"command":%q}`, word)))
		if got := page[auditRow](t, a.call(a.operator, "GET", project+"/audit?outcome=open&q="+word, "")).Data; len(got) != 1 {
			t.Fatalf("%s: %d rows", word, len(got))
		}
		a.call(a.agent, "POST", at+"/cancel", "")
		if got := page[auditRow](t, a.call(a.operator, "GET", project+"/audit?outcome=canceled&q="+word, "")).Data; len(got) != 1 {
			t.Fatalf("%s, canceled: %d rows", word, len(got))
		}
	}
}
