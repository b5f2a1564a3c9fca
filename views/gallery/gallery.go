// Package gallery is every component of package views in every state, with sample models.
//
// The golden tests hold the structure of each sample still, the accessibility and layout tests walk through all of them in a
// browser, and development builds serve them for a person to look at. A state that is not here is a state that nobody has
// looked at: add the sample with the state.
package gallery

import (
	"time"

	"github.com/a-h/templ"

	"sayso/views"
)

// Sample is one component in one state.
type Sample struct {
	Name      string // of the golden file, and of the section in [Page]
	Component templ.Component
	// Whole says that it is a page of its own rather than a part of one.
	Whole bool
}

// now is the moment at which all samples were rendered.
var now = time.Date(2026, 11, 30, 14, 6, 0, 0, time.UTC)

func before(d time.Duration) time.Time { return now.Add(-d) }
func after(d time.Duration) time.Time  { return now.Add(d) }

// Samples are all samples: parts of pages first, then whole pages.
func Samples() []Sample {
	var all []Sample
	for _, card := range cards() {
		all = append(all, Sample{Name: card.name, Component: views.CardView(card.model)})
	}
	for _, entry := range entries() {
		all = append(all, Sample{Name: entry.name, Component: views.EntryView(entry.model)})
	}
	for _, call := range calls() {
		all = append(all, Sample{Name: call.name, Component: views.CallView(*call.model)})
	}
	all = append(all, Sample{Name: "group", Component: views.GroupView(group("Group", 2))})
	return append(all, pages()...)
}

// Find is the sample called name.
func Find(name string) (Sample, bool) {
	for _, sample := range Samples() {
		if sample.Name == name {
			return sample, true
		}
	}
	return Sample{}, false
}
