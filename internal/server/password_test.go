package server

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// TestNoLinkOnceTheOwnerHasAPassword: each start prints one until then, and none afterwards.
func TestNoLinkOnceTheOwnerHasAPassword(t *testing.T) {
	s, line := start(t, map[string]string{})
	link, err := url.Parse(strings.TrimPrefix(line, "Open "))
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	for _, form := range []struct {
		path   string
		fields url.Values
	}{
		{"/setup", link.Query()},
		{"/account", url.Values{"name": {"Dana"}, "email": {"dana@example.com"}}},
		{"/account/password", url.Values{"password": {"correct horse battery"}, "again": {"correct horse battery"}}},
	} {
		resp, err := browser.PostForm("http://"+link.Host+form.path, form.fields)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", form.path, resp.Status)
		}
	}
	s.finish()
	if _, line := start(t, map[string]string{"data": s.config.Data}); !strings.HasPrefix(line, "Sayso is at http://127.0.0.1:") || !strings.HasSuffix(line, "signin-link)") {
		t.Errorf("the next start printed %q", line)
	}
}
