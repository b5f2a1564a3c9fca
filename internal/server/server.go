// Package server puts the parts together and runs them: configuration, the data folder, listeners, start and stop.
//
// [Run] is the whole program but for its command line, so a test runs it as `sayso serve` does, on port 0. The order matters. At the start
// nothing listens before overdue interactions have ended and the keys are there; at the stop waiting askers are released and pages sent away
// before connections are drained, and the database is closed last.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"os/user"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sayso/internal/agents"
	"sayso/internal/api"
	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/internal/store"
	"sayso/web"
)

const (
	stopWithin = 10 * time.Second
	// slowest is how long a request may take from its first byte to the last of its answer. The longest wait for an interaction is within it,
	// and sockets are not bound by it.
	slowest = 2 * time.Minute
)

// server is one running program.
type server struct {
	config  Config
	log     *slog.Logger
	out     io.Writer
	store   *store.Store
	rules   *policies
	service *interaction.Service
	gate    *auth.Gate
	pages   *web.Server
	http    *http.Server
	keys    localKeys

	listeners  sync.WaitGroup
	unused     unused
	inner      net.Listener // on loopback, until somebody signed in
	open       chan struct{}
	demo       atomic.Bool // it runs
	background sync.WaitGroup
}

// Run serves until ctx is done, and then stops cleanly. It writes the line with the link to out, and the log to logs. A bad
// configuration, a folder in use and the like are errors of one line.
func Run(ctx context.Context, config Config, out, logs io.Writer) error {
	if err := config.check(); err != nil {
		return err
	}
	s := &server{config: config, log: config.logger(logs), out: out, open: make(chan struct{}, 1)}
	var broken error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	s.store, err = store.Open(ctx, config.Data, store.Options{Log: s.log, Broken: func(err error) { broken = err; cancel() }})
	if err != nil {
		return err
	}
	err = s.serve(ctx)
	return errors.Join(err, s.store.Close(), brokenError(broken))
}

func brokenError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the disk failed, and what is stored is unclear; stopped rather than guessing: %w", err)
}

func (s *server) serve(ctx context.Context) error {
	if err := s.assemble(ctx); err != nil {
		return err
	}
	defer s.pages.Close()
	first, err := s.gate.First(ctx)
	if err != nil {
		return err
	}
	if err := s.service.Start(ctx); err != nil {
		return err
	}
	url, err := s.listen(ctx, first)
	if err != nil {
		return err
	}
	defer removeServerFile(s.config.Data)
	working, endWork := context.WithCancel(context.WithoutCancel(ctx)) // deadlines are kept until the last connection is drained
	s.background.Go(func() { s.service.Run(working) })
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	s.background.Go(func() { s.rules.watch(working, hangup) })
	s.announce(ctx, url)
	<-ctx.Done()
	return s.stop(endWork)
}

// assemble makes the parts, from the store outwards.
func (s *server) assemble(ctx context.Context) (err error) {
	watch := &web.Watch{}
	s.service = interaction.NewService(s.store, watch, s.log, time.Now)
	if s.rules, err = newPolicies(s.config.ConfigFile, s.log, time.Now); err != nil {
		return err
	}
	s.service.UsePolicies(web.Policies(s.rules.reading))
	if host, _, _ := net.SplitHostPort(s.config.Listen); loopback(host) && s.config.PublicURL == "" {
		s.service.UseLoopback()
	}
	s.gate = auth.NewGate(s.store, time.Now)
	if s.keys, err = ensureKeys(ctx, s.config.Data, s.store); err != nil {
		return err
	}
	s.pages = web.New(web.Config{
		BasePath: s.config.BasePath, PublicURL: s.config.PublicURL, AllowedHosts: s.config.hosts(), OwnerName: ownerName(), Log: s.log,
		TrustedProxies: s.config.proxies(),
		Command:        s.config.command(), Version: s.config.Version, Policies: s.rules.reading,
		Provider: s.config.provider(), SignedIn: s.signedIn, Demo: func() { s.startDemo(ctx) }, Gallery: s.config.Dev,
	}, s.service, s.gate, s.store, watch)
	s.http = &http.Server{
		Handler: s.pages, MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ReadTimeout: slowest, WriteTimeout: slowest, ConnState: s.unused.note,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	return nil
}

// ownerName is what the person who starts the server is called until they say otherwise.
func ownerName() string {
	u, err := user.Current()
	if err != nil || u.Username == "" || u.Username == "root" {
		return "Owner"
	}
	if name, _, _ := strings.Cut(u.Name, ","); name != "" {
		return name
	}
	return u.Username
}

// listen opens the port, on loopback only while nobody has ever signed in, and gives the address that this machine reaches us at.
func (s *server) listen(ctx context.Context, first bool) (url string, err error) {
	host, port, _ := net.SplitHostPort(s.config.Listen)
	inner := first && !loopback(host)
	address := s.config.Listen
	if inner {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen: %w; choose another address with --listen or SAYSO_LISTEN", err)
	}
	if inner {
		s.inner = l
		s.log.Info("listening on loopback only until the setup link was used", "then", s.config.Listen)
		s.background.Go(func() { s.openUp(ctx) })
	}
	s.run(l)
	url = "http://" + local(l.Addr()) + s.config.BasePath
	return url, writeServerFile(s.config.Data, serverFile{URL: url, PublicURL: s.public(url), Version: s.config.Version})
}

func (s *server) run(l net.Listener) {
	s.listeners.Go(func() {
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			s.log.Error("serve", "err", err)
		}
	})
}

