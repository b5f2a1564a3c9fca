package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
	"sayso/internal/policy"
)

// Policies gives the approval policies as they are now. It implements [interaction.Decider].
type Policies func() policy.Reading

// reading is what is in force; a server that was given no policies has none.
func (p Policies) reading() policy.Reading {
	if p == nil {
		return policy.Reading{}
	}
	return p()
}

// Decide says what an agent's policy makes of a call.
func (p Policies) Decide(in interaction.Project, agentKey string, call interaction.ToolCall) interaction.Verdict {
	c := policy.Call{Tool: call.Name, Input: call.Input}
	e := p.reading().Set.Decide(in.PolicyKey(), agentKey, c)
	if e.Source == policy.NoPolicy {
		return interaction.Verdict{}
	}
	return interaction.Verdict{
		Ruling: interaction.Ruling(e.Decision), Source: string(e.Source), Pattern: e.Pattern, Subject: c.Subject(), Message: e.Message(agentKey),
	}
}

func (s *Server) listPolicies(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	reading, err := s.policiesFor(c)
	if err != nil {
		return err
	}
	out := api.Policies{Config: wireConfig(reading)}
	out.Data = []api.AgentPolicy{}
	for _, key := range slices.Sorted(maps.Keys(reading.Set[in.PolicyKey()])) {
		out.Data = append(out.Data, wirePolicy(key, reading.Set[in.PolicyKey()][key]))
	}
	return c.JSON(http.StatusOK, out)
}

// policiesFor are the policies, for leads and for keys that read: whoever knows the rules knows how to get past the people.
func (s *Server) policiesFor(c echo.Context) (policy.Reading, error) {
	who := principal(c)
	if !who.Can(interaction.ScopeAudit) && (who.Kind != interaction.OperatorPrincipal || !who.Can(interaction.ScopeRead)) {
		return policy.Reading{}, interaction.Errorf(interaction.Forbidden, "Policies are for leads and admins of the project.")
	}
	return s.config.Policies.reading(), nil
}

func wireConfig(r policy.Reading) api.PolicyConfig {
	out := api.PolicyConfig{File: r.File, Error: r.Err}
	if !r.At.IsZero() {
		out.LoadedAt = &api.Time{Time: r.At}
	}
	if !r.FailedAt.IsZero() {
		out.FailedAt = &api.Time{Time: r.FailedAt}
	}
	return out
}

func wirePolicy(key string, a policy.Agent) api.AgentPolicy {
	out := api.AgentPolicy{Agent: key, PermissionMode: a.PermissionMode}
	p := a.Policy
	if p == nil {
		return out
	}
	out.ApprovalPolicy = &api.ApprovalPolicy{
		AutoAllow: listed(p.AutoAllow), AutoDeny: listed(p.AutoDeny), Default: string(cmp.Or(p.Default, policy.Ask)),
		InputRules: convert(p.InputRules, func(r policy.InputRule) api.InputRule { return api.InputRule(r) }),
		Tools:      map[string]api.Tool{},
	}
	for name, mode := range p.Tools {
		out.ApprovalPolicy.Tools[name] = api.Tool{Permission: api.ToolPermission{Mode: string(mode)}}
	}
	return out
}

// listed is a list that is written as one even when it is empty.
func listed(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
