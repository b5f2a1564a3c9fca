package web

import (
	"time"

	"github.com/labstack/echo/v4"
)

// SetTicks has streams go by other ticks than those of time. Call it before there is a stream.
func (s *Server) SetTicks(every func(time.Duration) (ticks <-chan time.Time, stop func())) {
	s.every = every
}

// Routes are all that the server answers.
func (s *Server) Routes() (all []*echo.Route) {
	for _, r := range s.echo.Routes() {
		if r.Method != echo.RouteNotFound {
			all = append(all, r)
		}
	}
	return all
}

// HoldVerification does as if a verification ran, until release is called.
func (s *Server) HoldVerification() (release func()) {
	s.verifying.Lock()
	return s.verifying.Unlock
}

// InputDiff is what a review shows.
var InputDiff = inputDiff
