package interaction

import "time"

// Cancel ends i because its asker withdrew it. Withdrawing what was withdrawn is a Replay; what ended otherwise stays so, and the
// conflict carries how it ended.
func (i Interaction) Cancel(p Principal, now time.Time) (Change, error) {
	if !p.asked(i) {
		return Change{}, forbidden("withdraw this interaction; only its asker may")
	}
	if i.State == Canceled && i.End.CancelReason == AskerCanceled {
		return Change{After: i, Replay: true}, nil
	}
	if i.State != Open {
		return Change{}, &Error{Code: StateTransition, Message: "Already " + string(i.State) + "; it can no longer be withdrawn.", Final: &i}
	}
	end := p.end(now)
	end.CancelReason = AskerCanceled
	return i.ended(end, CanceledEvent), nil
}

// Expire ends i because its deadline passed. It is a Replay if i has ended or has no deadline that is due at now: an answer that
// was written first has won.
func (i Interaction) Expire(now time.Time) (Change, error) {
	if i.State != Open || i.ExpiresAt.IsZero() || now.Before(i.ExpiresAt) {
		return Change{After: i, Replay: true}, nil
	}
	return i.ended(End{At: now, By: System, ProvedBy: SystemPrincipal, CancelReason: DeadlinePassed}, ExpiredEvent), nil
}

// ended is the change that ends i without an answer. A guarded tool call ends with it.
func (i Interaction) ended(end End, kind EventKind) Change {
	i.State, i.End = Canceled, &end
	c := Change{After: i, Lifecycle: kind}
	if i.ToolCall != nil {
		move := ToolCallMove{ID: i.ToolCallID, To: ToolCallCompleted, Outcome: ToolCallCanceled, Result: canceledText(end.CancelReason)}
		c.ToolCall = &move
		c.Events = []Event{toolResult(i.ID, move, end.At)}
	}
	return c
}
