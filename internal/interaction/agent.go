package interaction

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// DefaultSlug names the org, and the project in it, that exist from the start.
const DefaultSlug = "default"

// Project is where agents and their interactions live; it belongs to an org.
type Project struct {
	ID    ID
	OrgID ID
	Org   string // slug of the org
	Slug  string // unique in the org
	Name  string

	CreatedAt time.Time
}

// Address is how pages name the project, whose paths have no org: by its slug in the org default, elsewhere by its id.
func (p Project) Address() string {
	if p.Org == DefaultSlug {
		return p.Slug
	}
	return string(p.ID)
}

// PolicyKey is the name under which the configuration file has the project's policies: its slug, behind that of its org unless that is
// default. So no org falls under the rules of another.
func (p Project) PolicyKey() string {
	if p.Org == DefaultSlug {
		return p.Slug
	}
	return p.Org + "/" + p.Slug
}

// AgentState says whether an agent still works.
type AgentState string

// The states of an agent.
const (
	AgentActive   AgentState = "active"
	AgentArchived AgentState = "archived" // for good; still readable
)

// Agent is one agent of a project: the owner of a conversation.
type Agent struct {
	ID                   ID
	OrgID, ProjectID     ID
	Name                 string // for people, ≤ 200 characters
	Key                  string // the agent's own name for itself, unique in the project
	Profile              string
	Metadata             map[string]string
	Destination          *Destination // captured by interactions whose creator gives none
	State                AgentState
	CreatedAt, UpdatedAt time.Time
	ArchivedAt           time.Time
	StoppedAt            time.Time // when it was last told to stop; zero: never
	LastSeenAt           time.Time // when its asker last spoke to us; zero: never
	OpenInteractions     int
	Version              int64     // the project's sequence when its state, or what waits for it, last changed
	OldestOpen           time.Time // when its longest open interaction was created; zero: none is open
}

// NewAgent is what the creator of an agent gives.
type NewAgent struct {
	Name        string
	Key         string // "": the name, made a slug
	Profile     string
	Metadata    map[string]string
	Destination *Destination
}

// AgentPatch changes an agent; a nil field stays as it is.
type AgentPatch struct {
	Name        *string
	Metadata    *map[string]string
	Destination *Destination
}

const (
	maxAgentName     = 200
	maxAgentKey      = 100
	maxMetadata      = 16
	maxMetadataKey   = 64
	maxMetadataValue = 512
)

// Normalised is a with its key filled in. A field that is missing, too long or malformed is ValidationFailed.
func (a NewAgent) Normalised() (NewAgent, error) {
	var err error
	if a.Name, err = line("name", a.Name, maxAgentName); err != nil {
		return a, err
	}
	if a.Key == "" {
		a.Key = slug(a.Name)
	}
	if !keyForm(a.Key) {
		return a, Errorf(ValidationFailed, "key: allowed are 1 to %d characters of a-z, A-Z, 0-9, '.', '_' and '-', got %q", maxAgentKey, clip(a.Key))
	}
	if a.Profile != "" {
		if a.Profile, err = line("profile", a.Profile, maxAgentKey); err != nil {
			return a, err
		}
	}
	return a, firstError(checkMetadata("metadata", a.Metadata), a.Destination.check())
}

// Normalised is p with its name trimmed. A field that is too long or malformed is ValidationFailed.
func (p AgentPatch) Normalised() (AgentPatch, error) {
	if p.Name != nil {
		name, err := line("name", *p.Name, maxAgentName)
		if err != nil {
			return p, err
		}
		p.Name = &name
	}
	if p.Metadata != nil {
		if err := checkMetadata("metadata", *p.Metadata); err != nil {
			return p, err
		}
	}
	return p, p.Destination.check()
}

// Apply is the agent as changed by p, which is normalised, at now.
func (a Agent) Apply(p AgentPatch, now time.Time) Agent {
	if p.Name != nil {
		a.Name = *p.Name
	}
	if p.Metadata != nil {
		a.Metadata = *p.Metadata
	}
	if p.Destination != nil {
		a.Destination = p.Destination
	}
	a.UpdatedAt = now
	return a
}

func keyForm(key string) bool {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	return key != "" && len(key) <= maxAgentKey && strings.TrimFunc(key, ok) == "" && strings.IndexFunc(key, func(r rune) bool { return !ok(r) }) < 0
}

// slug makes a key of a name: lower case, every run of other characters one dash. A name without any usable letter becomes "agent". One that
// is cut, or has letters of another script, ends in a part of its hash, so that names which differ only there do not become one agent.
func slug(name string) string {
	fields := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '_'
	})
	s := cmp.Or(strings.Join(fields, "-"), "agent")
	if len(s) <= maxAgentKey && len(name) == length(name) {
		return s
	}
	sum := sha256.Sum256([]byte(name))
	end := "-" + hex.EncodeToString(sum[:4])
	return s[:min(len(s), maxAgentKey-len(end))] + end
}

func checkMetadata(field string, m map[string]string) error {
	if len(m) > maxMetadata {
		return Errorf(ValidationFailed, "%s: at most %d pairs are allowed, got %d", field, maxMetadata, len(m))
	}
	for k, v := range m {
		if k == "" || length(k) > maxMetadataKey || length(v) > maxMetadataValue || hasNUL(k) || hasNUL(v) {
			return Errorf(ValidationFailed, "%s.%s: allowed are keys of 1 to %d characters and values of at most %d, without NUL", field, clip(k), maxMetadataKey, maxMetadataValue)
		}
	}
	return nil
}
