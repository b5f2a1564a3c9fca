package views

import (
	"time"

	"sayso/internal/display"
)

// Policies is the approval policies of a project's agents.
type Policies struct {
	Page
	File     string // that they were read from; "": the server has none
	ReadAt   time.Time
	Problem  display.Text // why the file as it is now is not in force; empty: it is
	FailedAt time.Time
	Agents   []AgentPolicy
	TestURL  string
	Trial    Trial
}

// AgentPolicy is what was written down for one agent.
type AgentPolicy struct {
	Key            string
	PermissionMode string
	Written        bool   // there is an approval policy
	Rules          []Rule // in the order in which they win
	Default        Ruling
}

// Rule is one line of a policy.
type Rule struct {
	Ruling  Ruling
	What    string       // is looked at
	Where   display.Text // the field of which tool; empty: the name
	Pattern display.Text
}

// Ruling is what becomes of a call.
type Ruling string

// The rulings.
const (
	RulingAllow Ruling = "allow"
	RulingDeny  Ruling = "deny"
	RulingAsk   Ruling = "ask"
)

func rulingWord(r Ruling) string {
	switch r {
	case RulingAllow:
		return "Allowed"
	case RulingDeny:
		return "Denied"
	}
	return "A person is asked"
}

// Trial is a call that somebody tries out, and what would become of it.
type Trial struct {
	Agent, Tool, Action, Input string // as typed
	Problem                    string // with what was typed
	Ruling                     Ruling // "": nothing was tried
	Why                        string
	Pattern                    display.Text
}

const policyExample = `agents:
  swe:
    approval_policy:
      auto_allow: ["Read", "Grep"]
      auto_deny: ["git.push*"]
      default: ask`
