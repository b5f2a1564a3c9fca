package web

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"sayso/internal/api"
	"sayso/internal/interaction"
)

// newInput is a message as it comes: its blocks hold text only.
type newInput struct {
	ContentBlocks          []api.TextBlock `json:"content_blocks"`
	DeliveryMode           string          `json:"delivery_mode"`
	CancelOpenInteractions bool            `json:"cancel_open_interactions"`
	Actor                  *api.External   `json:"actor"`
}

// sendInput stores a message for an agent.
func (s *Server) sendInput(c echo.Context) error {
	var in newInput
	body, err := s.readJSON(c, &in)
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	content, err := textBlocks("content_blocks", in.ContentBlocks)
	if err != nil {
		return err
	}
	n := interaction.NewInput{Content: content, Mode: interaction.DeliveryMode(in.DeliveryMode), CancelOpen: in.CancelOpenInteractions, External: external(in.Actor)}
	project, agent, err := s.agentInProject(c)
	if err != nil {
		_, wrong := n.Normalised()
		return firstOf(wrong, err)
	}
	sent, created, err := s.service.Send(c.Request().Context(), principal(c), project, agent, n, once(c, key, "POST inputs "+string(agent), body))
	if err != nil {
		return err
	}
	return writeJSON(c, createdOr(created), wrapped("agent_input", sent.AppendJSON))
}

// createdOr is the status of a create: 200 when it was carried out before.
func createdOr(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// wrapped writes {"name": …}.
func wrapped(name string, value func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte { return append(value(append(quoted(append(b, '{'), name), ':')), '}') }
}

// textBlocks reads blocks that hold text only.
func textBlocks(field string, in []api.TextBlock) ([]interaction.ContentBlock, error) {
	out := make([]interaction.ContentBlock, len(in))
	for n, b := range in {
		if b.Text == nil {
			return nil, interaction.Errorf(interaction.ValidationFailed, "%s[%d].text: is missing", field, n)
		}
		out[n] = interaction.ContentBlock{Type: interaction.BlockType(b.Type), Text: *b.Text}
	}
	return out, nil
}

func external(in *api.External) *interaction.External {
	if in == nil {
		return nil
	}
	e := interaction.External(*in)
	return &e
}

// listBacklog lists the queued inputs that wait, in the order in which the agent gets them.
func (s *Server) listBacklog(c echo.Context) error {
	q := queryOf(c, "limit", "cursor", "order")
	page := q.page()
	project, agent, err := s.agentInProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	waiting, err := s.service.Waiting(c.Request().Context(), principal(c), project, agent)
	if err != nil {
		return err
	}
	list, next := backlog(waiting, page)
	return writeList(c, list, next, interaction.Input.AppendJSON)
}

// backlog is one page of the queued ones. Its cursor is a position.
func backlog(waiting []interaction.Input, page interaction.Page) (list []interaction.Input, next *interaction.Cursor) {
	for _, in := range waiting {
		if in.Mode == interaction.Queued {
			list = append(list, in)
		}
	}
	if page.Newest {
		slices.Reverse(list)
	}
	if page.After != nil {
		beyond := func(in interaction.Input) bool { return page.Newest != (in.Position > page.After.At.UnixMilli()) }
		at := slices.IndexFunc(list, func(in interaction.Input) bool { return beyond(in) && in.Position != page.After.At.UnixMilli() })
		if at < 0 {
			return nil, nil
		}
		list = list[at:]
	}
	if len(list) <= page.Limit {
		return list, nil
	}
	last := list[page.Limit-1]
	return list[:page.Limit], &interaction.Cursor{At: time.UnixMilli(last.Position), ID: last.ID}
}

// claimInput gives the agent's runtime its next input.
func (s *Server) claimInput(c echo.Context) error {
	wait, err := s.claimWait(c)
	if err != nil {
		return err
	}
	key, err := onceKey(c)
	if err != nil {
		return err
	}
	project, agent, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	if wait > 0 {
		defer s.hold(c)()
	}
	in, err := s.service.Claim(c.Request().Context(), principal(c), project, agent, wait, once(c, key, "POST claim "+string(agent), nil))
	if err != nil {
		return err
	}
	if in == nil {
		return c.JSON(http.StatusOK, api.InputBody{})
	}
	return writeJSON(c, http.StatusOK, wrapped("agent_input", in.AppendJSON))
}

// claimWait is how long a claim waits: wait_secs in the query, as for reading an interaction, or in a body.
func (s *Server) claimWait(c echo.Context) (time.Duration, error) {
	const most = int(interaction.MaxWait / time.Second)
	q := queryOf(c, "wait_secs")
	secs := q.number("wait_secs", 0, most, 0)
	if q.err != nil || c.Request().ContentLength == 0 {
		return time.Duration(secs) * time.Second, q.err
	}
	var in api.Claim
	if _, err := s.readBodyJSON(c, &in); err != nil {
		return 0, err
	}
	if in.WaitSecs == nil {
		return time.Duration(secs) * time.Second, nil
	}
	if q.has("wait_secs") {
		return 0, interaction.Errorf(interaction.ValidationFailed, "wait_secs: given twice, in the query and in the body")
	}
	if *in.WaitSecs < 0 || *in.WaitSecs > most {
		return 0, interaction.Errorf(interaction.ValidationFailed, "wait_secs: %d is out of range; 0 to %d are allowed", *in.WaitSecs, most)
	}
	return time.Duration(*in.WaitSecs) * time.Second, nil
}

// inputRef reads which input the path names.
func (s *Server) inputRef(c echo.Context) (project interaction.Project, agent, input interaction.ID, err error) {
	if input, err = pathID(c, "input", interaction.InputPrefix); err != nil {
		return project, "", "", err
	}
	project, agent, err = s.agentInProject(c)
	return project, agent, input, err
}

// changeInput carries out a change of one waiting input.
func (s *Server) changeInput(c echo.Context, change func(project interaction.Project, agent, input interaction.ID) error) error {
	project, agent, input, err := s.inputRef(c)
	if err != nil {
		return err
	}
	if err := change(project, agent, input); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.OK{OK: true})
}

