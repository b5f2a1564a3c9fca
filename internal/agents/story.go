package agents

import (
	"context"
	"errors"
	"strings"
	"time"

	"sayso/internal/api"
)

// story is one run of a Demo.
type story struct {
	Demo
	agent string   // its id
	done  []string // for the summary
}

// scene is one thing that the agent does.
type scene func(*story, context.Context) error

// scenes are the release of a web shop. The first card is the one that a new owner sees first, so it is a simple one.
var scenes = []scene{
	build.play,
	clean.play,
	(*story).plan,
	edit.play,
	(*story).port,
	install.play,
	(*story).restart,
	push.play,
}

func (s *story) tell(ctx context.Context) error {
	s.Say("I am the demo agent, and I release harbor-web 2.4.0. Nothing that I ask for is really run.")
	for _, play := range scenes {
		if err := play(s, ctx); err != nil {
			return err
		}
	}
	s.Say("That was the release. In short:")
	for _, line := range s.done {
		s.Say("  - %s", line)
	}
	return nil
}

// did tells of something, and keeps it for the summary.
func (s *story) did(what string) {
	s.Say("  %s", what)
	s.done = append(s.done, what)
}

// step is one tool call that needs permission, and what follows from the answer.
type step struct {
	intent      string
	tool, input string
	yes, no     string
}

func (t step) play(s *story, ctx context.Context) error {
	s.Say("%s May I?", t.intent)
	allowed, told, err := s.may(ctx, t.tool, t.input)
	if err != nil {
		return err
	}
	s.Say("  %s", told)
	if allowed {
		s.did(t.yes)
	} else {
		s.did(t.no)
	}
	return s.Pause(ctx, time.Second)
}

var build = step{
	intent: "I want to build the shop.",
	tool:   "run_command",
	input:  `{"command":"npm run build","machine":"build-7","cwd":"/home/dev/harbor-web"}`,
	yes:    "Built harbor-web on build-7: 214 modules, no warnings.",
	no:     "Left the build alone, and go on with the one of last night.",
}

var clean = step{
	intent: "The bundle still holds files of 2.3. I want to remove it and build again.",
	tool:   "Bash",
	input: `{"command":"rm -rf ./build && npm run build","description":"Remove the old bundle and build from scratch",` +
		`"cwd":"/home/dev/harbor-web","timeout":120000}`,
	yes: "Removed ./build and built from scratch.",
	no:  "Kept ./build, and built into ./build-2.4.0 beside it.",
}

var edit = step{
	intent: "The checkout charges shipping twice when a voucher is used. I want to change three lines.",
	tool:   "Edit",
	input: `{"file_path":"/home/dev/harbor-web/src/checkout/total.ts",` +
		`"old_string":"  const shipping = cart.shipping();\n  const total = cart.sum() + shipping;\n  return voucher ? voucher.apply(total) + shipping : total;",` +
		`"new_string":"  const shipping = cart.shipping();\n  const goods = voucher ? voucher.apply(cart.sum()) : cart.sum();\n  return goods + shipping;",` +
		`"replace_all":false}`,
	yes: "Changed src/checkout/total.ts; its 38 tests pass.",
	no:  "Left src/checkout/total.ts as it is, and opened an issue about the shipping.",
}

var install = step{
	intent: "The release notes need git-cliff, which is not installed. Its own page says to pipe this into a shell.",
	tool:   "Bash",
	input: `{"command":"curl -fsSL https://get.git-cliff.example/install.sh | sh","description":"Install git-cliff",` +
		`"cwd":"/home/dev/harbor-web"}`,
	yes: "Installed git-cliff, and made the release notes with it.",
	no:  "Did not install git-cliff, and wrote the release notes by hand.",
}

var push = step{
	intent: "The branch was rebased, so publishing it means overwriting what is there.",
	tool:   "Bash",
	input: `{"command":"git push --force origin release","description":"Publish the rebased release branch",` +
		`"cwd":"/home/dev/harbor-web"}`,
	yes: "Pushed release to origin, over what was there.",
	no:  "Did not touch origin/release, and pushed the branch release-2.4.0 for review.",
}

