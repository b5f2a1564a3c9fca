package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

func (s *Server) listActors(c echo.Context) error { return listPage(s, c, s.service.Actors, wireActor) }

func (s *Server) getActor(c echo.Context) error {
	if err := noQuery(c); err != nil {
		return err
	}
	id, err := pathID(c, "actor", interaction.ActorPrefix)
	if err != nil {
		return err
	}
	project, err := s.inProject(c)
	if err != nil {
		return err
	}
	actor, err := s.service.Actor(c.Request().Context(), principal(c), project.ID, id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.ActorBody{Actor: wireActor(actor)})
}

// putActor stores an external person, by the relaying service's ids.
func (s *Server) putActor(c echo.Context) error {
	var in api.External
	if _, err := s.readJSON(c, &in); err != nil {
		return err
	}
	who := interaction.External(in)
	project, err := s.inProject(c)
	if err != nil {
		return firstOf(who.Check(), err)
	}
	actor, created, err := s.service.PutActor(c.Request().Context(), principal(c), project.ID, who)
	if err != nil {
		return err
	}
	return c.JSON(createdOr(created), api.ActorBody{Actor: wireActor(actor)})
}

func wireActor(a interaction.StoredActor) api.StoredActor {
	return api.StoredActor{
		ID: string(a.ID), ProjectID: string(a.ProjectID), ProviderUserID: a.ProviderUserID, ProviderTenantID: a.ProviderTenantID,
		DisplayName: a.DisplayName, Metadata: a.Metadata, CreatedAt: api.Time{Time: a.CreatedAt},
	}
}
