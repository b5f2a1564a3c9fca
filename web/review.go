package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sayso/internal/interaction"
	"sayso/views"
)

// An edited input is looked at before it is allowed: what was typed comes back as a diff, and the button below it is bound to exactly
// that input and that request.

// extraFields are those of a permission's form that go with Allow only.
var extraFields = []string{"updated_input", "reviewed", "remember", "session", "edit"}

// reviewCard shows what an edited input changes, or with edit the fields once more. It records nothing.
func (s *Server) reviewCard(c echo.Context) error {
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
	switch {
	case err == nil && (i.State != interaction.Open || answers.Digest != i.Digest):
		err = interaction.Errorf(interaction.StateTransition, "This request is no longer what was looked at.")
	case err == nil && filled.text("edit") != "":
		return s.showCard(c, http.StatusOK, filled.putBack)
	case err == nil && answers.UpdatedInput == nil:
		err = interaction.Errorf(interaction.InvalidRequest, "Nothing was changed: the input is as the agent sent it.")
	}
	if err != nil {
		return s.afterAnswer(c, filled, err)
	}
	return s.showReview(c, filled)
}

// showReview answers with the card of a form whose input was edited, which must be in order.
func (s *Server) showReview(c echo.Context, filled cardForm) error {
	return s.showCard(c, http.StatusOK, func(card *views.Card) {
		if card.State == views.Open {
			filled.review(card)
			return
		}
		card.Lost, card.Typed = true, filled.typed()
	})
}

// addExtras reads what may go with Allow. Even an input that was not edited must not come with Deny.
func (f cardForm) addExtras(a *interaction.Answers) error {
	if f.asked.Kind != interaction.PermissionKind {
		return nil
	}
	if a.Answers[0].OptionIndices[0] != interaction.AllowOption {
		for _, name := range extraFields {
			if f.values[name] != nil {
				return interaction.Errorf(interaction.InvalidRequest, "%s: goes with Allow only", name)
			}
		}
		return nil
	}
	for _, name := range []string{"remember", "session", "edit"} {
		if v := f.text(name); v != "" && v != "1" {
			return interaction.Errorf(interaction.ValidationFailed, "%s: %q is not allowed; 1 or nothing is", name, v)
		}
	}
	var err error
	if f.values["updated_input"] != nil {
		if a.UpdatedInput, err = f.asked.ToolCall.Edited(f.text("updated_input")); err != nil {
			return err
		}
	}
	a.Remember = f.text("remember") != ""
	if f.text("session") == "" {
		return nil
	}
	rule, err := f.allowed(a.UpdatedInput).SessionRule()
	a.UpdatedPermissions = rule.Updates()
	return err
}

// allowed is the call that runs.
func (f cardForm) allowed(edited json.RawMessage) interaction.ToolCall {
	call := *f.asked.ToolCall
	if edited != nil {
		call.Input = edited
	}
	return call
}

// unreviewed says that an edited input did not come from the review of it.
func (f cardForm) unreviewed(edited json.RawMessage) bool {
	return edited != nil && f.text("reviewed") != f.bound(edited)
}

// bound names the request and an edited input of it.
func (f cardForm) bound(edited json.RawMessage) string {
	sum := sha256.Sum256([]byte(string(f.asked.ID) + "\n" + f.asked.Digest + "\n" + string(edited)))
	return hex.EncodeToString(sum[:])
}

// review fills in what is looked at. The warnings are those of the edited input too.
func (f cardForm) review(card *views.Card) {
	edited, err := f.asked.ToolCall.Edited(f.text("updated_input"))
	if err != nil {
		return // unreachable: the form was read before
	}
	card.Review = &views.Review{
		Lines: inputDiff(f.asked.ToolCall.Input, edited), Input: string(edited), Bound: f.bound(edited),
		Note: strings.TrimSpace(f.text("note")), Remember: f.text("remember") != "",
	}
	call := f.allowed(edited)
	if f.text("session") != "" {
		card.Review.Session = new(sessionRule(call.SessionRule()))
	}
	chips := chips{found: card.Chips}
	if request, err := interaction.PermissionRequest(call); err == nil {
		for _, item := range request.Context {
			chips.line(item.Label)
			chips.text(item.Value)
		}
	}
	card.Chips = chips.found
}

// changedText is the input that was typed; "" if it is what the agent sent.
func (f cardForm) changedText() string {
	typed := f.text("updated_input")
	if typed == "" || f.asked.ToolCall == nil {
		return ""
	}
	if edited, err := f.asked.ToolCall.Edited(typed); err == nil && edited == nil {
		return ""
	}
	return typed
}

// draft is what was filled in, to fill it in again. An input that comes from its review is indented anew.
func (f cardForm) draft() views.Draft {
	d := views.Draft{
		Reason: strings.TrimSpace(f.text("q0_text")), Note: f.text("note"), Input: f.changedText(),
		Remember: f.text("remember") != "", Session: f.text("session") != "",
	}
	if f.text("edit") != "" {
		d.Input = interaction.ToolCall{Input: json.RawMessage(d.Input)}.Editable()
	}
	return d
}
