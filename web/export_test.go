package web

import "github.com/labstack/echo/v4"

// Routes are all that the server answers.
func (s *Server) Routes() (all []*echo.Route) {
	for _, r := range s.echo.Routes() {
		if r.Method != echo.RouteNotFound {
			all = append(all, r)
		}
	}
	return all
}