// signedIn has the server listen where it was told to, once the owner is known.
func (s *server) signedIn(first bool) {
	if first && s.inner != nil {
		select {
		case s.open <- struct{}{}:
		default:
		}
	}
}

// openUp waits for the owner, and then listens on the configured address too. Loopback stays, for this machine: under an address that
// stands for all of them it is one of them.
func (s *server) openUp(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-s.open:
	}
	inner := s.inner.Addr().String()
	_, port, _ := net.SplitHostPort(inner)
	host, _, _ := net.SplitHostPort(s.config.Listen)
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		s.inner.Close() // both cannot be had at once; connections that are open stay
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		s.log.Error("listen", "err", err, "hint", "restart with another --listen")
		if l, err = net.Listen("tcp", inner); err != nil {
			return
		}
	}
	s.log.Info("listening", "address", l.Addr().String())
	s.run(l)
}

// local is an address as this machine reaches it.
func local(addr net.Addr) string {
	host, port, _ := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// announce prints the link that signs the owner in: on loopback, while the owner has no password, each start has one.
func (s *server) announce(ctx context.Context, url string) {
	s.log.Info("ready", "url", url, "data", s.config.Data, "version", s.config.Version)
	host, _, _ := net.SplitHostPort(s.config.Listen)
	_, signsIn, err := s.gate.Passwords(ctx)
	if err != nil {
		s.log.Error("sign-in link", "err", err)
	}
	if signsIn || !loopback(host) && s.inner == nil {
		fmt.Fprintf(s.out, "Sayso is at %s (for a sign-in link: %s signin-link)\n", s.public(url), s.config.command())
		return
	}
	code, err := s.gate.StartCode(ctx)
	if err != nil {
		s.log.Error("sign-in link", "err", err)
		return
	}
	fmt.Fprintf(s.out, "Open %s/setup?code=%s\n", s.public(url), code)
}

// public is the address that people use, if it is not the one that this machine does.
func (s *server) public(url string) string {
	if s.config.PublicURL == "" {
		return url
	}
	return s.config.PublicURL + s.config.BasePath
}

// startDemo runs the demo agent, over REST as any agent would, unless it runs.
func (s *server) startDemo(ctx context.Context) {
	if !s.demo.CompareAndSwap(false, true) {
		return
	}
	s.background.Go(func() {
		defer s.demo.Store(false)
		file, err := readServerFile(s.config.Data)
		if err == nil {
			demo := agents.Demo{Client: &api.Client{URL: file.URL, Key: s.keys.agent}}
			err = demo.Run(ctx)
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("demo agent", "err", err)
		}
	})
}

// stop releases who waits, sends pages away, finishes what is under way.
func (s *server) stop(endWork context.CancelFunc) error {
	s.log.Info("stopping")
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	s.service.Close()
	s.pages.Close()
	s.unused.close()
	err := s.http.Shutdown(ctx)
	endWork()
	s.listeners.Wait()
	s.background.Wait()
	return err
}
