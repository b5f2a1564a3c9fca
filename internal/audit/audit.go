// Package audit is the record that a team lead can rely on: an append-only chain of entries, each carrying the SHA-256 of the one
// before it.
//
// An [Entry] says what happened to one interaction, what a policy decided instead of opening one, or what was done to the settings, by whom, and
// the hash of the published record it wrote, so an interaction that was changed afterwards no longer agrees with its entry. Its canonical form is JSON after RFC 8785; the entry's hash is SHA-256 of that
// form, which contains the previous hash. Change, remove or reorder any entry, and [Chain.Append] of the next one no longer fits.
//
// A [Verification] reads the chain again beside what it tells of, and stops at the first entry that does not fit. A chain alone cannot tell that
// its end was cut off, or that all of the database is an older copy: so heads of the chain are written to a second file too, as [Head] lines.
//
// The package knows no database and no file: the store keeps canonical form and hash, and writes both in the transaction of the change itself.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is one thing that happened.
type Entry struct {
	Sequence    int64   `json:"sequence"` // the project's, in commit order
	At          string  `json:"at"`
	Project     string  `json:"project_id"`
	Agent       string  `json:"agent_id,omitempty"`       // none of what was done to the settings
	Interaction string  `json:"interaction_id,omitempty"` // of a lifecycle event
	Action      string  `json:"action"`                   // a lifecycle event's name, policy_decided, or what was done to the settings
	Digest      string  `json:"digest,omitempty"`         // what was decided on
	Record      string  `json:"record"`                   // hex SHA-256 of the published record that this wrote
	Actor       Actor   `json:"actor"`
	Policy      *Policy `json:"policy,omitempty"`  // of a decision by policy, which opened no interaction
	Target      *Target `json:"subject,omitempty"` // of what was done to the settings
	Previous    string  `json:"previous"`          // hex hash of the entry before; empty for a project's first
}

// Policy is what a policy decided, and by which rule.
type Policy struct {
	Decision string `json:"decision"`
	Source   string `json:"source"`
	Pattern  string `json:"pattern,omitempty"`
	Subject  string `json:"subject"`
}

// Target is what something was done to: a member, a key, an embedding.
type Target struct {
	Kind string `json:"kind"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Actor is who did it.
type Actor struct {
	Kind       string `json:"kind"`
	Name       string `json:"name,omitempty"`
	ID         string `json:"id,omitempty"`         // of an external person
	Credential string `json:"credential,omitempty"` // the user or key that acted
	Channel    string `json:"channel,omitempty"`
}

// Hash is SHA-256.
type Hash [sha256.Size]byte

// String is the hash in hex; the zero hash, of the entry before a first one, is "".
func (h Hash) String() string {
	if h == (Hash{}) {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// Seal is the entry's canonical form when it follows previous, and the hash of that.
func (e Entry) Seal(previous Hash) (canonical []byte, hash Hash, err error) {
	e.Previous = previous.String()
	if canonical, err = e.canonical(); err != nil {
		return nil, Hash{}, fmt.Errorf("audit entry %d: %w", e.Sequence, err)
	}
	return canonical, sha256.Sum256(canonical), nil
}

// canonical writes the members in the order of RFC 8785, which is that of their names. Every answer waits for this: to encode the struct and
// sort the outcome gives the same bytes, as a test asserts, and takes four times as long.
func (e Entry) canonical() ([]byte, error) {
	o := object{b: append(make([]byte, 0, 768), '{')}
	o.text("action", e.Action)
	o.name("actor")
	o.actor(e.Actor)
	o.textIfAny("agent_id", e.Agent)
	o.text("at", e.At)
	o.textIfAny("digest", e.Digest)
	o.textIfAny("interaction_id", e.Interaction)
	if e.Policy != nil {
		o.name("policy")
		o.policy(*e.Policy)
	}
	o.text("previous", e.Previous)
	o.text("project_id", e.Project)
	o.text("record", e.Record)
	o.name("sequence")
	o.b = strconv.AppendInt(o.b, e.Sequence, 10)
	if e.Target != nil {
		o.name("subject")
		o.target(*e.Target)
	}
	return append(o.b, '}'), o.err
}

// object writes JSON. The names it is given need no escapes.
type object struct {
	b   []byte
	err error
}

func (o *object) name(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), `":`...)
}

func (o *object) text(name, value string) {
	o.name(name)
	var err error
	if o.b, err = jsontext.AppendQuote(o.b, value); err != nil {
		o.err = err
	}
}

func (o *object) textIfAny(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

func (o *object) actor(a Actor) {
	o.b = append(o.b, '{')
	o.textIfAny("channel", a.Channel)
	o.textIfAny("credential", a.Credential)
	o.textIfAny("id", a.ID)
	o.text("kind", a.Kind)
	o.textIfAny("name", a.Name)
	o.b = append(o.b, '}')
}

func (o *object) target(s Target) {
	o.b = append(o.b, '{')
	o.textIfAny("id", s.ID)
	o.text("kind", s.Kind)
	o.textIfAny("name", s.Name)
	o.b = append(o.b, '}')
}

func (o *object) policy(p Policy) {
	o.b = append(o.b, '{')
	o.text("decision", p.Decision)
	o.textIfAny("pattern", p.Pattern)
	o.text("source", p.Source)
	o.text("subject", p.Subject)
	o.b = append(o.b, '}')
}

// RecordHash is the hash by which an entry names a published record.
func RecordHash(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}
