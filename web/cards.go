package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// A page asks for its cards again whenever it may have missed something; what the server renders here is the truth.

// haveMost is how many cards a page may ask about by name.
const haveMost = 200

func (s *Server) inboxCards(c echo.Context) error {
	q := queryOf(c, "have")
	have := q.have()
	in, err := s.inProject(c)
	if err != nil || q.err != nil {
		return firstOf(q.err, err)
	}
	return s.answerCards(c, in, interaction.Filter{Project: in.ID}, have, nil, func(cards []views.Card) templ.Component {
		return views.InboxCards(groups(cards))
	})
}

// have reads which cards the page shows.
func (q *query) have() []interaction.ID {
	if q.text("have") == "" {
		return nil
	}
	names := strings.Split(q.text("have"), ",")
	if len(names) > haveMost {
		q.fail("have: %d are too many; at most %d are allowed", len(names), haveMost)
	}
	ids := make([]interaction.ID, len(names))
	for n, name := range names {
		if ids[n] = interaction.ID(name); !ids[n].WellFormed(interaction.InteractionPrefix) {
			q.fail("have: %q is not an interaction's id", name)
		}
	}
	return ids
}

// answerCards answers with the cards, or with 304 when the page has them already: then none is drawn. What they are is told by their
// versions, since the text differs each second by the times in it.
// Beside is what else the answer shows, for the same purpose.
func (s *Server) answerCards(c echo.Context, in interaction.Project, f interaction.Filter, have []interaction.ID, beside []string, draw func([]views.Card) templ.Component) error {
	open, err := s.service.CountOpen(c.Request().Context(), in.ID)
	if err != nil {
		return err
	}
	records, err := s.cardRecords(c, f, have)
	if err != nil {
		return err
	}
	tag := versionTag(records, open, append(beside, audienceOf(principal(c))))
	c.Response().Header().Set("ETag", tag)
	if strings.Contains(c.Request().Header.Get("If-None-Match"), tag) { // a proxy may have made it weak, or part of a list
		return c.NoContent(http.StatusNotModified)
	}
	cards, err := s.present(c.Request().Context(), s.presenter(in, principal(c)), records)
	if err != nil {
		return err
	}
	return s.render(c, templ.Join(draw(cards), views.OpenCount(open)))
}

func versionTag(records []interaction.Record, open int, beside []string) string {
	h := sha256.New()
	fmt.Fprintln(h, open, beside)
	for _, r := range records {
		fmt.Fprintln(h, r.ID, r.Version)
	}
	return `"` + hex.EncodeToString(h.Sum(nil)[:12]) + `"`
}

// resolveCard takes a card's form. It answers with the card as it then is: in place for htmx, else on a page.
func (s *Server) resolveCard(c echo.Context) error {
	ref, err := s.ref(c)
	if err != nil {
		return err
	}
	form, err := readForm(c)
	if err != nil {
		return err
	}
	_, i, err := s.named(c)
	if err != nil {
		return err
	}
	filled := cardForm{values: form, asked: i}
	answers, err := filled.answers()
	if err == nil && filled.unreviewed(answers.UpdatedInput) {
		return s.showReview(c, filled)
	}
	if err == nil {
		_, _, err = s.service.Resolve(c.Request().Context(), principal(c), ref, answers)
	}
	return s.afterAnswer(c, filled, err)
}

func readForm(c echo.Context) (map[string][]string, error) {
	form, err := c.FormParams()
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, interaction.Errorf(interaction.RequestTooLarge, "The form is too large; at most %d bytes are allowed.", large.Limit)
	}
	if err != nil {
		return nil, &interaction.Error{Code: interaction.ValidationFailed, Message: "The form could not be read.", Err: err}
	}
	return form, nil
}

// afterAnswer shows what became of a form: recorded, refused and kept, or too late.
func (s *Server) afterAnswer(c echo.Context, filled cardForm, err error) error {
	if err == nil && !isFragment(c) {
		at := s.config.BasePath + "/projects/" + c.Param("project") + "/agents/" + c.Param("agent") + "#interaction-" + c.Param("interaction")
		return c.Redirect(http.StatusSeeOther, at)
	}
	status, adjust, err := filled.outcome(err)
	if err != nil {
		return err
	}
	return s.showCard(c, status, adjust)
}

// outcome is how the card tells what became of its form, of which err came. An error that is no matter of the form comes back.
func (f cardForm) outcome(err error) (status int, adjust func(*views.Card), other error) {
	switch interaction.CodeOf(err) {
	case "":
		return http.StatusOK, func(*views.Card) {}, nil
	case interaction.IdempotencyKey, interaction.StateTransition:
		return http.StatusOK, func(card *views.Card) { card.Lost, card.Typed = true, f.typed() }, nil
	case interaction.ValidationFailed, interaction.InvalidRequest:
		return http.StatusUnprocessableEntity, func(card *views.Card) {
			card.Problem = &views.Problem{Message: interaction.AsError(err).Message}
			f.putBack(card)
		}, nil
	}
	return 0, nil, err
}

// showCard answers with the interaction as it is now.
func (s *Server) showCard(c echo.Context, status int, adjust func(*views.Card)) error {
	in, err := s.inProject(c)
	if err != nil {
		return err
	}
	p := s.presenter(in, principal(c))
	if !isFragment(c) {
		return s.showInteraction(c, status, in, p, adjust)
	}
	r, _, err := s.named(c)
	if err != nil {
		return err
	}
	cards, err := s.present(c.Request().Context(), p, []interaction.Record{r})
	if err != nil {
		return err
	}
	adjust(&cards[0])
	return s.renderStatus(c, status, views.CardView(cards[0]))
}

