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
	s.echo.Use(s.logged, recovered)
	s.openRoutes(s.echo.Group(""))
	api := s.echo.Group("", s.withKey)
	s.agentRoutes(api)
	s.projectRoutes(api)
	s.doorRoutes(api)

	// Each may be posted to from our own pages only; no GET changes anything.
	s.signInRoutes(s.echo.Group("", s.sameOrigin))
	pages := s.echo.Group("", s.sameOrigin, s.withSession)
	s.pageRoutes(pages)
	s.cardRoutes(pages)
	s.settingsRoutes(pages)
	s.peopleRoutes(pages)
	s.frameRoutes(s.echo.Group("", s.sameOrigin))
	s.echo.RouteNotFound("/*", func(echo.Context) error { return echo.NewHTTPError(http.StatusNotFound) })
}

// openRoutes ask nobody who they are.
func (s *Server) openRoutes(open *echo.Group) {
	open.GET("/healthz", s.healthy)
	open.GET("/readyz", s.ready)
	open.GET("/api/openapi.yaml", s.openAPI)
	open.GET("/static/*", s.asset)
	open.GET("/favicon.ico", s.favicon)
	open.GET("/embed.js", s.loader)
}

// agentRoutes are the REST API of one agent.
func (s *Server) agentRoutes(api *echo.Group) {
	api.GET(agentPath, s.getAgent)
	api.PATCH(agentPath, s.updateAgent)
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
}

// projectRoutes are the REST API of a project, and of the server.
func (s *Server) projectRoutes(api *echo.Group) {
	api.GET("/api/v1/me", s.me)
	api.POST("/api/v1/orgs", s.createOrg)
	api.GET("/api/v1/orgs", s.listOrgs)
	api.POST("/api/v1/orgs/:org/projects", s.createProject)
	api.GET("/api/v1/orgs/:org/projects", s.listProjects)
	api.POST("/api/v1/signin-links", s.createSignInLink)
	api.POST(projectPath+"/agents", s.createAgent)
	api.GET(projectPath+"/agents", s.listAgents)
	api.GET(projectPath+"/interactions", s.listProjectInteractions)
	api.GET(projectPath+"/events", s.listLifecycle)
	api.GET(projectPath+"/events/stream", s.streamLifecycle)
	api.GET(projectPath+"/policies", s.listPolicies)
	api.POST(projectPath+"/audit/verify", s.verifyAudit)
	api.GET(projectPath+"/audit", s.listAudit)
	api.GET(projectPath+"/audit/export", s.exportAudit)
	api.POST(projectPath+"/keys", s.createKey)
	api.GET(projectPath+"/keys", s.listKeys)
	api.DELETE(projectPath+"/keys/:key", s.revokeKey)
	api.POST(projectPath+"/embeds", s.createEmbed)
	api.GET(projectPath+"/embeds", s.listEmbeds)
	api.PATCH(projectPath+"/embeds/:embed", s.updateEmbed)
	api.DELETE(projectPath+"/embeds/:embed", s.deleteEmbed)
	api.POST(projectPath+"/embeds/:embed/tokens", s.createEmbedToken)
	api.GET(projectPath+"/actors", s.listActors)
	api.PUT(projectPath+"/actors", s.putActor)
	api.GET(projectPath+"/actors/:actor", s.getActor)
}

// doorRoutes are where the programs of agents come in by protocols of their own.
func (s *Server) doorRoutes(api *echo.Group) {
	api.POST("/mcp", s.serveMCP)
	api.GET("/mcp", s.serveMCP)
	api.DELETE("/mcp", s.serveMCP)
	api.POST("/hooks/claude", s.answerHook)
}

// signInRoutes are for people who are not in yet, or on their way out.
func (s *Server) signInRoutes(browser *echo.Group) {
	browser.GET("/setup", s.setupPage)
	browser.POST("/setup", s.setup)
	browser.GET("/signin", s.signInPage)
	browser.POST("/signin/oidc", s.startOIDC)
	browser.GET("/signin/oidc/callback", s.finishOIDC)
	browser.POST("/signin", s.signIn)
	browser.GET("/invite", s.invitationPage)
	browser.POST("/invite", s.join)
	browser.POST("/signout", s.signOut)
	if s.config.Gallery {
		browser.GET("/gallery", s.gallery)
		browser.GET("/gallery/:name", s.gallerySample)
	}
}

