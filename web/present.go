package web

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// How much of the evidence a card holds; the rest is asked for. One request must not keep a page from being read.
const (
	shownAtOnce = 256 << 10 // bytes, of each value and of all that came before it
	itemsAtOnce = 100
	// An input up to this size can be edited wherever its card is, and compared where it was changed; else on a page of its own.
	editedAtOnce  = 32 << 10
	changesAtOnce = 500 // lines
)

// presenter maps the domain to view models, for one project.
type presenter struct {
	base    string // path of the product
	project string // how pages name it
	now     time.Time
	whole   bool // leave nothing of long values out

	readOnly bool // for somebody who may look and not answer

	frame     string // path of an app's frame; "" on pages of ours
	elsewhere bool   // in that frame one may not allow
}

func (p presenter) url(path string) string { return p.base + "/projects/" + p.project + path }

func (p presenter) agentURL(id interaction.ID) string { return p.url("/agents/" + string(id)) }

func (p presenter) interactionURL(id interaction.ID) string {
	return p.url("/interactions/" + string(id))
}

// card presents one interaction.
func (p presenter) card(i interaction.Interaction, agentName string) views.Card {
	c := views.Card{
		ID: string(i.ID), Version: i.Version, Kind: views.Kind(i.Kind), State: views.State(i.State),
		AgentID: string(i.AgentID), Agent: display.Line(agentName), AgentURL: p.agentURL(i.AgentID), ReadOnly: p.readOnly,
		URL: p.interactionURL(i.ID), PostURL: p.agentURL(i.AgentID) + "/interactions/" + string(i.ID) + "/resolve",
		Title: display.Line(i.Request.Title), Digest: i.Digest, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt, Now: p.now,
		Asker: asker(i), Delivery: views.Delivery{PickedUpAt: i.Delivery.PickedUpAt, ReportedAt: i.Delivery.ReportedAt, Outcome: string(i.Delivery.Outcome)},
	}
	if p.frame != "" {
		c.Framed, c.AllowElsewhere, c.AgentURL, c.PostURL = true, p.elsewhere, "", p.frame+"/interactions/"+string(i.ID)+"/resolve"
	}
	var chips chips
	chips.add(c.Title)
	c.FullURL = p.interactionURL(i.ID) + "?full=1"
	c.Context, c.MoreItems = p.context(i, &chips)
	if i.Kind == interaction.QuestionKind {
		c.Questions = convert(i.Request.Questions, chips.question)
	}
	c.Chips = chips.found
	if i.State == interaction.Open && i.ToolCall != nil && i.Kind == interaction.PermissionKind && p.frame == "" {
		c.With = p.with(i)
	}
	if i.End != nil {
		c.End = end(i)
		markChosen(c.Questions, i.End.Answers)
	}
	return c
}

// markChosen marks the options that were the answer.
func markChosen(questions []views.Question, answers []interaction.Answer) {
	for n := range min(len(questions), len(answers)) {
		for _, index := range answers[n].OptionIndices {
			questions[n].Options[index].Chosen = true
		}
	}
}

// context shows the evidence, up to what a card holds, and counts the items that were left out. What is left out still raises its chips.
func (p presenter) context(i interaction.Interaction, chips *chips) (shown []views.ContextItem, more int) {
	size := 0
	for n, item := range i.Request.Context {
		if !p.whole && (n >= itemsAtOnce || size > shownAtOnce) {
			chips.line(item.Label)
			chips.text(item.Value)
			more++
			continue
		}
		size += len(item.Label) + len(item.Value)
		shown = append(shown, p.contextItem(i.ID, n, item, chips))
	}
	return shown, more
}

// contextItem shows a value, or its beginning.
func (p presenter) contextItem(id interaction.ID, n int, item interaction.ContextItem, chips *chips) views.ContextItem {
	value := display.Show(item.Value)
	label := display.Line(item.Label)
	chips.add(label)
	chips.add(value)
	out := views.ContextItem{
		Label: label, Value: value, Mono: true, Lines: strings.Count(item.Value, "\n") + 1,
		FullURL: p.interactionURL(id) + "?full=1", RawURL: p.interactionURL(id) + "/context/" + strconv.Itoa(n),
	}
	if p.frame != "" {
		out.RawURL = ""
	}
	if len(item.Value) > shownAtOnce && !p.whole {
		shown := beginning(item.Value, shownAtOnce)
		out.Value = display.Show(shown)
		out.Hidden = strings.Count(item.Value[len(shown):], "\n") + 1
	}
	return out
}

