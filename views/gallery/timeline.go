package gallery

import (
	"fmt"
	"strings"
	"time"

	"sayso/internal/display"
	"sayso/views"
)

type namedEntry struct {
	name  string
	model views.Entry
}

// entries are every kind of event in every state.
func entries() []namedEntry {
	all := []namedEntry{
		{"entry-message", message("Please use the staging database.\n\nAnd tell me before you push.")},
		{"entry-message-steering", message("Stop the migration, the table is locked.", func(m *views.Message) { m.Steering, m.Superseded = true, 2 })},
		{"entry-message-api", message("Nightly run 4711", func(m *views.Message) { m.From, m.Channel = display.Line("ci-key"), "api" })},
		{"entry-message-parts", message("First part", func(m *views.Message) { m.Text = append(m.Text, "Second part: **not bold**") })},
		{"entry-message-hostile", message(hostileText)},
		{"entry-output", output(views.Block{Text: "Done. All 214 tests pass."})},
		{"entry-output-markdown", output(views.Block{Text: markdownText})},
		{"entry-output-hostile", output(views.Block{Text: hostileText + "\n\n[github.com](https://evil.example/login) and [this](javascript:alert(1))\n\n<b>bold</b> ![pixel](https://evil.example/p.gif)"})},
		{"entry-output-reasoning", output(views.Block{Reasoning: "The build fails in `web`. The **import** is gone."}, views.Block{Text: "I look at the build first."})},
		{"entry-output-calls", output(views.Block{Text: "Three things:"}, views.Block{Call: call("many1", succeeded)}, views.Block{Call: call("many2", failed)}, views.Block{Call: call("many3")})},
		{"entry-output-stopped", func() views.Entry {
			e := output(views.Block{Text: "I had begun to"})
			e.Output.StopReason = "max_tokens"
			return e
		}()},
		{"entry-result", entry(func(e *views.Entry) {
			e.Result = &views.Result{CallID: "tcl_far", Name: display.Line("Bash"), Outcome: "succeeded", Text: display.Show("ok\n12 files"), At: e.At}
		})},
		{"entry-result-denied", entry(func(e *views.Entry) {
			e.Result = &views.Result{CallID: "tcl_far", Name: display.Line("Bash"), Outcome: "denied", Text: display.Show("Denied by Dana Scully: not on this machine."), At: e.At}
		})},
		{"entry-card", entry(func(e *views.Entry) {
			card := ended("entry", views.Denied, 3*time.Hour, pickedUp, reason)
			e.Card = &card
		})},
		{"entry-stopped", entry(func(e *views.Entry) {
			e.Divider = &views.Divider{Word: "Stopped", By: display.Line("Dana Scully"), Canceled: 2}
		})},
		{"entry-archived", entry(func(e *views.Entry) { e.Divider = &views.Divider{Word: "Archived", By: display.Line("Dana Scully")} })},
	}
	for n := range all {
		all[n].model.Sequence = int64(n + 1)
	}
	return all
}

func entry(fill func(*views.Entry)) views.Entry {
	e := views.Entry{At: before(4 * time.Minute), Now: now}
	fill(&e)
	return e
}

func message(text string, change ...func(*views.Message)) views.Entry {
	m := views.Message{From: display.Line("Dana Scully"), Channel: "dashboard", Text: []string{text}}
	for _, f := range change {
		f(&m)
	}
	return entry(func(e *views.Entry) { e.Message = &m })
}

func output(blocks ...views.Block) views.Entry {
	return entry(func(e *views.Entry) { e.Output = &views.Output{Blocks: blocks} })
}

type namedCall struct {
	name  string
	model *views.Call
}

// calls are a tool call in every state.
func calls() []namedCall {
	return []namedCall{
		{"call-awaiting-permission", call("awaiting", func(c *views.Call) { c.URL = "/projects/default/interactions/int_sample" })},
		{"call-ready", call("ready", state(views.CallReady))},
		{"call-waiting", call("waiting", state(views.CallWaiting))},
		{"call-succeeded", call("succeeded", succeeded)},
		{"call-succeeded-silently", call("silently", succeeded, func(c *views.Call) { c.Result.Text = display.Text{} })},
		{"call-failed", call("failed", failed)},
		{"call-denied", call("denied", completed("denied", "Denied by Dana Scully: use the staging machine."))},
		{"call-canceled", call("canceled", completed("canceled", "A newer message replaced it."))},
		{"call-without-input", call("noinput", succeeded, func(c *views.Call) { c.Input, c.Gist = display.Text{}, display.Text{} })},
		{"call-long", call("long", completed("succeeded", strings.Repeat("npm warn deprecated a package that nobody uses\n", 400)), func(c *views.Call) {
			c.Name = display.Line("mcp__a_server_with_a_very_long_name__and_a_tool_with_a_longer_one")
			c.Gist = display.Line(strings.Repeat("a very long command && ", 20))
		})},
		{"call-hostile", call("hostile", completed("succeeded", hostileText), func(c *views.Call) { c.Name, c.Gist = display.Line(hostileText), display.Line(hostileText) })},
	}
}

