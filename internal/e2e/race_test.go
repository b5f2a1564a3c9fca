package e2e

import (
	"testing"

	"sayso/internal/api"
)

// Two people answer at once. One wins; the other is told who it was and what they decided, and keeps what they typed.
func TestRace(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		asked := swe.wantsToRun("terraform apply")
		winner, loser := p.open(d, swe.page()), p.open(d, swe.page())
		winner.isLive()
		loser.isLive()
		loser.click(card(asked.ID, ".reveal-reason summary"))
		loser.write(card(asked.ID, "[name=q0_text]"), "not before the backup")
		release := loser.holdBack("/resolve") // the answer is on its way when the other one counts
		loser.press("\r")
		loser.sees("document.querySelector('" + card(asked.ID, "") + "').ariaBusy === 'true'")
		winner.click(card(asked.ID, "[data-allow]"))
		winner.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
		release()

		loser.sees(shows(card(asked.ID, ".notice-lost"), owner+" allowed this"))
		loser.expect(shows(card(asked.ID, ".notice-lost"), "Your answer was not used."))
		loser.expect(shows(card(asked.ID, ".typed-text"), "not before the backup"))
		loser.expect(has(card(asked.ID, "[data-copy-typed]")))
		loser.isAccessible()
		winner.isAccessible()
		if now := verdict(p.asItIs(asked)); now != "allowed" {
			t.Errorf("the request is %s, want what the winner said", now)
		}
	})
}

// Somebody is still typing when another person answers: the card ends in place and gives back what was typed.
func TestTypedInVain(t *testing.T) {
	t.Parallel()
	p := start(t)
	bot := p.agent("release")
	asked := bot.asks(release)
	v := p.open(desktop, bot.page())
	v.isLive()
	v.click(option(asked, 2, 1))
	v.write(details(asked, 2), "the whole team, next week")
	_, err := p.ruling.Resolve(t.Context(), bot.id, asked.ID, api.Resolve{
		Answers: []api.Answer{{OptionIndices: []int{0}}, {OptionIndices: []int{0}}, {OptionIndices: []int{0}}},
		Actor:   &api.External{ProviderUserID: "mulder", DisplayName: "Fox Mulder"},
	})
	must(t, err)
	v.sees(shows(card(asked.ID, ".ended-word"), "Answered"))
	v.expect(shows(card(asked.ID, ".ended-by"), "Fox Mulder"))
	v.expect(shows(card(asked.ID, ".typed-text"), "the whole team, next week"))
	v.isAccessible()
	v.click(card(asked.ID, "[data-copy-typed]"))
	v.sees("/Copied|Not copied/.test(document.querySelector('" + card(asked.ID, "[data-copy-word]") + "').textContent)")
}
