package audit

// Report is what a verification came to.
type Report struct {
	OK       bool            `json:"ok"`
	Entries  int             `json:"entries"` // that fit, of all projects
	Projects []ProjectReport `json:"projects"`
	Finding  *Finding        `json:"finding,omitempty"` // the first thing that does not fit; nil: all fits
	Notes    []Note          `json:"notes,omitempty"`   // what a lead should know all the same
}

// ProjectReport is how far the chain of one project fits.
type ProjectReport struct {
	Project  string `json:"project_id"`
	Slug     string `json:"project"`
	Entries  int    `json:"entries"`
	Sequence int64  `json:"sequence"` // of the last of them
	Head     string `json:"head"`     // hash of the last of them
	At       string `json:"at,omitempty"`
}