func (s *Server) cancelInput(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	return s.changeInput(c, func(project interaction.Project, agent, input interaction.ID) error {
		return s.service.CancelInput(c.Request().Context(), principal(c), project, agent, input)
	})
}

func (s *Server) moveInput(c echo.Context) error {
	var in api.Place
	if _, err := s.readJSON(c, &in); err != nil {
		return err
	}
	to := interaction.Place{Where: interaction.Where(in.Position), Anchor: interaction.ID(in.AnchorInputID)}
	if err := to.Checked(); err != nil {
		return err
	}
	return s.changeInput(c, func(project interaction.Project, agent, input interaction.ID) error {
		return s.service.MoveInput(c.Request().Context(), principal(c), project, agent, input, to)
	})
}

func (s *Server) promoteInput(c echo.Context) error {
	var in api.Promotion
	if c.Request().ContentLength != 0 {
		if _, err := s.readJSON(c, &in); err != nil {
			return err
		}
	} else if err := noQuery(c); err != nil {
		return err
	}
	return s.changeInput(c, func(project interaction.Project, agent, input interaction.ID) error {
		return s.service.PromoteInput(c.Request().Context(), principal(c), project, agent, input, in.CancelOpenInteractions)
	})
}

func (s *Server) demoteInput(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	return s.changeInput(c, func(project interaction.Project, agent, input interaction.ID) error {
		return s.service.DemoteInput(c.Request().Context(), principal(c), project, agent, input)
	})
}

// stopAgent ends what an agent is doing.
func (s *Server) stopAgent(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	project, agent, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	stopped, err := s.service.Stop(c.Request().Context(), principal(c), project, agent)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, func(b []byte) []byte {
		b = append(b, `{"event":`...)
		if stopped.Event == nil {
			b = append(b, `null`...)
		} else {
			b = stopped.Event.AppendJSON(b)
		}
		acted := stopped.Event != nil
		b = fmt.Appendf(b, `,"runtime_cancel_requested":%t,"affected":%t`, acted, acted)
		if stopped.By.ActorID != "" {
			b = quoted(append(b, `,"actor_id":`...), string(stopped.By.ActorID))
		}
		return append(b, '}')
	})
}

// archiveAgent ends an agent for good.
func (s *Server) archiveAgent(c echo.Context) error {
	if err := s.readNothing(c); err != nil {
		return err
	}
	project, id, err := s.agentInProject(c)
	if err != nil {
		return err
	}
	agent, err := s.service.Archive(c.Request().Context(), principal(c), project, id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.AgentBody{Agent: s.wireAgent(project, agent)})
}
