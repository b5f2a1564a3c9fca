package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client speaks to one server with one key.
type Client struct {
	URL       string // of the server, its base path included
	PublicURL string // as people reach it; "": URL
	Key       string
	Channel   string // told to the server as the channel of what is done; "": api
	Org       string // "": default
	Project   string // id or slug; "": default
	HTTP      *http.Client
	// Tried is told by streams of each try, as Await tells its argument: nil if the server answers, else why another try may help. It may
	// change URL. nil: nobody is told.
	Tried func(error)
}

// Link is the address of one of the server's pages, for a person.
func (c *Client) Link(path string) string {
	return strings.TrimSuffix(or(c.PublicURL, c.URL), "/") + path
}

// errMaybe says that a request may or may not have reached the server.
var errMaybe = errors.New("no answer from the server")

// Unreachable says whether err means that no server answered.
func Unreachable(err error) bool { return errors.Is(err, errMaybe) }

// ErrNoServer says that there is no server to send a request to.
var ErrNoServer = errors.New("no server is running")

// NeverSent says that no connection came about, so that the server cannot have heard of the request.
func NeverSent(err error) bool {
	var broken *net.OpError
	return errors.As(err, &broken) && broken.Op == "dial" || errors.Is(err, ErrNoServer)
}

// longest is how long one call may wait for an interaction to end.
const longest = 55 * time.Second

// Me tells who the key is.
func (c *Client) Me(ctx context.Context) (me Me, err error) {
	return me, c.do(ctx, http.MethodGet, "/api/v1/me", nil, &me)
}

// SignInLink makes a one-time link for the owner.
func (c *Client) SignInLink(ctx context.Context) (link SignInLink, err error) {
	return link, c.do(ctx, http.MethodPost, "/api/v1/signin-links", struct{}{}, &link)
}

// CreateAgent makes an agent, or gives the one that has its key.
func (c *Client) CreateAgent(ctx context.Context, a NewAgent) (Agent, error) {
	var body AgentBody
	err := c.do(ctx, http.MethodPost, c.project()+"/agents", a, &body)
	return body.Agent, err
}

// Agent gives one agent.
func (c *Client) Agent(ctx context.Context, id string) (Agent, error) {
	var body AgentBody
	err := c.do(ctx, http.MethodGet, c.agent(id), nil, &body)
	return body.Agent, err
}

// Agents lists the project's agents; query holds the filters.
func (c *Client) Agents(ctx context.Context, query url.Values) (list List[Agent], err error) {
	return list, c.do(ctx, http.MethodGet, c.project()+"/agents?"+query.Encode(), nil, &list)
}

// CreateInteraction asks. The key, if given, makes sure that asking again after a failure asks once.
func (c *Client) CreateInteraction(ctx context.Context, agent, once string, ask NewInteraction) (i Interaction, err error) {
	return i, c.create(ctx, c.agent(agent)+"/interactions", once, ask, &i)
}

// Interaction gives one interaction, at once or when it ends, after wait at the latest.
func (c *Client) Interaction(ctx context.Context, agent, id string, wait time.Duration) (i Interaction, err error) {
	return i, c.interaction(ctx, agent, id, wait, &i)
}

// interaction reads into i, which is not on the stack of those who wait long, many at once.
func (c *Client) interaction(ctx context.Context, agent, id string, wait time.Duration, i *Interaction) error {
	path := c.agent(agent) + "/interactions/" + id
	if secs := int(min(wait, longest) / time.Second); secs > 0 {
		path += "?wait_secs=" + strconv.Itoa(secs)
	}
	*i = Interaction{}
	return c.do(ctx, http.MethodGet, path, nil, i)
}

// Await waits until the interaction ends, however long that takes, through restarts of the server. tried is told of each try that did not
// end the wait: nil if the server answered, else why another try may help. It may change the client's URL.
func (c *Client) Await(ctx context.Context, agent, id string, tried func(error)) (Interaction, error) {
	i := new(Interaction)
	for {
		err := Again(ctx, tried, func() error { return c.interaction(ctx, agent, id, longest, i) })
		if err != nil || i.State != "open" {
			return *i, err
		}
		tried(nil)
	}
}

