package interaction

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The audit is the team lead's view of a project: every interaction, whatever became of it, and every decision by policy, in the order in
// which they were recorded. It changes nothing, and needs [ScopeAudit].

// Outcome is what became of a request, as the audit tells it. Each row has exactly one. That a person denied, that something withdrew the
// request, that its time ran out and that a policy decided are different facts: [OutcomeCanceled] does not contain [OutcomeExpired],
// although both are in the state [Canceled].
type Outcome string

// The outcomes.
const (
	OutcomeOpen     Outcome = "open"
	OutcomeAllowed  Outcome = "allowed"  // a permission
	OutcomeDenied   Outcome = "denied"   // a permission
	OutcomeAnswered Outcome = "answered" // a question
	OutcomeCanceled Outcome = "canceled" // for any reason but that its time ran out
	OutcomeExpired  Outcome = "expired"
	OutcomePolicy   Outcome = "policy" // nobody was asked: a policy decided
)

// Outcomes are all of them, in the order in which they are told.
var Outcomes = []Outcome{OutcomeOpen, OutcomeAllowed, OutcomeDenied, OutcomeAnswered, OutcomeCanceled, OutcomeExpired, OutcomePolicy}

// Outcome is what became of i so far.
func (i Interaction) Outcome() Outcome {
	switch {
	case i.State == Open:
		return OutcomeOpen
	case i.Allowed():
		return OutcomeAllowed
	case i.Denied():
		return OutcomeDenied
	case i.State == Resolved:
		return OutcomeAnswered
	case i.End.CancelReason == DeadlinePassed:
		return OutcomeExpired
	}
	return OutcomeCanceled
}

// byPerson says whether a person answered.
func (o Outcome) byPerson() bool {
	return o == OutcomeAllowed || o == OutcomeDenied || o == OutcomeAnswered
}

// AuditFilter describes rows of the audit. Empty fields do not filter. A decision by policy is of the kind [PermissionKind]; nobody
// answered it, through no channel, for no cancel reason.
type AuditFilter struct {
	Project      ID
	Outcome      Outcome
	Agent        ID
	Kind         Kind
	CancelReason CancelReason
	By           string // the name or the actor id of who ended it
	Channel      Channel
	From, Until  time.Time // asked at From or later, and before Until
	Words        string    // every word is in the request or in what was said at its end; the last may be the beginning of one
}

// AuditPage is a part of the audit: the newest rows, or those next to a place.
type AuditPage struct {
	Limit  int
	Before int64 // only rows recorded before this place
	After  int64 // only rows recorded after it, and of those the ones next to it
}

// AuditRow is an interaction or a decision by policy, with the entry of the audit log that its last change wrote.
type AuditRow struct {
	Place      int64 // in the order of recording
	Outcome    Outcome
	AgentName  string
	Record     Record         // of a decision by policy, only project, agent and time are set
	Decision   []byte         // JSON record of a decision by policy; nil for an interaction
	OpenFor    time.Duration  // until its end; 0 while open, and of a decision by policy
	Superseded []ContentBlock // the message that canceled it, if one did
	Sequence   int64          // of the audit entry
	Hash       string         // hex SHA-256 of the audit entry
	Credential ID             // the user or key that ended it, whatever they were called; "" while open, and of a decision by policy
}

// AppendJSON writes the published record with its place in the audit log: the members outcome and audit are added at its end.
func (r AuditRow) AppendJSON(b []byte) []byte {
	if r.Decision != nil {
		b = append(b, r.Decision...)
	} else {
		b = r.Record.AppendJSON(b)
	}
	b = append(b[:len(b)-1], `,"outcome":`...)
	b = appendString(b, string(r.Outcome))
	return append(r.appendAudit(append(b, `,"audit":`...)), '}')
}

