package interaction_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sayso/internal/interaction"
)

func call(input string) interaction.ToolCall {
	return interaction.ToolCall{Name: "Bash", Input: json.RawMessage(input)}
}

// TestEdited checks what becomes of an input that a person had before them: the agent's own bytes as long as it says the same.
func TestEdited(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for _, c := range []struct {
		name, input, text, want, err string
	}{
		{name: "unchanged", input: `{"b":1.10,"a":[12345678901234567890,{}]}`, text: "{\n  \"b\": 1.10,\n  \"a\": [\n    12345678901234567890,\n    {}\n  ]\n}"},
		{name: "as a browser sends it", input: `{"b":1,"a":2}`, text: "{\r\n  \"b\": 1,\r\n  \"a\": 2\r\n}\r\n"},
		{name: "blanks only", input: `{ "b" :1}`, text: `{"b":1}`},
		{name: "another order", input: `{"b":1,"a":2}`, text: `{"a":2,"b":1}`, want: `{"a":2,"b":1}`},
		{name: "another spelling of a number", input: `{"b":1.10}`, text: `{"b":1.1}`, want: `{"b":1.1}`},
		{name: "a large number", input: `{"b":12345678901234567890}`, text: `{"b":12345678901234567891, "c": "<&>\u2028"}`, want: `{"b":12345678901234567891,"c":"<&>\u2028"}`},
		{name: "lone surrogates", input: `{"b":"\ud800"}`, text: `{"b":"\ud801"}`, want: `{"b":"\ud801"}`},
		{name: "nothing", input: `{}`, text: " \n", err: "The edited input is not JSON: line 2, column 1: unexpected end of JSON input"},
		{name: "no object", input: `{}`, text: `[1]`, err: "The edited input: must be a JSON object"},
		{name: "a comma too many", input: `{}`, text: "{\n  \"ä\": 1,\n  é}", err: "The edited input is not JSON: line 3, column 3: invalid character 'Ã' looking for beginning of object key string"},
		{name: "something behind it", input: `{}`, text: "{}\n{}", err: "The edited input is not JSON: line 2, column 1: invalid character '{' after top-level value"},
		{name: "too deep", input: `{}`, text: deep, err: "The edited input: nested too deeply; at most 64 levels are allowed"},
		{name: "too large", input: `{}`, text: `{"a":"` + strings.Repeat("x", 512<<10) + `"}`, err: "The edited input: 524296 bytes are too many; at most 524288 (512 KiB) are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := call(c.input).Edited(c.text)
			if message := interaction.AsError(err); err != nil && (message.Message != c.err || message.Code != interaction.ValidationFailed) || (err != nil) != (c.err != "") {
				t.Fatalf("%v, want %s", err, c.err)
			}
			if err == nil && string(got) != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestEditable checks that what is offered for editing hides nothing, and says what the agent said.
func TestEditable(t *testing.T) {
	const hostile = "{\"a\":\"\u202Egnp.elif\u202C\u200B\U000E0041 \u00A0é日本👍\",\"n\":1e400}"
	text := call(hostile).Editable()
	if want := `"\u202egnp.elif\u202c\u200b\udb40\udc41 \u00a0é日本👍"`; !strings.Contains(text, want) {
		t.Errorf("%s, want %s in it", text, want)
	}
	if got, err := call(hostile).Edited(text); got != nil || err != nil {
		t.Errorf("unchanged it is %s, %v", got, err)
	}
	var was, is struct{ A string }
	if json.Unmarshal([]byte(hostile), &was) != nil || json.Unmarshal([]byte(text), &is) != nil || was != is {
		t.Errorf("it says %q, and said %q", is, was)
	}
}

// TestSessionRule checks that a rule covers what a person sees and no more.
func TestSessionRule(t *testing.T) {
	for _, c := range []struct{ tool, input, want, err string }{
		{"Bash", `{"command":"npm test","description":"d"}`, `{"toolName":"Bash","ruleContent":"npm test"}`, ""},
		{"Bash", `{"command":"echo \"ä\" > f && ls"}`, `{"toolName":"Bash","ruleContent":"echo \"ä\" > f && ls"}`, ""},
		{"Edit", `{"command":"ls"}`, `{"toolName":"Edit"}`, ""},
		{"mcp__github__create_issue", `{}`, `{"toolName":"mcp__github__create_issue"}`, ""},
		{"git.push", `{}`, `{"toolName":"git.push"}`, ""},
		{"Bash", `{"command":"ls\nrm -rf /"}`, "", "several lines"},
		{"Bash", `{"command":"ls\rrm"}`, "", "several lines"},
		{"Bash", `{"command":"ls) Bash(rm"}`, "", "parentheses"},
		{"Bash", `{"command":"ls \\a"}`, "", "backslash"},
		{"Bash", `{"command":"npm run:*"}`, "", "a *"},
		{"Bash", `{"command":"ls \u202Efdp"}`, "", "cannot be seen"},
		{"Bash", `{"command":"ls\u00a0a"}`, "", "cannot be seen"},
		{"Bash", `{"command":"ls\ta"}`, "", "cannot be seen"},
		{"Bash", `{"command":"ls "}`, "", "begins or ends with blanks"},
		{"Bash", `{"command":" "}`, "", "is empty"},
		{"Bash", `{"command":["ls"]}`, "", "no single text"},
		{"Bash", `{"Command":"ls"}`, "", "no single text"},
		{"Bash", `{"command":"ls","command":"rm"}`, "", "no single text"},
		{"Bash", `{}`, "", "no single text"},
		{"Bash(rm:*)", `{}`, "", "the name of the tool"},
		{"*", `{}`, "", "the name of the tool"},
		{"mcp__github", `{}`, "", "whole MCP server"},
		{"mcp__github__", `{}`, "", "whole MCP server"},
	} {
		rule, err := interaction.ToolCall{Name: c.tool, Input: json.RawMessage(c.input)}.SessionRule()
		if c.err != "" {
			if interaction.CodeOf(err) != interaction.InvalidRequest || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %s: %v, want an error with %q", c.tool, c.input, err, c.err)
			}
			continue
		}
		want := `[{"type":"addRules","rules":[` + c.want + `],"behavior":"allow","destination":"session"}]`
		if got := string(rule.Updates()); err != nil || got != want {
			t.Errorf("%s %s: %s, %v, want %s", c.tool, c.input, got, err, want)
		}
	}
}

// TestRemembered checks that only what can be told in full is told in words.
func TestRemembered(t *testing.T) {
	const local = `"destination":"localSettings"`
	for _, c := range []struct {
		update string
		whole  bool
	}{
		{`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm:*"},{"toolName":"Edit"}],"behavior":"allow",` + local + `}`, true},
		{`{"type":"addDirectories","directories":["/a"],` + local + `}`, true},
		{`{"type":"setMode","mode":"acceptEdits",` + local + `}`, true},
		{`{"type":"setMode","mode":"acceptEdits","rules":[{"toolName":"A"}],` + local + `}`, false},
		{`{"type":"setMode","mode":null,` + local + `}`, false},
		{`{"type":"addRules","rules":["Bash"],"behavior":"allow",` + local + `}`, false},
		{`{"type":"addRules","rules":[{"toolName":"Bash","also":1}],"behavior":"allow",` + local + `}`, false},
		{`{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","extra":true,` + local + `}`, false},
		{`{"type":"AddRules","rules":[{"toolName":"Bash"}],"behavior":"allow",` + local + `}`, false},
		{`{` + local + `}`, false},
	} {
		i := interaction.Interaction{Suggestions: json.RawMessage(`[{"type":"setMode","mode":"plan","destination":"session"},` + c.update + `]`)}
		got := i.Remembered()
		if len(got) != 1 || got[0].Whole != c.whole || string(got[0].Raw) != c.update {
			t.Errorf("%s: %+v", c.update, got)
		}
	}
}
