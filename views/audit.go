package views

import (
	"fmt"
	"strconv"
	"time"

	"sayso/internal/display"
)

// Audit is the team lead's view of a project: what became of every request. Days and times on it are UTC, like its filter.
type Audit struct {
	Page
	Tabs                          []AuditTab
	Filter                        AuditFilter
	Filtered                      bool // more than the tab was chosen
	ClearURL                      string
	Figures                       AuditFigures
	Rows                          []AuditRow
	Empty                         string // what will appear where there are no rows
	OlderURL, NewerURL, NewestURL string // "" where there are none
	CSVURL, JSONURL               string
	Missing                       int64 // changes that are not in the lists yet
}

// AuditTab is one of the outcomes, or all of them.
type AuditTab struct {
	Word, URL string
	Current   bool
}

// AuditFilter is what was chosen, as it stands in the form.
type AuditFilter struct {
	URL                        string // that the form asks for
	Outcome                    string // of the tab
	Agent, By, From, To, Words string
	Agents                     []string // keys to choose from
	Kinds, Reasons, Channels   []AuditChoice
}

// AuditChoice is one value of a filter that has few.
type AuditChoice struct {
	Value, Word string
	Chosen      bool
}

// AuditOutcome is what became of a request.
type AuditOutcome string

// The outcomes.
const (
	AuditOpen     AuditOutcome = "open"
	AuditAllowed  AuditOutcome = "allowed"
	AuditDenied   AuditOutcome = "denied"
	AuditAnswered AuditOutcome = "answered"
	AuditCanceled AuditOutcome = "canceled"
	AuditExpired  AuditOutcome = "expired"
	AuditPolicy   AuditOutcome = "policy"
)

// Word is the outcome as a person reads it.
func (o AuditOutcome) Word() string {
	return map[AuditOutcome]string{
		AuditOpen: "Open", AuditAllowed: "Allowed", AuditDenied: "Denied", AuditAnswered: "Answered", AuditCanceled: "Canceled",
		AuditExpired: "Expired", AuditPolicy: "By policy",
	}[o]
}

func (o AuditOutcome) icon() string {
	if o == AuditOpen {
		return "pending"
	}
	return string(o)
}

// AuditRow is one line of Audit.
type AuditRow struct {
	At       time.Time
	Outcome  AuditOutcome
	Word     string // says more than the outcome where there is more to say: "Allowed by policy"; "": the outcome's own
	URL      string // of the interaction; "" of a decision by policy, which has none
	Agent    display.Text
	AgentURL string
	Title    display.Text
	Gist     display.Text // of the evidence
	Cause    string       // why it was canceled
	Reason   display.Text // what was said at its end
	Message  display.Text // that superseded it
	By       display.Text
	ByID     string // the end of the id of the user or key: two may have the same name
	Channel  string
	OpenFor  time.Duration
	Hash     string // of its audit entry
}

func (r AuditRow) word() string {
	if r.Word != "" {
		return r.Word
	}
	return r.Outcome.Word()
}

// length is a length of time to two units' precision: "42 s", "6 min 10 s", "3 h 5 min".
func length(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// AuditFigures sum up what the filter describes.
type AuditFigures struct {
	Count                              int
	CappedAt                           int // there are more rows, and the figures are of so many newest; 0: they are of all
	Answered                           int
	Median                             time.Duration
	P95                                time.Duration
	Allowed, Denied, Canceled, Expired int
	Days                               []AuditDay // oldest first
	DaysCapped                         bool       // there are older days
}

// AuditDay is one bar of the chart.
type AuditDay struct {
	Date  time.Time
	Count int
	Parts []AuditPart // without those of 0
}

// AuditPart is how many of a day had an outcome.
type AuditPart struct {
	Outcome AuditOutcome
	Count   int
}

// count is how many rows there are, in words that are true.
func (f AuditFigures) count() string {
	if f.CappedAt > 0 {
		return "over " + thousands(f.CappedAt)
	}
	return thousands(f.Count)
}

// share is n of all, in percent.
func (f AuditFigures) share(n int) string {
	if f.Count == 0 {
		return "–"
	}
	percent := 100 * float64(n) / float64(f.Count)
	switch {
	case percent > 0 && percent < 1:
		return "under 1 %"
	case percent > 99 && percent < 100:
		return "over 99 %"
	}
	return strconv.FormatFloat(percent, 'f', 0, 64) + " %"
}

// time is a time to answer.
func (f AuditFigures) time(d time.Duration) string {
	if f.Answered == 0 {
		return "–"
	}
	return length(d)
}

func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// The chart is drawn on a grid: so wide is a day, so high the highest.
const (
	barWidth  = 10
	barGap    = 2
	barHeight = 100
	daysLeast = 30 // a few days are thin columns at the left, and not a wall
)

// bar is a piece of a column of the chart.
type bar struct {
	outcome             AuditOutcome
	x, y, width, height int
}

func (f AuditFigures) most() (most AuditDay) {
	for _, day := range f.Days {
		if day.Count > most.Count {
			most = day
		}
	}
	return most
}

// bars stack each day's outcomes from the bottom. What there is any of can be seen.
func (f AuditFigures) bars() (all []bar) {
	most := f.most().Count
	for n, day := range f.Days {
		bottom := barHeight
		for _, part := range day.Parts {
			height := max(1, part.Count*(barHeight-len(day.Parts))/most)
			bottom -= height
			all = append(all, bar{part.Outcome, n * barWidth, bottom, barWidth - barGap, height})
		}
	}
	return all
}

func (f AuditFigures) viewBox() string {
	return fmt.Sprintf("0 0 %d %d", max(len(f.Days), daysLeast)*barWidth, barHeight)
}

// chartText says what the chart shows.
func (f AuditFigures) chartText() string {
	first, last, most := f.Days[0], f.Days[len(f.Days)-1], f.most()
	if len(f.Days) == 1 {
		return fmt.Sprintf("Requests per day (UTC): %s on %s.", thousands(first.Count), date(first.Date))
	}
	return fmt.Sprintf("Requests per day (UTC), %s to %s: most on %s, %s.", date(first.Date), date(last.Date), date(most.Date), thousands(most.Count))
}
