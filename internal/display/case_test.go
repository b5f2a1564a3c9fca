package display_test

import (
	_ "embed"
	"encoding/json"
	"testing"

	"sayso/internal/display"
)

//go:embed testdata/display.json
var casesJSON []byte

// TestCases runs the worked cases of the specification. A case names the least
// chips it must raise; a case that names none must raise none.
func TestCases(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.In, func(t *testing.T) {
			got := c.show()
			if got.String() != c.Text {
				t.Errorf("text = %q, want %q", got, c.Text)
			}
			checkChips(t, got, c.Chips)
		})
	}
}

type workedCase struct {
	In      string           `json:"in"`
	Text    string           `json:"text"`
	Chips   []display.ChipID `json:"chips"`
	OneLine bool             `json:"one_line"`
}

func (c workedCase) show() display.Text {
	if c.OneLine {
		return display.Line(c.In)
	}
	return display.Show(c.In)
}

func readCases(t *testing.T) []workedCase {
	t.Helper()
	var file struct {
		Cases []workedCase `json:"cases"`
	}
	if err := json.Unmarshal(casesJSON, &file); err != nil || len(file.Cases) == 0 {
		t.Fatalf("no cases in testdata/display.json: %v", err)
	}
	return file.Cases
}

func checkChips(t *testing.T, got display.Text, want []display.ChipID) {
	t.Helper()
	if len(want) == 0 && len(got.Chips) > 0 {
		t.Errorf("chips = %v, want none", got.Chips)
	}
	for _, id := range want {
		if _, found := chip(got, id); !found {
			t.Errorf("chips = %v, want %s among them", got.Chips, id)
		}
	}
}

func chip(t display.Text, id display.ChipID) (display.Chip, bool) {
	for _, c := range t.Chips {
		if c.ID == id {
			return c, true
		}
	}
	return display.Chip{}, false
}
