package api

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The calls of a conversation. once, where there is one, is an Idempotency-Key: the same call again under the same key is carried out
// once; "" is none.

// SendInput sends an agent a message.
func (c *Client) SendInput(ctx context.Context, agent, once string, in NewInput) (Input, error) {
	var body struct {
		Input Input `json:"agent_input"`
	}
	err := c.create(ctx, c.agent(agent)+"/inputs", once, in, &body)
	return body.Input, err
}

// Backlog lists the queued inputs that wait for an agent, in the order in which it gets them.
func (c *Client) Backlog(ctx context.Context, agent string, query url.Values) (list List[Input], err error) {
	return list, c.do(ctx, http.MethodGet, c.agent(agent)+"/inputs/backlog?"+query.Encode(), nil, &list)
}

// CancelInput takes back an input that still waits.
func (c *Client) CancelInput(ctx context.Context, agent, id string) error {
	return c.do(ctx, http.MethodPost, c.input(agent, id)+"/cancel", struct{}{}, nil)
}

// MoveInput changes the order of what waits.
func (c *Client) MoveInput(ctx context.Context, agent, id string, to Place) error {
	return c.do(ctx, http.MethodPost, c.input(agent, id)+"/move", to, nil)
}

// PromoteInput makes a queued input steer.
func (c *Client) PromoteInput(ctx context.Context, agent, id string, p Promotion) error {
	return c.do(ctx, http.MethodPost, c.input(agent, id)+"/promote_to_steering", p, nil)
}

// DemoteInput makes a steering input wait its turn.
func (c *Client) DemoteInput(ctx context.Context, agent, id string) error {
	return c.do(ctx, http.MethodPost, c.input(agent, id)+"/demote_to_queued", struct{}{}, nil)
}

func (c *Client) input(agent, id string) string {
	return c.agent(agent) + "/inputs/" + url.PathEscape(id)
}

// Claim takes the agent's next input, and waits for one up to wait; nil: there was none.
func (c *Client) Claim(ctx context.Context, agent, once string, wait time.Duration) (*Input, error) {
	path := c.agent(agent) + "/inputs/claim"
	if secs := int(min(wait, longest) / time.Second); secs > 0 {
		path += "?wait_secs=" + strconv.Itoa(secs)
	}
	var body InputBody
	err := c.create(ctx, path, once, nil, &body)
	return body.Input, err
}

// Report tells what an agent said and did.
func (c *Client) Report(ctx context.Context, agent, once string, events ...NewEvent) (r Reported, err error) {
	return r, c.create(ctx, c.agent(agent)+"/events", once, NewEvents{events}, &r)
}

// Finish tells what became of a tool call.
func (c *Client) Finish(ctx context.Context, agent, call, once string, result Result) (body ResultBody, err error) {
	if result.ContentBlocks == nil {
		result.ContentBlocks = []ContentBlock{}
	}
	return body, c.create(ctx, c.agent(agent)+"/tool-calls/"+url.PathEscape(call)+"/result", once, result, &body)
}

// Stop ends what an agent is doing.
func (c *Client) Stop(ctx context.Context, agent string) (s Stopped, err error) {
	return s, c.do(ctx, http.MethodPost, c.agent(agent)+"/cancel", struct{}{}, &s)
}

// Archive ends an agent for good.
func (c *Client) Archive(ctx context.Context, agent string) (Agent, error) {
	var body AgentBody
	err := c.do(ctx, http.MethodPost, c.agent(agent)+"/archive", struct{}{}, &body)
	return body.Agent, err
}

// Events gives a part of an agent's conversation; query says which.
func (c *Client) Events(ctx context.Context, agent string, query url.Values) (page EventPage[Event], err error) {
	return page, c.do(ctx, http.MethodGet, c.agent(agent)+"/events?"+query.Encode(), nil, &page)
}

// Lifecycle gives a part of the project's lifecycle log; query says which.
func (c *Client) Lifecycle(ctx context.Context, query url.Values) (page EventPage[LifecycleEvent], err error) {
	return page, c.do(ctx, http.MethodGet, c.project()+"/events?"+query.Encode(), nil, &page)
}

// ToolCalls lists an agent's tool calls; query holds the filters.
func (c *Client) ToolCalls(ctx context.Context, agent string, query url.Values) (list List[Call], err error) {
	return list, c.do(ctx, http.MethodGet, c.agent(agent)+"/tool-calls?"+query.Encode(), nil, &list)
}

// PutActor stores an external person, by the relaying service's ids.
func (c *Client) PutActor(ctx context.Context, who External) (StoredActor, error) {
	var body ActorBody
	err := c.do(ctx, http.MethodPut, c.project()+"/actors", who, &body)
	return body.Actor, err
}

// Actor gives one external person.
func (c *Client) Actor(ctx context.Context, id string) (StoredActor, error) {
	var body ActorBody
	err := c.do(ctx, http.MethodGet, c.project()+"/actors/"+url.PathEscape(id), nil, &body)
	return body.Actor, err
}

// Actors lists the external people that the project knows.
func (c *Client) Actors(ctx context.Context, query url.Values) (list List[StoredActor], err error) {
	return list, c.do(ctx, http.MethodGet, c.project()+"/actors?"+query.Encode(), nil, &list)
}

// Find gives the interaction with an id, whichever agent's it is. The path of one names its agent, which who has an id does not know; but
// the id says in which millisecond it was made, and few are made in one.
func (c *Client) Find(ctx context.Context, id string) (Interaction, error) {
	at, ok := madeAt(id)
	if !ok {
		return Interaction{}, noInteraction()
	}
	query := url.Values{"created_after": {moment(at)}, "created_before": {moment(at.Add(time.Millisecond))}, "limit": {"100"}}
	for {
		list, err := c.Interactions(ctx, query)
		if err != nil {
			return Interaction{}, err
		}
		for _, i := range list.Data {
			if i.ID == id {
				return i, nil
			}
		}
		if list.NextCursor == nil {
			return Interaction{}, noInteraction()
		}
		query.Set("cursor", *list.NextCursor)
	}
}

func noInteraction() error {
	return &Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such interaction."}
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// madeAt is the time in the id of an interaction: its first 48 bits are milliseconds.
func madeAt(id string) (time.Time, bool) {
	text, ok := strings.CutPrefix(id, "int_")
	b, err := idEncoding.DecodeString(text)
	if !ok || err != nil || len(b) != 16 {
		return time.Time{}, false
	}
	at := time.UnixMilli(int64(binary.BigEndian.Uint64(b) >> 16)).UTC()
	return at, at.Year() < 9999 // which is as far as the contract can write it
}
