package web

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// conversationPage is one agent's timeline, its open cards, what waits for it, and where one writes to it.
func (s *Server) conversationPage(c echo.Context) error {
	return s.showConversation(c, http.StatusOK, func(*views.Composer) {})
}

// showConversation answers with the page; adjust may say more in its composer.
func (s *Server) showConversation(c echo.Context, status int, adjust func(*views.Composer)) error {
	q := queryOf(c, "before")
	before := q.sequence("before")
	in, agent, err := s.conversationOf(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	model := views.Conversation{}
	if model.Page, err = s.pageIn(c, in, display.Line(agent.Name).String(), views.SectionAgents); err != nil {
		return err
	}
	p := s.presenter(in, principal(c))
	model.Agent, model.LiveURL, model.CardsURL = p.agentRow(agent), p.agentURL(agent.ID)+"/live", p.agentURL(agent.ID)+"/cards"
	if model.Cards, err = s.openCards(c, p, interaction.Filter{Project: in.ID, Agent: agent.ID}); err != nil {
		return err
	}
	model.More = max(agent.OpenInteractions-len(model.Cards), 0)
	if err := s.fillTimeline(c, in, agent.ID, before, &model); err != nil {
		return err
	}
	if err := s.fillInputs(c, in, agent, &model, adjust); err != nil {
		return err
	}
	return s.renderStatus(c, status, views.ConversationPage(model))
}

// conversationOf is the agent that the path names, as it is.
func (s *Server) conversationOf(c echo.Context) (interaction.Project, interaction.Agent, error) {
	in, id, err := s.agentInProject(c)
	if err != nil {
		return in, interaction.Agent{}, err
	}
	agent, err := s.service.Agent(c.Request().Context(), principal(c), in, id)
	return in, agent, err
}

// fillInputs shows what waits for the agent, and the composer to whoever may write.
func (s *Server) fillInputs(c echo.Context, in interaction.Project, agent interaction.Agent, model *views.Conversation, adjust func(*views.Composer)) error {
	p, who := s.presenter(in, principal(c)), principal(c)
	inputs, err := s.service.Waiting(c.Request().Context(), who, in, agent.ID)
	if err != nil {
		return err
	}
	model.Waiting = p.waiting(agent, inputs, who.Can(interaction.ScopeResolve))
	if model.Waiting.CanWrite {
		composer := p.composer(agent, len(inputs), who)
		adjust(&composer)
		model.Composer = &composer
	}
	return nil
}

func (p presenter) composer(agent interaction.Agent, waiting int, who interaction.Principal) views.Composer {
	c := views.Composer{PostURL: p.agentURL(agent.ID) + "/inputs", StopURL: p.agentURL(agent.ID) + "/stop", Open: agent.OpenInteractions, Waiting: waiting}
	if who.Can(interaction.ScopeManage) {
		c.ArchiveURL = p.agentURL(agent.ID) + "/archive"
	}
	return c
}

// fillTimeline shows the newest events, or those before a place in the log.
func (s *Server) fillTimeline(c echo.Context, in interaction.Project, agent interaction.ID, before int64, model *views.Conversation) error {
	f := interaction.EventFilter{Agent: agent, Kinds: interaction.TimelineEvents, NoAnswers: true, Before: math.MaxInt64, Limit: timelineAtOnce}
	at := s.presenter(in, principal(c)).agentURL(agent)
	if before > 0 {
		f.Before, model.NewestURL = before, at
	}
	events, more, err := s.service.Events(c.Request().Context(), principal(c), in, f)
	if err != nil {
		return err
	}
	if more {
		model.OlderURL = at + "?before=" + strconv.FormatInt(events[0].Sequence, 10)
	}
	model.Timeline, err = s.timeline(c.Request().Context(), principal(c), in).entries(events)
	return err
}

// conversationCards answers with everything on a conversation's page that may have changed: its cards, what came after the last event that it
// has, what waits for the agent, and where the calls that are not completed stand.
func (s *Server) conversationCards(c echo.Context) error {
	q := queryOf(c, "have", "after")
	have, after := q.have(), q.sequence("after")
	in, agent, err := s.conversationOf(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	rest, err := s.besideCards(c, in, agent, after, q.has("after"))
	if err != nil {
		return err
	}
	f := interaction.Filter{Project: in.ID, Agent: agent.ID}
	return s.answerCards(c, in, f, have, rest.tag, func(cards []views.Card) templ.Component {
		return templ.Join(append([]templ.Component{views.ConversationCards(cards)}, rest.parts...)...)
	})
}

// beside is what a conversation's page shows beside its cards.
type beside struct {
	parts []templ.Component
	tag   []string // changes when any part does
}

// unfinishedAtOnce is how many calls that are not completed a page is told of.
const unfinishedAtOnce = interaction.MaxLimit

func (s *Server) besideCards(c echo.Context, in interaction.Project, agent interaction.Agent, after int64, timeline bool) (b beside, err error) {
	ctx, who, p := c.Request().Context(), principal(c), s.presenter(in, principal(c))
	inputs, err := s.service.Waiting(ctx, who, in, agent.ID)
	if err != nil {
		return b, err
	}
	b.add(fmt.Sprint(agent.Version, agent.State),
		views.WaitingView(p.waiting(agent, inputs, who.Can(interaction.ScopeResolve))), views.AgentStateView(p.agentRow(agent)))
	calls, err := s.service.UnfinishedCalls(ctx, who, in, agent.ID, unfinishedAtOnce)
	for _, call := range calls {
		b.add(string(call.ID)+string(call.State), views.CallView(p.call(call)))
	}
	if err != nil || !timeline {
		return b, err
	}
	f := interaction.EventFilter{Agent: agent.ID, Kinds: interaction.TimelineEvents, NoAnswers: true, After: after, Limit: timelineAtOnce}
	events, _, err := s.service.Events(ctx, who, in, f)
	if err != nil || len(events) == 0 {
		return b, err
	}
	parts, err := s.timeline(ctx, who, in).parts(events)
	last := events[len(events)-1].Sequence
	b.add(strconv.FormatInt(last, 10), append(parts, views.TimelineLast(last))...)
	return b, err
}

func (b *beside) add(tag string, parts ...templ.Component) {
	b.tag, b.parts = append(b.tag, tag), append(b.parts, parts...)
}

// parts draws events for a page that has those before: entries, and the calls whose results are among them.
func (t *timeline) parts(events []interaction.Event) (parts []templ.Component, err error) {
	entries, err := t.entries(events)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		parts = append(parts, views.EntryView(entry))
	}
	for _, e := range events {
		if e.Kind != interaction.ToolResultEvent || t.called[e.ToolCallID] {
			continue
		}
		call, err := t.call(e.ToolCallID)
		if err != nil {
			return nil, err
		}
		parts = append(parts, views.CallView(call))
	}
	return parts, nil
}

// sendMessage takes what a person wrote in the composer.
func (s *Server) sendMessage(c echo.Context) error {
	in, agent, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	form, err := readForm(c)
	if err != nil {
		return err
	}
	message, err := messageOfForm(form)
	if err == nil {
		_, _, err = s.service.Send(c.Request().Context(), principal(c), in, agent, message, interaction.Once{})
	}
	return s.afterPost(c, in, agent, err, func(composer *views.Composer) { composer.Text = field1(form, "text") })
}

// messageOfForm reads the composer: text, mode, and what is to be canceled. A browser sends line breaks as CRLF.
func messageOfForm(form map[string][]string) (n interaction.NewInput, err error) {
	if err := onlyFields(form, "text", "mode", "cancel_open_interactions"); err != nil {
		return n, err
	}
	text := strings.ReplaceAll(field1(form, "text"), "\r\n", "\n")
	n.Content = []interaction.ContentBlock{{Type: interaction.TextBlock, Text: text}}
	n.Mode = interaction.DeliveryMode(field1(form, "mode"))
	// The box beside Send is for Send now; a queued message waits until nothing is open, so that it has nothing to cancel.
	n.CancelOpen = field1(form, "cancel_open_interactions") != "" && n.Mode == interaction.Steering
	if strings.TrimSpace(text) == "" {
		err = interaction.Errorf(interaction.InvalidRequest, "Write something first. Nothing was sent.")
	}
	return n, err
}

// field1 is a field of a form as it will be stored; "" if it is not there.
func field1(form map[string][]string, name string) string { return cardForm{values: form}.text(name) }

// onlyFields refuses fields that a form does not have, and those that are there twice.
func onlyFields(form map[string][]string, known ...string) error {
	return cardForm{values: form}.check(known, nil)
}

// changeWaiting takes one of the small forms beside a message that waits.
func (s *Server) changeWaiting(change func(c echo.Context, in interaction.Project, agent, id interaction.ID, form map[string][]string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		in, agent, id, err := s.inputRef(c)
		if err != nil {
			return err
		}
		form, err := readForm(c)
		if err != nil {
			return err
		}
		return s.afterPost(c, in, agent, change(c, in, agent, id, form), func(*views.Composer) {})
	}
}

func (s *Server) cancelWaiting(c echo.Context, in interaction.Project, agent, id interaction.ID, form map[string][]string) error {
	if err := onlyFields(form); err != nil {
		return err
	}
	return s.service.CancelInput(c.Request().Context(), principal(c), in, agent, id)
}

// moveWaiting moves beside the message that was beside it when the page was drawn: what was seen is what is done.
func (s *Server) moveWaiting(c echo.Context, in interaction.Project, agent, id interaction.ID, form map[string][]string) error {
	if err := onlyFields(form, "position", "anchor"); err != nil {
		return err
	}
	to := interaction.Place{Where: interaction.Where(field1(form, "position")), Anchor: interaction.ID(field1(form, "anchor"))}
	return s.service.MoveInput(c.Request().Context(), principal(c), in, agent, id, to)
}

func (s *Server) promoteWaiting(c echo.Context, in interaction.Project, agent, id interaction.ID, form map[string][]string) error {
	if err := onlyFields(form, "cancel_open_interactions"); err != nil {
		return err
	}
	return s.service.PromoteInput(c.Request().Context(), principal(c), in, agent, id, field1(form, "cancel_open_interactions") != "")
}

func (s *Server) demoteWaiting(c echo.Context, in interaction.Project, agent, id interaction.ID, form map[string][]string) error {
	if err := onlyFields(form); err != nil {
		return err
	}
	return s.service.DemoteInput(c.Request().Context(), principal(c), in, agent, id)
}

// stopFromPage and archiveFromPage take the forms behind Stop and Archive.
func (s *Server) stopFromPage(c echo.Context) error {
	in, agent, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	_, err = s.service.Stop(c.Request().Context(), principal(c), in, agent)
	return s.afterPost(c, in, agent, err, func(*views.Composer) {})
}

func (s *Server) archiveFromPage(c echo.Context) error {
	in, agent, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	_, err = s.service.Archive(c.Request().Context(), principal(c), in, agent)
	return s.afterPost(c, in, agent, err, func(*views.Composer) {})
}

// afterPost shows what became of a form of the conversation: done, or refused with what was typed kept.
func (s *Server) afterPost(c echo.Context, in interaction.Project, agent interaction.ID, err error, keep func(*views.Composer)) error {
	if err == nil && !isFragment(c) {
		return c.Redirect(http.StatusSeeOther, s.presenter(in, principal(c)).agentURL(agent))
	}
	status, told := refusals[interaction.CodeOf(err)]
	if err != nil && !told {
		return err
	}
	problem := func(composer *views.Composer) {
		keep(composer)
		composer.Problem = interaction.AsError(err).Message
	}
	if !isFragment(c) {
		return s.showConversation(c, status, problem)
	}
	now, failed := s.changed(c, in, agent)
	if failed != nil {
		return failed
	}
	if err == nil {
		return s.render(c, templ.Join(now...))
	}
	composer := views.Composer{PostURL: s.presenter(in, principal(c)).agentURL(agent) + "/inputs"}
	problem(&composer)
	return s.renderStatus(c, status, templ.Join(append(now, views.ComposerView(composer))...))
}

// refusals are what a person is told beside the form; any other failure is a page, or a fragment, of its own.
var refusals = map[interaction.Code]int{
	interaction.ValidationFailed: http.StatusUnprocessableEntity, interaction.InvalidRequest: http.StatusUnprocessableEntity,
	interaction.Conflict: http.StatusConflict, interaction.StateTransition: http.StatusConflict, interaction.RateLimited: http.StatusTooManyRequests,
}

// changed is what a form of the conversation may have changed, as it is now. The rest comes over the socket.
func (s *Server) changed(c echo.Context, in interaction.Project, id interaction.ID) ([]templ.Component, error) {
	agent, err := s.service.Agent(c.Request().Context(), principal(c), in, id)
	if err != nil {
		return nil, err
	}
	b, err := s.besideCards(c, in, agent, 0, false)
	return b.parts, err
}
