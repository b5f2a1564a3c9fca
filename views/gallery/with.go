package gallery

import (
	"bytes"
	"encoding/json"
	"strings"

	"sayso/internal/display"
	"sayso/views"
)

// with is what may go with Allow for a call of a tool.
func with(c views.Card, tool, input string) views.With {
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(input), "", "  "); err != nil {
		panic(err) // unreachable: the samples are JSON
	}
	return views.With{
		ReviewURL: strings.TrimSuffix(c.PostURL, "resolve") + "review", WholeURL: c.URL + "?full=1", Input: indented.String(),
		Session: views.SessionRule{Tool: display.Line(tool)},
	}
}

func shell(c *views.Card) {
	c.Title = display.Line("Permission requested for Bash")
	c.Context = []views.ContextItem{item("Command", "npm test -- --watch=false > report.txt && cat report.txt", true), item("description", "Run the tests once", true)}
	c.With = with(*c, "Bash", `{"command":"npm test -- --watch=false > report.txt && cat report.txt","description":"Run the tests once"}`)
	c.With.Session = views.SessionRule{Tool: display.Line("Bash"), Command: display.Line("npm test -- --watch=false > report.txt && cat report.txt"), Redirects: true, Chains: true}
}

func suggestions(c *views.Card) {
	c.With.Remember = []views.Grant{
		{Does: "Allow without asking", Rules: []views.ToolRule{
			{Tool: display.Line("Bash"), Content: display.Line("npm test:*")}, {Tool: display.Line("Edit"), Every: true},
			{Tool: display.Line("Bash\u202E"), Content: display.Line("every call of ls\n" + strings.Repeat("x", 300))},
		}},
		{Does: "Also work in these directories", Names: []display.Text{display.Line("/home/dana/src/shop"), display.Line("/tmp")}},
		{Does: "Switch the permission mode to", Names: []display.Text{display.Line("acceptEdits")}},
		{Does: "As the agent wrote it", JSON: display.Show(`{"type":"grantAll","destination":"localSettings"}`)},
	}
}

func noRule(c *views.Card) {
	shell(c)
	c.With.Session = views.SessionRule{Refused: "Not asking again in this session is not possible here: the command has several lines, and a rule has one."}
}

func edited(c *views.Card) {
	c.Draft = views.Draft{Note: "Only once, please.", Input: strings.Replace(c.With.Input, " && cat report.txt", "", 1), Remember: true, Session: true}
}

func editProblem(c *views.Card) {
	edited(c)
	c.Draft.Input = strings.Replace(c.With.Input, ",", "", 1)
	c.Problem = &views.Problem{Message: `The edited input is not JSON: line 3, column 3: invalid character '"' after object key:value pair`}
}

func review(c *views.Card) {
	c.Review = &views.Review{Input: `{"command":"npm test"}`, Bound: "5f2b1f0c", Lines: []views.DiffLine{
		{Op: views.DiffSkip, Skipped: 12},
		{Op: views.DiffSame, Text: display.Show("{")},
		{Op: views.DiffOut, Text: display.Show(`  "command": "npm test -- --watch=false > report.txt && cat report.txt",`)},
		{Op: views.DiffIn, Text: display.Show(`  "command": "npm test -- --watch=false ` + strings.Repeat(" ", 40) + `\u202E` + strings.Repeat("x", 300) + `",`)},
		{Op: views.DiffIn, Text: display.Text{}},
		{Op: views.DiffSame, Text: display.Show(`  "description": "Run the tests once"`)},
		{Op: views.DiffSame, Text: display.Show("}")},
	}}
}

func reviewAll(c *views.Card) {
	session := c.With.Session
	c.Review.Note, c.Review.Remember, c.Review.Session = "Only once, please.", true, &session
}
