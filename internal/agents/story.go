package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sayso/internal/api"
)

// story is one run of a Demo.
type story struct {
	Demo
	agent   string     // its id
	scene   int        // which one is played
	done    []string   // for the summary
	notes   []string   // what people told it to keep to
	unread  *api.Input // was taken while it waited, and not read yet
	careful bool       // it overwrites nothing, since a person changed its plan
}

// scene is one thing that the agent does.
type scene func(*story, context.Context) error

// scenes are the release of a web shop. The first card is the one that a new owner sees first, so it is a simple one.
func scenes() []scene {
	return []scene{
		build.play,
		clean.play,
		(*story).plan,
		edit.play,
		(*story).test,
		(*story).port,
		install.play,
		(*story).restart,
		(*story).publish,
	}
}

func (s *story) tell(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	for n, play := range scenes() {
		s.scene = n
		if err := play(s, ctx); err != nil {
			return err
		}
		if err := s.Pause(ctx, time.Second); err != nil {
			return err
		}
		if err := s.listen(ctx); err != nil {
			return err
		}
	}
	if err := s.sumUp(ctx); err != nil {
		return err
	}
	return s.linger(ctx)
}

// begin says what it is about, reads what was written while it was away, and looks around.
func (s *story) begin(ctx context.Context) error {
	if err := s.says(ctx, "I am the demo agent, and I release harbor-web 2.4.0. Nothing that I ask for is really run."); err != nil {
		return err
	}
	if err := s.listen(ctx); err != nil {
		return err
	}
	return look.run(s, ctx)
}

func (s *story) sumUp(ctx context.Context) error {
	s.Say("That was the release. In short:")
	text := "That was the release. In short:"
	for _, line := range s.done {
		s.Say("  - %s", line)
		text += "\n- " + line
	}
	for _, note := range s.notes {
		s.Say("  - Kept to what you wrote: %s", note)
		text += "\n- Kept to what you wrote: " + note
	}
	_, err := s.report(ctx, "end_turn", api.Text(text)...)
	return err
}

// errand is a harmless tool call, for which nobody is asked.
type errand struct {
	said        string
	tool, input string
	outcome     string
	result      string
}

func (e errand) run(s *story, ctx context.Context) error {
	s.Say("%s", e.said)
	call, err := s.call(ctx, "", e.said, e.tool, e.input, "always_allow")
	if err != nil {
		return err
	}
	return s.finish(ctx, call.ID, e.outcome, e.result)
}

var look = errand{
	said: "First I look at where we are.", tool: "run_command", input: `{"command":"git status --short --branch","cwd":"/home/dev/harbor-web"}`,
	outcome: "succeeded", result: "## release...origin/release [ahead 3, behind 1]\n M src/checkout/total.ts",
}

// step is one tool call that needs permission, and what follows from the answer.
type step struct {
	thought     string
	intent      string
	tool, input string
	result      string
	yes, no     string
}

func (t step) play(s *story, ctx context.Context) error {
	s.Say("%s May I?", t.intent)
	call, err := s.call(ctx, t.thought, t.intent+" May I?", t.tool, t.input, "always_ask")
	if err != nil {
		return err
	}
	d, err := s.may(ctx, call)
	if err != nil {
		return err
	}
	s.Say("  %s", d.told)
	switch {
	case d.allowed:
		if err := s.finish(ctx, call.ID, "succeeded", t.result); err != nil {
			return err
		}
		return s.did(ctx, t.yes)
	case d.superseded:
		if err := s.steered(ctx); err != nil {
			return err
		}
	}
	return s.did(ctx, t.no, d.told)
}

var build = step{
	intent: "I want to build the shop.",
	result: "vite v6.2.0 building for production...\n214 modules transformed.\nbuilt in 8.41s",
	tool:   "run_command",
	input:  `{"command":"npm run build","machine":"build-7","cwd":"/home/dev/harbor-web"}`,
	yes:    "Built harbor-web on build-7: 214 modules, no warnings.",
	no:     "Left the build alone, and go on with the one of last night.",
}

