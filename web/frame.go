package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"sayso/internal/auth"
	"sayso/internal/interaction"
	"sayso/static"
	"sayso/views"
)

// What happens in the frame of an app. The page itself is the same for everybody and holds nothing. Its script exchanges a token for a session,
// which it sends in a header: no cookie is read or set here, so that nothing depends on what a browser lets other sites' frames have.

// The headers of a frame: whose session it is, and in how many seconds that ends unless something is done in it.
const (
	guestHeader     = "Sayso-Embed-Session"
	guestEndsHeader = "Sayso-Session-Ends-In"
)

// loader serves the script that apps put into their pages. Its address is the same for ever, so a browser asks again after five minutes.
func (s *Server) loader(c echo.Context) error {
	name := path.Base(static.Path("embed.js"))
	content, kind, _ := static.File(name)
	h, tag := c.Response().Header(), `"`+name+`"`
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", tag)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Allow-Origin", "*")
	if strings.Contains(c.Request().Header.Get("If-None-Match"), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, kind, content)
}

// framePage is the page in the frame. It is the only one that other sites may frame, and only those that are registered may; where nothing is
// registered it has no script and nothing to press but a link, so any may.
func (s *Server) framePage(c echo.Context) error {
	e, err := s.service.Embed(c.Request().Context(), interaction.ID(c.Param("embed")))
	if err != nil && interaction.CodeOf(err) != interaction.NotFound {
		return err
	}
	frame := views.Frame{Base: s.config.BasePath, EmbedID: string(e.ID), Origins: e.Framers(s.service.Loopback()), State: views.FrameConnecting}
	status := http.StatusOK
	switch {
	case err != nil:
		frame.State, status = views.FrameUnknown, http.StatusNotFound
	case c.Request().URL.RawQuery != "":
		frame.State, status = views.FrameMisused, http.StatusBadRequest
	case !e.Enabled:
		frame.State = views.FrameDisabled
	}
	if frame.State != views.FrameConnecting {
		frame.EmbedID = ""
	}
	frame.Nonce = framePolicy(c.Response().Header(), cmp.Or(strings.Join(frame.Origins, " "), "*"))
	return s.renderStatus(c, status, views.FramePage(frame))
}

// framePolicy is the Content-Security-Policy of a page in a frame. Its forms are sent by its script alone.
func framePolicy(h http.Header, framers string) (nonce string) {
	var b [16]byte
	rand.Read(b[:])
	nonce = base64.RawStdEncoding.EncodeToString(b[:])
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'self'; img-src 'self' data:; "+
		"connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors "+framers)
	return nonce
}

// newGuest is what the frame sends to begin a session.
type newGuest struct {
	Token  string `json:"token"`
	Origin string `json:"origin,omitempty"` // of the page around it; "" where the browser does not tell
}

// admitGuest exchanges a token for a session. A session that the frame had before ends.
func (s *Server) admitGuest(c echo.Context) error {
	embed, err := pathID(c, "embed", interaction.EmbedPrefix)
	if err != nil {
		return err
	}
	var in newGuest
	if _, err := s.readJSON(c, &in); err != nil {
		return err
	}
	session, err := s.gate.Admit(c.Request().Context(), embed, in.Token, in.Origin)
	if err != nil {
		return err
	}
	if before := c.Request().Header.Get(guestHeader); before != "" {
		s.gate.EndGuest(embed, auth.HashOf(before))
	}
	_, ends, err := s.gate.Guest(c.Request().Context(), embed, auth.HashOf(session))
	if err != nil {
		return err
	}
	s.tellEnd(c, ends)
	return c.JSON(http.StatusCreated, map[string]string{"session": session})
}

// tellEnd tells the frame when to ask the app for a new token.
func (s *Server) tellEnd(c echo.Context, ends time.Time) {
	c.Response().Header().Set(guestEndsHeader, strconv.Itoa(max(int(ends.Sub(s.service.Time()).Seconds()), 0)))
}

// withGuest lets only the sessions of the frame that the path names through. Cookies and keys are not looked at.
func (s *Server) withGuest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		embed, err := pathID(c, "embed", interaction.EmbedPrefix)
		if err != nil {
			return err
		}
		h := auth.HashOf(c.Request().Header.Get(guestHeader))
		who, ends, err := s.gate.Guest(c.Request().Context(), embed, h)
		if err != nil {
			return err
		}
		s.tellEnd(c, ends)
		c.Set(principalKey, who)
		c.Set(sessionKey, h)
		if _, err := s.enter(c, "", string(who.ProjectID)); err != nil {
			return err
		}
		return next(c)
	}
}

