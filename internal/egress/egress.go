// Package egress is the one way in which this program calls out: to identity providers, and to whatever else people name by a URL.
//
// Such a URL must not reach what only this machine can: the address that a name resolves to is checked when the connection is made, so that no
// name can resolve to one address for a check and to another for the call. Addresses that are not public are refused unless the operator allows
// them. There are no redirects and no proxies, and what is read of an answer is bounded.
package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Config is what an operator may say.
type Config struct {
	Allow []netip.Prefix // of addresses that are not public, and may be called all the same
	Most  int64          // bytes of an answer that are read; 0: 1 MiB
}

// How long a call may take, and its parts.
const (
	callMost   = 10 * time.Second
	dialMost   = 5 * time.Second
	answerMost = 1 << 20
)

// NewClient is a client for calls out.
func NewClient(c Config) *http.Client {
	if c.Most == 0 {
		c.Most = answerMost
	}
	dialer := &net.Dialer{Timeout: dialMost, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		return c.check(address)
	}}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialMost, ResponseHeaderTimeout: callMost,
		MaxIdleConns: 20, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{
		Timeout: callMost, Transport: bounded{transport, c.Most},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ErrRefused says that an address is not public, and is not allowed.
var ErrRefused = errors.New("the address is not public, and egress.allow does not allow it")

// check refuses an address that must not be called. It is what a name has resolved to.
func (c Config) check(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrRefused, address)
	}
	if ip := at.Addr().WithZone("").Unmap(); !Public(ip) && !c.allows(ip) {
		return fmt.Errorf("%w: %s", ErrRefused, ip)
	}
	return nil
}

func (c Config) allows(ip netip.Addr) bool {
	for _, prefix := range c.Allow {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}

// Public says whether an address is one of the open Internet: neither this machine's, nor a private network's, nor one with a meaning of its own
// such as that under which clouds hand out their credentials.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || ip.Zone() != "" {
		return false
	}
	for _, prefix := range special {
		if prefix.Contains(ip) {
			return false
		}
	}
	return ip.Is4() || global.Contains(ip)
}

// global is where all public IPv6 addresses are.
var global = netip.MustParsePrefix("2000::/3")

// special are the blocks that IANA keeps for special purposes. IPv6 has those within global only: all else is refused already. Those that hold
// an IPv4 address inside are refused whole.
var special = func() (all []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32", // Azure's own services, from within its machines
		"2001::/23",        // protocols, Teredo, benchmarks, ORCHID
		"2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// bounded is a transport whose answers end with an error when they are too long.
type bounded struct {
	http.RoundTripper
	most int64
}

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = &limited{resp.Body, b.most}
	}
	return resp, err
}

type limited struct {
	io.ReadCloser
	left int64
}

var errTooLong = errors.New("the answer is too long")

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