// beginning is at most n bytes of s, and no half character.
func beginning(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// chips gathers the warnings of everything on a card, each kind once.
type chips struct{ found []display.Chip }

func (c *chips) add(t display.Text) {
	for _, chip := range t.Chips {
		if !c.has(chip.ID) {
			c.found = append(c.found, chip)
		}
	}
}

func (c *chips) has(id display.ChipID) bool {
	for _, chip := range c.found {
		if chip.ID == id {
			return true
		}
	}
	return false
}

// line and text show a string and gather its warnings.
func (c *chips) line(s string) display.Text {
	t := display.Line(s)
	c.add(t)
	return t
}

func (c *chips) text(s string) display.Text {
	t := display.Show(s)
	c.add(t)
	return t
}

func (c *chips) question(q interaction.Question) views.Question {
	return views.Question{
		Prompt: c.text(q.Prompt), Header: c.line(q.Header), Multiple: q.Multiple,
		Options: convert(q.Options, func(o interaction.Option) views.Option {
			return views.Option{Label: c.line(o.Label), Description: c.text(o.Description), AllowsText: o.AllowsText}
		}),
	}
}

func asker(i interaction.Interaction) views.Asker {
	switch {
	case i.WaitMode == interaction.Suspend:
		return views.Asker{State: views.AskerSuspended, WorkflowID: display.Line(i.WorkflowID)}
	case i.WaitMode == interaction.Poll:
		return views.Asker{State: views.AskerPolling}
	case !i.Delivery.AskerGoneSince.IsZero():
		return views.Asker{State: views.AskerGone, Since: i.Delivery.AskerGoneSince}
	}
	return views.Asker{State: views.AskerWaiting}
}

// end tells how an interaction ended. Denied, canceled and expired are different facts.
func end(i interaction.Interaction) *views.End {
	e := &views.End{By: display.Line(i.End.By.Name), Channel: string(i.End.By.Channel), At: i.End.At, Note: display.Show(i.End.Decision.Note)}
	switch {
	case i.Allowed():
		e.Word = views.Allowed
		e.Changes = changes(i)
		e.Instead, e.Remembered = display.Show(string(i.End.Decision.UpdatedInput)), display.Show(string(i.End.Decision.UpdatedPermissions))
	case i.Denied():
		e.Word, e.Reason = views.Denied, display.Show(i.End.Answers[0].Text)
	case i.State == interaction.Resolved:
		e.Word, e.Answers = views.Answered, answerLines(i)
		e.Note = display.Show(i.End.Decision.Response)
	case i.End.CancelReason == interaction.DeadlinePassed:
		e.Word, e.By, e.Cause = views.Expired, display.Text{}, "Nobody answered in time. The agent was told so; it was not told that anybody denied."
	default:
		e.Word, e.Cause = views.CanceledEnd, causes[i.End.CancelReason]
	}
	return e
}

// changes are what an edited input changed, unless that is too long for every page.
func changes(i interaction.Interaction) []views.DiffLine {
	was, is := i.ToolCall.Input, i.End.Decision.UpdatedInput
	if is == nil || len(was) > editedAtOnce || len(is) > editedAtOnce {
		return nil
	}
	if lines := inputDiff(was, is); len(lines) <= changesAtOnce {
		return lines
	}
	return nil
}

var causes = map[interaction.CancelReason]string{
	interaction.SupersededByInput: "A newer message to the agent replaced this request.",
	interaction.AgentCanceled:     "The agent was stopped.",
	interaction.AgentWasArchived:  "The agent was archived.",
	interaction.ToolCallDone:      "The tool call was completed another way.",
	interaction.AskerCanceled:     "The agent withdrew the request.",
}

func answerLines(i interaction.Interaction) []views.AnswerLine {
	lines := make([]views.AnswerLine, len(i.End.Answers))
	for n, a := range i.End.Answers {
		q := i.Request.Questions[n]
		lines[n] = views.AnswerLine{
			Prompt: display.Show(q.Prompt), Text: display.Show(a.Text),
			Chosen: convert(a.OptionIndices, func(o int) display.Text { return display.Line(q.Options[o].Label) }),
		}
	}
	return lines
}

func (p presenter) agentRow(a interaction.Agent) views.AgentRow {
	row := views.AgentRow{
		Name: display.Line(a.Name), Key: a.Key, URL: p.agentURL(a.ID), Archived: a.State == interaction.AgentArchived,
		Open: a.OpenInteractions, LastSeen: a.LastSeenAt, Now: p.now,
	}
	if !a.OldestOpen.IsZero() {
		row.LongestWait = p.now.Sub(a.OldestOpen)
	}
	return row
}

// history tells what happened to an interaction, oldest first.
func history(i interaction.Interaction, agentName string, events []interaction.Event) []views.HistoryItem {
	var items []views.HistoryItem
	for _, e := range events {
		switch e.Kind {
		case interaction.CreatedEvent:
			items = append(items, views.HistoryItem{At: e.At, What: "Asked by", Who: display.Line(agentName)})
		case interaction.AnsweredEvent, interaction.CanceledEvent, interaction.ExpiredEvent:
			items = append(items, views.HistoryItem{At: e.At, What: endedWords[end(i).Word], Who: end(i).By})
		}
	}
	for _, step := range []views.HistoryItem{
		{At: i.Delivery.AskerGoneSince, What: "The agent stopped waiting"},
		{At: i.Delivery.PickedUpAt, What: "Picked up by the agent"},
		{At: i.Delivery.ReportedAt, What: "Reported done: " + string(i.Delivery.Outcome)},
	} {
		if !step.At.IsZero() {
			items = append(items, step)
		}
	}
	return items
}

var endedWords = map[views.EndWord]string{
	views.Allowed: "Allowed by", views.Denied: "Denied by", views.Answered: "Answered by", views.CanceledEnd: "Canceled by", views.Expired: "Expired",
}
