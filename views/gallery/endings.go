package gallery

import (
	"slices"
	"time"

	"sayso/internal/display"
	"sayso/views"
)

func endings() []namedCard {
	return []namedCard{
		{"allowed", ended("allowed", views.Allowed, 8*time.Second)},
		{"allowed-late", ended("late", views.Allowed, 2*time.Minute)},
		{"allowed-picked-up", ended("pickedup", views.Allowed, 12*time.Second, pickedUp)},
		{"allowed-reported", ended("reported", views.Allowed, 3*time.Minute, pickedUp, reported("succeeded"))},
		{"allowed-reported-failed", ended("failed", views.Allowed, 3*time.Minute, pickedUp, reported("failed"), note)},
		{"allowed-changed", ended("changed", views.Allowed, 40*time.Second, pickedUp, changedInput)},
		{"denied", ended("denied", views.Denied, 3*time.Hour, pickedUp, reported("failed"), reason)},
		{"answered", answered()},
		{"canceled", ended("canceled", views.CanceledEnd, 26*time.Hour, cause("Canceled because a newer message to the agent replaced it."))},
		{"canceled-question", canceledQuestion()},
		{"expired", ended("expired", views.Expired, time.Minute, cause("Nobody answered within 10 minutes."))},
		{"lost", ended("lost", views.Denied, 3*time.Second, reason, lost("Only on staging, and only after the backup."))},
		{"lost-expired", ended("lostexpired", views.Expired, 5*time.Second, cause("Nobody answered within 10 minutes."), lost())},
	}
}

func ended(name string, word views.EndWord, since time.Duration, change ...func(*views.Card)) views.Card {
	c := permission(name)
	end(&c, word, since)
	return changed(c, change)
}

func end(c *views.Card, word views.EndWord, since time.Duration) {
	c.State = views.Resolved
	c.End = &views.End{Word: word, At: before(since), Channel: "dashboard", By: display.Line("Dana Scully")}
	c.CreatedAt = c.End.At.Add(-4 * time.Minute)
	if word == views.CanceledEnd || word == views.Expired {
		c.State = views.Canceled
		c.End.By, c.End.Channel = display.Text{}, ""
	}
}

func pickedUp(c *views.Card) { c.Delivery.PickedUpAt = c.End.At.Add(2 * time.Second) }

func reported(outcome string) func(*views.Card) {
	return func(c *views.Card) {
		c.Delivery.ReportedAt, c.Delivery.Outcome = c.End.At.Add(50*time.Second), outcome
	}
}

func reason(c *views.Card) {
	c.End.Reason = display.Show("Use the staging machine: this one is building the release.")
}
func note(c *views.Card) { c.End.Note = display.Show("Go ahead, but stop after the first failure.") }

func changedInput(c *views.Card) {
	c.End.Instead = display.Show(`{"command":"rm -rf ./build/cache"}`)
	c.End.Changes = []views.DiffLine{
		{Op: views.DiffSame, Text: display.Show("{")},
		{Op: views.DiffOut, Text: display.Show(`  "command": "rm -rf ./build && npm run build"`)},
		{Op: views.DiffIn, Text: display.Show(`  "command": "rm -rf ./build/cache"`)},
		{Op: views.DiffSame, Text: display.Show("}")},
	}
	c.End.Remembered = display.Show(`[{"type":"addRules","destination":"localSettings"}]`)
}

func cause(sentence string) func(*views.Card) {
	return func(c *views.Card) { c.End.Cause = sentence }
}

func lost(typed ...string) func(*views.Card) {
	return func(c *views.Card) { c.Lost, c.Typed = true, typed }
}

func answered() views.Card {
	c := question("answered", database(), checks(), free())
	end(&c, views.Answered, 11*time.Minute)
	c.End.Answers = []views.AnswerLine{
		{Prompt: c.Questions[0].Prompt, Chosen: []display.Text{display.Line("PostgreSQL")}},
		{Prompt: c.Questions[1].Prompt, Chosen: []display.Text{display.Line("Unit tests"), display.Line("Only some of them")}, Text: display.Show("checkout and search")},
		{Prompt: c.Questions[2].Prompt, Chosen: []display.Text{display.Line("No")}},
	}
	for n, chosen := range [][]string{{"PostgreSQL"}, {"Unit tests", "Only some of them"}, {"No"}} {
		for o := range c.Questions[n].Options {
			option := &c.Questions[n].Options[o]
			option.Chosen = slices.Contains(chosen, option.Label.String())
		}
	}
	pickedUp(&c)
	return c
}

func canceledQuestion() views.Card {
	c := question("canceledquestion", database())
	end(&c, views.CanceledEnd, time.Hour)
	c.End.By, c.End.Cause = display.Line("Dana Scully"), "Canceled when the agent was stopped."
	return c
}
