package gallery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sayso/internal/display"
	"sayso/views"
)

type namedCard struct {
	name  string
	model views.Card
}

func cards() []namedCard {
	return append(append(append(permissions(), questions()...), endings()...), framedCards()...)
}

func permissions() []namedCard {
	return []namedCard{
		{"permission", permission("permission")},
		{"permission-without-context", permission("bare", func(c *views.Card) { c.Context = nil })},
		{"permission-warned", permission("warned", warned)},
		{"permission-long", permission("long", long)},
		{"permission-one-line-of-200-kb", permission("oneline", oneLine)},
		{"permission-not-all-shown", permission("hidden", notAllShown)},
		{"permission-of-many-fields", permission("fields", func(c *views.Card) { c.MoreItems, c.FullURL = 70, c.URL+"?full=1" })},
		{"permission-much-warned", permission("muchwarned", muchWarned)},
		{"permission-hostile", permission("hostile", hostile)},
		{"permission-other-scripts", permission("scripts", otherScripts)},
		{"permission-expires-soon", permission("soon", func(c *views.Card) { c.ExpiresAt = after(42 * time.Second) })},
		{"permission-asker-gone", permission("gone", func(c *views.Card) {
			c.Asker = views.Asker{State: views.AskerGone, Since: before(4 * time.Minute)}
		})},
		{"permission-suspended", permission("suspended", func(c *views.Card) {
			c.Asker = views.Asker{State: views.AskerSuspended, WorkflowID: display.Line("wf_nightly-release")}
		})},
		{"permission-polling", permission("polling", func(c *views.Card) { c.Asker = views.Asker{State: views.AskerPolling} })},
		{"permission-read-only", permission("readonly", func(c *views.Card) { c.ReadOnly = true })},
		{"permission-shell", permission("shell", shell)},
		{"permission-suggestions", permission("suggestions", shell, suggestions)},
		{"permission-no-rule", permission("norule", noRule)},
		{"permission-long-input", permission("longinput", func(c *views.Card) { c.With.Input = "" })},
		{"permission-edited", permission("edited", shell, suggestions, edited)},
		{"permission-edit-problem", permission("editproblem", shell, editProblem)},
		{"permission-review", permission("review", shell, review)},
		{"permission-review-with-all", permission("reviewall", shell, suggestions, review, reviewAll)},
		{"permission-problem", permission("problem", func(c *views.Card) {
			c.Problem = &views.Problem{Message: "The reason is longer than 20,000 characters. Nothing was recorded."}
			c.Draft.Reason = "Not on the build server, please use staging."
		})},
	}
}

// permission is a permission as most are, changed by the given functions.
func permission(name string, change ...func(*views.Card)) views.Card {
	card := card(name, views.PermissionKind, "Permission requested for run_command")
	card.Context = []views.ContextItem{
		item("Command", "rm -rf ./build && npm run build", true),
		item("Working directory", "/home/dana/src/shop", true),
		item("Machine", "mch_aaaaaaaaaaaaaaaaaaaaaaaaae", true),
	}
	card.With = with(card, "run_command", `{"command":"rm -rf ./build && npm run build","cwd":"/home/dana/src/shop","machine":"mch_aaaaaaaaaaaaaaaaaaaaaaaaae"}`)
	return changed(card, change)
}

func card(name string, kind views.Kind, title string) views.Card {
	id := "int_sample" + name
	return views.Card{
		ID:        id,
		Version:   7,
		Kind:      kind,
		State:     views.Open,
		AgentID:   "agt_sampleswe",
		Agent:     display.Line("swe"),
		AgentURL:  "/projects/default/agents/agt_sampleswe",
		URL:       "/projects/default/interactions/" + id,
		PostURL:   "/projects/default/agents/agt_sampleswe/interactions/" + id + "/resolve",
		Title:     display.Line(title),
		Digest:    "sha256:5f2b1f0c9d1e4a7b8c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b",
		CreatedAt: before(4 * time.Minute),
		ExpiresAt: after(6 * time.Minute),
		Now:       now,
		Asker:     views.Asker{State: views.AskerWaiting},
	}
}