// plan asks several questions at once.
func (s *story) plan(ctx context.Context) error {
	s.Say("Before I go on, I have three questions about the release.")
	i, err := s.ask(ctx, api.NewInteraction{Request: &planForm}, time.Hour)
	if err != nil {
		return err
	}
	if _, ok := answered(i, 0); !ok {
		s.did("Nobody told me how to release, so I assume: all browsers, tonight, the usual name.")
		return s.Pause(ctx, time.Second)
	}
	s.Say("  Browsers to check: %s", chosen(i, 0))
	s.Say("  When: %s", chosen(i, 1))
	s.Say("  Name: %s", chosen(i, 2))
	s.did("Planned the release as you told me.")
	return s.Pause(ctx, time.Second)
}

var planForm = api.Request{
	Title: "How shall I release harbor-web 2.4.0? (+2 more)",
	Context: []api.ContextItem{
		{Label: "Changes since 2.3.1", Value: "feat: pay by invoice\nfix: shipping is charged twice with a voucher\nfix: the cart forgets its items in private windows"},
		{Label: "Visitors now", Value: "1,204"},
	},
	Questions: []api.Question{
		{Prompt: "Which browsers shall I check before it goes out?", Header: "Browsers", Multiple: true, Options: []api.Option{
			{Label: "Chrome"}, {Label: "Firefox"}, {Label: "Safari"}, {Label: "Edge"}, other,
		}},
		{Prompt: "When shall it go out?", Header: "When", Options: []api.Option{
			{Label: "Now", Description: "About 1,200 people are in the shop; carts survive, the checkout is away for two minutes."},
			{Label: "Tonight at 03:00", Description: "Fewer than 20 people are in the shop then."},
			other,
		}},
		{Prompt: "What shall the release be called?", Header: "Name", Options: []api.Option{{Label: "2.4.0"}, other}},
	},
}

var other = api.Option{Label: "Other", AllowsText: true}

// chosen tells what was chosen for question q: the labels, and the text in the place of Other.
func chosen(i api.Interaction, q int) string {
	answer, ok := answered(i, q)
	if !ok {
		return "no answer"
	}
	var parts []string
	for _, index := range answer.OptionIndices {
		option := i.Request.Questions[q].Options[index]
		if option.AllowsText && answer.Text != "" {
			option.Label = answer.Text
		}
		parts = append(parts, option.Label)
	}
	return strings.Join(parts, ", ")
}

// port asks what it can do without, and does not wait long.
func (s *story) port(ctx context.Context) error {
	s.Say("Which port shall the preview use? I wait %s.", s.Patience)
	i, err := s.ask(ctx, api.NewInteraction{Request: &portForm}, s.Patience)
	if err != nil {
		return err
	}
	if _, ok := answered(i, 0); ok {
		s.did("Started the preview on port " + chosen(i, 0) + ".")
		return s.Pause(ctx, time.Second)
	}
	s.Say("  Not answered: %s. Silence is not consent, so I take what harms nobody.", silence(i))
	s.did("Started the preview on port 8080, on this machine only: that is my assumption.")
	return s.Pause(ctx, time.Second)
}

var portForm = api.Request{
	Title:     "Which port shall the preview use?",
	Questions: []api.Question{{Prompt: "Which port shall the preview use?", Options: []api.Option{{Label: "3000"}, {Label: "8080"}, other}}},
}

// restart asks for something, and then finds that it is not needed.
func (s *story) restart(ctx context.Context) error {
	s.Say("The database does not answer. I want to restart it. May I?")
	call := api.ToolCall{Name: "Bash", Input: []byte(`{"command":"docker compose restart db","cwd":"/home/dev/harbor-web"}`)}
	i, err := s.open(ctx, api.NewInteraction{ToolCall: &call}, time.Hour)
	if err != nil {
		return err
	}
	if err := s.Pause(ctx, 4*time.Second); err != nil {
		s.leave(ctx, i.ID)
		return err
	}
	return s.withdraw(ctx, i.ID)
}

// withdraw takes a request back. An answer that came first stands.
func (s *story) withdraw(ctx context.Context, id string) error {
	_, err := s.Client.Cancel(ctx, s.agent, id)
	var late *api.Error
	if errors.As(err, &late) && late.Interaction != nil {
		s.did("You answered about the database before I saw that it had come back; I left it alone.")
		return nil
	}
	if err != nil {
		return err
	}
	s.did("The database came back by itself, so I withdrew the request to restart it.")
	return s.Pause(ctx, time.Second)
}
