package audit

import (
	"cmp"
	"fmt"
	"strings"
)

// Stored is an entry as the database has it.
type Stored struct {
	Sequence  int64
	Canonical []byte
	Hash      []byte
}

// Subject is what one entry tells of, as the rest of the database has it. Its slices are good until the next one is asked for.
type Subject struct {
	Sequence    int64
	Action      string // "": only its record says
	Interaction string // "": it is of none
	Record      []byte
	Agent       string
	At          string
	Actor       Actor  // Kind "": the columns do not say who
	Facts       []Fact // columns that repeat what the record says
	Problem     string // what its rows contradict one another in; "": nothing
}

// factsMost is how many facts a subject may have.
const factsMost = 4

// Fact is a top-level text member of a record, as a column beside it says it. An empty value is a member that is not there.
type Fact struct{ Name, Value string }

// Source gives the subjects of one kind in the order of their sequences, nil after the last.
type Source interface {
	Next() (*Subject, error)
}

// Finding is the first thing that does not fit. As an error it ends a verification.
type Finding struct {
	Project     string `json:"project_id,omitempty"`
	Entry       int    `json:"entry,omitempty"`          // its place in the chain, from 1; where it is missing, the place it should have. 0: no entry is at fault
	Sequence    int64  `json:"sequence,omitempty"`       // the project's, of the entry or of what has none
	Interaction string `json:"interaction_id,omitempty"` // as the entry names it
	What        string `json:"message"`
}

// Error says where and what. It may hold what somebody put into the database, and is shown as such.
func (f *Finding) Error() string {
	var where string
	if f.Entry > 0 {
		where = fmt.Sprintf("entry %d (sequence %d", f.Entry, f.Sequence)
		if f.Interaction != "" {
			where += ", " + f.Interaction
		}
		where += "): "
	}
	return where + f.What
}

// Verification goes through the chain of one project: give it every entry with Entry, in order, and then call End.
type Verification struct {
	Project string
	Chain   Chain
	Fit     int    // entries that fit
	Head    Hash   // of the last of them
	Last    int64  // sequence of the last of them
	At      string // when that was
	Actions map[string]int

	fronts []front
	heads  HeadSource
	head   *Head // the next one that must be met
}

// HeadSource gives the recorded heads of one project that its chain must still hold, in the order of their sequences, nil after the last.
type HeadSource interface {
	Next() (*Head, error)
}

// front is a source and the subject that comes next.
type front struct {
	from Source
	next *Subject
}

// NewVerification starts the verification of a project's chain against all that its entries tell of. heads may be nil.
func NewVerification(project string, heads HeadSource, sources ...Source) (*Verification, error) {
	v := &Verification{Project: project, heads: heads, Actions: map[string]int{}}
	for _, s := range sources {
		v.fronts = append(v.fronts, front{from: s})
	}
	for n := range v.fronts {
		if err := v.fronts[n].move(); err != nil {
			return nil, err
		}
	}
	return v, v.nextHead()
}

// move goes to the next subject. Sequences only grow: one out of order would be taken for one without an entry.
func (f *front) move() (err error) {
	f.next, err = f.from.Next()
	return err
}

// Entry checks the next entry. A Finding says what is wrong; any other error, that it could not be checked.
func (v *Verification) Entry(s Stored) error {
	if err := v.told(s.Sequence); err != nil {
		return err
	}
	e, err := v.Chain.Append(s.Canonical, s.Hash)
	if err != nil {
		return v.finding(v.Chain.N+1, s.Sequence, e.Interaction, err.Error())
	}
	if wrong := v.place(e, s); wrong != "" {
		return v.finding(v.Chain.N, s.Sequence, e.Interaction, wrong)
	}
	f := v.front(s.Sequence)
	if f == nil {
		return v.finding(v.Chain.N, s.Sequence, e.Interaction, "tells of "+e.about()+", which is not stored any more, or not as having happened then")
	}
	if wrong := e.differs(f.next); wrong != "" {
		return v.finding(v.Chain.N, s.Sequence, e.Interaction, wrong)
	}
	v.Fit, v.Head, v.Last, v.At = v.Chain.N, v.Chain.Head, s.Sequence, e.At
	v.Actions[e.Action]++
	if err := f.move(); err != nil {
		return err
	}
	return v.recorded()
}

// told finds what happened before the sequence and has no entry.
func (v *Verification) told(sequence int64) error {
	for n := range v.fronts {
		if s := v.fronts[n].next; s != nil && s.Sequence < sequence {
			return v.untold(v.first())
		}
	}
	return nil
}

// first is the earliest subject that has not been met.
func (v *Verification) first() (s *Subject) {
	for _, f := range v.fronts {
		if f.next != nil && (s == nil || f.next.Sequence < s.Sequence) {
			s = f.next
		}
	}
	return s
}

func (v *Verification) untold(s *Subject) error {
	return v.finding(v.Chain.N+1, s.Sequence, s.Interaction, fmt.Sprintf("is missing: %s is stored, and no entry at its place tells of it", cmp.Or(s.Action, "something")))
}

