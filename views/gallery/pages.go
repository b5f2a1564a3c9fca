package gallery

import (
	"time"

	"github.com/a-h/templ"

	"sayso/internal/display"
	"sayso/views"
)

func pages() []Sample {
	return append([]Sample{
		page("page-inbox", views.InboxPage(inbox())),
		page("page-inbox-empty", views.InboxPage(views.Inbox{Page: frame("Inbox", views.SectionInbox, 0), DemoURL: "/demo"})),
		page("page-inbox-more", views.InboxPage(inboxOfMany())),
		page("page-agents", views.AgentsPage(agents())),
		page("page-agents-empty", views.AgentsPage(views.Agents{Page: frame("Agents", views.SectionAgents, 0)})),
		page("page-conversation", views.ConversationPage(conversation())),
		page("page-conversation-empty", views.ConversationPage(views.Conversation{Page: frame("swe", views.SectionAgents, 0), Agent: swe(), Composer: composer(0)})),
		page("page-conversation-waiting", views.ConversationPage(conversation(func(c *views.Conversation) { c.Waiting, c.Cards, c.Composer = waiting(), nil, composer(0) }))),
		page("page-conversation-problem", views.ConversationPage(conversation(func(c *views.Conversation) {
			c.Composer.Problem, c.Composer.Text = "The message is longer than 20,000 characters. Nothing was sent.", "Please have a look at\nthis."
		}))),
		page("page-conversation-read-only", views.ConversationPage(conversation(readOnly))),
		page("page-conversation-archived", views.ConversationPage(conversation(archived))),
		page("page-conversation-older", views.ConversationPage(conversation(func(c *views.Conversation) { c.NewestURL = c.Agent.URL }))),
		page("page-conversation-long", views.ConversationPage(conversation(func(c *views.Conversation) { c.Timeline = manyEntries() }))),
		page("page-interaction", views.InteractionPageView(interaction(permission("page")))),
		page("page-interaction-ended", views.InteractionPageView(interaction(ended("pageended", views.Denied, 3*time.Minute, pickedUp, reason)))),
		page("page-policies", views.PoliciesPage(policies())),
		page("page-policies-tried", views.PoliciesPage(policies(tried))),
		page("page-policies-broken", views.PoliciesPage(policies(brokenFile))),
		page("page-policies-empty", views.PoliciesPage(policies(noFile))),
		page("page-verify", views.VerifyPage(verify(nil))),
		page("page-verify-fits", views.VerifyPage(verify(fits()))),
		page("page-verify-restored", views.VerifyPage(verify(fits("restored on 2026-11-30 at 09:30 UTC from a backup that ends at entry 1100; 12 entries after it are gone")))),
		page("page-verify-tampered", views.VerifyPage(verify(tampered()))),
		page("page-verify-heads", views.VerifyPage(verify(rolledBack()))),
		page("page-audit", views.AuditPage(audit())),
		page("page-audit-many", views.AuditPage(audit(manyMore))),
		page("page-audit-filtered-empty", views.AuditPage(audit(nothingFound))),
		page("page-changes", views.ChangesPage(changes())),
		page("page-changes-empty", views.ChangesPage(views.Changes{Page: frame("Changes of the settings", views.SectionAudit, 0)})),
		page("page-audit-empty", views.AuditPage(audit(nothingYet))),
		page("page-keys", views.KeysPage(keys())),
		page("page-keys-made", views.KeysPage(keys(madeKey))),
		page("page-keys-made-before", views.KeysPage(keys(madeBefore))),
		page("page-keys-problem", views.KeysPage(keys(noKey))),
		page("page-keys-empty", views.KeysPage(keys(noKeys))),
		page("page-embeds", views.EmbedsPage(embeds())),
		page("page-embeds-empty", views.EmbedsPage(embeds(noEmbeds))),
		page("page-embeds-problem", views.EmbedsPage(embeds(refusedEmbed))),
		page("page-setup-first", views.SetupPage(views.Setup{Page: outside("Welcome"), Code: "code", First: true})),
		page("page-setup", views.SetupPage(views.Setup{Page: outside("Welcome"), Code: "code"})),
		page("page-signin", views.SignInPage(views.SignIn{Page: outside("Sign in")})),
		page("page-signin-password", views.SignInPage(views.SignIn{Page: outside("Sign in"), Password: true})),
		page("page-signin-refused", views.SignInPage(views.SignIn{Page: outside("Sign in"), Password: true, Email: "dana@example.com", Problem: "That email and password do not match."})),
		page("page-invitation", views.InvitationPage(invitation())),
		page("page-invitation-refused", views.InvitationPage(invitation(refusedInvitation))),
		page("page-invitation-signed-in", views.InvitationPage(invitation(func(i *views.Invitation) { i.Account = "Fox Mulder" }))),
		page("page-members", views.MembersPage(members())),
		page("page-members-invited", views.MembersPage(members(justInvited))),
		page("page-members-refused", views.MembersPage(members(refusedMember))),
		page("page-members-alone", views.MembersPage(members(func(m *views.Members) { m.Rows, m.Invitations = m.Rows[:1], nil }))),
		page("page-account", views.AccountPage(account())),
		page("page-account-refused", views.AccountPage(account(refusedAccount))),
		page("page-account-no-email", views.AccountPage(account(func(a *views.Account) { a.Email, a.HasEmail, a.HasPassword = "", false, false }))),
		page("page-account-no-project", views.AccountPage(account(func(a *views.Account) { a.Project, a.ProjectName, a.Projects, a.MayFound = "", "", nil, false }))),
		page("page-orgs", views.OrgsPage(orgs())),
		page("page-orgs-refused", views.OrgsPage(orgs(refusedOrg))),
		page("page-inbox-of-several", views.InboxPage(views.Inbox{Page: several(frame("Inbox", views.SectionInbox, 0))})),
		page("page-signed-out", views.SignInPage(views.SignIn{Page: outside("Sign in"), SignedOut: true})),
		page("page-signin-provider", views.SignInPage(views.SignIn{Page: outside("Sign in"), Provider: "Acme"})),
		page("page-signin-leave", views.LeavePage(views.Leave{Page: outside("Sign in"), Provider: "Acme", URL: "https://id.example.com/auth?state=x"})),
		page("page-signin-failed", views.SignInFailedPage(views.SignInFailed{Page: outside("Sign in"), Provider: "Acme", Message: "This sign-in took longer than ten minutes. Start again."})),
		page("page-error-404", views.ErrorPageView(views.ErrorPage{Page: frame("Not found", views.SectionNone, 0), Status: 404, Heading: "There is nothing here", Message: "It may have been moved, or it belongs to a project that you cannot see."})),
		page("page-error-500", views.ErrorPageView(views.ErrorPage{Page: outside("Error"), Status: 500, Heading: "Something went wrong here", Message: "It was logged. Nothing was recorded for what you just did; try it again."})),
	}, frames()...)
}