// frameCards answers with the cards that the guest may see.
func (s *Server) frameCards(c echo.Context) error {
	q := queryOf(c, "have")
	have := q.have()
	if q.err != nil {
		return q.err
	}
	in := c.Get(projectKey).(interaction.Project)
	records, err := s.cardRecords(c, interaction.Filter{Project: in.ID}, have)
	if err != nil {
		return err
	}
	tag := versionTag(records, 0, []string{topic(principal(c), in.ID)})
	c.Response().Header().Set("ETag", tag)
	if strings.Contains(c.Request().Header.Get("If-None-Match"), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	cards, err := s.present(c.Request().Context(), s.presenter(in, principal(c)), records)
	if err != nil {
		return err
	}
	return s.render(c, templ.Join(convert(cards, views.CardView)...))
}

// resolveInFrame takes a card's form from a frame, and answers with the card as it then is.
func (s *Server) resolveInFrame(c echo.Context) error {
	id, err := pathID(c, "interaction", interaction.InteractionPrefix)
	if err != nil {
		return err
	}
	in, ctx, who := c.Get(projectKey).(interaction.Project), c.Request().Context(), principal(c)
	form, err := readForm(c)
	if err != nil {
		return err
	}
	ref := interaction.Ref{Project: in.ID, ID: id}
	i, err := s.asked(ctx, who, ref)
	if err != nil {
		return err
	}
	s.tellEnd(c, s.gate.GuestActive(session(c)))
	filled := cardForm{values: form, asked: i, plain: true}
	answers, err := filled.answers()
	if err == nil {
		_, _, err = s.service.Resolve(ctx, who, ref, answers)
	}
	status, adjust, err := filled.outcome(err)
	if err != nil {
		return err
	}
	r, err := s.service.Get(ctx, who, ref)
	if err != nil {
		return err
	}
	cards, err := s.present(ctx, s.presenter(in, who), []interaction.Record{r})
	if err != nil {
		return err
	}
	adjust(&cards[0])
	return s.renderStatus(c, status, views.CardView(cards[0]))
}

func (s *Server) asked(ctx context.Context, who interaction.Principal, ref interaction.Ref) (interaction.Interaction, error) {
	r, err := s.service.Get(ctx, who, ref)
	if err != nil {
		return interaction.Interaction{}, err
	}
	return r.Interaction()
}

const (
	greetWithin  = 3 * time.Second // from opening a socket to saying whose it is
	greetingMost = 256             // bytes
	strangers    = 200             // sockets that have not said it yet
)

// frameSocket opens the socket of a frame. Whose it is stands in its first message and not in its address, which others keep.
func (s *Server) frameSocket(c echo.Context) error {
	embed, err := pathID(c, "embed", interaction.EmbedPrefix)
	if err != nil {
		return err
	}
	e, err := s.service.Embed(c.Request().Context(), embed)
	switch {
	case err != nil:
		return err
	case !e.Enabled:
		return interaction.Errorf(interaction.Forbidden, "This embed is disabled.")
	case !websocket.IsWebSocketUpgrade(c.Request()):
		return interaction.Errorf(interaction.InvalidRequest, "This address is a WebSocket.")
	case !s.originAllowed(c.Request()):
		return interaction.Errorf(interaction.Forbidden, "Sockets may be opened by our own pages only.")
	case s.feed.strangers.Add(1) > strangers:
		s.feed.strangers.Add(-1)
		return &interaction.Error{Code: interaction.RateLimited, Message: "Too many frames open at once.", RetryAfter: 5}
	}
	conn, err := s.upgrader().Upgrade(c.Response(), c.Request(), nil)
	if err != nil {
		s.feed.strangers.Add(-1)
		return nil // the upgrader has answered
	}
	go s.greet(conn, embed)
	return nil
}

// greet hears whose socket it is, and then keeps it as any other.
func (s *Server) greet(conn *websocket.Conn, embed interaction.ID) {
	h, who, err := s.heard(conn, embed)
	s.feed.strangers.Add(-1)
	if err != nil {
		refuse(conn, websocket.ClosePolicyViolation, "not let in")
		return
	}
	if !s.feed.sockets.room(h) {
		refuse(conn, websocket.CloseTryAgainLater, "too many")
		return
	}
	watches, leave := s.feed.join(who)
	k := &socket{
		conn: conn, session: h, frames: s.feed.frames.Subscribe(watches, frameBuffer), tick: make(chan struct{}, 1), leave: leave,
		ends: func() int { return s.endOfGuest(h, embed, watches) },
	}
	if !s.feed.sockets.add(k) {
		leave()
		k.close(websocket.CloseServiceRestart, "restarting")
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(writeMost))
	if conn.WriteMessage(websocket.TextMessage, nil) != nil { // from here on nothing is missed: the frame asks for what was before
		s.feed.sockets.remove(k)
		k.frames.Stop()
		return
	}
	go k.write(&s.feed.sockets)
	k.read()
}

func (s *Server) heard(conn *websocket.Conn, embed interaction.ID) (auth.Hash, interaction.Principal, error) {
	conn.SetReadLimit(greetingMost)
	if err := conn.SetReadDeadline(time.Now().Add(greetWithin)); err != nil {
		return auth.Hash{}, interaction.Principal{}, err
	}
	_, session, err := conn.ReadMessage()
	if err != nil {
		return auth.Hash{}, interaction.Principal{}, err
	}
	h := auth.HashOf(string(session))
	who, _, err := s.gate.Guest(context.Background(), embed, h)
	return h, who, err
}

func refuse(conn *websocket.Conn, code int, why string) {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(time.Second))
	conn.Close()
}

// endOfGuest is [Server.endOf] for a frame.
func (s *Server) endOfGuest(session auth.Hash, embed interaction.ID, watches string) int {
	who, _, err := s.gate.Guest(context.Background(), embed, session)
	switch code := interaction.CodeOf(err); {
	case code == interaction.Unauthorized, code == interaction.Forbidden:
		return websocket.ClosePolicyViolation
	case err == nil && topic(who, who.ProjectID) != watches:
		return websocket.CloseServiceRestart
	}
	return 0
}