var clean = step{
	thought: "dist/assets still has checkout-2.3.1.js. Vite does not empty a folder that it did not make, so a stale chunk could be served. Removing " +
		"the folder is the sure way, but it deletes things: that needs a person.",
	intent: "The bundle still holds files of 2.3. I want to remove it and build again.",
	result: "214 modules transformed.\nbuilt in 8.76s",
	tool:   "Bash",
	input: `{"command":"rm -rf ./build && npm run build","description":"Remove the old bundle and build from scratch",` +
		`"cwd":"/home/dev/harbor-web","timeout":120000}`,
	yes: "Removed ./build and built from scratch.",
	no:  "Kept ./build, and built into ./build-2.4.0 beside it.",
}

var edit = step{
	thought: "voucher.apply(total) already contains shipping, and then shipping is added again. So a voucher costs the customer 4.90. The voucher " +
		"should only apply to the goods.",
	intent: "The checkout charges shipping twice when a voucher is used. I want to change three lines.",
	result: "The file src/checkout/total.ts has been updated.",
	tool:   "Edit",
	input: `{"file_path":"/home/dev/harbor-web/src/checkout/total.ts",` +
		`"old_string":"  const shipping = cart.shipping();\n  const total = cart.sum() + shipping;\n  return voucher ? voucher.apply(total) + shipping : total;",` +
		`"new_string":"  const shipping = cart.shipping();\n  const goods = voucher ? voucher.apply(cart.sum()) : cart.sum();\n  return goods + shipping;",` +
		`"replace_all":false}`,
	yes: "Changed three lines of src/checkout/total.ts.",
	no:  "Left src/checkout/total.ts as it is, and opened an issue about the shipping.",
}

var install = step{
	result: "git-cliff 2.8.0 installed to /home/dev/.local/bin",
	intent: "The release notes need git-cliff, which is not installed. Its own page says to pipe this into a shell.",
	tool:   "Bash",
	input: `{"command":"curl -fsSL https://get.git-cliff.example/install.sh | sh","description":"Install git-cliff",` +
		`"cwd":"/home/dev/harbor-web"}`,
	yes: "Installed git-cliff, and made the release notes with it.",
	no:  "Did not install git-cliff, and wrote the release notes by hand.",
}

var push = step{
	thought: "origin/release has one commit that ours has not, from before the rebase. A plain push is refused. --force drops that commit for " +
		"everybody, so I must not do it on my own.",
	result: "+ 3f1c0de...a81b9e2 release -> release (forced update)",
	intent: "The branch was rebased, so publishing it means overwriting what is there.",
	tool:   "Bash",
	input: `{"command":"git push --force origin release","description":"Publish the rebased release branch",` +
		`"cwd":"/home/dev/harbor-web"}`,
	yes: "Pushed release to origin, over what was there.",
	no:  "Did not touch origin/release, and pushed the branch release-2.4.0 for review.",
}

// planQuestions is the input of a call that asks several questions at once. To each the server adds the option of any other answer.
const planQuestions = `{"questions":[` +
	`{"prompt":"Which browsers shall I check before it goes out?","multiple":true,` +
	`"options":[{"label":"Chrome"},{"label":"Firefox"},{"label":"Safari"},{"label":"Edge"}]},` +
	`{"prompt":"When shall it go out? 1,204 people are in the shop now; at 03:00 fewer than 20 are.",` +
	`"options":[{"label":"Now"},{"label":"Tonight at 03:00"}]},` +
	`{"prompt":"What shall the release be called?","options":[{"label":"2.4.0"}]}]}`

// plan asks several questions at once.
func (s *story) plan(ctx context.Context) error {
	const intent = "Before I go on, I have three questions about the release."
	s.Say(intent)
	call, err := s.call(ctx, "", intent, "ask_question", planQuestions, "")
	if err != nil {
		return err
	}
	i, err := s.await(ctx, call.InteractionID)
	if err != nil {
		return err
	}
	if superseded(i) {
		if err := s.steered(ctx); err != nil {
			return err
		}
	}
	if _, ok := answered(i, 0); !ok {
		return s.did(ctx, "Nobody told me how to release, so I assume: all browsers, tonight, the usual name.")
	}
	s.Say("  Browsers to check: %s", chosen(i, 0))
	s.Say("  When: %s", chosen(i, 1))
	s.Say("  Name: %s", chosen(i, 2))
	if i.Decision != nil && i.Decision.Response != "" {
		s.notes = append(s.notes, i.Decision.Response)
	}
	return s.did(ctx, fmt.Sprintf("Planned the release as you told me: “%s”, checked in %s, to go out %s.", chosen(i, 2), chosen(i, 0), chosen(i, 1)))
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
		switch {
		case option.AllowsText && answer.Text != "":
			option.Label = answer.Text
		case option.AllowsText:
			option.Label = "as I think best" // the question was left open
		}
		parts = append(parts, option.Label)
	}
	return strings.Join(parts, ", ")
}

