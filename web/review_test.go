package web_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
	"sayso/internal/display"
	"sayso/internal/interaction"
)

// deploy is a permission whose agent suggests what to remember, and what not.
const deploy = `{"tool_call":{"name":"Bash","input":{"command":"make deploy","n":12345678901234567890}},"suggestions":[
	{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"localSettings"},
	{"type":"setMode","mode":"bypassPermissions","destination":"session"}]}`

const sessionRule = `[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make deploy"}],"behavior":"allow","destination":"session"}]`

// suggested is what *remember* grants of deploy.
const suggested = `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"localSettings"}`

// fields are a form's, name and value by turns.
func fields(pairs ...string) url.Values {
	form := url.Values{}
	for n := 0; n < len(pairs); n += 2 {
		form.Add(pairs[n], pairs[n+1])
	}
	return form
}

// TestWhatGoesWithAllow checks each thing that may go with Allow, what it may go with, and that none goes with Deny.
func TestWhatGoesWithAllow(t *testing.T) {
	s := newSite(t)
	cookie := s.signedIn()
	const same = `{"command": "make deploy", "n": 12345678901234567890}`
	for _, c := range []struct {
		name     string
		ask      string
		form     url.Values
		status   int
		says     string
		decision *api.Decision
	}{
		{"nothing", deploy, fields("q0", "0"), 303, "", nil},
		{"empty fields", deploy, fields("q0", "0", "note", " ", "updated_input", same, "remember", "", "session", ""), 303, "", nil},
		{"a note", deploy, fields("q0", "0", "note", " to staging "), 303, "", &api.Decision{Note: "to staging"}},
		{"remember", deploy, fields("q0", "0", "remember", "1"), 303, "", &api.Decision{UpdatedPermissions: json.RawMessage("[" + suggested + "]")}},
		{"remember nothing", bash, fields("q0", "0", "remember", "1"), 303, "", nil},
		{"session", deploy, fields("q0", "0", "session", "1"), 303, "", &api.Decision{UpdatedPermissions: json.RawMessage(sessionRule)}},
		{"all but an edit", deploy, fields("q0", "0", "note", "n", "remember", "1", "session", "1", "updated_input", same), 303, "",
			&api.Decision{Note: "n", UpdatedPermissions: json.RawMessage("[" + suggested + "," + sessionRule[1:])}},
		{"an edit that was not looked at", deploy, fields("q0", "0", "updated_input", `{"command":"make"}`), 200, "What you changed", nil},
		{"a session without a rule", `{"tool_call":{"name":"Bash","input":{"command":"ls\nrm"}}}`, fields("q0", "0", "session", "1"), 422, "has several lines", nil},
		{"another value of a box", deploy, fields("q0", "0", "session", `[{"type":"addRules"}]`), 422, "session:", nil},
		{"permissions of one's own", deploy, fields("q0", "0", "updated_permissions", sessionRule), 422, "updated_permissions: unknown field", nil},
		{"twice", deploy, fields("q0", "0", "updated_input", same, "updated_input", `{}`), 422, "updated_input: given twice", nil},
		{"no object", deploy, fields("q0", "0", "updated_input", `[]`), 422, "must be a JSON object", nil},
		{"no JSON", deploy, fields("q0", "0", "updated_input", "{\r\n  \"command\": ls\r\n}"), 422, "line 2, column 14", nil},
		{"deny with a note", deploy, fields("q0", "1", "note", "n"), 422, "note: goes with Allow only", nil},
		{"deny with the input", deploy, fields("q0", "1", "updated_input", same), 422, "updated_input: goes with Allow only", nil},
		{"deny with remember", deploy, fields("q0", "1", "remember", "1"), 422, "remember: goes with Allow only", nil},
		{"deny with session", deploy, fields("q0", "1", "session", "1"), 422, "session: goes with Allow only", nil},
		{"a question with the input", `{"request":{"title":"T","questions":[{"prompt":"P","options":[{"label":"A"}]}]}}`, fields("q0", "0", "updated_input", `{}`), 422, "updated_input: unknown field", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, at := s.asks(askable(s), c.ask)
			c.form.Set("digest", i.Digest)
			got := s.answers(cookie, i.AgentID, i.ID, c.form.Encode())
			if got.status != c.status || !strings.Contains(html.UnescapeString(string(got.body)), c.says) {
				t.Fatalf("%d, want %d with %q\n%s", got.status, c.status, c.says, got.body)
			}
			now := s.call(s.operator, "GET", at, "").interaction(t)
			if (now.State == "resolved") != (c.status == 303) {
				t.Errorf("it is %s", now.State)
			}
			if diff := cmp.Diff(c.decision, now.Decision); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_0-9]+)" value="([^"]*)"`)

// form are the hidden fields of the form with that button.
func (a answer) form(t *testing.T, button string) url.Values {
	t.Helper()
	all := string(a.body)
	end := strings.Index(all, button)
	if end < 0 {
		t.Fatalf("%d: no %s in\n%s", a.status, button, all)
	}
	form := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(all[strings.LastIndex(all[:end], "<form"):end], -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	return form
}

func (s *site) reviews(cookie *http.Cookie, i api.Interaction, form url.Values) answer {
	s.t.Helper()
	return s.post("/projects/default/agents/"+i.AgentID+"/interactions/"+i.ID+"/review", form.Encode(), "Cookie", cookie.Name+"="+cookie.Value)
}

// TestReview checks that an edited input is allowed only as it was looked at.
func TestReview(t *testing.T) {
	s := newSite(t)
	cookie := s.signedIn()
	i, at := s.asks(askable(s), deploy)
	before := s.writes()
	edit := fields("q0", "0", "digest", i.Digest, "note", "n", "remember", "1", "session", "1", "updated_input", "{\r\n  \"command\": \"make test\",\r\n  \"n\": 12345678901234567890\r\n}")
	reviewed := s.reviews(cookie, i, edit)
	text := html.UnescapeString(string(reviewed.body))
	if reviewed.status != 200 || !strings.Contains(text, "diff-out") || !strings.Contains(text, `"command": "make test"`) || strings.Contains(text, "data-allow>") {
		t.Fatalf("%d\n%s", reviewed.status, text)
	}
	form := reviewed.form(t, "data-allow-edited")
	if want := `{"command":"make test","n":12345678901234567890}`; form.Get("updated_input") != want {
		t.Errorf("it would allow %s, want %s", form.Get("updated_input"), want)
	}
	for _, change := range []url.Values{fields("updated_input", `{"command":"make all"}`), fields("reviewed", "x"), fields("reviewed", "")} {
		other := url.Values{}
		for name := range form {
			other.Set(name, form.Get(name))
		}
		for name := range change {
			other.Set(name, change.Get(name))
		}
		if got := s.answers(cookie, i.AgentID, i.ID, other.Encode()); got.status != 200 || !strings.Contains(string(got.body), "What you changed") {
			t.Errorf("with %v it is %d", change, got.status)
		}
	}
	back := fields("edit", "1")
	for name := range form {
		back.Set(name, form.Get(name))
	}
	again := html.UnescapeString(string(s.reviews(cookie, i, back).body))
	for _, want := range []string{"{\n  \"command\": \"make test\",\n", `value="n"`, `name="session" value="1" checked`} {
		if !strings.Contains(again, want) {
			t.Errorf("to edit on, there is no %s in\n%s", want, again)
		}
	}
	if now := s.call(s.operator, "GET", at, "").interaction(t); now.State != "open" || s.writes() != before {
		t.Fatalf("looking made it %s", now.State)
	}
	if got := s.answers(cookie, i.AgentID, i.ID, form.Encode()); got.status != 303 {
		t.Fatalf("%d\n%s", got.status, got.body)
	}
	want := &api.Decision{
		Note: "n", UpdatedInput: json.RawMessage(`{"command":"make test","n":12345678901234567890}`),
		UpdatedPermissions: json.RawMessage("[" + suggested + "," + strings.Replace(sessionRule, "deploy", "test", 1)[1:]),
	}
	now := s.call(s.operator, "GET", at, "").interaction(t)
	if diff := cmp.Diff(want, now.Decision); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if string(now.ToolCall.Input) != `{"command":"make deploy","n":12345678901234567890}` {
		t.Errorf("proposed was %s", now.ToolCall.Input)
	}
	ended := html.UnescapeString(string(s.page(cookie, "/projects/default/interactions/"+i.ID).body))
	if !strings.Contains(ended, "What was changed") || !strings.Contains(ended, "diff-in") {
		t.Errorf("the ended card tells of no change:\n%s", ended)
	}
}

// TestReviewRefused checks that what cannot be looked at says why, and keeps what was typed.
func TestReviewRefused(t *testing.T) {
	s := newSite(t)
	cookie := s.signedIn()
	i, at := s.asks(askable(s), deploy)
	for _, c := range []struct {
		name string
		form url.Values
		says []string
	}{
		{"nothing changed", fields("q0", "0", "updated_input", `{"command":"make deploy","n":12345678901234567890}`, "note", "mine"), []string{"Nothing was changed", `value="mine"`}},
		{"no JSON", fields("q0", "0", "updated_input", "{\n\"typed\"}", "note", "mine"), []string{"line 2, column 8", "{\n\"typed\"}</textarea>", `value="mine"`, `aria-invalid="true"`}},
		{"without the digest", fields("q0", "0", "updated_input", `{}`), []string{"digest: is missing"}},
	} {
		if c.name != "without the digest" {
			c.form.Set("digest", i.Digest)
		}
		got := s.reviews(cookie, i, c.form)
		for _, want := range c.says {
			if got.status != 422 || !strings.Contains(html.UnescapeString(string(got.body)), want) {
				t.Errorf("%s: %d, want %s in\n%s", c.name, got.status, want, got.body)
			}
		}
	}
	s.call(s.operator, "POST", at+"/resolve", deny)
	for _, form := range []url.Values{
		fields("q0", "0", "digest", i.Digest, "updated_input", `{"mine":1}`), fields("q0", "0", "digest", i.Digest, "updated_input", `{"mine":1}`, "edit", "1"),
	} {
		got := s.reviews(cookie, i, form)
		if body := html.UnescapeString(string(got.body)); got.status != 200 || !strings.Contains(body, "Your answer was not used") || !strings.Contains(body, `{"mine":1}`) {
			t.Errorf("too late: %d\n%s", got.status, body)
		}
	}
}

// TestEditableShowsWhatIsMarked holds the two tables together: what display would mark, an input to edit shows as an escape.
func TestEditableShowsWhatIsMarked(t *testing.T) {
	for r := rune(0x80); r <= 0x10FFFF; r++ {
		if r >= 0xD800 && r < 0xE000 || r == 0x27E8 {
			continue
		}
		for _, segment := range display.Show("a" + string(r) + "b").Segments {
			if segment.Mark && interaction.Visible(r) {
				t.Errorf("%U is marked and not escaped", r)
			}
		}
	}
}
