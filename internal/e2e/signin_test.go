package e2e

import (
	"strings"
	"testing"
)

// A one-time link signs somebody in by one click. Opening it uses nothing up, so a program that follows links before a person does
// takes nothing away.
func TestSignIn(t *testing.T) {
	everyDevice(t, func(t *testing.T, d device) { signIn(t, startFresh(t), d) })
	for _, d := range []device{phone.withoutScript(), desktop.withoutScript()} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			signIn(t, startFresh(t), d)
		})
	}
}

func signIn(t *testing.T, p *product, d device) {
	v := p.visit(d)
	v.goTo("/")
	if at := v.path(); at != p.config.BasePath+"/signin" {
		t.Fatalf("a page for somebody signed out led to %s, want the sign-in page", at)
	}
	v.isAccessible()
	for range 2 {
		v.goToURL(p.link)
		v.expect(shows("h1", "Welcome to Sayso"))
	}
	v.isAccessible()
	v.follow("form button")
	if at := v.path(); at != p.config.BasePath+"/" {
		t.Fatalf("signing in led to %s, want the inbox", at)
	}
	v.expect(shows("h1", "Inbox"))
	if !d.scriptless {
		v.sees(shows("[data-group] h2", "Demo agent")) // the first to sign in is asked something at once
	}
	v.isAccessible()

	again := p.visit(d)
	again.mayComplain("status of 403")
	again.goToURL(p.link)
	again.expect(shows("main", "This link was used already or is too old. Run `"))
	again.expect(shows("main", "signin-link` for a new one."))
	again.isAccessible()

	v.click(".account summary")
	v.expect(has(".account-menu form button"))
	v.isAccessible()
	v.follow(".account-menu form button")
	v.expect(shows("[role=status]", "You are signed out."))
	for _, path := range []string{"/", "/projects/default/agents"} {
		v.goTo(path)
		if at := v.path(); !strings.HasPrefix(at, p.config.BasePath+"/signin") {
			t.Errorf("%s led to %s after signing out, want the sign-in page", path, at)
		}
	}
}
