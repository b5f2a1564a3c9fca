package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/audit"
	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/mcp"
	"sayso/internal/store"
)

// Config is what the server may be told.
type Config struct {
	BasePath     string   // "" or "/sayso": where a proxy mounts us
	PublicURL    string   // scheme and host that browsers use, when it is not the address we listen on; no slash at its end
	AllowedHosts []string // names that may stand in Host; empty: any
	BodyLimit    int64    // bytes; 0: 1 MiB
	// TrustedProxies are where a request may come from that says in X-Forwarded-For where it came from before.
	TrustedProxies []netip.Prefix
	OwnerName      string // of the first person to sign in
	Version        string // of this program
	Command        string // that calls this program, as pages tell people to
	Log            *slog.Logger
	// SignedIn is called when the owner signs in; first says that nobody ever had.
	SignedIn func(first bool)
	// Policies are the approval policies; nil: there are none. The service must use them too.
	Policies Policies
	// Provider signs people in beside all else; nil: there is none.
	Provider *Provider
	// Demo starts the demo agent, unless it runs; nil: there is none.
	Demo func()
	// Gallery shows every component in every state at /gallery.
	Gallery bool
}

// Store is what the pages need beside the service: whether it answers, and what was committed.
type Store interface {
	Ping(context.Context) error
	Follow(func([]store.Change)) (stop func())
	// Events reads the log, to tell streams what was committed.
	Events(context.Context, interaction.EventFilter) ([]interaction.Event, error)
	// Verify checks a project's audit log, and AuditHead is the hash of its last entry.
	Verify(ctx context.Context, project interaction.ID) (audit.Report, error)
	AuditHead(project interaction.ID) (string, error)
}

// Server answers HTTP. Make it with [New]; [Server.Close] ends its sockets.
type Server struct {
	config  Config
	service *interaction.Service
	gate    *auth.Gate
	store   Store
	feed    *feed
	echo    *echo.Echo
	cross   *http.CrossOriginProtection
	mcp     *mcp.Handler
	hooks   *hooks
	handler http.Handler
	// verifying is held while an audit log is verified.
	verifying sync.Mutex
	every     func(time.Duration) (ticks <-chan time.Time, stop func()) // ticker, but in tests
}

// New makes a Server that follows the store until Close.
func New(config Config, service *interaction.Service, gate *auth.Gate, s Store, watch *Watch) *Server {
	if config.BodyLimit == 0 {
		config.BodyLimit = 1 << 20
	}
	config.Command = cmp.Or(config.Command, "sayso")
	w := &Server{config: config, service: service, gate: gate, store: s, echo: echo.New(), cross: http.NewCrossOriginProtection(), every: ticker}
	if config.PublicURL != "" {
		if err := w.cross.AddTrustedOrigin(config.PublicURL); err != nil {
			config.Log.Warn("public URL", "err", err) // it was checked when the configuration was read
		}
	}
	w.feed = newFeed(w, watch)
	w.echo.HideBanner, w.echo.HidePort = true, true
	w.echo.HTTPErrorHandler = w.writeError
	w.mcp = mcp.NewHandler(mcp.Config{Version: config.Version, Log: config.Log}, w.echo)
	w.hooks = newHooks()
	w.routes()
	w.handler = w.mounted(w.echo)
	return w
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close ends the calls over MCP and the hooks that wait, stops following the store, and closes every socket so that its page comes back to the
// next server. It may be called again.
func (s *Server) Close() {
	s.mcp.Close()
	s.hooks.stop()
	s.feed.close()
}

// mounted serves next under the base path, after what is the same for every request.
func (s *Server) mounted(next http.Handler) http.Handler {
	inside := http.StripPrefix(s.config.BasePath, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.secure(w.Header())
		rest, ours := strings.CutPrefix(r.URL.Path, s.config.BasePath)
		switch {
		case !s.hostAllowed(r.Host):
			http.Error(w, "This server does not answer for that host name; see --allowed-hosts.", http.StatusMisdirectedRequest)
		case ours && rest == "":
			http.Redirect(w, r, s.config.BasePath+"/", http.StatusSeeOther)
		case !ours || !strings.HasPrefix(rest, "/"):
			http.Error(w, "Sayso is at "+s.config.BasePath+"/", http.StatusNotFound)
		default:
			inside.ServeHTTP(w, asGet(r))
		}
	})
}

// asGet answers HEAD as GET; net/http leaves the body out.
func asGet(r *http.Request) *http.Request {
	if r.Method != http.MethodHead {
		return r
	}
	get := r.Clone(context.WithValue(r.Context(), headOnly{}, true))
	get.Method = http.MethodGet
	return get
}

// headOnly marks the context of a request that was HEAD.
type headOnly struct{}

// wantsHead says whether only the head of the answer is wanted, which is all that an answer without end has for it.
func wantsHead(r *http.Request) bool { return r.Context().Value(headOnly{}) != nil }

// secure sets what every response carries. Pages replace the policy by one with their nonce.
func (s *Server) secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if s.https() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

func (s *Server) https() bool { return strings.HasPrefix(s.config.PublicURL, "https://") }

// pagePolicy is the Content-Security-Policy of a page: scripts by nonce, style and sockets from ourselves, nothing else.
func pagePolicy(h http.Header) (nonce string) {
	var b [16]byte
	rand.Read(b[:])
	nonce = base64.RawStdEncoding.EncodeToString(b[:])
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'self'; img-src 'self' data:; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	return nonce
}

// hostAllowed guards against a name that an attacker lets point to us: only names that are ours are answered.
func (s *Server) hostAllowed(host string) bool {
	if len(s.config.AllowedHosts) == 0 {
		return true
	}
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && isPort(host[i+1:]) {
		name = host[:i]
	}
	for _, allowed := range s.config.AllowedHosts {
		if strings.EqualFold(allowed, name) || strings.EqualFold(allowed, host) {
			return true
		}
	}
	return false
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// logged writes one line for each request. Bodies, keys and cookies are never in it.
func (s *Server) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		s.log(c, time.Since(start))
		return nil
	}
}

func (s *Server) log(c echo.Context, took time.Duration) {
	s.config.Log.LogAttrs(c.Request().Context(), slog.LevelInfo, "request",
		slog.String("method", c.Request().Method), slog.String("route", c.Path()), slog.Int("status", c.Response().Status),
		slog.Duration("took", took), slog.String("principal", string(principal(c).ID)))
}

// recovered turns a panic into an error, which becomes a 500 that tells nothing.
func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer recoverTo(&err)
		return next(c)
	}
}

// recoverTo makes an error of a panic, but for the one by which a handler breaks its answer off. Defer it.
func recoverTo(err *error) {
	if v := recover(); v == http.ErrAbortHandler {
		panic(v)
	} else if v != nil {
		*err = panicError{v}
	}
}
