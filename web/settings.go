package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/policy"
	"sayso/views"
)

// policiesPage shows the policies that are in force, and what would become of the call in the query.
func (s *Server) policiesPage(c echo.Context) error {
	q := queryOf(c, "agent", "tool", "action", "input")
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	reading, err := s.policiesFor(c)
	if err != nil {
		return err
	}
	page, err := s.pageIn(c, in, "Approval policies", views.SectionSettings)
	if err != nil {
		return err
	}
	agents := reading.Set[in.PolicyKey()]
	model := views.Policies{
		Page: page, File: reading.File, ReadAt: reading.At, Problem: display.Line(reading.Err), FailedAt: reading.FailedAt,
		TestURL: s.presenter(in, principal(c)).url("/settings/policies"), Trial: trialOf(q, agents),
	}
	for _, key := range slices.Sorted(maps.Keys(agents)) {
		model.Agents = append(model.Agents, agentPolicy(key, agents[key]))
	}
	return s.render(c, views.PoliciesPage(model))
}

// trialOf is the call that was typed, and what becomes of it.
func trialOf(q *query, agents map[string]policy.Agent) views.Trial {
	t := views.Trial{Agent: q.text("agent"), Tool: q.text("tool"), Action: q.text("action"), Input: q.text("input")}
	if !q.has("agent") {
		return t
	}
	call := policy.Call{Tool: t.Tool, Action: t.Action}
	if text := strings.TrimSpace(t.Input); text != "" {
		call.Input = json.RawMessage(text)
	}
	switch {
	case strings.TrimSpace(t.Agent) == "":
		t.Problem = "Give the key of an agent."
	case strings.TrimSpace(call.Subject()) == "":
		t.Problem = "Give a tool, or an action for a call without one."
	case call.Input != nil && (call.Input[0] != '{' || !json.Valid(call.Input)):
		t.Problem = "The input must be a JSON object, such as {\"command\":\"make\"}."
	default:
		e := agents[strings.TrimSpace(t.Agent)].Policy.Decide(call)
		t.Ruling, t.Why, t.Pattern = views.Ruling(e.Decision), why(e), display.Show(e.Pattern)
	}
	return t
}

func why(e policy.Explanation) string {
	switch {
	case e.Source == policy.NoPolicy:
		return "because no policy applies"
	case e.Source == policy.ByDefault && e.Pattern == "":
		return "by the policy's default: no rule matches"
	case e.Source == policy.ByDefault:
		return "by the mode of the tool"
	case e.Source == policy.InputRules:
		return "by an input rule"
	}
	return "by " + string(e.Source)
}

// agentPolicy is a policy as the page lists it: in the order in which its rules win.
func agentPolicy(key string, a policy.Agent) views.AgentPolicy {
	out := views.AgentPolicy{Key: key, PermissionMode: a.PermissionMode, Written: a.Policy != nil}
	if a.Policy == nil {
		return out
	}
	p := a.Policy
	out.Default = views.Ruling(cmp.Or(p.Default, policy.Ask))
	add := func(r views.Ruling, what, where string, patterns ...string) {
		for _, pattern := range patterns {
			out.Rules = append(out.Rules, views.Rule{Ruling: r, What: what, Where: display.Show(where), Pattern: display.Show(pattern)})
		}
	}
	tools := func(r views.Ruling, mode policy.Mode) {
		for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
			if p.Tools[name] == mode {
				add(r, "name is exactly", "", name)
			}
		}
	}
	add(views.RulingDeny, "name", "", p.AutoDeny...)
	tools(views.RulingDeny, policy.AlwaysDeny)
	for _, r := range p.InputRules {
		add(views.RulingDeny, "input has", r.Tool+": "+r.Field, r.Deny...)
	}
	tools(views.RulingAsk, policy.AlwaysAsk)
	add(views.RulingAllow, "name", "", p.AutoAllow...)
	tools(views.RulingAllow, policy.AlwaysAllow)
	for _, r := range p.InputRules {
		add(views.RulingAllow, "input has, as one command,", r.Tool+": "+r.Field, r.Allow...)
	}
	return out
}
