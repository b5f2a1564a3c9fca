package policy

import "time"

// Set is the policies of projects, by slug, and in them of agents, by key.
type Set map[string]map[string]Agent

// Agent is what was written down for one agent.
type Agent struct {
	PermissionMode string // for its client; it means nothing here
	Policy         *Policy
}

// Decide says what becomes of a call of one agent.
func (s Set) Decide(project, agent string, c Call) Explanation {
	return s[project][agent].Policy.Decide(c)
}

// Reading is the policies in force, and how they came to be.
type Reading struct {
	Set  Set
	File string    // they were read from; "": no file was given
	At   time.Time // they were read
	// Err says why what the file held at FailedAt was not taken; "" when the policies in force are the file's.
	Err      string
	FailedAt time.Time
}
