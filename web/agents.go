package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

func (s *Server) createAgent(c echo.Context) error {
	var in api.NewAgent
	body, err := s.readJSON(c, &in)
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	a := interaction.NewAgent{Name: in.Name, Key: in.Key, Profile: in.Profile, Metadata: in.Metadata, Destination: destination(in.Destination)}
	project, err := s.inProject(c)
	if err != nil {
		_, wrong := a.Normalised()
		return firstOf(wrong, err)
	}
	agent, created, err := s.service.CreateAgent(c.Request().Context(), principal(c), project, a, once(c, key, "POST agents "+string(project.ID), body))
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.JSON(status, api.AgentBody{Agent: s.wireAgent(project, agent)})
}

func (s *Server) getAgent(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	project, id, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	agent, err := s.service.Agent(c.Request().Context(), principal(c), project, id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.AgentBody{Agent: s.wireAgent(project, agent)})
}

func (s *Server) updateAgent(c echo.Context) error {
	var in api.AgentPatch
	if _, err := s.readJSON(c, &in); err != nil {
		return err
	}
	patch := interaction.AgentPatch{Name: in.Name, Metadata: in.Metadata, Destination: destination(in.Destination)}
	project, id, err := s.agentInProject(c)
	if err != nil {
		_, wrong := patch.Normalised()
		return firstOf(wrong, err)
	}
	agent, err := s.service.UpdateAgent(c.Request().Context(), principal(c), project, id, patch)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.AgentBody{Agent: s.wireAgent(project, agent)})
}

func (s *Server) listAgents(c echo.Context) error {
	q := queryOf(c, "name", "key", "state", "limit", "cursor", "order")
	f := interaction.AgentFilter{
		Name: q.exact("name"), Key: q.exact("key"), Page: q.page(),
		State: oneOf(q, "state", interaction.AgentActive, interaction.AgentArchived),
	}
	if q.err != nil {
		return q.err
	}
	project, err := s.inProject(c)
	if err != nil {
		return err
	}
	f.Project = project.ID
	agents, next, err := s.service.Agents(c.Request().Context(), principal(c), f)
	if err != nil {
		return err
	}
	list := api.List[api.Agent]{Data: make([]api.Agent, len(agents)), NextCursor: cursorText(next)}
	for n, agent := range agents {
		list.Data[n] = s.wireAgent(project, agent)
	}
	return c.JSON(http.StatusOK, list)
}

// agentInProject reads which agent the path names.
func (s *Server) agentInProject(c echo.Context) (interaction.Project, interaction.ID, error) {
	id, err := pathID(c, "agent", interaction.AgentPrefix)
	if err != nil {
		return interaction.Project{}, "", err
	}
	project, err := s.inProject(c)
	return project, id, err
}

func cursorText(next *interaction.Cursor) *string {
	if next == nil {
		return nil
	}
	text := next.String()
	return &text
}

func destination(d *api.Destination) *interaction.Destination {
	if d == nil {
		return nil
	}
	return (*interaction.Destination)(&interaction.Destination{
		IntegrationID: d.IntegrationID, IntegrationTargetID: d.IntegrationTargetID, HandlerKey: d.HandlerKey, Conversation: d.Conversation,
	})
}

// wireAgent is an agent, with the mode in which the operator wants its client to run: whoever starts that client is told it, not the rules.
func (s *Server) wireAgent(in interaction.Project, a interaction.Agent) api.Agent {
	out := api.Agent{
		ID: string(a.ID), OrgID: string(a.OrgID), ProjectID: string(a.ProjectID), Name: a.Name, Key: a.Key, Profile: a.Profile, Metadata: a.Metadata,
		State: string(a.State), CreatedAt: api.Time{Time: a.CreatedAt}, UpdatedAt: api.Time{Time: a.UpdatedAt}, OpenInteractions: a.OpenInteractions,
		PermissionMode: s.config.Policies.reading().Set[in.Slug][a.Key].PermissionMode,
	}
	if !a.ArchivedAt.IsZero() {
		out.ArchivedAt = &api.Time{Time: a.ArchivedAt}
	}
	if !a.StoppedAt.IsZero() {
		out.StoppedAt = &api.Time{Time: a.StoppedAt}
	}
	if !a.LastSeenAt.IsZero() {
		out.LastSeenAt = &api.Time{Time: a.LastSeenAt}
	}
	if d := a.Destination; d != nil {
		out.Destination = &api.Destination{
			IntegrationID: d.IntegrationID, IntegrationTargetID: d.IntegrationTargetID, HandlerKey: d.HandlerKey, Conversation: d.Conversation,
		}
	}
	return out
}
