package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every decision is a plain form: without JavaScript all of it works by loading pages. Signing in and out is in signin_test.go.
func TestWithoutScript(t *testing.T) {
	t.Parallel()
	for _, d := range []device{phone.withoutScript(), desktop.withoutScript()} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			for _, story := range []struct {
				name string
				play func(*testing.T, *product, device)
			}{
				{"allow", scriptlessAllow},
				{"deny", scriptlessDeny},
				{"deny with a reason", scriptlessReason},
				{"question", scriptlessQuestion},
				{"lost race", scriptlessRace},
			} {
				t.Run(story.name, func(t *testing.T) { story.play(t, start(t), d) })
			}
		})
	}
}

func scriptlessAllow(t *testing.T, p *product, d device) {
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(d, "/")
	v.expect(shows(card(asked.ID, ".value"), "npm ci"))
	v.expect(shows(".top", "Reload to see what is new"))
	v.isAccessible()
	waiting := swe.waitsFor(asked)
	v.follow(card(asked.ID, "[data-allow]"))
	if got := verdict(waiting.ended()); got != "allowed" {
		t.Fatalf("the agent got %s", got)
	}
	if at, want := v.path(), swe.page()+"#interaction-"+asked.ID; at != want {
		t.Errorf("answering led to %s, want %s", at, want)
	}
	v.expect(shows(card(asked.ID, ".ended-word"), "Allowed"))
	v.isAccessible()
	v.reload() // sends nothing again
	v.expect(shows(card(asked.ID, ".ended-word"), "Allowed"))
}

func scriptlessDeny(t *testing.T, p *product, d device) {
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(d, swe.page())
	v.follow(card(asked.ID, "[data-deny]"))
	v.expect(shows(card(asked.ID, ".ended-word"), "Denied"))
	if now := verdict(p.asItIs(asked)); now != "denied: " {
		t.Errorf("recorded is %q", now)
	}
}

func scriptlessReason(t *testing.T, p *product, d device) {
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(d, permalink(asked))
	v.isAccessible()
	v.click(card(asked.ID, ".reveal-reason summary"))
	v.write(card(asked.ID, "[name=q0_text]"), "use yarn")
	v.isAccessible()
	v.loads(func() { v.press("\r") })
	v.expect(shows(card(asked.ID, ".ended-word"), "Denied"))
	if now := verdict(p.asItIs(asked)); now != "denied: use yarn" {
		t.Errorf("recorded is %q", now)
	}
	v.goTo(permalink(asked))
	v.expect(shows(card(asked.ID, ".facts"), "use yarn"))
	v.isAccessible()
}

func scriptlessQuestion(t *testing.T, p *product, d device) {
	bot := p.agent("release")
	asked := bot.asks(release)
	v := p.open(d, bot.page())
	v.isAccessible()
	v.mayComplain("status of 422")
	v.click(option(asked, 0, 1))
	v.click(option(asked, 2, 1))
	v.write(details(asked, 2), "Fox Mulder, on Monday")
	v.follow(card(asked.ID, "[data-submit]"))
	v.expect(shows(card(asked.ID, "[role=alert]"), "Choose an option for question 2. Nothing was recorded yet."))
	v.expect("document.getElementById('" + field(asked, 0, 1) + "').checked")
	v.expect("document.querySelector('" + details(asked, 2) + "').value === 'Fox Mulder, on Monday'")
	v.isAccessible()
	if now := p.asItIs(asked).State; now != "open" {
		t.Fatalf("an incomplete form made the request %s", now)
	}
	v.click(option(asked, 1, 0))
	v.click(option(asked, 1, 2))
	v.follow(card(asked.ID, "[data-submit]"))
	v.expect(shows(card(asked.ID, ".ended-word"), "Answered"))
	if diff := cmp.Diff(releaseAnswers, p.asItIs(asked).Resolution); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

func scriptlessRace(t *testing.T, p *product, d device) {
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm ci")
	v := p.open(d, swe.page())
	v.click(card(asked.ID, ".reveal-reason summary"))
	v.write(card(asked.ID, "[name=q0_text]"), "use yarn")
	p.choose(asked, "Fox Mulder", 0, "")
	v.follow(card(asked.ID, "[data-deny]"))
	v.expect(shows(card(asked.ID, ".notice-lost"), "Fox Mulder allowed this"))
	v.expect(shows(card(asked.ID, ".notice-lost"), "Your answer was not used."))
	v.expect(shows(card(asked.ID, ".typed-text"), "use yarn"))
	v.isAccessible()
	if now := verdict(p.asItIs(asked)); now != "allowed" {
		t.Errorf("the request is %s, want what came first", now)
	}
}
