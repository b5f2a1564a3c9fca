package interaction

import (
	"context"
	"regexp"
	"time"
)

// Org is a tenant: projects belong to it, and nothing of it is seen from another.
type Org struct {
	ID        ID
	Slug      string
	Name      string
	CreatedAt time.Time
}

// Naming is what an org or a project is called when it is made.
type Naming struct {
	Slug string // in addresses; unique
	Name string
}

const maxPlaceName = 100

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// normalised is p with its name trimmed; field is where it stands, as "project.".
func (p Naming) normalised(field string) (Naming, error) {
	var err error
	if !slugForm.MatchString(p.Slug) {
		return p, Errorf(ValidationFailed, "%sslug: %q is not allowed; give 1 to 63 characters of a-z, 0-9 and '-', not beginning with '-'", field, clip(p.Slug))
	}
	p.Name, err = line(field+"name", p.Name, maxPlaceName)
	return p, err
}

// Founds says whether the principal may make orgs and projects, and see all of them: the owner, and a key of the server itself that manages.
func (p Principal) Founds() bool {
	switch p.Kind {
	case UserPrincipal:
		return p.Owner
	case OperatorPrincipal:
		return p.ProjectID == "" && p.Can(ScopeManage)
	}
	return false
}

// CreateOrg makes an org and its first project. A slug that is taken is a Conflict.
func (s *Service) CreateOrg(ctx context.Context, p Principal, o, first Naming) (Org, Project, error) {
	o, err := o.normalised("")
	if err != nil {
		return Org{}, Project{}, err
	}
	if first, err = first.normalised("project."); err != nil {
		return Org{}, Project{}, err
	}
	if !p.Founds() {
		return Org{}, Project{}, forbidden("create orgs")
	}
	now := s.Time()
	org := Org{ID: NewID(OrgPrefix, now), Slug: o.Slug, Name: o.Name, CreatedAt: now}
	made := newProject(first, org, now)
	return org, made, s.store.CreateOrg(ctx, org, made, func(in Project) []AdminEvent {
		about := Subject{Kind: "org", ID: org.ID, Name: org.Name}
		return []AdminEvent{p.Administers(in.ID, OrgCreated, about, map[string]string{"slug": org.Slug}, now), p.founded(in, now)}
	})
}

func newProject(p Naming, in Org, now time.Time) Project {
	return Project{ID: NewID(ProjectPrefix, now), OrgID: in.ID, Org: in.Slug, Slug: p.Slug, Name: p.Name, CreatedAt: now}
}

// CreateProject makes a project in an org, which is named by its id or as default. A slug that is taken there is a Conflict.
func (s *Service) CreateProject(ctx context.Context, p Principal, org string, named Naming) (Project, error) {
	named, err := named.normalised("")
	if err != nil {
		return Project{}, err
	}
	if !p.Founds() {
		return Project{}, forbidden("create projects")
	}
	now := s.Time()
	return s.store.CreateProject(ctx, org, newProject(named, Org{}, now), func(in Project) []AdminEvent { return []AdminEvent{p.founded(in, now)} })
}

// founded is the beginning of a project's audit log.
func (p Principal) founded(in Project, now time.Time) AdminEvent {
	return p.Administers(in.ID, ProjectCreated, Subject{Kind: "project", ID: in.ID, Name: in.Name}, map[string]string{"org_id": string(in.OrgID), "slug": in.Slug}, now)
}

// Orgs are all there are.
func (s *Service) Orgs(ctx context.Context, p Principal) ([]Org, error) {
	if !p.Founds() {
		return nil, forbidden("list orgs")
	}
	return s.store.Orgs(ctx)
}

// ProjectsOf are the projects of an org, which is named by its id or as default; an org that is not there is NotFound.
func (s *Service) ProjectsOf(ctx context.Context, p Principal, org string) (of []Project, err error) {
	orgs, err := s.Orgs(ctx, p)
	if err != nil {
		return nil, err
	}
	known := false
	for _, o := range orgs {
		known = known || o.named(org)
	}
	if !known {
		return nil, errNotFound()
	}
	all, err := s.store.Projects(ctx)
	for _, in := range all {
		if (Org{ID: in.OrgID, Slug: in.Org}).named(org) {
			of = append(of, in)
		}
	}
	return of, err
}

// named says whether org is the id of o, or default and o is that.
func (o Org) named(org string) bool {
	return string(o.ID) == org || o.Slug == DefaultSlug && org == DefaultSlug
}