func page(name string, component templ.Component) Sample {
	return Sample{Name: name, Component: component, Whole: true}
}

func frame(title string, section views.Section, open int) views.Page {
	p := outside(title)
	p.Section, p.Open, p.Project, p.User = section, open, "default", "Dana Scully"
	p.ProjectName, p.MayAudit, p.MayManage = "Default", true, true
	p.LiveURL, p.CardsURL = "/projects/default/live", "/projects/default/cards"
	return p
}

func outside(title string) views.Page {
	return views.Page{Title: title, Now: now, Command: "sayso --data /var/lib/sayso"}
}

func inbox() views.Inbox {
	second := views.Group{AgentID: "agt_samplereview", Agent: display.Line("code-review"), AgentURL: "/projects/default/agents/agt_samplereview",
		Cards: []views.Card{question("inboxquestion", database())}}
	second.Cards[0].AgentID, second.Cards[0].Agent = second.AgentID, second.Agent
	return views.Inbox{Page: frame("Inbox", views.SectionInbox, 3), Groups: []views.Group{group("inbox", 2), second}}
}

func inboxOfMany() views.Inbox {
	in := inbox()
	in.More, in.Open = 240, 243
	return in
}

func swe() views.AgentRow {
	return views.AgentRow{Name: display.Line("swe"), Key: "swe", URL: "/projects/default/agents/agt_sampleswe", Open: 2, LastSeen: before(9 * time.Second), LongestWait: 4 * time.Minute}
}

func agents() views.Agents {
	return views.Agents{
		Page:     frame("Agents", views.SectionAgents, 2),
		Archived: true,
		Rows: []views.AgentRow{
			swe(),
			{Name: display.Line("Nightly release"), Key: "release", URL: "/projects/default/agents/agt_samplerelease", LastSeen: before(7 * time.Hour)},
			{Name: display.Line("code-review"), Key: "code-review", URL: "/projects/default/agents/agt_samplereview"},
			{Name: display.Line("old one"), Key: "old", URL: "/projects/default/agents/agt_sampleold", Archived: true, LastSeen: before(40 * 24 * time.Hour)},
		},
		NextURL: "/projects/default/agents?after=agt_sampleold",
	}
}

func conversation(change ...func(*views.Conversation)) views.Conversation {
	c := views.Conversation{
		Page:     frame("swe", views.SectionAgents, 2),
		Agent:    swe(),
		OlderURL: "/projects/default/agents/agt_sampleswe?before=120",
		Timeline: talk(),
		Cards:    []views.Card{permission("talk5", warned), question("talk6", checks())},
		Waiting:  views.Waiting{CanWrite: true, Now: now},
		Composer: composer(2),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// readOnly is a conversation for somebody who may look and not answer.
func readOnly(c *views.Conversation) {
	c.Composer, c.Waiting = nil, waiting()
	c.Waiting.CanWrite = false
	for n := range c.Cards {
		c.Cards[n].ReadOnly = true
	}
}

func archived(c *views.Conversation) {
	c.Agent.Archived, c.Composer, c.Cards = true, nil, nil
	c.Timeline = append(c.Timeline, entry(func(e *views.Entry) {
		e.Sequence, e.Divider = 200, &views.Divider{Word: "Archived", By: display.Line("Dana Scully"), Canceled: 2}
	}))
}

func interaction(c views.Card) views.InteractionPage {
	p := views.InteractionPage{
		Page: frame("Request", views.SectionNone, 1),
		Card: c,
		History: []views.HistoryItem{
			{At: c.CreatedAt, What: "Created", Who: display.Line("swe")},
			{At: c.CreatedAt.Add(time.Second), What: "Shown in the dashboard"},
		},
		Record:  display.Show("{\n  \"id\": \"" + c.ID + "\",\n  \"state\": \"" + string(c.State) + "\"\n}"),
		JSONURL: "/api/v1/projects/default/agents/agt_sampleswe/interactions/" + c.ID,
	}
	if c.End != nil {
		p.History = append(p.History, views.HistoryItem{At: c.End.At, What: c.End.Word.Title(), Who: c.End.By})
	}
	return p
}
