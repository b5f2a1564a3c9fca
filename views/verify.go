package views

import (
	"strconv"
	"time"

	"sayso/internal/display"
)

// Verify is the page on which a lead has the audit log checked.
type Verify struct {
	Page
	Head    string // hash of the log's last entry; "": there is none
	PostURL string
	Result  *Verification // nil: nothing was checked yet
}

// Verification is what a check came to.
type Verification struct {
	OK       bool
	Entries  int // that fit
	Sequence int64
	Head     string
	At       time.Time

	// What does not fit, and where.
	Entry          int // 0: no entry is at fault
	EntrySequence  int64
	What           display.Text
	InteractionURL string // "": it is about none

	Notes []display.Text
}

// place is where something does not fit.
func (v Verification) place() string {
	if v.Entry == 0 {
		return ""
	}
	return " is entry " + strconv.Itoa(v.Entry) + " (sequence " + strconv.FormatInt(v.EntrySequence, 10) + ")"
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return strconv.Itoa(n) + " entries"
}
