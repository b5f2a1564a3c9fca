package gallery_test

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sayso/views"
	"sayso/views/gallery"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStructure compares what each sample is made of, elements, classes, roles, names of fields, with its golden file. Words and
// hashes may change without it.
func TestStructure(t *testing.T) {
	for _, sample := range gallery.Samples() {
		t.Run(sample.Name, func(t *testing.T) {
			got := outline(t, render(t, sample))
			golden := filepath.Join("testdata", sample.Name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the structure changed; if that is meant, run: go test ./views/gallery -update\n%s", firstDifference(string(want), got))
			}
		})
	}
}

func TestNoGoldenFileIsLeftOver(t *testing.T) {
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".golden")
		if _, ok := gallery.Find(name); !ok {
			t.Errorf("%s belongs to no sample", file)
		}
	}
}

// TestStrictPolicy holds what the Content-Security-Policy demands of markup: nothing inline.
func TestStrictPolicy(t *testing.T) {
	for _, sample := range gallery.Samples() {
		each(t, render(t, sample), func(e xml.StartElement, _ int) {
			if e.Name.Local == "style" || e.Name.Local == "script" && attr(e, "src") == "" {
				t.Errorf("%s: inline <%s>", sample.Name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || strings.HasPrefix(a.Name.Local, "hx-on") {
					t.Errorf("%s: <%s> has the attribute %s", sample.Name, e.Name.Local, a.Name.Local)
				}
			}
		})
	}
}

func TestIDsAreUnique(t *testing.T) {
	samples := append(gallery.Samples(), gallery.Sample{Name: "gallery", Component: gallery.Page(views.Page{Title: "Gallery", User: "Dana"})})
	for _, sample := range samples {
		seen := map[string]bool{}
		each(t, render(t, sample), func(e xml.StartElement, _ int) {
			if id := attr(e, "id"); id != "" && seen[id] {
				t.Errorf("%s: the id %s is there twice", sample.Name, id)
			} else {
				seen[id] = true
			}
		})
	}
}

func render(t *testing.T, sample gallery.Sample) string {
	t.Helper()
	var html strings.Builder
	if err := sample.Component.Render(context.Background(), &html); err != nil {
		t.Fatal(err)
	}
	return html.String()
}

// outline is one line per element: its tag, classes and telling attributes, indented by depth.
func outline(t *testing.T, html string) string {
	t.Helper()
	var lines strings.Builder
	each(t, html, func(e xml.StartElement, depth int) {
		fmt.Fprintf(&lines, "%s%s\n", strings.Repeat("  ", depth), describe(e))
	})
	return lines.String()
}

func describe(e xml.StartElement) string {
	words := []string{e.Name.Local}
	for _, class := range strings.Fields(attr(e, "class")) {
		words[0] += "." + class
	}
	for _, a := range e.Attr {
		switch name := a.Name.Local; {
		case slices.Contains([]string{"role", "type", "name", "method", "data-state", "tabindex", "lang", "dir"}, name):
			words = append(words, name+"="+a.Value)
		case slices.Contains([]string{"hidden", "open", "checked", "hx-ignore", "data-final"}, name), strings.HasPrefix(name, "aria-"):
			words = append(words, name)
		}
	}
	return strings.Join(words, " ")
}

// each calls visit for every element. encoding/xml reads the HTML that templ writes, which closes and quotes everything.
func each(t *testing.T, html string, visit func(e xml.StartElement, depth int)) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			visit(token, depth)
			depth++
		case xml.EndElement:
			depth--
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func firstDifference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wants), len(gots)) {
		if wants[i] != gots[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, wants[i], gots[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(wants), len(gots))
}