// The pauses between tries: each is twice as long as the one before it.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Again tries until it works or fails for good, however long that takes, through restarts of the server. tried is told of each failure that
// another try may get over, and of the success after one with nil. What is tried must do no harm when it is carried out twice.
func Again(ctx context.Context, tried func(error), try func() error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := try()
		switch {
		case err == nil && pause > firstPause:
			tried(nil)
			return nil
		case err == nil || ctx.Err() != nil || !passing(err):
			return err
		}
		tried(err)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// passing says whether trying again may help.
func passing(err error) bool {
	var e *Error
	return Unreachable(err) || errors.As(err, &e) && (e.Status >= 500 || e.Status == http.StatusTooManyRequests)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Resolve answers an interaction.
func (c *Client) Resolve(ctx context.Context, agent, id string, answer Resolve) (i Interaction, err error) {
	header := http.Header{}
	err = c.send(ctx, http.MethodPost, c.agent(agent)+"/interactions/"+id+"/resolve", header, answer, &i)
	i.Replayed = header.Get("Idempotent-Replayed") == "true"
	return i, err
}

// Cancel withdraws an interaction.
func (c *Client) Cancel(ctx context.Context, agent, id string) (i Interaction, err error) {
	return i, c.do(ctx, http.MethodPost, c.agent(agent)+"/interactions/"+id+"/cancel", struct{}{}, &i)
}

// Interactions lists interactions across the project's agents; query holds the filters.
func (c *Client) Interactions(ctx context.Context, query url.Values) (list List[Interaction], err error) {
	return list, c.do(ctx, http.MethodGet, c.project()+"/interactions?"+query.Encode(), nil, &list)
}

func (c *Client) project() string {
	return "/api/v1/orgs/" + url.PathEscape(or(c.Org, "default")) + "/projects/" + url.PathEscape(or(c.Project, "default"))
}

func (c *Client) agent(id string) string { return c.project() + "/agents/" + url.PathEscape(id) }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	return c.send(ctx, method, path, http.Header{}, in, out)
}

// create posts in under an Idempotency-Key, if there is one.
func (c *Client) create(ctx context.Context, path, once string, in, out any) error {
	header := http.Header{}
	if once != "" {
		header.Set("Idempotency-Key", once)
	}
	return c.send(ctx, http.MethodPost, path, header, in, out)
}

// send makes one call. header is what is sent beside the usual, and afterwards what came back.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := encode(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
		header.Set("Content-Type", "application/json")
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	maps.Copy(req.Header, header)
	clear(header)
	return c.receive(req, header, out)
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Key)
	if c.Channel != "" {
		req.Header.Set("Sayso-Channel", c.Channel)
	}
	return req, nil
}

// encode leaves < > & as they are: people read what agents send.
func encode(in any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(in)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (c *Client) http() *http.Client {
	if c.HTTP == nil {
		return http.DefaultClient
	}
	return c.HTTP
}

// maybe is the error of a call that broke off.
func (c *Client) maybe(err error) error { return fmt.Errorf("%w at %s (%w)", errMaybe, c.URL, err) }

func (c *Client) receive(req *http.Request, header http.Header, out any) error {
	resp, err := c.http().Do(req)
	if err != nil {
		return c.maybe(err)
	}
	defer resp.Body.Close()
	maps.Copy(header, resp.Header)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return c.maybe(err)
	}
	if resp.StatusCode >= 300 {
		return failure(resp, body)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

func failure(resp *http.Response, body []byte) error {
	e := &Error{Status: resp.StatusCode}
	if json.Unmarshal(body, e) != nil || e.Message == "" {
		e.Message = "the server answered " + resp.Status
	}
	if secs, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(secs) * time.Second
	}
	return e
}
