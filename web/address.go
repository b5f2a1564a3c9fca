package web

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// address is where a request comes from. X-Forwarded-For is written by anybody, so it counts only from the proxies that the operator named: from
// its end, which the nearest proxy wrote, back to the first that is none of them.
func (s *Server) address(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	at := from.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil || !s.isProxy(at) {
			break
		}
		at = before.Unmap().WithZone("")
	}
	return at.String()
}

func (s *Server) isProxy(ip netip.Addr) bool {
	return slices.ContainsFunc(s.config.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}
