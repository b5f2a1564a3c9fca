package interaction

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// AdminAction is what somebody did to the settings of a project, or to who may come in. The texts stand in audit logs for ever.
type AdminAction string

// The actions.
const (
	OrgCreated        AdminAction = "org_created"
	ProjectCreated    AdminAction = "project_created"
	SignedIn          AdminAction = "signed_in"
	SignedOut         AdminAction = "session_ended"
	AccountChanged    AdminAction = "account_changed"
	PasswordChanged   AdminAction = "password_changed"
	InvitationCreated AdminAction = "invitation_created"
	InvitationRevoked AdminAction = "invitation_revoked"
	MemberAdded       AdminAction = "member_added"
	MemberChanged     AdminAction = "member_role_changed"
	MemberRemoved     AdminAction = "member_removed"
	KeyCreated        AdminAction = "key_created"
	KeyRevoked        AdminAction = "key_revoked"
	EmbedCreated      AdminAction = "embed_created"
	EmbedChanged      AdminAction = "embed_changed"
	EmbedRemoved      AdminAction = "embed_removed"
)

// AdminEventPrefix begins the ids of admin events.
const AdminEventPrefix = "adm"

// AdminEvent is one thing that was done to the settings of a project, for its audit log. It is recorded once and never changes.
type AdminEvent struct {
	ID         ID
	Sequence   int64 // in the log of the project; known when it is read
	ProjectID  ID
	Action     AdminAction
	Subject    Subject
	Detail     map[string]string // what was set, in the terms of the REST API; never a secret
	By         Actor
	Credential ID // the user or key that did it; "" for the system
	At         time.Time
}

// Subject is what an admin event is about.
type Subject struct {
	Kind string // user, session, key, invitation, embed, org, project
	ID   ID
	Name string
}

// Administers is an admin event by the principal, at now.
func (p Principal) Administers(in ID, action AdminAction, about Subject, detail map[string]string, now time.Time) AdminEvent {
	return AdminEvent{
		ID: NewID(AdminEventPrefix, now), ProjectID: in, Action: action, Subject: about, Detail: detail,
		By: p.actor(), Credential: p.ID, At: now,
	}
}

// AppendJSON writes the record of e, which its audit entry is bound to.
func (e AdminEvent) AppendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("id", string(e.ID))
	o.text("project_id", string(e.ProjectID))
	o.text("action", string(e.Action))
	o.time("created_at", e.At)
	o.name("subject")
	o.b = e.Subject.appendJSON(o.b)
	if len(e.Detail) > 0 {
		detail := object{b: []byte{'{'}}
		for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
			detail.text(name, e.Detail[name])
		}
		o.name("detail")
		o.b = append(append(o.b, detail.b...), '}')
	}
	o.name("by")
	o.b = e.By.appendJSON(o.b)
	o.text("credential", string(e.Credential))
	return append(o.b, '}')
}

// ReadAdminEvent decodes what [AdminEvent.AppendJSON] wrote.
func ReadAdminEvent(record []byte) (AdminEvent, error) {
	var in struct {
		ID         ID                `json:"id"`
		ProjectID  ID                `json:"project_id"`
		Action     AdminAction       `json:"action"`
		At         time.Time         `json:"created_at"`
		Subject    Subject           `json:"subject"`
		Detail     map[string]string `json:"detail"`
		By         Actor             `json:"by"`
		Credential ID                `json:"credential"`
	}
	err := json.Unmarshal(record, &in)
	return AdminEvent{ID: in.ID, ProjectID: in.ProjectID, Action: in.Action, Subject: in.Subject, Detail: in.Detail, By: in.By, Credential: in.Credential, At: in.At}, err
}

// AdminEvents gives what was done to the settings of a project, the latest first: those before a sequence, or the latest of all for 0. more says
// that there are others before them.
func (s *Service) AdminEvents(ctx context.Context, p Principal, in Project, before int64, limit int) (page []AdminEvent, more bool, err error) {
	if !p.Can(ScopeAudit) {
		return nil, false, forbidden("read the audit")
	}
	page, err = s.store.AdminEvents(ctx, in.ID, before, limit+1)
	return page[:min(len(page), limit)], len(page) > limit, err
}

func (s Subject) appendJSON(b []byte) []byte {
	o := object{b: append(b, '{')}
	o.text("kind", s.Kind)
	o.text("id", string(s.ID))
	o.text("name", s.Name)
	return append(o.b, '}')
}
