package interaction

import (
	"strings"
	"time"
)

// Channel is the door through which somebody acted.
type Channel string

// The channels.
const (
	ChannelDashboard Channel = "dashboard"
	ChannelEmbed     Channel = "embed"
	ChannelAPI       Channel = "api"
	ChannelCLI       Channel = "cli"
	ChannelMCP       Channel = "mcp"
	ChannelChat      Channel = "chat"
)

// Channels are all of them.
var Channels = []Channel{ChannelDashboard, ChannelEmbed, ChannelAPI, ChannelCLI, ChannelMCP, ChannelChat}

// ActorKind says what kind of somebody acted.
type ActorKind string

// The kinds of actor. An asker that withdraws is an api_key; it can never answer.
const (
	UserActor     ActorKind = "user"
	APIKeyActor   ActorKind = "api_key"
	ExternalActor ActorKind = "external"
	SystemActor   ActorKind = "system"
)

// Actor is who ended an interaction, as everybody is told.
type Actor struct {
	Kind    ActorKind `json:"kind"`
	Name    string    `json:"name"`
	ActorID ID        `json:"actor_id,omitempty"` // of an external person
	Channel Channel   `json:"channel,omitempty"`  // "" for the system
}

// System is the actor of what nobody did: a deadline that passed.
var System = Actor{Kind: SystemActor, Name: "Sayso"}

// External is a person known to a relaying service, by that service's own ids.
type External struct {
	ProviderUserID   string            `json:"provider_user_id"`
	ProviderTenantID string            `json:"provider_tenant_id,omitempty"`
	DisplayName      string            `json:"display_name,omitempty"`
	Metadata         map[string]string `json:"metadata,omitempty"`
}

// StoredActor is an external person as a project knows them.
type StoredActor struct {
	ID, ProjectID ID
	External
	CreatedAt time.Time
}

const maxProviderID = 256

// normalised is e trimmed; field is where it stands, as "actor.".
func (e *External) normalised(field string) (*External, error) {
	if e == nil {
		return nil, nil
	}
	n := *e
	if ID(strings.TrimSpace(e.ProviderTenantID)).WellFormed(EmbedPrefix) {
		return nil, Errorf(ValidationFailed, "%sprovider_tenant_id: this is an embed, whose people come with its own tokens only", field)
	}
	var err [3]error
	n.ProviderUserID, err[0] = line(field+"provider_user_id", e.ProviderUserID, maxProviderID)
	n.ProviderTenantID, err[1] = optionalLine(field+"provider_tenant_id", e.ProviderTenantID, maxProviderID)
	n.DisplayName, err[2] = optionalLine(field+"display_name", e.DisplayName, maxProviderID)
	return &n, firstError(err[0], err[1], err[2], checkMetadata(field+"metadata", e.Metadata))
}

// Check says what is wrong with e where it is the whole body: ValidationFailed.
func (e External) Check() error {
	_, err := e.normalised("")
	return err
}

// Name is what the person is called.
func (e External) Name() string {
	if e.DisplayName != "" {
		return e.DisplayName
	}
	return e.ProviderUserID
}