// test runs the tests, for which nobody is asked. They fail first, as tests do.
func (s *story) test(ctx context.Context) error {
	for _, e := range []errand{
		{said: "I run the tests.", outcome: "failed", result: "37 passed, 1 failed\n  cart.test.ts: keeps its items in private windows (timeout after 5000 ms)"},
		{said: "One test timed out; it waits for the network. I run it once more.", outcome: "succeeded", result: "38 passed"},
	} {
		e.tool, e.input = "run_command", `{"command":"npm test","cwd":"/home/dev/harbor-web"}`
		if err := e.run(s, ctx); err != nil {
			return err
		}
	}
	return s.did(ctx, "Ran the tests: all 38 pass, one of them only at the second try.")
}

// port asks what it can do without, and does not wait long.
func (s *story) port(ctx context.Context) error {
	if err := s.says(ctx, "Which port shall the preview use? I wait %s.", s.Patience); err != nil {
		return err
	}
	i, err := s.open(ctx, &portForm, s.Patience)
	if err != nil {
		return err
	}
	if i, err = s.await(ctx, i.ID); err != nil {
		return err
	}
	if _, ok := answered(i, 0); ok {
		return s.did(ctx, "Started the preview on port "+chosen(i, 0)+".")
	}
	if superseded(i) {
		if err := s.steered(ctx); err != nil {
			return err
		}
	} else if err := s.says(ctx, "  Not answered: %s. Silence is not consent, so I take what harms nobody.", silence(i)); err != nil {
		return err
	}
	return s.did(ctx, "Started the preview on port 8080, on this machine only: that is my assumption.")
}

var portForm = api.Request{
	Title:     "Which port shall the preview use?",
	Questions: []api.Question{{Prompt: "Which port shall the preview use?", Options: []api.Option{{Label: "3000"}, {Label: "8080"}, other}}},
}

// restart asks for something, and then finds that it is not needed.
func (s *story) restart(ctx context.Context) error {
	const intent = "The database does not answer. I want to restart it. May I?"
	s.Say(intent)
	call, err := s.call(ctx, "", intent, "Bash", `{"command":"docker compose restart db","cwd":"/home/dev/harbor-web"}`, "always_ask")
	if err != nil || call.InteractionID == "" {
		return err
	}
	if err := s.Pause(ctx, 4*time.Second); err != nil {
		s.leave(ctx, call.InteractionID)
		return err
	}
	i, err := s.withdraw(ctx, call.InteractionID)
	switch {
	case err != nil:
		return err
	case superseded(i):
		return s.steered(ctx)
	case i.State == "canceled":
		return s.did(ctx, "The database came back by itself, so I withdrew the request to restart it.")
	case decided(i).allowed:
		if err := s.finish(ctx, call.ID, "failed", "Not run: the database had come back by itself."); err != nil {
			return err
		}
	}
	return s.did(ctx, "You answered about the database before I saw that it had come back; I left it alone.")
}

// publish overwrites the branch if it may, unless a person changed the plan: then it does not even ask.
func (s *story) publish(ctx context.Context) error {
	if !s.careful {
		return push.play(s, ctx)
	}
	e := errand{
		said: "As you told me, I overwrite nothing: I push a branch of its own.", tool: "Bash",
		input:   `{"command":"git push origin release:release-2.4.0","description":"Publish the release as a new branch","cwd":"/home/dev/harbor-web"}`,
		outcome: "succeeded", result: "* [new branch] release -> release-2.4.0",
	}
	if err := e.run(s, ctx); err != nil {
		return err
	}
	return s.did(ctx, push.no)
}
