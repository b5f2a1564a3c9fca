package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
	"sayso/views/gallery"
)

// How much a page shows at once.
const (
	cardsAtOnce  = 500
	agentsAtOnce = 100
)

// render answers with a page. It is rendered whole before anything is sent, so a failure becomes an error page and never half a page.
func (s *Server) render(c echo.Context, page templ.Component) error {
	return s.renderStatus(c, http.StatusOK, page)
}

func (s *Server) renderStatus(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	return c.HTMLBlob(status, b.Bytes())
}

// page is what every page shares, for whoever is calling. It sets the response's policy.
func (s *Server) page(c echo.Context, title string, section views.Section) views.Page {
	page := views.Page{
		Title: title, Base: s.config.BasePath, Nonce: pagePolicy(c.Response().Header()), Section: section,
		User: display.Line(principal(c).Name).String(), MayFound: principal(c).Founds(), Now: s.service.Time(), Command: s.config.Command, Self: s.self(c),
	}
	if in, ok := c.Get(projectKey).(interaction.Project); ok {
		page.Project, page.ProjectName = in.Address(), display.Line(in.Name).String()
		page.MayAudit, page.MayManage = principal(c).Can(interaction.ScopeAudit), principal(c).Can(interaction.ScopeManage)
	}
	return page
}

// self is the address that shows again what this response shows.
func (s *Server) self(c echo.Context) string {
	if c.Request().Method == http.MethodGet {
		return s.config.BasePath + c.Request().URL.RequestURI()
	}
	if id := interaction.ID(c.Param("interaction")); id.WellFormed(interaction.InteractionPrefix) {
		return s.config.BasePath + "/projects/" + url.PathEscape(c.Param("project")) + "/interactions/" + string(id)
	}
	return s.config.BasePath + "/"
}

// pageIn is page for one of a project, with its count of open cards.
func (s *Server) pageIn(c echo.Context, in interaction.Project, title string, section views.Section) (views.Page, error) {
	page := s.page(c, title, section)
	if err := s.showProjects(c, in, &page); err != nil {
		return page, err
	}
	var err error
	page.Open, err = s.service.CountOpen(c.Request().Context(), in.ID)
	return page, err
}

// pageAnywhere is page for one of no project: whoever is signed in keeps the rail of the project that they were in last. It never fails, since
// it stands around what did.
func (s *Server) pageAnywhere(c echo.Context, title string) views.Page {
	if c.Get(projectKey) == nil && principal(c).Kind == interaction.UserPrincipal {
		_, _ = s.home(c)
	}
	if in, ok := c.Get(projectKey).(interaction.Project); ok {
		if page, err := s.pageIn(c, in, title, views.SectionNone); err == nil {
			return page
		}
	}
	return s.page(c, title, views.SectionNone)
}

// presenter maps to view models for somebody in a project.
func (s *Server) presenter(in interaction.Project, who interaction.Principal) presenter {
	p := presenter{base: s.config.BasePath, project: in.Address(), now: s.service.Time(), readOnly: !who.Can(interaction.ScopeResolve)}
	if g := who.Guest; g != nil {
		p.frame, p.elsewhere = s.config.BasePath+"/embed/"+string(g.Embed), g.OpenInSayso
	}
	return p
}

// isFragment says whether the caller puts the answer into a page it already has.
func isFragment(c echo.Context) bool {
	return c.Request().Header.Get("HX-Request") != "" || byItself(c)
}

func (s *Server) inboxPage(c echo.Context) error {
	in, err := s.home(c)
	if err != nil {
		return err
	}
	return s.showInbox(c, in)
}

// projectInbox is the inbox of the project that the path names.
func (s *Server) projectInbox(c echo.Context) error {
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	return s.showInbox(c, in)
}

