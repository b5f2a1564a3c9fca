package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
)

// The owner invites somebody, who makes an account, looks on, is made an approver while the page is open, and answers from it. Then the password
// signs them in again.
func TestInvitation(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		asked := swe.wantsToRun("npm publish")
		dana := p.open(d, "/projects/default/settings/members")
		dana.isAccessible()
		dana.write("#invite-note", "Fox, from the night shift")
		dana.follow("form[action$='/invitations'] button")
		dana.expect(shows(".notice-new", "Viewer, for Fox, from the night shift"))
		dana.isAccessible()
		dana.fits()
		link := read[string](dana, "document.querySelector('.notice-new .typed-text').textContent")

		fox := p.visit(d)
		fox.beforeScripts(noteArrivals)
		for range 2 { // looking uses nothing up
			fox.goToURL(link)
			fox.expect(shows("h1", "You are invited to Default"))
		}
		fox.isAccessible()
		fox.fits()
		fox.write("#invite-name", "Fox Mulder")
		fox.write("#invite-email", "fox@example.com")
		fox.write("#invite-password", "correct horse battery")
		fox.write("#invite-again", "correct horse battery")
		fox.follow("form[action$='/invite'] button")
		fox.isLive()
		fox.expect(shows(card(asked.ID, ".value"), "npm publish"))
		fox.expect(lacks(card(asked.ID, "[data-allow]")))
		fox.isAccessible()

		dana.goTo("/projects/default/settings/members")
		dana.run("document.querySelector('.role-form select').value = 'approver'")
		dana.follow(".role-form button")
		fox.sees(has(card(asked.ID, "[data-allow]")))
		waiting := swe.waitsFor(asked)
		fox.ready(asked.ID)
		fox.click(card(asked.ID, "[data-allow]"))
		got := waiting.ended()
		if diff := cmp.Diff(&api.Actor{Kind: "user", Name: "Fox Mulder", Channel: "dashboard"}, got.ResolvedBy); diff != "" || verdict(got) != "allowed" {
			t.Fatalf("the agent got %s (-want +got):\n%s", verdict(got), diff)
		}

		again := p.visit(d)
		again.goTo("/signin")
		again.isAccessible()
		again.fits()
		again.write("#signin-email", "fox@example.com")
		again.write("#signin-password", "correct horse battery")
		again.follow("form[action$='/signin'] button")
		again.expect(shows("h1", "Inbox"))
		again.goTo("/account")
		again.expect(shows(".tag", "this one"))
		again.isAccessible()
		again.fits()
	})
}
