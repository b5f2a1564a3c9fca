package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// lastProject is the name of the cookie that remembers which project's pages a browser showed last. It opens nothing: whoever has no role in
// that project is taken to another.
func (s *Server) lastProject() string { return s.cookieName() + "-project" }

// home is the project that the inbox at / is of: the last one that this browser showed, else the first that the person sees.
func (s *Server) home(c echo.Context) (interaction.Project, error) {
	if cookie, err := c.Cookie(s.lastProject()); err == nil {
		in, err := s.enter(c, "", cookie.Value)
		if err == nil || interaction.CodeOf(err) != interaction.NotFound {
			return in, err
		}
	}
	seen, err := s.service.Projects(c.Request().Context(), principal(c))
	if err != nil {
		return interaction.Project{}, err
	}
	if len(seen) == 0 {
		return interaction.Project{}, interaction.Errorf(interaction.Forbidden, "You are in no project yet. Ask an admin of one to invite you.")
	}
	return s.enter(c, "", seen[0].Address())
}

// showProjects fills in where else the person may go, and remembers where they are.
func (s *Server) showProjects(c echo.Context, in interaction.Project, page *views.Page) error {
	all, err := s.service.Projects(c.Request().Context(), unbound(principal(c)))
	for _, other := range all {
		if other.ID != in.ID {
			page.Projects = append(page.Projects, views.ProjectLink{Name: display.Line(other.Name).String(), URL: page.URL("/projects/" + other.Address())})
		}
	}
	if last, _ := c.Cookie(s.lastProject()); len(all) > 1 && (last == nil || last.Value != in.Address()) {
		c.SetCookie(s.cookie(s.lastProject(), in.Address(), sessionLasts))
	}
	return err
}

// unbound is a person outside of any project, who sees all of theirs.
func unbound(who interaction.Principal) interaction.Principal {
	who.ProjectID, who.Scopes = "", nil
	return who
}

// cookie is one of ours: for us alone, and never for a page's scripts. A negative age takes it away.
func (s *Server) cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: s.config.BasePath + "/", MaxAge: seconds,
		Secure: s.https(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}