// appendAudit writes the row's place in the audit log, and who ended it: a name can be anybody's, an id is one person's or one key's.
func (r AuditRow) appendAudit(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"sequence":`...), r.Sequence, 10)
	b = appendString(append(b, `,"hash":`...), r.Hash)
	if r.Credential != "" {
		b = appendString(append(b, `,"credential":`...), string(r.Credential))
	}
	return append(b, '}')
}

// AppendListed writes the row as a list has it: what became of it, the place in the audit log, and the published record under its own name.
func (r AuditRow) AppendListed(b []byte) []byte {
	b = appendString(append(b, `{"outcome":`...), string(r.Outcome))
	b = r.appendAudit(append(b, `,"audit":`...))
	if r.Decision != nil {
		b = append(append(b, `,"decision":`...), r.Decision...)
	} else {
		b = r.Record.AppendJSON(append(b, `,"interaction":`...))
	}
	return append(b, '}')
}

// ReadDecided decodes what [Decided.AppendJSON] wrote.
func ReadDecided(record []byte) (Decided, error) {
	var in struct {
		ID        ID        `json:"id"`
		ProjectID ID        `json:"project_id"`
		AgentID   ID        `json:"agent_id"`
		At        time.Time `json:"created_at"`
		Decision  Ruling    `json:"decision"`
		Source    string    `json:"source"`
		Pattern   string    `json:"pattern"`
		Subject   string    `json:"subject"`
		Message   string    `json:"message"`
		CallID    ID        `json:"tool_call_id"`
		Call      ToolCall  `json:"tool_call"`
		Digest    string    `json:"digest"`
	}
	if err := json.Unmarshal(record, &in); err != nil {
		return Decided{}, fmt.Errorf("stored decision: %w", err)
	}
	d := Decided{ID: in.ID, ProjectID: in.ProjectID, AgentID: in.AgentID, Call: in.Call, Digest: in.Digest, At: in.At}
	d.Call.ID = in.CallID
	d.Verdict = Verdict{Ruling: in.Decision, Source: in.Source, Pattern: in.Pattern, Subject: in.Subject, Message: in.Message}
	return d, nil
}

// RequestText is what a search for words looks at in the request. The form that every permission has is left out.
func (i Interaction) RequestText() string {
	var t lines
	t.add(i.Request.Title)
	for _, item := range i.Request.Context {
		t.add(item.Label, item.Value)
	}
	if i.Kind == PermissionKind {
		return t.String()
	}
	for _, q := range i.Request.Questions {
		t.add(q.Prompt, q.Header)
		for _, o := range q.Options {
			t.add(o.Label, o.Description)
		}
	}
	return t.String()
}

// EndText is what a search for words looks at in how it ended: reason, note and text of an answer, and the message that superseded the
// request. It is "" where nothing was said.
func (i Interaction) EndText(superseded []ContentBlock) string {
	if i.End == nil {
		return ""
	}
	var t lines
	for _, a := range i.End.Answers {
		t.add(a.Text)
	}
	t.add(i.End.Decision.Note, i.End.Decision.Response)
	if input := i.End.Decision.UpdatedInput; input != nil {
		t.addInput(input)
	}
	for _, b := range superseded {
		t.add(b.Text)
	}
	return t.String()
}

// Text is what a search for words looks at in a decision by policy.
func (d Decided) Text() string {
	var t lines
	t.add(d.Subject, d.Call.Name, d.Message, d.Pattern)
	t.addInput(d.Call.Input)
	return t.String()
}

// lines gathers texts that are not blank.
type lines struct{ strings.Builder }

func (l *lines) add(texts ...string) {
	for _, text := range texts {
		if text != "" {
			l.WriteString(text)
			l.WriteByte('\n')
		}
	}
}

// addInput adds a tool's input as a person reads it; one that cannot be taken apart is added as it is.
func (l *lines) addInput(input []byte) {
	items, err := inputContext(input)
	if err != nil {
		l.add(string(input))
		return
	}
	for _, item := range items {
		l.add(item.Label, item.Value)
	}
}

// The bounds of figures, so that a page with a million rows behind it comes at once.
const (
	FiguresMost = 50_000 // rows that figures are of at most: the newest
	FiguresDays = 60     // days that are told one by one at most: the newest
)

// Figures sum up the rows that a filter describes.
type Figures struct {
	Count  int  // rows that they are of
	Capped bool // there are more rows than FiguresMost, and these are of the newest
	By     map[Outcome]int
	// From asking to answering, of those that a person answered: by nearest rank. 0 where none was.
	Median, P95 time.Duration
	Days        []Day // without gaps, oldest first
	DaysCapped  bool  // there are more days than FiguresDays, and these are the newest
}

// Day is a day of UTC.
type Day struct {
	Date time.Time
	By   map[Outcome]int
}

// Count is how many rows the day has.
func (d Day) Count() (n int) {
	for _, of := range d.By {
		n += of
	}
	return n
}

// Add counts n rows of a day and an outcome. Days must come in order.
func (f *Figures) Add(date time.Time, o Outcome, n int) {
	if f.By == nil {
		f.By = map[Outcome]int{}
	}
	f.Count += n
	f.By[o] += n
	f.day(date).By[o] += n
	if over := len(f.Days) - FiguresDays; over > 0 {
		f.Days, f.DaysCapped = f.Days[over:], true
	}
}

// day is the last day, which is date; days without rows that lie before it are added.
func (f *Figures) day(date time.Time) *Day {
	last := len(f.Days) - 1
	if last >= 0 && date.Sub(f.Days[last].Date) > FiguresDays*24*time.Hour {
		f.Days, f.DaysCapped = f.Days[:0], true // all of them would fall out again
		last = -1
	}
	for last >= 0 && f.Days[last].Date.Before(date) {
		f.Days = append(f.Days, Day{Date: f.Days[last].Date.AddDate(0, 0, 1), By: map[Outcome]int{}})
		last++
	}
	if last < 0 {
		f.Days = append(f.Days, Day{Date: date, By: map[Outcome]int{}})
		last = 0
	}
	return &f.Days[last]
}

// Answered is how many a person answered.
func (f Figures) Answered() (n int) {
	for o, of := range f.By {
		if o.byPerson() {
			n += of
		}
	}
	return n
}

// Rank is the place, from 1, of the percentile among n values in ascending order, by nearest rank; 0 where there are none.
func Rank(n int, percent float64) int {
	return int(math.Ceil(float64(n) * percent / 100))
}

// AuditList is a page of the audit, newest first.
type AuditList struct {
	Rows         []AuditRow
	Older, Newer int64 // places behind and before which there are more rows; 0: there are none
	// Missing is how many of the newest changes the index of the audit has not taken in yet: after a start without its file there may be
	// many. They are in no list until then.
	Missing int64
}

// Audit gives a page of the audit.
func (s *Service) Audit(ctx context.Context, p Principal, f AuditFilter, page AuditPage) (list AuditList, err error) {
	if list.Missing, err = s.audits(ctx, p); err != nil {
		return list, err
	}
	rows, err := s.store.Audit(ctx, f, page)
	if err != nil {
		return list, err
	}
	list.cut(rows, page)
	return list, nil
}

// audits says whether p may audit, and has the index take in what was written until now.
func (s *Service) audits(ctx context.Context, p Principal) (missing int64, err error) {
	if !p.Can(ScopeAudit) {
		return 0, forbidden("read the audit")
	}
	return s.store.CatchUp(ctx)
}

// cut takes the rows of a page, which are one more than its limit if there are more in its direction.
func (l *AuditList) cut(rows []AuditRow, page AuditPage) {
	forward, more := page.After > 0, len(rows) > page.Limit
	switch {
	case more && forward:
		rows = rows[1:]
	case more:
		rows = rows[:page.Limit]
	}
	l.Rows = rows
	if len(rows) == 0 {
		return
	}
	if forward || more {
		l.Older = rows[len(rows)-1].Place
	}
	if forward && more || page.Before > 0 {
		l.Newer = rows[0].Place
	}
}

// AuditFigures sums up what f describes.
func (s *Service) AuditFigures(ctx context.Context, p Principal, f AuditFilter) (Figures, error) {
	if _, err := s.audits(ctx, p); err != nil {
		return Figures{}, err
	}
	return s.store.AuditFigures(ctx, f)
}

// exportPage is how many rows an export holds in memory at once.
const exportPage = 100

// ExportAudit calls each for every row that f describes, newest first. Rows that are recorded meanwhile are not among them. An index that is
// not complete is Unavailable, before the first row: an export is never a part that looks like the whole.
func (s *Service) ExportAudit(ctx context.Context, p Principal, f AuditFilter, each func(AuditRow) error) error {
	missing, err := s.audits(ctx, p)
	if err == nil {
		err = Incomplete(missing)
	}
	page := AuditPage{Limit: exportPage}
	for err == nil {
		var rows []AuditRow
		if rows, err = s.store.Audit(ctx, f, page); err != nil {
			return err
		}
		for n := 0; n < min(len(rows), exportPage) && err == nil; n++ {
			err = each(rows[n])
		}
		if len(rows) <= exportPage {
			return err
		}
		page.Before = rows[exportPage-1].Place
	}
	return err
}

// Incomplete is the error of an answer that must not leave anything out while changes are missing in the index; nil if none are.
func Incomplete(missing int64) error {
	if missing == 0 {
		return nil
	}
	return &Error{Code: Unavailable, RetryAfter: 5, Message: fmt.Sprintf("The index of the audit is being built; %d changes are still to come. Try again soon.", missing)}
}
