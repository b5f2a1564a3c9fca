package views

import (
	"time"

	"sayso/internal/display"
)

// Changes is what was done to the settings of a project, the latest first.
type Changes struct {
	Page
	Rows     []ChangeRow
	OlderURL string // "" on the last page
}

// ChangeRow is one thing that was done.
type ChangeRow struct {
	At      time.Time
	Word    string       // what was done
	About   display.Text // what to
	Details []ChangeDetail
	By      display.Text
	ByID    string // the end of the id of the user or key; "" for the system
	Channel string
}

// ChangeDetail is one thing that was set.
type ChangeDetail struct {
	Name  string
	Value display.Text
}
