package views

import (
	"strconv"

	"sayso/internal/display"
)

// elementID is the id of the entry's element, by which a page knows that it has it.
func (e Entry) elementID() string { return "entry-" + strconv.FormatInt(e.Sequence, 10) }

// titleID is the id of the words that name the entry.
func (e Entry) titleID() string { return e.elementID() + "-title" }

// kind is the look of the entry.
func (e Entry) kind() string {
	switch {
	case e.Message != nil:
		return "entry-message"
	case e.Output != nil:
		return "entry-output"
	case e.Result != nil:
		return "entry-result"
	case e.Card != nil:
		return "entry-card"
	}
	return "entry-divider"
}

// last is the newest sequence of a timeline, from which a page asks for more. A page of older entries takes no new ones.
func (c Conversation) last() string {
	if c.NewestURL != "" {
		return ""
	}
	if len(c.Timeline) == 0 {
		return "0"
	}
	return strconv.FormatInt(c.Timeline[len(c.Timeline)-1].Sequence, 10)
}

// over says that nothing is open here and nothing will be.
func (c Conversation) over() bool { return c.Agent.Archived && len(c.Cards) == 0 }

// agentRow is the agent as its header tells of it.
func (c Conversation) agentRow() AgentRow {
	row := c.Agent
	if row.Now.IsZero() {
		row.Now = c.Now
	}
	return row
}

// superseded is what a message did to the cards, in words beside its author.
func (m Message) superseded() string { return "canceled " + counted(m.Superseded, "open request") }

// where is how the message came, when it did not come from here.
func (m Message) where() string {
	if m.Channel == "dashboard" {
		return ""
	}
	return End{Channel: m.Channel}.where()
}

// canceled is what ended with the turn.
func (d Divider) canceled() string { return counted(d.Canceled, "open request") + " canceled" }

func (d Divider) icon() string {
	if d.Word == "Archived" {
		return "archived"
	}
	return "stopped"
}

// word is where a call stands. Failed, denied and canceled are different facts and never told as one another.
func (c Call) word() string {
	switch c.State {
	case CallAwaitingPermission:
		return "Awaits permission"
	case CallReady:
		return "Ready"
	case CallWaiting:
		return "Waiting"
	}
	return outcomeWord(c.Outcome)
}

func (c Call) icon() string {
	switch c.State {
	case CallAwaitingPermission:
		return "permission"
	case CallReady:
		return "pending"
	case CallWaiting:
		return "expired"
	}
	return outcomeIcon(c.Outcome)
}

// look is the call's class: what it waits for, or how it went.
func (c Call) look() string {
	if c.State == CallCompleted {
		return "call-" + c.Outcome
	}
	return "call-" + string(c.State)
}

func outcomeWord(outcome string) string {
	switch outcome {
	case "succeeded":
		return "Succeeded"
	case "failed":
		return "Failed"
	case "denied":
		return "Denied"
	case "canceled":
		return "Canceled"
	}
	return "Completed"
}

func outcomeIcon(outcome string) string {
	switch outcome {
	case "failed":
		return "warn"
	case "denied", "canceled":
		return outcome
	}
	return "allowed"
}

// gist is what the line of a result tells.
func (r Result) gist() display.Text { return firstLine(r.Text) }

func (i WaitingInput) elementID() string { return "input-" + i.ID }

func (i WaitingInput) word() string {
	if i.Steering {
		return "Sent now"
	}
	return "Queued"
}

func (i WaitingInput) icon() string {
	if i.Steering {
		return "now"
	}
	return "expired"
}

// cancels is what Stop and Archive do to what is open. app.js says it anew as cards come and go, in the same words.
func (c Composer) cancels() string {
	if c.Open == 0 {
		return "No request is open."
	}
	return "Cancels " + counted(c.Open, "open request") + "."
}

// ends is what Archive does to messages that the agent has not taken.
func (c Composer) ends() string {
	if c.Waiting == 0 {
		return "No message is waiting."
	}
	return "Ends " + counted(c.Waiting, "waiting message") + "."
}
