package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

const (
	projectPath = "/api/v1/orgs/:org/projects/:project"
	agentPath   = projectPath + "/agents/:agent"
	// The pages of a project.
	conversationPath = "/projects/:project/agents/:agent"
	cardPath         = conversationPath + "/interactions/:interaction"
)

// routes is the table of everything that is answered. What is not in it is 404.
func (s *Server) routes() {
	e := s.echo
	e.Use(s.logged, recovered)

	open := e.Group("")
	open.GET("/healthz", s.healthy)
	open.GET("/readyz", s.ready)
	open.GET("/api/openapi.yaml", s.openAPI)
	open.GET("/static/*", s.asset)
	open.GET("/favicon.ico", s.favicon)

	api := e.Group("", s.withKey)
	api.GET("/api/v1/me", s.me)
	api.POST("/api/v1/signin-links", s.createSignInLink)
	api.POST(projectPath+"/agents", s.createAgent)
	api.GET(projectPath+"/agents", s.listAgents)
	api.GET(agentPath, s.getAgent)
	api.PATCH(agentPath, s.updateAgent)
	api.GET(projectPath+"/interactions", s.listProjectInteractions)
	api.POST(agentPath+"/interactions", s.createInteraction)
	api.GET(agentPath+"/interactions", s.listAgentInteractions)
	api.GET(agentPath+"/interactions/:interaction", s.getInteraction)
	api.POST(agentPath+"/interactions/:interaction/resolve", s.resolveInteraction)
	api.POST(agentPath+"/interactions/:interaction/cancel", s.cancelInteraction)

	api.POST(agentPath+"/inputs", s.sendInput)
	api.GET(agentPath+"/inputs/backlog", s.listBacklog)
	api.POST(agentPath+"/inputs/claim", s.claimInput)
	api.POST(agentPath+"/inputs/:input/cancel", s.cancelInput)
	api.POST(agentPath+"/inputs/:input/move", s.moveInput)
	api.POST(agentPath+"/inputs/:input/promote_to_steering", s.promoteInput)
	api.POST(agentPath+"/inputs/:input/demote_to_queued", s.demoteInput)
	api.POST(agentPath+"/cancel", s.stopAgent)
	api.POST(agentPath+"/archive", s.archiveAgent)
	api.POST(agentPath+"/events", s.reportEvents)
	api.GET(agentPath+"/events", s.listEvents)
	api.GET(agentPath+"/events/stream", s.streamEvents)
	api.GET(agentPath+"/tool-calls", s.listToolCalls)
	api.POST(agentPath+"/tool-calls/:call/result", s.finishToolCall)
	api.GET(projectPath+"/events", s.listLifecycle)
	api.GET(projectPath+"/events/stream", s.streamLifecycle)
	api.GET(projectPath+"/policies", s.listPolicies)
	api.GET(projectPath+"/audit", s.listAudit)
	api.GET(projectPath+"/audit/export", s.exportAudit)
	api.GET(projectPath+"/actors", s.listActors)
	api.PUT(projectPath+"/actors", s.putActor)
	api.GET(projectPath+"/actors/:actor", s.getActor)

	api.POST("/mcp", s.serveMCP)
	api.GET("/mcp", s.serveMCP)
	api.DELETE("/mcp", s.serveMCP)
	api.POST("/hooks/claude", s.answerHook)

	// Each may be posted to from our own pages only; no GET changes anything.
	browser := e.Group("", s.sameOrigin)
	browser.GET("/setup", s.setupPage)
	browser.POST("/setup", s.setup)
	browser.GET("/signin", s.signInPage)
	browser.POST("/signout", s.signOut)
	if s.config.Gallery {
		browser.GET("/gallery", s.gallery)
		browser.GET("/gallery/:name", s.gallerySample)
	}

	signedIn := e.Group("", s.sameOrigin, s.withSession)
	signedIn.GET("/", s.inboxPage)
	signedIn.POST("/demo", s.startDemo)
	signedIn.GET("/projects/:project/agents", s.agentsPage)
	signedIn.GET("/projects/:project/agents/:agent", s.conversationPage)
	signedIn.GET("/projects/:project/settings/policies", s.policiesPage)
	signedIn.GET("/projects/:project/audit", s.auditPage)
	signedIn.GET("/projects/:project/audit/export", s.exportFromPage)
	signedIn.GET("/projects/:project/interactions/:interaction", s.interactionPage)
	signedIn.GET("/projects/:project/interactions/:interaction/json", s.interactionJSON)
	signedIn.GET("/projects/:project/interactions/:interaction/context/:item", s.contextText)
	signedIn.POST(cardPath+"/resolve", s.resolveCard)
	signedIn.POST(cardPath+"/review", s.reviewCard)
	signedIn.POST(conversationPath+"/inputs", s.sendMessage)
	signedIn.POST(conversationPath+"/inputs/:input/cancel", s.changeWaiting(s.cancelWaiting))
	signedIn.POST(conversationPath+"/inputs/:input/move", s.changeWaiting(s.moveWaiting))
	signedIn.POST(conversationPath+"/inputs/:input/promote", s.changeWaiting(s.promoteWaiting))
	signedIn.POST(conversationPath+"/inputs/:input/demote", s.changeWaiting(s.demoteWaiting))
	signedIn.POST(conversationPath+"/stop", s.stopFromPage)
	signedIn.POST(conversationPath+"/archive", s.archiveFromPage)
	signedIn.GET("/projects/:project/cards", s.inboxCards)
	signedIn.GET("/projects/:project/agents/:agent/cards", s.conversationCards)
	signedIn.GET("/projects/:project/live", s.inboxSocket)
	signedIn.GET("/projects/:project/agents/:agent/live", s.conversationSocket)

	e.RouteNotFound("/*", func(echo.Context) error { return echo.NewHTTPError(http.StatusNotFound) })
}
