package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sayso/internal/api"
)

// Caller is who calls over HTTP, as their key proved.
type Caller struct {
	ID      string // of the key
	Key     string
	Manages bool // the key may list and answer

	Org, Project string // that the key is bound to; "": the default ones
}

// Handler serves MCP over HTTP. Its tools call the routes of REST inside the process, with the caller's own key.
//
// Clients of 2025-11-25 and before have sessions, which they name and can end; those of 2026-07-28 have none, and say in each request who they
// are. The SDK serves each by another handler, so the version in the header decides.
type Handler struct {
	config   Config
	rules    http.Handler
	sessions http.Handler
	modern   http.Handler
	stop     context.CancelFunc

	mu      sync.Mutex
	servers map[Caller]*sdk.Server
}

// Limits of what is kept for clients.
const (
	idleMost    = 24 * time.Hour // for a session
	serversMost = 1000
	writeMost   = 30 * time.Second
)

// NewHandler makes a Handler over the routes of REST, until Close.
func NewHandler(config Config, rules http.Handler) *Handler {
	h := &Handler{config: config, rules: rules, servers: map[Caller]*sdk.Server{}}
	h.config.http, h.config.lines, h.config.left = true, newLines(), newDepartures()
	h.config.Stopping, h.stop = context.WithCancel(context.Background())
	// The Host of each request was checked, for proxies on this machine too, which the SDK's own check would refuse.
	options := sdk.StreamableHTTPOptions{
		SessionTimeout: idleMost, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, Logger: slog.New(slog.DiscardHandler),
	}
	stateless := options
	stateless.Stateless, stateless.PropagateRequestCancellation = true, true
	// A session is only for the key that began it.
	bearer := auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: callerOf(ctx).ID, Expiration: time.Now().Add(time.Hour)}, nil
	}, nil)
	h.sessions = bearer(sdk.NewStreamableHTTPHandler(h.server, &options))
	h.modern = bearer(sdk.NewStreamableHTTPHandler(h.server, &stateless))
	return h
}

// Close ends every call, without withdrawing what it asked. It may be called again.
func (h *Handler) Close() { h.stop() }

type callerKey struct{}

func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

const (
	sessionHeader  = "Mcp-Session-Id"
	protocolHeader = "Mcp-Protocol-Version"
	lineHeader     = "Sayso-Line" // ours alone: what a client sends is replaced
)

// Serve answers one request of a caller whose key was checked. Its body must have been read and bounded.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, caller Caller) {
	r, err := h.resumed(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, end := context.WithCancel(context.WithValue(r.Context(), callerKey{}, caller))
	defer end()
	defer context.AfterFunc(h.config.Stopping, func() {
		if r.Method == http.MethodGet {
			end() // it has no call whose end would end it
		}
	})()
	session := r.Header.Get(sessionHeader)
	r = r.Clone(ctx)
	r.Header.Set(lineHeader, h.config.lines.add(ctx, caller.ID, session))
	defer h.config.lines.remove(r.Header.Get(lineHeader))
	if r.Method == http.MethodDelete {
		h.config.lines.endSession(caller.ID, session) // or ending it would wait for every answer
	}
	out := &stream{ResponseWriter: w, control: http.NewResponseController(w), id: h.eventID(r), stopping: h.config.Stopping}
	if r.Header.Get(protocolHeader) >= modernProtocol {
		h.modern.ServeHTTP(out, r)
		return
	}
	h.sessions.ServeHTTP(out, r)
}

func (h *Handler) names() names {
	if h.config.Animus {
		return animusNames
	}
	return plainNames
}

// server is the tools for the caller of a request.
func (h *Handler) server(r *http.Request) *sdk.Server {
	caller := callerOf(r.Context())
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.servers[caller]; s != nil {
		return s
	}
	if len(h.servers) >= serversMost {
		clear(h.servers) // those in use stay with their sessions
	}
	client := &api.Client{URL: "http://sayso.internal", Key: caller.Key, Org: caller.Org, Project: caller.Project, Channel: "mcp", HTTP: &http.Client{Transport: api.Inside{To: h.rules}}}
	config := h.config
	if caller.Manages {
		config.Inbox = client
	}
	h.servers[caller] = New(config, client)
	return h.servers[caller]
}

// lines are the connections of requests that are being answered.
type lines struct {
	mu   sync.Mutex
	byID map[string]*line
}

type line struct {
	ctx             context.Context
	end             context.CancelCauseFunc
	caller, session string
}

func newLines() *lines { return &lines{byID: map[string]*line{}} }

// add gives the name of the connection whose request ends with ctx.
func (l *lines) add(ctx context.Context, caller, session string) string {
	ctx, end := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	id := rand.Text()
	l.byID[id] = &line{ctx, end, caller, session}
	return id
}

func (l *lines) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.byID[id].end(nil)
	delete(l.byID, id)
}

func (l *lines) of(id string) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.byID[id]; one != nil {
		return one.ctx
	}
	gone, end := context.WithCancel(context.Background())
	end()
	return gone
}

// errSessionEnded says that a client has ended its session, as it may with calls that wait.
var errSessionEnded = errors.New("the session was ended")

// endSession ends what waits in a session.
func (l *lines) endSession(caller, session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.byID {
		if session != "" && one.session == session && one.caller == caller {
			one.end(errSessionEnded)
		}
	}
}

// line is the connection of the call; nil for one over stdio, where all calls share it.
func (c *call) line() context.Context {
	if c.config.lines == nil || c.request.Extra == nil {
		return nil
	}
	return c.config.lines.of(c.request.Extra.Header.Get(lineHeader))
}

// stream is a response that may take as long as a person does, as long as what is written is read.
type stream struct {
	http.ResponseWriter
	control  *http.ResponseController
	id       string          // of its first event, by which the client can have the rest; "": it cannot
	named    bool            // that event was sent
	stopping context.Context // then the client is to have the rest from the next server
}

// head sets what every response carries, over what the SDK says. It comes before each write, since a first one sends the head by itself.
func (s *stream) head() {
	s.Header().Set("Cache-Control", "no-store")
	s.Header().Set("X-Accel-Buffering", "no")
}

func (s *stream) WriteHeader(status int) {
	s.head()
	s.ResponseWriter.WriteHeader(status)
}

func (s *stream) Write(b []byte) (int, error) {
	if s.named && s.stopping.Err() != nil {
		return len(b), nil // or it would be told that nobody answered
	}
	s.head()
	_ = s.control.SetWriteDeadline(time.Now().Add(writeMost)) // without one the server's own holds
	if s.id != "" && !s.named && bytes.HasPrefix(b, []byte("event: message\n")) {
		s.named = true
		if _, err := fmt.Fprintf(s.ResponseWriter, "id: %s\nretry: %d\n", s.id, resumeAfter); err != nil {
			return 0, err
		}
	}
	return s.ResponseWriter.Write(b)
}

func (s *stream) Flush() {
	s.head()
	_ = s.control.Flush()
}

func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }
