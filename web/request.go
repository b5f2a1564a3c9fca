package web

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// pathID reads an id from the path. A malformed one is ValidationFailed; whether a well-formed one names anything is found out later.
func pathID(c echo.Context, param, prefix string) (interaction.ID, error) {
	id := interaction.ID(c.Param(param))
	if !id.WellFormed(prefix) {
		return "", interaction.Errorf(interaction.ValidationFailed, "%s: %q is not an id of the form %s_ and 26 characters of a-z and 2-7", param, c.Param(param), prefix)
	}
	return id, nil
}

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// inProject finds the project that the path names, by id or slug. From then on the caller is who they are in that project.
func (s *Server) inProject(c echo.Context) (interaction.Project, error) {
	org, project := c.Param("org"), c.Param("project")
	if err := checkOrg(c); err != nil {
		return interaction.Project{}, err
	}
	if !slugForm.MatchString(project) && !interaction.ID(project).WellFormed(interaction.ProjectPrefix) {
		return interaction.Project{}, interaction.Errorf(interaction.ValidationFailed, "project: %q is neither a project's id nor a slug of a-z, 0-9 and '-'", project)
	}
	return s.enter(c, org, project)
}

// checkOrg says what is wrong with the org that the path names, if it names one.
func checkOrg(c echo.Context) error {
	org := c.Param("org")
	if slices.Contains(c.ParamNames(), "org") && org != interaction.DefaultSlug && !interaction.ID(org).WellFormed(interaction.OrgPrefix) {
		return interaction.Errorf(interaction.ValidationFailed, "org: %q is neither an org's id nor \"default\"", org)
	}
	return nil
}

// enter makes the caller who they are in a project. Pages name no org: a slug is then one of the org default, an id any project's; see
// [interaction.Project.Address].
func (s *Server) enter(c echo.Context, org, project string) (interaction.Project, error) {
	if org == "" && !interaction.ID(project).WellFormed(interaction.ProjectPrefix) {
		org = interaction.DefaultSlug
	}
	in, there, err := s.service.Enter(c.Request().Context(), principal(c), org, project)
	if err != nil {
		return in, err
	}
	c.Set(principalKey, there)
	c.Set(projectKey, in)
	return in, nil
}

// ref reads which interaction the path names. Where it names no agent, any of the project will do.
func (s *Server) ref(c echo.Context) (ref interaction.Ref, err error) {
	if slices.Contains(c.ParamNames(), "agent") {
		if ref.Agent, err = pathID(c, "agent", interaction.AgentPrefix); err != nil {
			return ref, err
		}
	}
	if ref.ID, err = pathID(c, "interaction", interaction.InteractionPrefix); err != nil {
		return ref, err
	}
	in, err := s.inProject(c)
	ref.Project = in.ID
	return ref, err
}

// query reads query parameters; one that is unknown or given twice, or that cannot be read, is ValidationFailed.
type query struct {
	values url.Values
	err    error
}

func queryOf(c echo.Context, known ...string) *query {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.fail("query: %v", err)
	}
	for name, values := range values {
		switch {
		case !slices.Contains(known, name):
			q.fail("%s: unknown query parameter", clip(name))
		case len(values) > 1:
			q.fail("%s: given twice", name)
		}
	}
	return q
}

// postedForm reads the fields of a posted form as [queryOf] does parameters: one that is unknown or given twice is ValidationFailed, and one that
// is left out is "".
func postedForm(c echo.Context, known ...string) (*query, error) {
	if _, err := readForm(c); err != nil {
		return nil, err
	}
	q := &query{values: c.Request().PostForm}
	for name, values := range q.values {
		switch {
		case !slices.Contains(known, name):
			q.fail("%s: unknown field", clip(name))
		case len(values) > 1:
			q.fail("%s: given twice", name)
		}
	}
	return q, q.err
}

// noQuery refuses query parameters, on a route that has none.
func noQuery(c echo.Context) error { return queryOf(c).err }

func (q *query) fail(format string, args ...any) {
	if q.err == nil {
		q.err = interaction.Errorf(interaction.ValidationFailed, format, args...)
	}
}

func (q *query) has(name string) bool { return q.values.Has(name) }

func (q *query) text(name string) string { return q.values.Get(name) }

// exact reads a text that something must be equal to. Nothing is ever blank, so a blank one is a mistake and not "any".
func (q *query) exact(name string) string {
	if q.has(name) && strings.TrimSpace(q.text(name)) == "" {
		q.fail("%s: must not be blank", name)
	}
	return q.text(name)
}

// oneOf reads a parameter that has few values.
func oneOf[T ~string](q *query, name string, allowed ...T) T {
	value := T(q.text(name))
	if q.has(name) && !slices.Contains(allowed, value) {
		q.fail("%s: %q is unknown; allowed are %v", name, value, allowed)
	}
	return value
}

func (q *query) number(name string, least, most, otherwise int) int {
	if !q.has(name) {
		return otherwise
	}
	n, err := strconv.ParseUint(q.text(name), 10, 31) // which takes no sign
	if err != nil || int(n) < least || int(n) > most {
		q.fail("%s: %q is not a whole number from %d to %d", name, q.text(name), least, most)
	}
	return int(n)
}

func (q *query) time(name string) time.Time {
	if !q.has(name) {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, q.text(name))
	if err != nil {
		q.fail("%s: %q is not a time of the form 2026-01-31T12:00:00.000Z", name, q.text(name))
	}
	if t.IsZero() {
		t = t.Add(time.Millisecond) // the zero time would not filter; nothing is that old
	}
	return t
}

// page reads limit, cursor and order.
func (q *query) page() interaction.Page {
	p := interaction.Page{
		Limit:  q.number("limit", 1, interaction.MaxLimit, interaction.DefaultLimit),
		Newest: oneOf(q, "order", "asc", "desc") == "desc",
	}
	if q.has("cursor") && q.err == nil {
		p.After, q.err = interaction.ParseCursor(q.text("cursor"))
	}
	return p
}

// onceKey reads the Idempotency-Key of a create; "" if there is none.
func onceKey(c echo.Context) (string, error) {
	values, given := c.Request().Header["Idempotency-Key"]
	if !given {
		return "", nil
	}
	if len(values) != 1 || values[0] == "" || len(values[0]) > 255 {
		return "", interaction.Errorf(interaction.ValidationFailed, "Idempotency-Key: 1 to 255 characters are allowed, once")
	}
	return values[0], nil
}

// once is what an Idempotency-Key stands for: the method, the place and the body.
func once(c echo.Context, key, place string, body []byte) interaction.Once {
	if key == "" {
		return interaction.Once{}
	}
	request := append([]byte(place+"\n"), body...)
	return interaction.Once{Caller: principal(c).ID, Key: key, Request: sha256.Sum256(request)}
}

// listPage answers with one page of what a project has.
func listPage[T, W any](s *Server, c echo.Context, list func(context.Context, interaction.Principal, interaction.Project, interaction.Page) ([]T, *interaction.Cursor, error), wire func(T) W) error {
	q := queryOf(c, "limit", "cursor", "order")
	page := q.page()
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	all, next, err := list(c.Request().Context(), principal(c), in, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.List[W]{Data: convert(all, wire), NextCursor: cursorText(next)})
}