// place says what is wrong with where an entry stands.
func (v *Verification) place(e Entry, s Stored) string {
	switch {
	case e.Sequence != s.Sequence:
		return fmt.Sprintf("says of itself that it has sequence %d", e.Sequence)
	case e.Project != v.Project:
		return "is of project " + e.Project
	case s.Sequence <= v.Last:
		return fmt.Sprintf("stands behind one with sequence %d", v.Last)
	}
	return ""
}

// front is the source whose next subject has the sequence.
func (v *Verification) front(sequence int64) *front {
	for n := range v.fronts {
		if s := v.fronts[n].next; s != nil && s.Sequence == sequence {
			return &v.fronts[n]
		}
	}
	return nil
}

// differs says in what the subject is not what the entry says that it was; "": in nothing.
func (e Entry) differs(s *Subject) string {
	same := s.Action == "" || e.Action == s.Action
	switch {
	case same && s.Problem != "":
		return "tells of " + e.about() + ": " + s.Problem
	case !same || e.Interaction != s.Interaction:
		return fmt.Sprintf("tells of %s, but stored is %s of %s", e.about(), s.Action, cmp.Or(s.Interaction, "no interaction"))
	case e.Record != RecordHash(s.Record):
		return "tells of " + e.about() + ", whose record is not what was recorded then"
	case e.Agent != s.Agent:
		return "tells of " + e.about() + " by agent " + e.Agent + ", but stored is agent " + s.Agent
	case e.At != s.At:
		return "tells of " + e.about() + " at " + e.At + ", but stored is " + s.At
	case s.Actor.Kind != "" && !e.Actor.same(s.Actor):
		return fmt.Sprintf("tells of %s by %s, but stored is %s", e.about(), e.Actor.who(), s.Actor.who())
	}
	return s.contradicts()
}

// contradicts says which column beside the record says something else than the record.
func (s *Subject) contradicts() string {
	if len(s.Facts) == 0 {
		return ""
	}
	said, err := members(s.Record, s.Facts)
	if err != nil {
		return "tells of a record that cannot be read: " + err.Error()
	}
	for n, f := range s.Facts {
		if said[n] != f.Value {
			return fmt.Sprintf("tells of a record whose %s is %q, but the column beside it says %q", f.Name, said[n], f.Value)
		}
	}
	return ""
}

// same says whether both are the same actor, as far as columns tell: the channel is in no column.
func (a Actor) same(b Actor) bool {
	b.Channel = a.Channel
	return a == b
}

// who is the actor with all that columns say of one.
func (a Actor) who() string {
	return fmt.Sprintf("%s %q (%s)", a.Kind, a.Name, strings.TrimSpace(a.ID+" "+a.Credential))
}

func (e Entry) about() string {
	if e.Interaction == "" {
		return e.Action
	}
	return e.Action + " of " + e.Interaction
}

// Tail is what the store says of the end of a chain.
type Tail struct {
	Head     []byte // hash of the last entry; nil: there is none
	Sequence int64  // that the project has come to
}

// End checks that the chain ends where the store says it does, with nothing cut off and nothing left out.
func (v *Verification) End(t Tail) error {
	if s := v.first(); s != nil {
		return v.untold(s)
	}
	if v.head != nil {
		return v.rolledBack()
	}
	var head Hash
	copy(head[:], t.Head)
	if head != v.Chain.Head {
		return v.finding(v.Chain.N+1, v.Last, "", "is missing: the chain does not end at the head that the project has")
	}
	if t.Sequence < v.Last {
		return v.finding(v.Chain.N, v.Last, "", fmt.Sprintf("has a sequence that the project has not come to: it is at %d", t.Sequence))
	}
	return nil
}

// recorded checks the heads that were recorded up to the entry verified last.
func (v *Verification) recorded() error {
	for h := v.head; h != nil && h.Sequence <= v.Last; h = v.head {
		if h.Sequence < v.Last {
			return v.finding(v.Chain.N, v.Last, "", fmt.Sprintf("stands where another stood: %s records one with sequence %d at %s", HeadsFile, h.Sequence, h.At))
		}
		if h.Hash != v.Chain.Head.String() || h.Entries != v.Chain.N {
			return v.finding(v.Chain.N, v.Last, "", fmt.Sprintf("is not the one that %s records at %s: entry %d with hash %s", HeadsFile, h.At, h.Entries, h.Hash))
		}
		if err := v.nextHead(); err != nil {
			return err
		}
	}
	return nil
}

// rolledBack tells of a head that the chain does not come to.
func (v *Verification) rolledBack() error {
	return v.finding(v.Chain.N+1, v.head.Sequence, "", fmt.Sprintf(
		"is missing: %s records at %s that there were %d entries, up to sequence %d; here are %d. The database is an older copy, or its end was cut off",
		HeadsFile, v.head.At, v.head.Entries, v.head.Sequence, v.Chain.N))
}

func (v *Verification) nextHead() (err error) {
	if v.heads != nil {
		v.head, err = v.heads.Next()
	}
	return err
}

func (v *Verification) finding(entry int, sequence int64, interaction, what string) error {
	return &Finding{Project: v.Project, Entry: entry, Sequence: sequence, Interaction: interaction, What: what}
}
