package cli

import (
	"encoding/json"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// outcome is what a request came to, as --json gives it.
type outcome struct {
	Interaction  api.Interaction `json:"interaction"`
	Answer       *string         `json:"answer,omitempty"`
	Decision     string          `json:"decision,omitempty"`
	Message      string          `json:"message,omitempty"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
}

// unanswered is the failure of a request that ended without an answer; nil if it has one.
func unanswered(i api.Interaction) error {
	switch {
	case i.State == "resolved" && i.Resolution != nil && len(i.Resolution.Answers) > 0:
		return nil
	case i.CancelReason == "expired":
		return fail(exitTimedOut, "ask again, or wait longer with --timeout-secs",
			"nobody answered %s within %d s; silence is not consent", i.ID, i.TimeoutSecs)
	}
	return fail(exitCanceled, "", "%s was canceled: %s", i.ID, inbox.CancelText(i.CancelReason))
}

// decision is the answer to a permission. Only a plain Allow is one; a denial always has a reason.
func decision(i api.Interaction) outcome {
	o := outcome{Interaction: i, Decision: "deny"}
	if i.Decision != nil {
		o.Message = i.Decision.Note
	}
	if inbox.Allowed(i) {
		o.Decision = "allow"
		if i.Decision != nil {
			o.UpdatedInput = i.Decision.UpdatedInput
		}
		return o
	}
	if o.Message = i.Resolution.Answers[0].Text; o.Message == "" {
		o.Message = "denied by " + inbox.AnsweredBy(i) + ", without a reason"
	}
	return o
}
