// Package static holds the files that browsers fetch: the style sheet, our scripts, htmx and the icon. embed.js is for the pages of other
// apps and has an address of its own; frame.js runs in the frames that it makes.
//
// They are part of the binary. Each is served under a name that carries a hash of its content, "/static/app-1f2e3d4c5b.css", so
// that a browser may keep it for ever and never shows an old one after an upgrade; [Path] gives that name and [File]
// gives the bytes back. app.css is built from src/app.css by "npm run css" and htmx.min.js is copied by "npm run vendor";
// both are committed, so building the binary needs no Node.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"strings"
)

//go:embed app.css app.js copying.js embed.js frame.js keyboard.js htmx.min.js favicon.svg
var files embed.FS

// types are the content types of what we serve: nothing is guessed from bytes.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

type asset struct {
	content     []byte
	contentType string
}

var (
	hashedNames = map[string]string{} // "app.css" → "app-1f2e3d4c5b.css"
	assets      = map[string]asset{}  // by hashed name
)

func init() {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("static: " + err.Error()) // unreachable: the directory is embedded
	}
	for _, entry := range entries {
		content, err := files.ReadFile(entry.Name())
		if err != nil {
			panic("static: " + err.Error()) // unreachable: so is the file
		}
		hashed := hashedName(entry.Name(), content)
		hashedNames[entry.Name()] = hashed
		assets[hashed] = asset{content, types[path.Ext(entry.Name())]}
	}
}

func hashedName(name string, content []byte) string {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:5]) + ext
}

// Path is where the file called name is served, without the base path. A name that is not embedded is a bug in the caller.
func Path(name string) string {
	hashed, ok := hashedNames[name]
	if !ok {
		panic("static: no file " + name)
	}
	return "/static/" + hashed
}

// File is the file served under a name that Path gave. The content must not be changed.
func File(hashedName string) (content []byte, contentType string, ok bool) {
	found, ok := assets[hashedName]
	return found.content, found.contentType, ok
}
