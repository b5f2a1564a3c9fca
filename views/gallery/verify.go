package gallery

import (
	"strings"

	"sayso/internal/display"
	"sayso/views"
)

func verify(result *views.Verification) views.Verify {
	v := views.Verify{Page: frame("Verify the audit log", views.SectionNone, 2), Head: strings.Repeat("1f0e4df7", 8), PostURL: "/projects/default/audit/verify", Result: result}
	v.LiveURL, v.CardsURL = "", ""
	return v
}

func fits(notes ...string) *views.Verification {
	v := &views.Verification{OK: true, Entries: 1204, Sequence: 3391, Head: strings.Repeat("1f0e4df7", 8), At: now}
	for _, n := range notes {
		v.Notes = append(v.Notes, display.Line(n))
	}
	return v
}

func tampered() *views.Verification {
	return &views.Verification{
		Entries: 41, Sequence: 118, Head: strings.Repeat("1f0e4df7", 8), At: now, Entry: 42, EntrySequence: 121,
		What:           display.Line("tells of interaction_answered of int_sample by user \"Dana\" (usr_dana), but stored is user \"Eve\u202e\" (usr_dana)"),
		InteractionURL: "/projects/default/interactions/int_sample",
	}
}

func rolledBack() *views.Verification {
	return &views.Verification{Entries: 1204, At: now, What: display.Line("audit-heads.log is not there, or empty, and the database has 1204 entries: whether it is an older copy cannot be told")}
}
