package views

import (
	"strings"

	"sayso/internal/display"
)

// runs joins neighbours of the same kind, so that a value made of 60,000 invisible characters is one element and not 60,000.
func runs(text display.Text) []display.Segment {
	var joined []display.Segment
	for start := 0; start < len(text.Segments); {
		end := start + 1
		for end < len(text.Segments) && text.Segments[end].Mark == text.Segments[start].Mark {
			end++
		}
		joined = append(joined, display.Segment{Text: concat(text.Segments[start:end]), Mark: text.Segments[start].Mark})
		start = end
	}
	return joined
}

func concat(segments []display.Segment) string {
	var all strings.Builder
	for _, segment := range segments {
		all.WriteString(segment.Text)
	}
	return all.String()
}

func blank(text display.Text) bool { return len(text.Segments) == 0 }

func join(texts []display.Text) display.Text {
	var all display.Text
	for i, text := range texts {
		if i > 0 {
			all.Segments = append(all.Segments, display.Segment{Text: ", "})
		}
		all.Segments = append(all.Segments, text.Segments...)
	}
	return all
}
