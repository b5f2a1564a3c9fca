package interaction

import (
	"slices"
	"time"
)

// Decider is what an operator has written down beforehand about tool calls. It is asked inside transactions: it answers at once, and the
// same as long as nobody changes what is written.
type Decider interface {
	// Decide says what the policy of one agent, by the agent's key, makes of a call.
	Decide(in Project, agentKey string, call ToolCall) Verdict
}

// Ruling is what a policy makes of a tool call.
type Ruling string

// The rulings.
const (
	NoRuling  Ruling = "" // there is no policy
	RuleAllow Ruling = "allow"
	RuleDeny  Ruling = "deny"
	RuleAsk   Ruling = "ask" // a person decides
)

// Verdict is a ruling, and the rule it follows.
type Verdict struct {
	Ruling  Ruling
	Source  string // the part of the policy
	Pattern string // that matched; "": none did
	Subject string // what it was held against
	Message string // for people and agents: names the policy and the pattern
}

// decides says whether nobody is asked.
func (v Verdict) decides() bool { return v.Ruling == RuleAllow || v.Ruling == RuleDeny }

// under is what becomes of a call whose runtime wants it to be of a mode; byPolicy says whether it is so because of v. The runtime may be
// stricter than the operator and never laxer: a deny of either wins, then what either sends to a person is asked, and the runtime's own allow
// counts only where the operator has written nothing down. A call that is asked about elsewhere is not asked about here: there it meets the policy
// too.
func (v Verdict) under(mode PermissionMode) (r Ruling, byPolicy bool) {
	switch {
	case v.Ruling == RuleDeny:
		return RuleDeny, true
	case mode == AlwaysDeny:
		return RuleDeny, false
	case mode == Elsewhere:
		return RuleAllow, false
	case v.Ruling == RuleAsk, mode == AlwaysAsk:
		return RuleAsk, false
	case v.Ruling == RuleAllow:
		return RuleAllow, true
	case mode == AlwaysAllow:
		return RuleAllow, false
	}
	return RuleAsk, false
}

// UsePolicies has tool calls decided by d before a person is asked. Call it before the service is used; without it, everything is asked.
func (s *Service) UsePolicies(d Decider) { s.policies = d }

// verdict is what policies make of a call. One that asks a question meets none.
func (s *Service) verdict(in Project, a Agent, call *ToolCall) Verdict {
	if s.policies == nil || call == nil || call.asksQuestion() {
		return Verdict{}
	}
	return s.policies.Decide(in, a.Key, *call)
}

// The sources of a verdict that bear on our own tools: a policy's default, which is not about them, and that they are ours.
const (
	byDefault = "default"
	ownTool   = "own_tool"
)

// ownTools are the tools of ours that ask a person themselves, as Claude Code names them. Those that answer are never among them.
var ownTools = []string{
	"mcp__sayso__ask", "mcp__sayso__request_approval", "mcp__sayso__await_answer",
	"mcp__sayso__animus_agent_ask", "mcp__sayso__animus_agent_request_approval", "mcp__sayso__animus_agent_await",
}

// asksToAsk says whether a is the prompt of an agent's program before it uses a tool of ours that asks a person itself. Only our own doors
// pass such prompts on; they are known by their Join.
func (a Ask) asksToAsk() bool {
	return a.Join != nil && a.ToolCall != nil && slices.Contains(ownTools, a.ToolCall.Name)
}

// ruled is v for a prompt about our own tools: allowed at once, unless the operator has denied them by name.
func (v Verdict) ruled(a Ask) Verdict {
	if !a.asksToAsk() || v.Ruling == RuleDeny && v.Source != byDefault {
		return v
	}
	return Verdict{Ruling: RuleAllow, Source: ownTool, Subject: a.ToolCall.Name, Message: "Allowed: this tool asks a person itself."}
}

// Decided is a tool call that a policy allowed or denied, so that no interaction was opened. It is recorded once and never changes.
type Decided struct {
	ID        ID // of the audit log's event
	ProjectID ID
	AgentID   ID
	Asker     ID // the credential that reported the call, or asked
	Call      ToolCall
	Digest    string // what the digest of its interaction would have been
	Verdict
	At time.Time
}

func (Decided) step() {}

// decidedOn is v as it is recorded for the normalised ask of a call.
func decidedOn(a Ask, v Verdict, agent Agent, asker ID, now time.Time) Decided {
	i := New(a, agent, asker, now)
	return Decided{
		ID: NewID(EventPrefix, now), ProjectID: agent.ProjectID, AgentID: agent.ID, Asker: asker,
		Call: *a.ToolCall, Digest: i.Digest, Verdict: v, At: now,
	}
}

// DecidedByPolicy is the action of the audit entry of a Decided. It is no event: nobody is told.
const DecidedByPolicy = "policy_decided"

// AppendJSON writes the record of d, which its audit entry is bound to.
func (d Decided) AppendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("id", string(d.ID))
	o.text("project_id", string(d.ProjectID))
	o.text("agent_id", string(d.AgentID))
	o.time("created_at", d.At)
	o.text("decision", string(d.Ruling))
	o.text("source", d.Source)
	o.text("pattern", d.Pattern)
	o.text("subject", d.Subject)
	o.text("message", d.Message)
	o.text("tool_call_id", string(d.Call.ID))
	o.name("tool_call")
	o.b = d.Call.AppendJSON(o.b)
	o.text("digest", d.Digest)
	return append(o.b, '}')
}

// AppendPolicy writes what an asker is told.
func (d Decided) AppendPolicy(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("decision", string(d.Ruling))
	o.text("source", d.Source)
	o.text("pattern", d.Pattern)
	o.text("message", d.Message)
	return append(o.b, '}')
}

// Asked is what became of an ask: an interaction, or a decision that left nothing to ask.
type Asked struct {
	Record
	Decided *Decided
}
