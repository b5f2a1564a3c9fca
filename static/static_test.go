package static_test

import (
	"strings"
	"testing"

	"sayso/static"
)

func TestEveryFileIsServedUnderItsHash(t *testing.T) {
	for name, contentType := range map[string]string{
		"app.css":     "text/css; charset=utf-8",
		"app.js":      "text/javascript; charset=utf-8",
		"copying.js":  "text/javascript; charset=utf-8",
		"embed.js":    "text/javascript; charset=utf-8",
		"frame.js":    "text/javascript; charset=utf-8",
		"keyboard.js": "text/javascript; charset=utf-8",
		"htmx.min.js": "text/javascript; charset=utf-8",
		"favicon.svg": "image/svg+xml",
	} {
		hashed, found := strings.CutPrefix(static.Path(name), "/static/")
		if !found || hashed == name {
			t.Errorf("Path(%q) = %q", name, static.Path(name))
		}
		content, got, ok := static.File(hashed)
		if !ok || len(content) == 0 || got != contentType {
			t.Errorf("File(%q): %d bytes of %q, %v; want %q", hashed, len(content), got, ok, contentType)
		}
	}
}

func TestOnlyHashedNamesAreServed(t *testing.T) {
	for _, name := range []string{"app.css", "app-0000000000.css", "", "../static.go", "src/app.css"} {
		if _, _, ok := static.File(name); ok {
			t.Errorf("File(%q) is served", name)
		}
	}
}

func TestPathOfAnUnknownFilePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	static.Path("missing.css")
}