// pageRoutes are what people look at.
func (s *Server) pageRoutes(pages *echo.Group) {
	pages.GET("/", s.inboxPage)
	pages.GET("/projects/:project", s.projectInbox)
	pages.POST("/demo", s.startDemo)
	pages.GET("/projects/:project/agents", s.agentsPage)
	pages.GET("/projects/:project/agents/:agent", s.conversationPage)
	pages.GET("/projects/:project/interactions/:interaction", s.interactionPage)
	pages.GET("/projects/:project/interactions/:interaction/json", s.interactionJSON)
	pages.GET("/projects/:project/interactions/:interaction/context/:item", s.contextText)
}

// cardRoutes are what a page posts, and how it stays up to date.
func (s *Server) cardRoutes(pages *echo.Group) {
	pages.POST(cardPath+"/resolve", s.resolveCard)
	pages.POST(cardPath+"/review", s.reviewCard)
	pages.POST(conversationPath+"/inputs", s.sendMessage)
	pages.POST(conversationPath+"/inputs/:input/cancel", s.changeWaiting(s.cancelWaiting))
	pages.POST(conversationPath+"/inputs/:input/move", s.changeWaiting(s.moveWaiting))
	pages.POST(conversationPath+"/inputs/:input/promote", s.changeWaiting(s.promoteWaiting))
	pages.POST(conversationPath+"/inputs/:input/demote", s.changeWaiting(s.demoteWaiting))
	pages.POST(conversationPath+"/stop", s.stopFromPage)
	pages.POST(conversationPath+"/archive", s.archiveFromPage)
	pages.GET("/projects/:project/cards", s.inboxCards)
	pages.GET("/projects/:project/agents/:agent/cards", s.conversationCards)
	pages.GET("/projects/:project/live", s.inboxSocket)
	pages.GET("/projects/:project/agents/:agent/live", s.conversationSocket)
}

// settingsRoutes are what leads and admins look after.
func (s *Server) settingsRoutes(pages *echo.Group) {
	pages.GET("/projects/:project/audit", s.auditPage)
	pages.GET("/projects/:project/audit/export", s.exportFromPage)
	pages.GET("/projects/:project/audit/changes", s.changesPage)
	pages.GET("/projects/:project/audit/verify", s.verifyPage)
	pages.POST("/projects/:project/audit/verify", s.verifyFromPage)
	pages.GET("/projects/:project/settings/policies", s.policiesPage)
	pages.GET("/projects/:project/settings/keys", s.keysPage)
	pages.POST("/projects/:project/settings/keys", s.makeKey)
	pages.POST("/projects/:project/settings/keys/:key/revoke", s.revokeFromPage)
	pages.GET("/projects/:project/settings/embeds", s.embedsPage)
	pages.POST("/projects/:project/settings/embeds", s.registerEmbed)
	pages.POST("/projects/:project/settings/embeds/:embed", s.changeEmbedFromPage)
	pages.POST("/projects/:project/settings/embeds/:embed/delete", s.deleteEmbedFromPage)
}

// peopleRoutes are who may come in: a project's members, a person's own account, and the owner's orgs and projects.
func (s *Server) peopleRoutes(pages *echo.Group) {
	pages.GET("/projects/:project/settings/members", s.membersPage)
	pages.POST("/projects/:project/settings/members/:user/role", s.setRole)
	pages.POST("/projects/:project/settings/members/:user/remove", s.removeMember)
	pages.POST("/projects/:project/settings/invitations", s.invite)
	pages.POST("/projects/:project/settings/invitations/:invitation/revoke", s.revokeInvitation)
	pages.GET("/account", s.accountPage)
	pages.POST("/account", s.setName)
	pages.POST("/account/password", s.setPassword)
	pages.POST("/account/sessions/:session/end", s.endSession)
	pages.POST("/account/sessions/end", s.signOutEverywhere)
	pages.GET("/settings/projects", s.projectsPage)
	pages.POST("/settings/orgs", s.foundOrg)
	pages.POST("/settings/projects", s.foundProject)
}

// frameRoutes are what an app's frame shows and sends. Nobody is asked for a cookie or a key: the page is for all, a token begins a session, and
// the rest is for those who have one.
func (s *Server) frameRoutes(frames *echo.Group) {
	frames.GET("/embed/:embed", s.framePage)
	frames.POST("/embed/:embed/session", s.admitGuest)
	frames.GET("/embed/:embed/live", s.frameSocket) // asks whose it is in its first message
	frames.GET("/embed/:embed/cards", s.frameCards, s.withGuest)
	frames.POST("/embed/:embed/interactions/:interaction/resolve", s.resolveInFrame, s.withGuest)
}
