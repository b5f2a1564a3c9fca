package interaction

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Store keeps projects, agents and interactions. Every method that writes returns only when what it wrote is on disk. A thing that is
// not there is a NotFound error; a store that cannot write now gives Unavailable.
type Store interface {
	// Project finds a project of an org, both by id or by slug; org may be "" beside a project's id.
	Project(ctx context.Context, org, project string) (Project, error)
	// Projects are all there are, in the order in which people are shown them.
	Projects(ctx context.Context) ([]Project, error)
	// Orgs are all there are, in the same order.
	Orgs(ctx context.Context) ([]Org, error)
	// CreateOrg makes an org and its first project, and CreateProject one more in an org, named by its id or as default. A slug that is taken is
	// a Conflict. The events of the audit log are what record makes of the new project.
	CreateOrg(ctx context.Context, o Org, first Project, record func(Project) []AdminEvent) error
	CreateProject(ctx context.Context, org string, p Project, record func(Project) []AdminEvent) (Project, error)

	// CreateAgent makes an agent, or gives the one that has its key already (then created is false).
	CreateAgent(ctx context.Context, p Project, a NewAgent, once Once, now time.Time) (agent Agent, created bool, err error)
	// UpdateAgent changes an agent inside the transaction that writes it.
	UpdateAgent(ctx context.Context, id ID, change func(Agent) (Agent, error)) (Agent, error)
	// TouchAgent remembers that the agent's asker was heard of. It does not wait for the disk, and may be lost.
	TouchAgent(id ID, at time.Time)
	Agent(ctx context.Context, id ID) (Agent, error)
	AgentName(ctx context.Context, id ID) (string, error)
	// Agents are those that f describes, oldest first, and one more than f.Limit if there are more.
	Agents(ctx context.Context, f AgentFilter) ([]Agent, error)

	// Create stores what open makes of the agent's conversation, an [Opened] or a [Decided], inside one transaction. An interaction whose tool
	// call is there already takes it over. created is false, and open was not called, if once names a request that was already carried out,
	// or one to take up.
	Create(ctx context.Context, agent ID, once Once, open func(Conversation) (Step, error)) (made Asked, created bool, err error)
	// Update carries out what change makes of the interaction, in one transaction. who, if any, is stored first and change gets its id.
	Update(ctx context.Context, id ID, who *External, change func(r Record, i Interaction, actor ID) (Change, error)) (r Record, replay bool, err error)
	Interaction(ctx context.Context, id ID) (Record, error)
	// Interactions are those that f describes, in its order, and one more than f.Limit if there are more.
	Interactions(ctx context.Context, f Filter) ([]Record, error)
	// CountOpen is how many interactions of a project are open.
	CountOpen(ctx context.Context, project ID) (int, error)
	// History is what the log holds about one interaction, in order.
	History(ctx context.Context, id ID) ([]Event, error)

	// Audit are the rows that f describes, newest first, and one more than page.Limit if there are more in the page's direction.
	Audit(ctx context.Context, f AuditFilter, page AuditPage) ([]AuditRow, error)
	// AuditFigures sums up the newest rows that f describes, at most FiguresMost.
	AuditFigures(ctx context.Context, f AuditFilter) (Figures, error)
	// CatchUp has the index of the audit take in what was written until now, and waits for it a moment; missing is how many changes it has
	// not taken in then. Audit, AuditFigures and a Filter with words see what it has.
	CatchUp(ctx context.Context) (missing int64, err error)

	// Workflow gives a workflow of a project.
	Workflow(ctx context.Context, project ID, id string) (Workflow, error)

	// Converse carries out what change makes of one agent's conversation, in one transaction. resource is remembered under once; again says
	// that it was there already, and change was not called.
	Converse(ctx context.Context, agent ID, once Once, change func(Conversation) (t Turn, resource ID, err error)) (resource ID, again bool, err error)
	// Waiting are the inputs that no runtime has taken, by position.
	Waiting(ctx context.Context, agent ID) ([]Input, error)
	Input(ctx context.Context, id ID) (Input, error)
	// Calls are the tool calls that f describes, oldest first, and one more than f.Limit if there are more.
	Calls(ctx context.Context, f CallFilter) ([]Call, error)
	Call(ctx context.Context, id ID) (Call, error)
	// UnfinishedCalls are the newest that are not completed, newest first.
	UnfinishedCalls(ctx context.Context, agent ID, limit int) ([]Call, error)
	// Events are at most f.Limit of those that f describes, in the order of the log, each with what its kind says it has when read.
	Events(ctx context.Context, f EventFilter) ([]Event, error)

	// Actors are the external people of a project, and one more than the page's limit if there are more.
	Actors(ctx context.Context, project ID, page Page) ([]StoredActor, error)
	Actor(ctx context.Context, id ID) (StoredActor, error)
	PutActor(ctx context.Context, project ID, who External, now time.Time) (a StoredActor, created bool, err error)

	// CreateEmbed stores an embed, or gives the one that once names; done is recorded with it. UpdateEmbed changes one inside the transaction
	// that writes it, and what was done, if anything was. RemoveEmbed deletes one, with its tokens, unless done has an error.
	CreateEmbed(ctx context.Context, e Embed, once Once, done AdminEvent) (made Embed, created bool, err error)
	UpdateEmbed(ctx context.Context, id ID, change func(Embed) (Embed, *AdminEvent)) (Embed, error)
	RemoveEmbed(ctx context.Context, id ID, done func(Embed) (AdminEvent, error)) error
	Embed(ctx context.Context, id ID) (Embed, error)
	// Embeds are those of a project, and one more than the page's limit if there are more.
	Embeds(ctx context.Context, project ID, page Page) ([]Embed, error)

	// AdminEvents are at most limit of those of a project before a sequence (0: the latest), latest first.
	AdminEvents(ctx context.Context, project ID, before int64, limit int) ([]AdminEvent, error)

	// Due are open interactions whose deadline is at or before now, at most limit.
	Due(ctx context.Context, now time.Time, limit int) ([]ID, error)
	// NextDeadline is the earliest deadline of an open interaction; zero: there is none.
	NextDeadline(ctx context.Context) (time.Time, error)
	// OnTheLine are the open interactions whose askers wait on the line.
	OnTheLine(ctx context.Context) ([]ID, error)
	// MarkPickedUp and MarkAsker record delivery, and do not wait for the disk; failures are logged. Marking what is already so writes
	// nothing. MarkAsker is for open interactions, and asks goneSince when it writes: zero means that the asker is there.
	MarkPickedUp(id ID, at time.Time)
	MarkAsker(id ID, goneSince func() time.Time)
}

