package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
)

// One click on Allow answers, and the agent that waits on the line has it.
func TestAllow(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		asked := swe.wantsToRun("npm run build")
		v := p.open(d, swe.page())
		v.isLive()
		waiting := swe.waitsFor(asked)
		v.click(card(asked.ID, "[data-allow]"))
		got := waiting.ended()
		if verdict(got) != "allowed" {
			t.Fatalf("the agent got %s, want allowed", verdict(got))
		}
		want := &api.Actor{Kind: "user", Name: owner, Channel: "dashboard"}
		if diff := cmp.Diff(want, got.ResolvedBy); diff != "" {
			t.Errorf("the agent is told who answered (-want +got):\n%s", diff)
		}
		v.sees(shows(card(asked.ID, ".ended-word"), "Allowed"))
		v.expect(shows(card(asked.ID, ".ended-by"), owner))
		v.sees(shows(card(asked.ID, ".ticks"), "Picked up by the agent at once"))
		v.expect(shows(card(asked.ID, ".ticks"), "Recorded"))
		v.isAccessible()
		v.reload()
		v.expect(shows(".timeline "+card(asked.ID, ".ended-line"), "Allowed"))
		v.expect(shows(".timeline "+card(asked.ID, ".ended-line"), "Picked up"))
		v.isAccessible()
	})
}

// A note may go with Allow; the agent gets it with the answer. Enter in its field does nothing.
func TestAllowWithNote(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		asked := swe.wantsToRun("npm run deploy")
		v := p.open(d, swe.page())
		v.isLive()
		waiting := swe.waitsFor(asked)
		v.click(card(asked.ID, ".reveal-more summary"))
		v.write(card(asked.ID, "[name=note]"), "only to staging")
		v.isAccessible()
		v.press("\r")
		v.expect("document.querySelector('" + card(asked.ID, "") + "').ariaBusy !== 'true'")
		v.click(card(asked.ID, "[data-allow-with]"))
		got := waiting.ended()
		if verdict(got) != "allowed" || got.Decision == nil || got.Decision.Note != "only to staging" || got.Decision.UpdatedInput != nil {
			t.Fatalf("the agent got %s with %+v, want allowed with the note", verdict(got), got.Decision)
		}
		v.sees(shows(card(asked.ID, ".facts"), "only to staging"))
		v.isAccessible()
	})
}

// Until its agent comes for it, an answer says that it is recorded and no more.
func TestAnswerNotPickedUp(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	asked := swe.wantsToRun("npm run build")
	v := p.open(desktop, "/")
	v.isLive()
	v.click(card(asked.ID, "[data-deny]"))
	v.sees(shows(card(asked.ID, ".ended-word"), "Denied"))
	v.expect(shows(card(asked.ID, ".delivery"), "Recorded"))
	v.expect(shows(card(asked.ID, ".ticks"), "Picked up by the agent not yet"))
	v.isAccessible()
	swe.waitsFor(asked).ended()
	v.sees(shows(card(asked.ID, ".delivery"), "Picked up"))
	v.sees(holdsText(card(asked.ID, ".ticks"), "Picked up by the agent"))
	v.expect(lacks(card(asked.ID, ".tick:nth-child(2):not(.tick-done)")))
}

// Deny answers by one click too, and needs no reason.
func TestDeny(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		asked := swe.wantsToRun("terraform destroy")
		v := p.open(d, "/")
		v.isLive()
		v.isAccessible()
		waiting := swe.waitsFor(asked)
		v.click(card(asked.ID, "[data-deny]"))
		if got := verdict(waiting.ended()); got != "denied: " {
			t.Fatalf("the agent got %q, want a denial without a reason", got)
		}
		v.sees(shows(card(asked.ID, ".ended-word"), "Denied"))
		v.sees(shows(card(asked.ID, ".ticks"), "Picked up by the agent"))
		v.isAccessible()
	})
}

// A reason goes to the agent with the denial. Enter in its field sends both, and whatever is pressed there, nothing is allowed.
func TestDenyWithReason(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) {
		p := start(t)
		swe := p.agent("swe")
		asked := swe.wantsToRun("psql -c 'drop table users'")
		v := p.open(d, swe.page())
		v.isLive()
		waiting := swe.waitsFor(asked)
		v.click(card(asked.ID, ".reveal-reason summary"))
		v.write(card(asked.ID, "[name=q0_text]"), "Use the staging database, and keep the users table.")
		v.isAccessible()
		v.press("\r")
		if got := verdict(waiting.ended()); got != "denied: Use the staging database, and keep the users table." {
			t.Fatalf("the agent got %q", got)
		}
		v.sees(shows(card(asked.ID, ".ending, .facts"), "Use the staging database, and keep the users table."))
		v.isAccessible()
	})
}

// Enter in an empty reason denies as well: the only button of its form is Deny.
func TestEnterInReasonNeverAllows(t *testing.T) {
	t.Parallel()
	p := start(t)
	swe := p.agent("swe")
	for _, d := range []device{desktop, desktop.withoutScript()} {
		t.Run(d.name, func(t *testing.T) {
			asked := swe.wantsToRun("make deploy")
			v := p.openOn(t, d, permalink(asked))
			v.click(card(asked.ID, ".reveal-reason summary"))
			v.click(card(asked.ID, "[name=q0_text]"))
			if d.scriptless {
				v.loads(func() { v.press("\r") })
			} else {
				v.press("\r")
			}
			v.sees(shows(card(asked.ID, ".ended-word"), "Denied"))
			if now := verdict(p.asItIs(asked)); now != "denied: " {
				t.Errorf("Enter in the reason made it %q", now)
			}
		})
	}
}
