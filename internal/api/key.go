package api

import (
	"context"
	"net/http"
	"net/url"
)

// NewKey is an API key as it is asked for.
type NewKey struct {
	Kind    string   `json:"kind"` // operator_key, agent_key
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes,omitempty"`   // of an operator key
	AgentID string   `json:"agent_id,omitempty"` // of an agent key: the one agent it is for
}

// Key is an API key, without its secret.
type Key struct {
	ID         string   `json:"id"`
	ProjectID  string   `json:"project_id"`
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	AgentID    string   `json:"agent_id,omitempty"`
	Scopes     []string `json:"scopes"`
	LastFour   string   `json:"last_four"`
	CreatedBy  string   `json:"created_by,omitempty"` // absent: the server, for the commands of its machine
	CreatedAt  Time     `json:"created_at"`
	LastUsedAt *Time    `json:"last_used_at,omitempty"`
	RevokedAt  *Time    `json:"revoked_at,omitempty"`
}

// KeyBody wraps a key. Secret is there once: in the answer that made it.
type KeyBody struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret,omitempty"`
}

// CreateKey makes a key. The same once makes it once; only the first answer has the secret.
func (c *Client) CreateKey(ctx context.Context, once string, k NewKey) (body KeyBody, err error) {
	return body, c.create(ctx, c.project()+"/keys", once, k, &body)
}

// Keys lists the project's keys.
func (c *Client) Keys(ctx context.Context, query url.Values) (list List[Key], err error) {
	return list, c.do(ctx, http.MethodGet, c.project()+"/keys?"+query.Encode(), nil, &list)
}

// RevokeKey ends a key for good.
func (c *Client) RevokeKey(ctx context.Context, id string) (Key, error) {
	var body KeyBody
	err := c.do(ctx, http.MethodDelete, c.project()+"/keys/"+url.PathEscape(id), nil, &body)
	return body.Key, err
}
