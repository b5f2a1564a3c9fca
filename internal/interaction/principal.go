package interaction

import (
	"slices"
	"time"
)

// PrincipalKind is the type of a credential.
type PrincipalKind string

// The kinds of credential.
const (
	UserPrincipal     PrincipalKind = "user"
	OperatorPrincipal PrincipalKind = "operator_key"
	AgentPrincipal    PrincipalKind = "agent_key"
	SystemPrincipal   PrincipalKind = "system" // deadlines; never a caller
	// EmbedPrincipal is a session in the frame of an app. It answers on the word of an operator key: nothing that is stored is of this kind.
	EmbedPrincipal PrincipalKind = "embed_session"
)

// Scope is something an operator key may do.
type Scope string

// The scopes of operator keys.
const (
	ScopeRead    Scope = "read"
	ScopeResolve Scope = "resolve"
	ScopeManage  Scope = "manage"
	ScopeAudit   Scope = "audit"
	ScopeEmbed   Scope = "embed"
)

// Scopes are all of them, in the order in which they are told.
var Scopes = []Scope{ScopeRead, ScopeResolve, ScopeManage, ScopeAudit, ScopeEmbed}

// Role is what a person may do in a project. Each holds what the ones before it do.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads
	Approver Role = "approver" // resolves, and writes to agents
	Lead     Role = "lead"     // audit, export, policies
	Admin    Role = "admin"    // members, keys, embeds, notifiers
)

// Roles are all of them, from the least to the most.
var Roles = []Role{Viewer, Approver, Lead, Admin}

// Or is the higher of two roles. What is no role is below all.
func (r Role) Or(other Role) Role {
	if slices.Index(Roles, other) > slices.Index(Roles, r) {
		return other
	}
	return r
}

// Scopes are what the role may do, in the terms of an operator key; none for what is no role.
func (r Role) Scopes() []Scope {
	switch r {
	case Viewer:
		return []Scope{ScopeRead}
	case Approver:
		return []Scope{ScopeRead, ScopeResolve}
	case Lead:
		return []Scope{ScopeRead, ScopeResolve, ScopeAudit}
	case Admin:
		return Scopes
	}
	return nil
}

// Principal is who is calling, as proved by a credential.
type Principal struct {
	Kind      PrincipalKind
	ID        ID // usr_… or key_…
	Name      string
	ProjectID ID      // the one project it works in; "" for a key of the server itself, and for a person who is in none yet
	AgentID   ID      // the one agent an agent key is bound to; "" for one bound to none
	Scopes    []Scope // what it may do; an agent key has none, nor a person who is in no project yet
	Channel   Channel // the door this call came through

	Roles map[ID]Role // of a person, by project
	Owner bool        // of a person: an admin of every project, who also makes orgs and projects
	Guest *Guest      // of a session in the frame of an app: who is there, and what binds them; nil for all others
}

// In is the principal as it stands in a project: bound to it and, for a person, with what their role there allows. What is not visible to
// the principal is NotFound.
func (p Principal) In(project Project) (Principal, error) {
	if p.ProjectID != "" && p.ProjectID != project.ID {
		return Principal{}, errNotFound()
	}
	if p.Kind != UserPrincipal {
		return p, nil
	}
	role := p.Roles[project.ID]
	if p.Owner {
		role = Admin
	}
	if role.Scopes() == nil {
		return Principal{}, errNotFound()
	}
	p.ProjectID, p.Scopes = project.ID, role.Scopes()
	return p, nil
}

// Can says whether the principal has the scope. An agent's credential has none, whatever it says.
func (p Principal) Can(s Scope) bool {
	return p.Kind != AgentPrincipal && slices.Contains(p.Scopes, s)
}

// IsAgent says whether the credential is an agent's: it can create and wait, and never list or resolve.
func (p Principal) IsAgent() bool { return p.Kind == AgentPrincipal }

// sees says whether the principal may know of a. Bound keys see their agent only, and guests those whose cards they are shown.
func (p Principal) sees(a Agent) bool {
	if p.ProjectID != "" && p.ProjectID != a.ProjectID {
		return false
	}
	return (p.AgentID == "" || p.AgentID == a.ID) && p.Shown(a.ID)
}

// Shown says whether cards of an agent are shown to the principal, who is in its project: to guests some are, to all others all.
func (p Principal) Shown(agent ID) bool {
	return p.Guest == nil || len(p.Guest.Agents) == 0 || slices.Contains(p.Guest.Agents, agent)
}

// asked says whether the principal is the asker: the credential that created i, or the one of its agent.
func (p Principal) asked(i Interaction) bool {
	return p.ID == i.Creator || p.IsAgent() && p.AgentID != "" && p.AgentID == i.AgentID
}

// reads says whether the principal may know of r: an agent's credential of what it asked only.
func (p Principal) reads(r Record) bool {
	if p.ProjectID != "" && p.ProjectID != r.ProjectID {
		return false
	}
	return p.Can(ScopeRead) && p.Shown(r.AgentID) || p.askedRecord(r)
}

// readsAll says whether the principal may know of all of its project. A guest reads cards and nothing else.
func (p Principal) readsAll() bool { return p.Can(ScopeRead) && p.Guest == nil }

// hides says that r is none of the principal's business: what an agent's credential did not ask, what a guest is not shown. It is as if it
// were not there.
func (p Principal) hides(r Record) bool { return (p.IsAgent() || p.Guest != nil) && !p.reads(r) }

func (p Principal) askedRecord(r Record) bool {
	return p.asked(Interaction{Head: Head{AgentID: r.AgentID}, Creator: r.Creator})
}

// actor is how the principal is told in the record.
func (p Principal) actor() Actor {
	kind := APIKeyActor
	switch p.Kind {
	case UserPrincipal:
		kind = UserActor
	case SystemPrincipal:
		return System
	}
	return Actor{Kind: kind, Name: p.Name, Channel: p.Channel}
}

// end is an ending by the principal at now. What a guest does is proved by the key that vouched for them: a session is kept nowhere, so the key
// is what can be looked up, and revoked, later. Through which embed they came is in the actor, whose tenant it is.
func (p Principal) end(now time.Time) End {
	if p.Guest != nil {
		return End{At: now, By: p.actor(), Credential: p.Guest.Key, ProvedBy: OperatorPrincipal}
	}
	return End{At: now, By: p.actor(), Credential: p.ID, ProvedBy: p.Kind}
}

func forbidden(what string) *Error {
	return Errorf(Forbidden, "This credential may not %s.", what)
}