func (s *Server) showInbox(c echo.Context, in interaction.Project) error {
	page, err := s.pageIn(c, in, "Inbox", views.SectionInbox)
	if err != nil {
		return err
	}
	p := s.presenter(in, principal(c))
	cards, err := s.openCards(c, p, interaction.Filter{Project: in.ID})
	if err != nil {
		return err
	}
	page.LiveURL, page.CardsURL = p.url("/live"), p.url("/cards")
	inbox := views.Inbox{Page: page, Groups: groups(cards), More: max(page.Open-len(cards), 0)}
	if s.config.Demo != nil && page.MayManage && in.Address() == interaction.DefaultSlug {
		inbox.DemoURL = page.URL("/demo")
	}
	return s.render(c, views.InboxPage(inbox))
}

// groups are cards by agent, in the order of each one's first.
func groups(cards []views.Card) (all []views.Group) {
	for _, card := range cards {
		n := slices.IndexFunc(all, func(g views.Group) bool { return g.AgentID == card.AgentID })
		if n < 0 {
			n = len(all)
			all = append(all, views.Group{AgentID: card.AgentID, Agent: card.Agent, AgentURL: card.AgentURL})
		}
		all[n].Cards = append(all[n].Cards, card)
	}
	return all
}

// openCards are the open ones that f describes, oldest first.
func (s *Server) openCards(c echo.Context, p presenter, f interaction.Filter) ([]views.Card, error) {
	records, err := s.cardRecords(c, f, nil)
	if err != nil {
		return nil, err
	}
	return s.present(c.Request().Context(), p, records)
}