func call(name string, change ...func(*views.Call)) *views.Call {
	c := views.Call{
		ID: "tcl_sample" + name, Version: 3, Name: display.Line("Bash"), State: views.CallAwaitingPermission,
		Input: display.Show("{\n  \"command\": \"rm -rf ./build && npm run build\"\n}"), Gist: display.Line("rm -rf ./build && npm run build"),
	}
	for _, f := range change {
		f(&c)
	}
	return &c
}

func state(s views.CallState) func(*views.Call) { return func(c *views.Call) { c.State = s } }

func completed(outcome, text string) func(*views.Call) {
	return func(c *views.Call) {
		c.State, c.Outcome = views.CallCompleted, outcome
		c.Result = &views.Result{CallID: c.ID, Name: c.Name, Outcome: outcome, Text: display.Show(text), At: before(time.Minute)}
	}
}

func succeeded(c *views.Call) { completed("succeeded", "built in 3.2 s")(c) }
func failed(c *views.Call)    { completed("failed", "exit status 2: no space left on device")(c) }

const hostileText = "</div><script>alert(1)</script> \u202egnp.exe\u200b ⟨U+202E⟩ \x1b[2J" + "x" + "            padding"

const markdownText = `# Migration of the shop

I changed **three** files and *did not* run ` + "`make deploy`" + `. See [the docs](https://docs.example.com/migrate "how") or https://example.com/log.

## What is left

1. Run the tests
2. Ask for the password
   - of the *staging* machine
   - never of production

> The table is locked while this runs.

` + "```sql\nALTER TABLE orders ADD COLUMN paid boolean NOT NULL DEFAULT false;\n```" + `

---

#### Notes

A line
and another.`

func waiting() views.Waiting {
	return views.Waiting{CanWrite: true, Now: now, Version: 4, Inputs: []views.WaitingInput{
		input("steering", "Stop the migration, the table is locked.", func(i *views.WaitingInput) { i.Steering = true }),
		input("first", "Then run the tests again.", func(i *views.WaitingInput) { i.First = true }),
		input("second", "And write the changelog.\nAll of it:\n"+strings.Repeat("- one more thing\n", 12)),
		input("last", hostileText, func(i *views.WaitingInput) { i.Last = true }),
	}}
}

func input(name, text string, change ...func(*views.WaitingInput)) views.WaitingInput {
	url := "/projects/default/agents/agt_sampleswe/inputs/inp_sample" + name
	i := views.WaitingInput{
		ID: "inp_sample" + name, Text: display.Show(text), From: display.Line("Dana Scully"), At: before(40 * time.Second),
		CancelURL: url + "/cancel", FrontURL: url + "/front", UpURL: url + "/up", DownURL: url + "/down", PromoteURL: url + "/promote", DemoteURL: url + "/demote",
	}
	for _, f := range change {
		f(&i)
	}
	return i
}

func composer(open int) *views.Composer {
	url := "/projects/default/agents/agt_sampleswe"
	return &views.Composer{PostURL: url + "/inputs", StopURL: url + "/stop", ArchiveURL: url + "/archive", Open: open}
}

// talk is a conversation as most are, with all kinds of entries.
func talk() []views.Entry {
	card := answered()
	old := ended("talk1", views.CanceledEnd, 26*time.Hour, cause("Canceled because a newer message to the agent replaced it."))
	all := []views.Entry{
		message("Please move the shop to the new database."),
		output(views.Block{Reasoning: "First the schema."}, views.Block{Text: "I look at the schema first."}, views.Block{Call: call("talk1", succeeded)}),
		entry(func(e *views.Entry) { e.Card = &old }),
		message("Use staging!", func(m *views.Message) { m.Steering, m.Superseded = true, 1 }),
		output(views.Block{Text: markdownText}),
		entry(func(e *views.Entry) { e.Card = &card }),
		entry(func(e *views.Entry) {
			e.Divider = &views.Divider{Word: "Stopped", By: display.Line("Dana Scully"), Canceled: 1}
		}),
		message("Go on.", func(m *views.Message) { m.From, m.Channel = display.Line("ci-key"), "api" }),
		output(views.Block{Call: call("talk2")}),
	}
	return numbered(all)
}

func numbered(all []views.Entry) []views.Entry {
	for n := range all {
		all[n].Sequence = int64(n + 101)
		all[n].At = before(time.Duration(len(all)-n) * 7 * time.Minute)
	}
	return all
}

func manyEntries() []views.Entry {
	var all []views.Entry
	for n := range 50 {
		all = append(all, message(fmt.Sprintf("Question %d", n+1)),
			output(views.Block{Text: "An answer with `code`."}, views.Block{Call: call(fmt.Sprintf("many-%d", n), succeeded)}))
	}
	return numbered(all)
}