func changed(card views.Card, change []func(*views.Card)) views.Card {
	for _, apply := range change {
		apply(&card)
	}
	card.Chips = chips(card)
	return card
}

// chips are the warnings of all that the card shows, each kind once.
func chips(card views.Card) []display.Chip {
	all := card.Title.Chips
	for _, item := range card.Context {
		for _, chip := range item.Value.Chips {
			if !slices.ContainsFunc(all, func(c display.Chip) bool { return c.ID == chip.ID }) {
				all = append(all, chip)
			}
		}
	}
	return all
}

func item(label, value string, mono bool) views.ContextItem {
	return views.ContextItem{
		Label:   display.Line(label),
		Value:   display.Show(value),
		Mono:    mono,
		Lines:   strings.Count(value, "\n") + 1,
		FullURL: "/projects/default/interactions/int_sample?full=1",
		RawURL:  "/projects/default/interactions/int_sample/context/0",
	}
}

func warned(c *views.Card) {
	c.Context = []views.ContextItem{item("Command", "curl -fsSL https://get.example.com/install.sh | sudo sh", true)}
}

func muchWarned(c *views.Card) {
	c.Context = []views.ContextItem{
		item("Command", "curl -fsSL https://get.example.com/install.sh | sudo sh; git push --force origin main; rm -rf ~/", true),
		item("Why", "already approved by Dana"+strings.Repeat(" ", 40)+"\u200B.", false),
	}
}

func long(c *views.Card) {
	var script strings.Builder
	for n := range 400 {
		fmt.Fprintf(&script, "echo \"step %d of 400\" && make target-%d VERBOSE=1\n", n+1, n+1)
	}
	c.Context = []views.ContextItem{
		item("Command", strings.TrimSuffix(script.String(), "\n"), true),
		item("Why", "The nightly release runs every target once. It was asked for in the planning of Monday and takes about forty minutes on this machine.", false),
	}
}

func oneLine(c *views.Card) {
	c.Context = []views.ContextItem{item("Payload", strings.Repeat("QmFzZTY0IGlzIG5vdCBlbmNyeXB0aW9u", 200<<10/32), true)}
}

func notAllShown(c *views.Card) {
	long(c)
	c.Context[0].Lines, c.Context[0].Hidden = 9000, 8600
}

func hostile(c *views.Card) {
	c.Title = display.Line("Permission requested for \u202Egnp.elif\u202C <img src=x onerror=alert(1)> " + strings.Repeat("already approved by Dana ", 9))
	c.Agent = display.Line("swe<script>alert(1)</script>" + strings.Repeat("x", 60))
	c.Context = []views.ContextItem{
		item("Command\u200B", "git status"+strings.Repeat(" ", 400)+"; rm -rf ~/\u202Egnp.elif\x1b[2K\rok", true),
		item(strings.Repeat("label", 40), `<button hx-post="/projects/default/agents/a/interactions/i/resolve" hx-trigger="load" style="position:fixed;inset:0">Allow</button>`, true),
		item("note", strings.Repeat("\u200B", 300), false),
		item("", "", true),
	}
}

func otherScripts(c *views.Card) {
	c.Title = display.Line("日本語のコマンドを実行する")
	c.Context = []views.ContextItem{
		item("رسالة", "مرحبا بالعالم، هذا تعليق عادي.", false),
		item("הודעה", "שלום עולם", false),
		item("コマンド", "git commit -m '👩‍💻 ペアで直した 👍🏽'", true),
	}
}

func group(name string, size int) views.Group {
	g := views.Group{AgentID: "agt_sample" + name, Agent: display.Line("swe"), AgentURL: "/projects/default/agents/agt_sampleswe"}
	for n := range size {
		g.Cards = append(g.Cards, permission(fmt.Sprint(name, n), func(c *views.Card) { c.AgentID = g.AgentID }))
	}
	return g
}
