//go:build !sqlite_fts5

package store

import (
	"strings"
	"testing"

	"sayso/internal/interaction"
)

// TestUnsearchable: a program that was built without full-text search says how to build one with it.
func TestUnsearchable(t *testing.T) {
	p := newPast(t)
	p.everything()
	_, audit := p.Store.Audit(t.Context(), interaction.AuditFilter{Project: p.project.ID, Words: "make"}, interaction.AuditPage{Limit: 5})
	_, list := p.Interactions(t.Context(), interaction.Filter{Project: p.project.ID, Words: "make", Page: interaction.Page{Limit: 5}})
	for _, err := range []error{audit, list} {
		if interaction.CodeOf(err) != interaction.Unavailable || !strings.Contains(err.Error(), "go build -tags sqlite_fts5") {
			t.Errorf("%v", err)
		}
	}
}
