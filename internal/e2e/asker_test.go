package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"sayso/internal/api"
)

// asker is an agent: it asks over REST, as any agent does.
type asker struct {
	product *product
	id      string
	name    string
}

func (p *product) agent(name string) *asker {
	p.t.Helper()
	a, err := p.asking.CreateAgent(p.t.Context(), api.NewAgent{Name: name})
	must(p.t, err)
	return &asker{product: p, id: a.ID, name: name}
}

// page is the path of the agent's conversation.
func (a *asker) page() string { return "/projects/default/agents/" + a.id }

// permalink is the path of one interaction.
func permalink(i api.Interaction) string { return "/projects/default/interactions/" + i.ID }

// posting is the path that the forms of its card post to.
func posting(i api.Interaction) string {
	return "/projects/default/agents/" + i.AgentID + "/interactions/" + i.ID + "/resolve"
}

func (a *asker) asks(ask api.NewInteraction) api.Interaction {
	t := a.product.t
	t.Helper()
	i, err := a.product.asking.CreateInteraction(t.Context(), a.id, "", ask)
	must(t, err)
	return i
}

// wantsToRun asks for permission to run a command.
func (a *asker) wantsToRun(command string) api.Interaction {
	a.product.t.Helper()
	return a.asks(running(command))
}

// running is a request for permission to run a command.
func running(command string) api.NewInteraction {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err) // unreachable: strings can be marshalled
	}
	return api.NewInteraction{ToolCall: &api.ToolCall{Name: "Bash", Input: input}}
}

// expiring is ask with a deadline.
func expiring(ask api.NewInteraction, secs int) api.NewInteraction {
	ask.TimeoutSecs = &secs
	return ask
}

// release is a form of three questions: one choice, one with several, one with text.
var release = api.NewInteraction{Request: &api.Request{
	Title:   "How should the release go out?",
	Context: []api.ContextItem{{Label: "Version", Value: "2.4.0"}, {Label: "Changes", Value: "14 commits since 2.3.1"}},
	Questions: []api.Question{
		{Prompt: "Which channel?", Header: "Channel", Options: []api.Option{{Label: "Stable"}, {Label: "Beta", Description: "Goes to 5% of users first."}}},
		{Prompt: "Which checks must pass?", Multiple: true, Options: []api.Option{{Label: "Unit tests"}, {Label: "Browser tests"}, {Label: "Load test"}}},
		{Prompt: "Who announces it?", Options: []api.Option{{Label: "I do"}, {Label: "Somebody else", AllowsText: true}}},
	},
}}

// waitsFor waits on the line until i ends, as an agent does.
func (a *asker) waitsFor(i api.Interaction) *wait {
	ctx, stop := context.WithTimeout(a.product.t.Context(), time.Minute)
	w := &wait{t: a.product.t, done: make(chan struct{}), stop: stop}
	go func() {
		defer close(w.done)
		w.end, w.err = a.product.asking.Await(ctx, a.id, i.ID, func(error) {})
	}()
	return w
}

// wait is an asker waiting for the end of its request.
type wait struct {
	t    testing.TB
	done chan struct{}
	stop context.CancelFunc
	end  api.Interaction
	err  error
}

// ended is how it ended.
func (w *wait) ended() api.Interaction {
	w.t.Helper()
	<-w.done
	w.stop()
	must(w.t, w.err)
	return w.end
}

// asItIs is the interaction as the operator sees it; looking changes nothing.
func (p *product) asItIs(i api.Interaction) api.Interaction {
	p.t.Helper()
	now, err := p.ruling.Interaction(p.t.Context(), i.AgentID, i.ID, 0)
	must(p.t, err)
	return now
}

// verdict is how an interaction stands, in a line.
func verdict(i api.Interaction) string {
	switch {
	case i.State != "resolved":
		return i.State + i.CancelReason
	case i.Kind == "question":
		return "answered"
	case i.Resolution.Answers[0].OptionIndices[0] == 0:
		return "allowed"
	}
	return fmt.Sprintf("denied: %s", i.Resolution.Answers[0].Text)
}

// choose answers an interaction over REST, with the operator's key and for the person named.
func (p *product) choose(i api.Interaction, by string, option int, text string) {
	p.t.Helper()
	answer := api.Resolve{Answers: []api.Answer{{OptionIndices: []int{option}, Text: text}}}
	if by != "" {
		answer.Actor = &api.External{ProviderUserID: by, DisplayName: by}
	}
	_, err := p.ruling.Resolve(p.t.Context(), i.AgentID, i.ID, answer)
	must(p.t, err)
}
