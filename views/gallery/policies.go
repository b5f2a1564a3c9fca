package gallery

import (
	"time"

	"sayso/internal/display"
	"sayso/views"
)

func policies(adjust ...func(*views.Policies)) views.Policies {
	rule := func(r views.Ruling, what, where, pattern string) views.Rule {
		return views.Rule{Ruling: r, What: what, Where: display.Show(where), Pattern: display.Show(pattern)}
	}
	p := views.Policies{
		Page: frame("Approval policies", views.SectionSettings, 2), File: "/etc/sayso/sayso.yaml", ReadAt: now.Add(-3 * time.Hour),
		TestURL: "/projects/default/settings/policies",
		Agents: []views.AgentPolicy{
			{Key: "code-review", PermissionMode: "plan"},
			{Key: "swe", PermissionMode: "acceptEdits", Written: true, Default: views.RulingAsk, Rules: []views.Rule{
				rule(views.RulingDeny, "name", "", "git.push*"),
				rule(views.RulingDeny, "input has", "Bash: command", "rm -rf /*"),
				rule(views.RulingAsk, "name is exactly", "", "deploy"),
				rule(views.RulingAllow, "name", "", "cargo *"),
				rule(views.RulingAllow, "input has, as one command,", "Bash: command", "cargo test *"),
			}},
		},
	}
	p.LiveURL, p.CardsURL = "", ""
	for _, f := range adjust {
		f(&p)
	}
	return p
}

func tried(p *views.Policies) {
	p.Trial = views.Trial{Agent: "swe", Tool: "Bash", Input: `{"command":"rm -rf /home"}`, Ruling: views.RulingDeny, Why: "by an input rule", Pattern: display.Show("rm -rf /*")}
}

func brokenFile(p *views.Policies) {
	p.Problem, p.FailedAt = display.Line(`config: /etc/sayso/sayso.yaml: [4:7] unknown field "auto_alow"`), now.Add(-2*time.Minute)
	p.Trial = views.Trial{Agent: "swe", Problem: "Give a tool, or an action for a call without one."}
}

func noFile(p *views.Policies) { p.File, p.ReadAt, p.Agents = "", time.Time{}, nil }