// cardRecords are the open ones that f describes, oldest first, and those named in have, whatever became of them.
func (s *Server) cardRecords(c echo.Context, f interaction.Filter, have []interaction.ID) ([]interaction.Record, error) {
	f.State, f.Limit = interaction.Open, cardsAtOnce
	records, _, err := s.service.List(c.Request().Context(), principal(c), f)
	if err != nil {
		return nil, err
	}
	for _, id := range have {
		if slices.ContainsFunc(records, func(r interaction.Record) bool { return r.ID == id }) {
			continue
		}
		r, err := s.service.Get(c.Request().Context(), principal(c), interaction.Ref{Project: f.Project, Agent: f.Agent, ID: id})
		if interaction.CodeOf(err) == interaction.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// present makes cards of records, each with its agent's present name.
func (s *Server) present(ctx context.Context, p presenter, records []interaction.Record) ([]views.Card, error) {
	names := agentNames{service: s.service}
	cards := make([]views.Card, len(records))
	for n, r := range records {
		i, err := r.Interaction()
		if err != nil {
			return nil, err
		}
		name, err := names.of(ctx, i.AgentID)
		if err != nil {
			return nil, err
		}
		if cards[n], err = s.card(ctx, p, i, name); err != nil {
			return nil, err
		}
	}
	return cards, nil
}

// card presents one interaction, and what superseded it.
func (s *Server) card(ctx context.Context, p presenter, i interaction.Interaction, agentName string) (views.Card, error) {
	card := p.card(i, agentName)
	if i.End == nil || i.End.CancelReason != interaction.SupersededByInput || p.frame != "" { // a frame shows nothing of the conversation
		return card, nil
	}
	message, err := s.service.Input(ctx, i.End.InputID)
	if err != nil {
		return card, err
	}
	card.End.Cause = "This message to the agent replaced the request: " + display.Line(excerpt(messageText(message))).String()
	return card, nil
}

// excerpt is the beginning of a text that is told in passing.
func excerpt(text string) string {
	const most = 500
	if len(text) <= most {
		return text
	}
	return beginning(text, most) + " …"
}

// agentNames looks each name up once.
type agentNames struct {
	service *interaction.Service
	known   map[interaction.ID]string
}

func (n *agentNames) of(ctx context.Context, id interaction.ID) (string, error) {
	if name, ok := n.known[id]; ok {
		return name, nil
	}
	name, err := n.service.AgentName(ctx, id)
	if err != nil {
		return "", err
	}
	if n.known == nil {
		n.known = map[interaction.ID]string{}
	}
	n.known[id] = name
	return name, nil
}

func (s *Server) agentsPage(c echo.Context) error {
	q := queryOf(c, "archived", "cursor")
	f := interaction.AgentFilter{State: interaction.AgentActive, Page: q.page()}
	f.Limit = agentsAtOnce
	if q.has("archived") {
		f.State = interaction.AgentArchived
	}
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	f.Project = in.ID
	agents, next, err := s.service.Agents(c.Request().Context(), principal(c), f)
	if err != nil {
		return err
	}
	page, err := s.pageIn(c, in, "Agents", views.SectionAgents)
	if err != nil {
		return err
	}
	p := s.presenter(in, principal(c))
	model := views.Agents{Page: page, Archived: q.has("archived"), Rows: convert(agents, p.agentRow)}
	if next != nil {
		model.NextURL = p.url("/agents?cursor=" + next.String())
		if model.Archived {
			model.NextURL += "&archived=1"
		}
	}
	return s.render(c, views.AgentsPage(model))
}

func (s *Server) interactionPage(c echo.Context) error {
	q := queryOf(c, "full")
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	p := s.presenter(in, principal(c))
	p.whole = q.has("full")
	return s.showInteraction(c, http.StatusOK, in, p, func(*views.Card) {})
}

// showInteraction answers with the permalink page; adjust may say more on its card.
func (s *Server) showInteraction(c echo.Context, status int, in interaction.Project, p presenter, adjust func(*views.Card)) error {
	r, i, err := s.named(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	events, err := s.service.History(ctx, principal(c), interaction.Ref{Project: in.ID, ID: r.ID})
	if err != nil {
		return err
	}
	name, err := s.service.AgentName(ctx, i.AgentID)
	if err != nil {
		return err
	}
	page, err := s.pageIn(c, in, "Request", views.SectionNone)
	if err != nil {
		return err
	}
	card, err := s.card(ctx, p, i, name)
	if err != nil {
		return err
	}
	adjust(&card)
	page.Title = card.Title.String()
	page.LiveURL, page.CardsURL = p.agentURL(i.AgentID)+"/live", p.agentURL(i.AgentID)+"/cards"
	return s.renderStatus(c, status, views.InteractionPageView(views.InteractionPage{
		Page: page, Card: card, History: history(i, name, events), Record: indented(r), JSONURL: p.interactionURL(r.ID) + "/json",
	}))
}

// named is the interaction that the path names.
func (s *Server) named(c echo.Context) (interaction.Record, interaction.Interaction, error) {
	ref, err := s.ref(c)
	if err != nil {
		return interaction.Record{}, interaction.Interaction{}, err
	}
	r, err := s.service.Get(c.Request().Context(), principal(c), ref)
	if err != nil {
		return r, interaction.Interaction{}, err
	}
	i, err := r.Interaction()
	return r, i, err
}

// indented is the raw record, for reading. Very long ones are cut; the whole is at the page's JSON link.
func indented(r interaction.Record) display.Text {
	var b bytes.Buffer
	if err := json.Indent(&b, r.AppendJSON(nil), "", "  "); err != nil {
		return display.Text{}
	}
	if b.Len() > shownAtOnce {
		return display.Show(beginning(b.String(), shownAtOnce) + "\n…")
	}
	return display.Show(b.String())
}

func (s *Server) interactionJSON(c echo.Context) error {
	r, _, err := s.named(c)
	if err != nil {
		return err
	}
	return writeRecord(c, http.StatusOK, r)
}

// contextText is one value of the evidence, byte for byte, for the copy button.
func (s *Server) contextText(c echo.Context) error {
	_, i, err := s.named(c)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(c.Param("item"))
	if err != nil || n < 0 || n >= len(i.Request.Context) {
		return interaction.Errorf(interaction.NotFound, "Not found.")
	}
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(i.Request.Context[n].Value))
}

func (s *Server) gallery(c echo.Context) error {
	return s.render(c, gallery.Page(s.page(c, "Gallery", views.SectionNone)))
}

// gallerySample is one component of the gallery, or a whole page of it.
func (s *Server) gallerySample(c echo.Context) error {
	sample, ok := gallery.Find(c.Param("name"))
	if !ok {
		return echo.ErrNotFound
	}
	pagePolicy(c.Response().Header()) // the sample carries another nonce: it is looked at without scripts
	return s.render(c, sample.Component)
}
