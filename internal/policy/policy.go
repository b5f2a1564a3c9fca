// Package policy says which tool calls of an agent a person is asked about, and which are decided without: by what an operator wrote down
// beforehand.
//
// A [Policy] belongs to one agent. [Policy.Decide] takes a [Call] and gives an [Explanation]: allow, deny or ask, and which rule said so. The
// rules, in the order in which they win:
//
//  1. deny: a pattern of AutoDeny, a tool whose mode is [AlwaysDeny], a deny pattern of an [InputRule]
//  2. ask: a tool whose mode is [AlwaysAsk]
//  3. allow: a pattern of AutoAllow, a tool whose mode is [AlwaysAllow], an allow pattern of an input rule
//  4. Default, which is ask when it is missing
//
// No policy at all asks, and what is itself a question to a person never meets one. Whatever is unclear asks too: what an input rule cannot read it does not allow.
//
// Patterns are those of [Match]. AutoAllow, AutoDeny and the modes of tools look at the subject of a call alone: its tool's name, or what it
// is about when it has none. Only input rules look inside the input, and there an allow pattern never covers a second command that is
// hidden behind a shell's operators.
//
// The package does no I/O and imports the standard library only. Where policies come from, who asks it, and what is recorded of its decisions
// is elsewhere.
package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Decision is what becomes of a call.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask" // a person decides
)

// Mode is what the policy says of one tool, by its exact name.
type Mode string

// The modes.
const (
	AlwaysAllow Mode = "always_allow"
	AlwaysAsk   Mode = "always_ask"
	AlwaysDeny  Mode = "always_deny"
)

// Source is which part of a policy decided.
type Source string

// The sources. A tool's mode counts as AutoDeny, AutoAllow or, when it is to be asked about, as that tool's own Default, with its name as pattern.
const (
	AutoDeny   Source = "auto_deny"
	AutoAllow  Source = "auto_allow"
	InputRules Source = "input_rule"
	ByDefault  Source = "default"
	NoPolicy   Source = "no_policy"
)

// Policy is what an operator wrote down for one agent. A nil Policy is none.
type Policy struct {
	AutoAllow  []string
	AutoDeny   []string
	Default    Decision // "": Ask
	InputRules []InputRule
	Tools      map[string]Mode
}

// Call is a tool call as far as policies look at it.
type Call struct {
	Tool   string
	Action string          // what a call without a tool is about
	Input  json.RawMessage // nil: it has none
}

// Subject is what patterns are held against: the tool's name, or the action when that is blank.
func (c Call) Subject() string {
	if strings.TrimSpace(c.Tool) != "" {
		return c.Tool
	}
	return c.Action
}

// asksQuestion says whether the call is a question to a person. Nobody else can answer it, so no policy allows or denies it.
func (c Call) asksQuestion() bool { return c.Tool == "ask_question" || c.Tool == "AskUserQuestion" }

// Explanation is a decision and why it is so.
type Explanation struct {
	Decision Decision
	Source   Source
	Pattern  string // that matched; "": none did
}

// Decide says what becomes of a call.
func (p *Policy) Decide(c Call) Explanation {
	if p == nil || c.asksQuestion() {
		return Explanation{Decision: Ask, Source: NoPolicy}
	}
	subject := c.Subject()
	mode := p.Tools[subject]
	fields := inputs{subject: subject, raw: c.Input}
	if pattern, ok := matching(p.AutoDeny, subject); ok {
		return Explanation{Deny, AutoDeny, pattern}
	}
	if mode == AlwaysDeny {
		return Explanation{Deny, AutoDeny, subject}
	}
	if pattern, ok := fields.denied(p.InputRules); ok {
		return Explanation{Deny, InputRules, pattern}
	}
	if mode == AlwaysAsk {
		return Explanation{Ask, ByDefault, subject}
	}
	if pattern, ok := matching(p.AutoAllow, subject); ok {
		return Explanation{Allow, AutoAllow, pattern}
	}
	if mode == AlwaysAllow {
		return Explanation{Allow, AutoAllow, subject}
	}
	if pattern, ok := fields.allowed(p.InputRules); ok {
		return Explanation{Allow, InputRules, pattern}
	}
	return Explanation{Decision: p.fallback(), Source: ByDefault}
}

func (p *Policy) fallback() Decision {
	if p.Default == "" {
		return Ask
	}
	return p.Default
}

// Message says for people and agents what was decided for whom, and by which rule.
func (e Explanation) Message(agent string) string {
	what := map[Decision]string{Allow: "Allowed", Deny: "Denied", Ask: "A person is asked"}[e.Decision]
	if e.Source == NoPolicy {
		return fmt.Sprintf("%s: no approval policy of agent %s applies.", what, agent)
	}
	why := map[Source]string{AutoDeny: "auto_deny", AutoAllow: "auto_allow", InputRules: "an input rule", ByDefault: "its default"}[e.Source]
	if e.Pattern != "" {
		if e.Source == ByDefault {
			why = "the mode of tool"
		}
		why += fmt.Sprintf(" %q", e.Pattern)
	}
	nobody := "; nobody was asked"
	if e.Decision == Ask {
		nobody = ""
	}
	return fmt.Sprintf("%s by the approval policy of agent %s: %s%s.", what, agent, why, nobody)
}

// Known says whether the decision is one of those that there are.
func (d Decision) Known() bool { return d == Ask || d == Allow || d == Deny }

// Known says whether the mode is one of those that there are.
func (m Mode) Known() bool { return m == AlwaysAllow || m == AlwaysAsk || m == AlwaysDeny }

// Stricter is the one of two modes that lets fewer calls pass; "" is none.
func Stricter(a, b Mode) Mode {
	order := []Mode{"", AlwaysAllow, AlwaysAsk, AlwaysDeny}
	return order[max(slices.Index(order, a), slices.Index(order, b), 0)]
}