// cardForm is a card's form as it was posted: qN with the indices chosen for question N, qN_text, digest, and what may go with Allow.
type cardForm struct {
	values map[string][]string
	asked  interaction.Interaction
	plain  bool // with nothing that changes or outlasts what was asked: a frame's
}

// text is a field as it will be stored: a browser that sends another encoding must not look like another answer.
func (f cardForm) text(name string) string {
	if v := f.values[name]; len(v) > 0 {
		return strings.ToValidUTF8(v[0], "\ufffd")
	}
	return ""
}

// answers reads the form. A decision is bound to what was shown, so the digest must be there.
func (f cardForm) answers() (interaction.Answers, error) {
	a := interaction.Answers{Digest: f.text("digest"), Note: strings.TrimSpace(f.text("note"))}
	if err := f.checkFields(); err != nil {
		return a, err
	}
	for n, q := range f.asked.Questions() {
		answer, err := f.answer(n, q)
		if err != nil {
			return a, err
		}
		a.Answers = append(a.Answers, answer)
	}
	return a, f.addExtras(&a)
}

func (f cardForm) answer(n int, q interaction.Question) (a interaction.Answer, err error) {
	name := "q" + strconv.Itoa(n)
	takesText := false
	for _, value := range f.values[name] {
		index, err := strconv.Atoi(value)
		if err != nil {
			return a, interaction.Errorf(interaction.ValidationFailed, "%s: %q is not the number of an option", name, value)
		}
		a.OptionIndices = append(a.OptionIndices, index)
		takesText = takesText || index >= 0 && index < len(q.Options) && q.Options[index].AllowsText
	}
	if len(a.OptionIndices) == 0 {
		return a, interaction.Errorf(interaction.InvalidRequest, "%s", f.missing())
	}
	// A question's page hides the text beside an option that was not chosen after all. A permission's does not: a reason that comes with
	// Allow is a contradiction, and is refused.
	if takesText || f.asked.Kind == interaction.PermissionKind {
		a.Text = f.text(name + "_text")
	}
	return a, nil
}

// missing says which questions have no answer yet.
func (f cardForm) missing() string {
	var open []string
	for n := range f.asked.Questions() {
		if len(f.values["q"+strconv.Itoa(n)]) == 0 {
			open = append(open, strconv.Itoa(n+1))
		}
	}
	if len(f.asked.Questions()) == 1 {
		return "Choose an option. Nothing was recorded yet."
	}
	return "Choose an option for question " + strings.Join(open, ", ") + ". Nothing was recorded yet."
}

// checkFields says what is wrong with the fields as such: one that the form does not have, one that is there twice, no digest.
func (f cardForm) checkFields() error {
	single, several := []string{"digest", "note"}, []string{}
	if f.asked.Kind == interaction.PermissionKind && !f.plain {
		single = append(single, extraFields...)
	}
	for n := range f.asked.Questions() {
		single = append(single, "q"+strconv.Itoa(n)+"_text")
		several = append(several, "q"+strconv.Itoa(n))
	}
	if err := f.check(single, several); err != nil {
		return err
	}
	if f.text("digest") == "" {
		return interaction.Errorf(interaction.ValidationFailed, "digest: is missing; it names what was shown")
	}
	return nil
}

// check refuses fields other than those that may be there once, and those that may be there several times.
func (f cardForm) check(single, several []string) error {
	for name, values := range f.values {
		switch {
		case !slices.Contains(single, name) && !slices.Contains(several, name):
			return interaction.Errorf(interaction.ValidationFailed, "%s: unknown field", display.Line(name))
		case len(values) > 1 && slices.Contains(single, name):
			return interaction.Errorf(interaction.ValidationFailed, "%s: given twice", name)
		}
	}
	return nil
}

// typed is every text of the form, so that none is lost.
func (f cardForm) typed() (texts []string) {
	for n := range f.asked.Questions() {
		if t := strings.TrimSpace(f.text("q" + strconv.Itoa(n) + "_text")); t != "" {
			texts = append(texts, t)
		}
	}
	if note := strings.TrimSpace(f.text("note")); note != "" {
		texts = append(texts, note)
	}
	if input := f.changedText(); input != "" {
		texts = append(texts, input)
	}
	return texts
}

// missing says what a question lacks; app.js says it in the same words.
func missing(multiple bool) string {
	if multiple {
		return "Choose at least one option."
	}
	return "Choose an option."
}

// putBack fills the card's form in as it was posted.
func (f cardForm) putBack(card *views.Card) {
	if f.asked.Kind == interaction.PermissionKind {
		card.Draft = f.draft()
	}
	for n := range card.Questions {
		name := "q" + strconv.Itoa(n)
		card.Questions[n].Text = f.text(name + "_text")
		for _, value := range f.values[name] {
			if index, err := strconv.Atoi(value); err == nil && index >= 0 && index < len(card.Questions[n].Options) {
				card.Questions[n].Options[index].Chosen = true
			}
		}
		if len(f.values[name]) == 0 {
			card.Questions[n].Problem = missing(card.Questions[n].Multiple)
		}
	}
}
