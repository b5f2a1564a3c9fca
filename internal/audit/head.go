package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
)

// HeadsFile is the name of the second file, which remembers heads of the chains so that an older copy of the database is noticed.
const HeadsFile = "audit-heads.log"

// headMost bounds a line, in bytes.
const headMost = 4096

// HeadKind is what a line of the second file is.
type HeadKind string

// The kinds of line.
const (
	Begun    HeadKind = "begun"    // the file is new
	Recorded HeadKind = "head"     // a chain had come to this
	Restored HeadKind = "restored" // the database was replaced by a backup that ends here
)

// Head is one line of the second file. Lines carry the hash of the one before, so that one cannot be changed or taken out of the middle
// unseen. The last ones can: nothing after them would tell.
type Head struct {
	Kind     HeadKind `json:"kind"`
	At       string   `json:"at"`
	Project  string   `json:"project_id,omitempty"`
	Entries  int      `json:"entries"`
	Sequence int64    `json:"sequence"`
	Hash     string   `json:"hash"`
	Lost     *Lost    `json:"lost,omitempty"`  // of Restored: where the chain had come to before; nil: it is not known
	InUse    bool     `json:"in_use,omitzero"` // of Begun: the database had entries already
	Previous string   `json:"previous"`
}

// Lost is the head of the chain that a backup replaced.
type Lost struct {
	Entries  int    `json:"entries"`
	Sequence int64  `json:"sequence"`
	Hash     string `json:"hash"`
}

// Line is h as it is written behind previous, with its end of line, and the hash that the next line carries.
func (h Head) Line(previous string) (line []byte, hash string, err error) {
	h.Previous = previous
	if line, err = json.Marshal(h); err != nil {
		return nil, "", err
	}
	return append(line, '\n'), LineHash(line), nil
}

// LineHash is the hash by which a line names the one before, which is given without its end of line.
func LineHash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// HeadReader reads the lines of the second file, and checks that each follows the one before.
type HeadReader struct {
	in     *bufio.Reader
	line   int
	last   string // hash of the line read last
	length int64  // of the lines read so far, in bytes
}

// NewHeadReader reads lines from in.
func NewHeadReader(in io.Reader) *HeadReader {
	return &HeadReader{in: bufio.NewReaderSize(in, headMost)}
}

// Position is how many bytes the lines take that have been read, and the hash that a next one must carry.
func (r *HeadReader) Position() (length int64, hash string) { return r.length, r.last }

// Next gives the next line; io.EOF after the last. A line without its end was never finished, and is none. A Finding is a line that does
// not fit.
func (r *HeadReader) Next() (h Head, err error) {
	text, err := r.in.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		return h, io.EOF
	case errors.Is(err, bufio.ErrBufferFull):
		return h, r.finding("is longer than a line is")
	case err != nil:
		return h, err
	}
	r.line++
	line := text[:len(text)-1]
	if err := json.Unmarshal(line, &h, json.RejectUnknownMembers(true)); err != nil {
		return h, r.finding("is not a line that this program wrote")
	}
	if h.Previous != r.last {
		return h, r.finding("does not follow the line before it: one was changed or taken out")
	}
	r.length, r.last = r.length+int64(len(text)), LineHash(line)
	return h, nil
}

func (r *HeadReader) finding(what string) error {
	return &Finding{What: fmt.Sprintf("%s: line %d %s", HeadsFile, r.line, what)}
}

// Restores are the times that a backup took the database's place, in the order of the file.
type Restores []restore

type restore struct {
	line int
	head Head
}

// HeadLog is what the second file says as a whole, but for its heads themselves.
type HeadLog struct {
	Lines    int
	Begun    []Head
	Restores Restores
	Last     map[string]Head // the last line of each project
}

// ReadHeads reads the second file through. A Finding is a line that does not fit.
func ReadHeads(r *HeadReader) (log HeadLog, err error) {
	log.Last = map[string]Head{}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return log, nil
		}
		if err != nil {
			return log, err
		}
		log.Add(h)
	}
}

// Add takes up the next line.
func (l *HeadLog) Add(h Head) {
	l.Lines++
	switch h.Kind {
	case Begun:
		l.Begun = append(l.Begun, h)
		return
	case Restored:
		l.Restores = append(l.Restores, restore{l.Lines, h})
	}
	l.Last[h.Project] = h
}

// gone says whether the entry that line records of project was after what a later restore kept.
func (r Restores) gone(line int, h Head) bool {
	for _, one := range r {
		if one.line > line && one.head.Project == h.Project && h.Sequence > one.head.Sequence {
			return true
		}
	}
	return false
}

// ProjectHeads gives the recorded heads of a project that its chain must still hold: those of entries that a restore gave up are left out. It
// implements [HeadSource].
type ProjectHeads struct {
	Project  string
	Lines    *HeadReader
	Restores Restores
	line     int
}

// Next gives the next of them, nil after the last.
func (p *ProjectHeads) Next() (*Head, error) {
	for {
		h, err := p.Lines.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p.line++
		if h.Kind != Begun && h.Project == p.Project && h.Entries > 0 && !p.Restores.gone(p.line, h) {
			return &h, nil
		}
	}
}

// Note is something that a lead should know of, and that is no finding.
type Note struct {
	Kind    HeadKind `json:"kind"` // Begun or Restored
	At      string   `json:"at"`
	Project string   `json:"project_id,omitempty"`
	Entries int      `json:"entries"` // of a restore: that the backup held
	Gone    int      `json:"gone"`    // of a restore: entries that the backup did not hold, as far as is known
	Message string   `json:"message"`
}

// Notes are what the second file says beside heads: that it began later than the database, and that backups were restored.
func (l HeadLog) Notes() (list []Note) {
	for _, h := range l.Begun {
		if h.InUse {
			list = append(list, Note{Kind: Begun, At: h.At, Message: fmt.Sprintf(
				"%s was begun on %s, when the database had entries already; an older copy from before then would not be noticed", HeadsFile, day(h.At))})
		}
	}
	for _, r := range l.Restores {
		list = append(list, r.head.note())
	}
	return list
}

func (h Head) note() Note {
	n := Note{Kind: Restored, At: h.At, Project: h.Project, Entries: h.Entries}
	n.Message = fmt.Sprintf("restored on %s from a backup that ends at entry %d", day(h.At), h.Entries)
	if h.Lost == nil {
		n.Message += "; how far the log had come before is not known"
		return n
	}
	n.Gone = max(h.Lost.Entries-h.Entries, 0)
	switch n.Gone {
	case 0:
		n.Message += "; no later entry is known to be gone"
	case 1:
		n.Message += "; 1 entry after it is gone"
	default:
		n.Message += fmt.Sprintf("; %d entries after it are gone", n.Gone)
	}
	return n
}

// day is a time as a sentence has it.
func day(at string) string {
	date, clock, _ := strings.Cut(at, "T")
	if len(clock) < 5 {
		return at
	}
	return date + " at " + clock[:5] + " UTC"
}