// Once makes a create happen once: the same key from the same caller with the same request gives the first result again, with
// another request it is an IdempotencyKey conflict. An empty Key means nothing.
type Once struct {
	Caller  ID
	Key     string
	Request [32]byte // SHA-256 of route and body

	// Joining has an interaction that asks the same take the place of a new one; nil: never.
	Joining *Joining
}

// Filter describes interactions. Empty fields do not filter.
type Filter struct {
	Project       ID
	Agent         ID
	Agents        []ID // any of these
	State         State
	Kind          Kind
	CancelReason  CancelReason
	ResolvedBy    string // the name or the actor id of who ended it
	CreatedAfter  time.Time
	CreatedBefore time.Time
	Ended         bool   // resolved and canceled only
	Words         string // see [AuditFilter]; the list is then in the order of recording
	Page
}

// AgentFilter describes agents. Empty fields do not filter.
type AgentFilter struct {
	Project ID
	Name    string
	Key     string
	State   AgentState
	Page
}

// CallFilter describes tool calls of an agent. Empty fields do not filter.
type CallFilter struct {
	Agent ID
	State ToolCallState
	Page
}

// Page is one page of a list that is ordered by (created_at, id).
type Page struct {
	Limit  int
	After  *Cursor // nil: from the start
	Newest bool    // newest first
}

// The sizes of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 100
)

// Cursor is a place in a list: just behind the item with this time and id.
type Cursor struct {
	At time.Time
	ID ID
}

// String is the opaque form that callers get.
func (c Cursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.At.UnixMilli(), 36) + "." + string(c.ID)))
}

// ParseCursor reads what [Cursor.String] wrote; anything else is InvalidRequest.
func ParseCursor(s string) (*Cursor, error) {
	bad := Errorf(InvalidRequest, "cursor: not one that we gave; take next_cursor of the page before as it is")
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, bad
	}
	ms, id, ok := strings.Cut(string(text), ".")
	at, err := strconv.ParseInt(ms, 36, 64)
	prefix, _, _ := strings.Cut(id, "_")
	if !ok || err != nil || !ID(id).WellFormed(prefix) {
		return nil, bad
	}
	return &Cursor{At: time.UnixMilli(at).UTC(), ID: ID(id)}, nil
}

// cut splits what a store gave for a page into the page and the cursor of the next one, nil if there is none.
func cut[T any](items []T, limit int, at func(T) Cursor) ([]T, *Cursor) {
	if len(items) <= limit {
		return items, nil
	}
	next := at(items[limit-1])
	return items[:limit], &next
}
