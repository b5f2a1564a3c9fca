package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// firstProject is the project that an org begins with unless another is named.
var firstProject = interaction.Naming{Slug: interaction.DefaultSlug, Name: "Default"}

func (s *Server) createOrg(c echo.Context) error {
	var body api.NewOrg
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	first := firstProject
	if body.Project != nil {
		first = interaction.Naming{Slug: body.Project.Slug, Name: body.Project.Name}
	}
	org, project, err := s.service.CreateOrg(c.Request().Context(), principal(c), interaction.Naming{Slug: body.Slug, Name: body.Name}, first)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, api.OrgCreated{Org: wireOrg(org), Project: wireProject(project)})
}

func (s *Server) listOrgs(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	orgs, err := s.service.Orgs(c.Request().Context(), principal(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.Orgs{Data: convert(orgs, wireOrg)})
}

func (s *Server) createProject(c echo.Context) error {
	var body api.NewProject
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if err := checkOrg(c); err != nil {
		return err
	}
	project, err := s.service.CreateProject(c.Request().Context(), principal(c), c.Param("org"), interaction.Naming{Slug: body.Slug, Name: body.Name})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, api.ProjectBody{Project: wireProject(project)})
}

func (s *Server) listProjects(c echo.Context) error {
	if err := firstOf(noQuery(c), checkOrg(c)); err != nil {
		return err
	}
	projects, err := s.service.ProjectsOf(c.Request().Context(), principal(c), c.Param("org"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.Projects{Data: convert(projects, wireProject)})
}

func wireOrg(o interaction.Org) api.Org {
	return api.Org{ID: string(o.ID), Slug: o.Slug, Name: o.Name, CreatedAt: api.Time{Time: o.CreatedAt}}
}

func wireProject(p interaction.Project) api.Project {
	return api.Project{ID: string(p.ID), OrgID: string(p.OrgID), Slug: p.Slug, Name: p.Name, CreatedAt: api.Time{Time: p.CreatedAt}}
}

// projectsPage shows the owner every org and project, and makes more.
func (s *Server) projectsPage(c echo.Context) error {
	return s.showOrgs(c, http.StatusOK, views.Orgs{})
}

func (s *Server) showOrgs(c echo.Context, status int, model views.Orgs) error {
	ctx := c.Request().Context()
	orgs, err := s.service.Orgs(ctx, principal(c))
	if err != nil {
		return err
	}
	all, err := s.service.Projects(ctx, unbound(principal(c)))
	if err != nil {
		return err
	}
	model.Page = s.pageAnywhere(c, "Orgs and projects")
	for _, o := range orgs {
		row := views.OrgRow{ID: string(o.ID), Name: display.Line(o.Name), Slug: o.Slug}
		for _, in := range all {
			if in.OrgID == o.ID {
				row.Projects = append(row.Projects, views.ProjectRow{Name: display.Line(in.Name), Slug: in.Slug, ID: string(in.ID), URL: s.config.BasePath + "/projects/" + in.Address()})
			}
		}
		model.Orgs = append(model.Orgs, row)
	}
	return s.renderStatus(c, status, views.OrgsPage(model))
}

// foundOrg makes an org from the owner's page.
func (s *Server) foundOrg(c echo.Context) error {
	form, err := postedForm(c, "name", "slug", "project_name", "project_slug")
	if err != nil {
		return err
	}
	draft := views.OrgDraft{Name: form.text("name"), Slug: form.text("slug"), ProjectName: form.text("project_name"), ProjectSlug: form.text("project_slug")}
	_, _, err = s.service.CreateOrg(c.Request().Context(), principal(c), interaction.Naming{Slug: draft.Slug, Name: draft.Name},
		interaction.Naming{Slug: draft.ProjectSlug, Name: draft.ProjectName})
	return s.founded(c, err, func(o *views.Orgs, problem string) { o.Draft, o.Problem = draft, problem })
}

// foundProject makes a project from the owner's page.
func (s *Server) foundProject(c echo.Context) error {
	form, err := postedForm(c, "org", "name", "slug")
	if err != nil {
		return err
	}
	draft := views.OrgDraft{Name: form.text("name"), Slug: form.text("slug")}
	_, err = s.service.CreateProject(c.Request().Context(), principal(c), form.text("org"), interaction.Naming{Slug: draft.Slug, Name: draft.Name})
	return s.founded(c, err, func(o *views.Orgs, problem string) {
		o.ProjectDraft, o.ProjectDraftOf, o.ProjectProblem = draft, form.text("org"), problem
	})
}

// founded shows what became of a form of the owner's page.
func (s *Server) founded(c echo.Context, err error, refused func(*views.Orgs, string)) error {
	if message := refusal(err, interaction.ValidationFailed, interaction.Conflict); message != "" {
		var model views.Orgs
		refused(&model, message)
		return s.showOrgs(c, formStatus(err), model)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, s.config.BasePath+"/settings/projects")
}
