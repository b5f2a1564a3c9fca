package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
)

// option selects the n-th option of a question of a card, as it is clicked: by its label.
func option(i api.Interaction, question, n int) string {
	return card(i.ID, "label[for='"+field(i, question, n)+"']")
}

// field is the id of an option's own element.
func field(i api.Interaction, question, n int) string {
	return i.ID + "-q" + string(rune('0'+question)) + "-" + string(rune('0'+n))
}

// details selects the text that goes with a question.
func details(i api.Interaction, question int) string {
	return card(i.ID, "[name=q"+string(rune('0'+question))+"_text]")
}

// releaseAnswers is what the stories below choose for [release].
var releaseAnswers = &api.Resolution{Answers: []api.Answer{
	{OptionIndices: []int{1}}, {OptionIndices: []int{0, 2}}, {OptionIndices: []int{1}, Text: "Fox Mulder, on Monday"},
}}

// A form of several questions is filled in at leisure: Submit says what is missing, and what was filled in survives a reload.
func TestQuestionForm(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		bot := p.agent("release")
		asked := bot.asks(release)
		v := p.open(d, bot.page())
		v.isLive()
		v.expect(shows(card(asked.ID, "h3"), "How should the release go out?"))
		v.expect(shows(card(asked.ID, ".option-about"), "Goes to 5% of users first."))
		v.expect("!document.querySelector('" + card(asked.ID, "input:checked") + "')") // nothing is chosen for the person
		v.expect(lacks(details(asked, 2)))
		v.isAccessible()

		v.click(card(asked.ID, "[data-submit]"))
		v.sees(shows(card(asked.ID, "fieldset:nth-of-type(1) .problem"), "Choose an option."))
		v.expect(shows(card(asked.ID, "fieldset:nth-of-type(2) .problem"), "Choose at least one option."))
		v.expect(shows(card(asked.ID, "fieldset:nth-of-type(3) .problem"), "Choose an option."))
		if at, want := v.focus(), "#"+field(asked, 0, 0); at != want {
			t.Errorf("the focus is at %s, want the first answer that is missing, %s", at, want)
		}
		v.isAccessible()

		v.click(option(asked, 0, 1))
		v.click(option(asked, 1, 0))
		v.click(option(asked, 1, 2))
		v.expect(lacks(card(asked.ID, "fieldset:nth-of-type(1) .problem")))
		v.click(option(asked, 2, 1))
		v.write(details(asked, 2), "Fox Mulder, on Monday")
		v.isAccessible()

		v.reload()
		v.isLive()
		for _, id := range []string{field(asked, 0, 1), field(asked, 1, 0), field(asked, 1, 2), field(asked, 2, 1)} {
			v.expect("document.getElementById(" + js(id) + ").checked")
		}
		v.expect("document.querySelector(" + js(details(asked, 2)) + ").value === 'Fox Mulder, on Monday'")

		waiting := bot.waitsFor(asked)
		v.click(card(asked.ID, "[data-submit]"))
		if diff := cmp.Diff(releaseAnswers, waiting.ended().Resolution); diff != "" {
			t.Fatalf("the agent got (-want +got):\n%s", diff)
		}
		v.sees(shows(card(asked.ID, ".ended-word"), "Answered"))
		v.expect(shows(card(asked.ID, ".facts"), "Fox Mulder, on Monday"))
		v.expect(shows(card(asked.ID, ".facts"), "Unit tests, Load test"))
		v.isAccessible()
		v.expect("!Object.keys(sessionStorage).some((key) => key.startsWith('sayso:draft:'))") // no draft is left behind
	})
}

// Enter in the details submits, as a person expects of a form.
func TestQuestionSubmittedByEnter(t *testing.T) {
	t.Parallel()
	p := start(t)
	bot := p.agent("release")
	asked := bot.asks(api.NewInteraction{Request: &api.Request{Title: "Which database?", Questions: []api.Question{
		{Prompt: "Which database?", Options: []api.Option{{Label: "PostgreSQL"}, {Label: "Other", AllowsText: true}}},
	}}})
	v := p.open(desktop, "/")
	v.isLive()
	v.click(option(asked, 0, 1))
	v.write(details(asked, 0), "SQLite\r")
	v.sees(shows(card(asked.ID, ".ended-word"), "Answered"))
	want := &api.Resolution{Answers: []api.Answer{{OptionIndices: []int{1}, Text: "SQLite"}}}
	if diff := cmp.Diff(want, p.asItIs(asked).Resolution); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// Text beside an option that was given up is hidden, and is not sent.
func TestTextOfAnotherOptionIsNotSent(t *testing.T) {
	t.Parallel()
	p := start(t)
	bot := p.agent("release")
	asked := bot.asks(release)
	v := p.open(desktop, bot.page())
	v.isLive()
	v.click(option(asked, 0, 0))
	v.click(option(asked, 1, 1))
	v.click(option(asked, 2, 1))
	v.write(details(asked, 2), "nobody")
	v.click(option(asked, 2, 0))
	v.sees(lacks(details(asked, 2)))
	v.click(card(asked.ID, "[data-submit]"))
	v.sees(shows(card(asked.ID, ".ended-word"), "Answered"))
	want := &api.Resolution{Answers: []api.Answer{{OptionIndices: []int{0}}, {OptionIndices: []int{1}}, {OptionIndices: []int{0}}}}
	if diff := cmp.Diff(want, p.asItIs(asked).Resolution); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
