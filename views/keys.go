package views

import (
	"time"

	"sayso/internal/display"
)

// Keys is the API keys of a project, and the forms that make them.
type Keys struct {
	Page
	Made    *MadeKey // by the form that this answers; nil: none was
	Problem string   // why none was made
	Form    KeyForm
	Rows    []KeyRow // newest first
	NextURL string
	URL     string // of this page, and where its forms go
}

// MadeKey is a new key. Its secret is shown on this one page, and is nowhere else.
type MadeKey struct {
	Name   display.Text
	Secret string // "": the form was sent before, and its secret was shown then
}

// KeyForm is what the forms hold.
type KeyForm struct {
	Once   string   // makes a form that is sent twice make one key
	Name   string   // as typed
	Agent  string   // as typed
	Scopes []Scope  // that the person may give
	Agents []string // keys, to choose from
}

// Scope is something that an operator key may do.
type Scope struct {
	Name   string
	About  string
	Chosen bool
}

// KeyRow is one key.
type KeyRow struct {
	ID        string
	Name      display.Text
	Operator  bool
	Scopes    string
	Agent     display.Text // empty: none
	AgentURL  string
	LastFour  string
	CreatedBy display.Text // empty: the server
	CreatedAt time.Time
	UsedAt    time.Time // zero: never
	RevokedAt time.Time // zero: it works
	RevokeURL string
}

func (k KeyRow) kind() string {
	if k.Operator {
		return "Operator: " + k.Scopes
	}
	return "Agent"
}
