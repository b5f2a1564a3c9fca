package api

// Verification is what a check of a project's audit log came to.
type Verification struct {
	OK       bool          `json:"ok"`
	Entries  int           `json:"entries"`           // that fit
	Sequence int64         `json:"sequence"`          // of the last of them; 0: there is none
	Head     string        `json:"head"`              // hash of the last of them; "": there is none
	Finding  *AuditFinding `json:"finding,omitempty"` // the first thing that does not fit
	Notes    []AuditNote   `json:"notes"`
}

// AuditFinding is the first thing that does not fit.
type AuditFinding struct {
	Entry         int    `json:"entry,omitempty"`    // its place in the log, from 1; 0: no entry is at fault
	Sequence      int64  `json:"sequence,omitempty"` // of the entry, or of what has none
	InteractionID string `json:"interaction_id,omitempty"`
	Message       string `json:"message"`
}

// AuditNote is something that a lead should know of, and that is no finding.
type AuditNote struct {
	Kind    string `json:"kind"` // restored: a backup took the database's place; begun: the file with the heads is younger than the log
	At      string `json:"at"`
	Entries int    `json:"entries"` // of a restore: that the backup held
	Gone    int    `json:"gone"`    // of a restore: that it did not hold, as far as is known
	Message string `json:"message"`
}
