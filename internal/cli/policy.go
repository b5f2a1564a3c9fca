package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sayso/internal/api"
	"sayso/internal/policy"
	"sayso/internal/server"
)

func (p *program) policyGroup() *cobra.Command {
	cmd := group("policy", "What agents may do without asking: `policy test`")
	cmd.AddCommand(p.policyTest())
	return cmd
}

// trial is a call that is held against a policy.
type trial struct {
	config, project, agent, tool, action, input string
}

// tried is the data of a test.
type tried struct {
	Decision string `json:"decision"`
	Source   string `json:"source"`
	Pattern  string `json:"pattern,omitempty"`
}

func (p *program) policyTest() *cobra.Command {
	var t trial
	cmd := &cobra.Command{
		Use:   "test --agent KEY (--tool NAME [--input JSON] | --action TEXT)",
		Short: "Say what would become of a tool call, and why",
		Long: `Say what would become of a tool call of an agent: allow, deny, or ask a person. The pattern that decides is told too. Nothing is asked
and nothing is recorded.

With --config the policies are those of that file, and no server is needed; without, those in force on the server.

Exit codes: 0 answered, whatever the answer, 2 bad input, 5 no server.`,
		Example: `  sayso policy test --config sayso.yaml --agent swe --tool Bash --input '{"command":"cargo test -p shop"}'
  sayso policy test --agent swe --action git.push`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			call, err := p.trialCall(&t)
			if err != nil {
				return err
			}
			set, err := p.policies(cmd.Context(), t)
			if err != nil {
				return err
			}
			return p.printTrial(set.Decide(t.project, t.agent, call))
		},
	}
	f := cmd.Flags()
	f.StringVar(&t.config, "config", "", "configuration file to look into, in place of asking the server")
	f.StringVar(&t.project, "project", "default", "slug of the project")
	f.StringVar(&t.agent, "agent", "", "key of the agent")
	_ = cmd.RegisterFlagCompletionFunc("agent", p.completeAgents())
	f.StringVar(&t.tool, "tool", "", "name of the tool")
	f.StringVar(&t.action, "action", "", "what it is about, for a call without a tool")
	f.StringVar(&t.input, "input", "", "the tool's input, a JSON object; - reads standard input")
	return cmd
}

func (p *program) trialCall(t *trial) (call policy.Call, err error) {
	if strings.TrimSpace(t.agent) == "" {
		return call, badInput("`sayso agents` lists their keys", "--agent: must be given, for example --agent swe")
	}
	call = policy.Call{Tool: t.tool, Action: t.action}
	if strings.TrimSpace(call.Subject()) == "" {
		return call, badInput("", "--tool: must be given, for example --tool Bash; or --action, for a call without a tool")
	}
	if t.input == "-" {
		if t.input, err = p.readStdin("--input", inputMost); err != nil {
			return call, err
		}
	}
	if t.input == "" {
		return call, nil
	}
	call.Input = json.RawMessage(t.input)
	return call, checkObject("--input", t.input)
}

// policies are those of the file that was named, else those in force on the server.
func (p *program) policies(ctx context.Context, t trial) (policy.Set, error) {
	if t.config != "" {
		set, err := server.ReadPolicies(t.config)
		if err != nil {
			return nil, badInput("", "--%s", err)
		}
		return set, nil
	}
	o, err := p.operator()
	if err != nil {
		return nil, err
	}
	o.Project = t.project
	told, err := o.Policies(ctx)
	if err != nil {
		return nil, o.missed(err)
	}
	if told.Config.Error != "" {
		o.notice("warning: the server has not taken its configuration file as it is now: %s", told.Config.Error)
	}
	agents := map[string]policy.Agent{}
	for _, a := range told.Data {
		agents[a.Agent] = policy.Agent{PermissionMode: a.PermissionMode, Policy: policyOf(a.ApprovalPolicy)}
	}
	return policy.Set{t.project: agents}, nil
}

// policyOf is a policy as it came over the wire.
func policyOf(p *api.ApprovalPolicy) *policy.Policy {
	if p == nil {
		return nil
	}
	out := &policy.Policy{AutoAllow: p.AutoAllow, AutoDeny: p.AutoDeny, Default: policy.Decision(p.Default), Tools: map[string]policy.Mode{}}
	for _, r := range p.InputRules {
		out.InputRules = append(out.InputRules, policy.InputRule(r))
	}
	for name, tool := range p.Tools {
		out.Tools[name] = policy.Mode(tool.Permission.Mode)
	}
	return out
}

func (p *program) printTrial(e policy.Explanation) error {
	if p.json {
		return p.success(tried{string(e.Decision), string(e.Source), e.Pattern})
	}
	line := string(e.Decision) + ": " + string(e.Source)
	if e.Pattern != "" {
		line += " " + strconv.Quote(e.Pattern)
	}
	return p.resultLine(line)
}

// ruled is the result of a request that a policy decided: nobody was asked.
type ruled struct {
	Policy   api.PolicyDecision `json:"policy"`
	Decision string             `json:"decision"`
	Message  string             `json:"message"`
}

func (p *program) ruled(d api.PolicyDecision) error {
	if p.json {
		if err := p.success(ruled{d, d.Decision, d.Message}); err != nil {
			return err
		}
	} else if err := p.printRuled(d); err != nil {
		return err
	}
	if d.Decision != "allow" {
		return ended(exitDenied)
	}
	return nil
}

func (p *program) printRuled(d api.PolicyDecision) error {
	if d.Decision != "allow" {
		return p.resultLine("deny: " + d.Message)
	}
	p.notice("%s", d.Message)
	return p.resultLine("allow")
}
