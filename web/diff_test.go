package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/views"
	"sayso/web"
)

// drawn are the lines of a diff, one a line.
func drawn(lines []views.DiffLine) string {
	var all strings.Builder
	for _, line := range lines {
		if line.Op == views.DiffSkip {
			fmt.Fprintf(&all, "… %d\n", line.Skipped)
			continue
		}
		sign := map[views.DiffOp]string{views.DiffSame: " ", views.DiffOut: "-", views.DiffIn: "+"}[line.Op]
		all.WriteString(sign + line.Text.String() + "\n")
	}
	return all.String()
}

// TestInputDiff checks what a person sees of what they changed: each line that differs, as text that hides nothing.
func TestInputDiff(t *testing.T) {
	long := func(changed string) string {
		lines := make([]string, 20)
		for n := range lines {
			lines[n] = fmt.Sprint("step ", n)
		}
		lines[10] = changed
		text, err := json.Marshal(strings.Join(lines, "\n") + "\n")
		must(t, err)
		return `{"command":` + string(text) + `}`
	}
	for _, c := range []struct{ name, was, is, want string }{
		{"a value", `{"a":1,"b":2.50}`, `{"a":1,"b":2.5}`, " {\n   \"a\": 1,\n-  \"b\": 2.50\n+  \"b\": 2.5\n }\n"},
		{"a number that becomes a text", `{"a":1}`, `{"a":"1"}`, " {\n-  \"a\": 1\n+  \"a\": \"1\"\n }\n"},
		{"a member less", `{"a":1,"b":2,"c":3}`, `{"a":1,"c":3}`, " {\n   \"a\": 1,\n-  \"b\": 2,\n   \"c\": 3\n }\n"},
		{"everything", `{}`, `{"a":1}`, "-{}\n+{\n+  \"a\": 1\n+}\n"},
		{
			"one line of a script", long("step 10"), long("rm"),
			"… 8\n step 7\\n\n step 8\\n\n step 9\\n\n-step 10\\n\n+rm\\n\n step 11\\n\n step 12\\n\n step 13\\n\n… 7\n",
		},
		{"an escaped backslash", `{"a":"x\\ny"}`, `{"a":"z"}`, " {\n-  \"a\": \"x\\\\ny\"\n+  \"a\": \"z\"\n }\n"},
		{
			"what hides", `{"a":"ls"}`, "{\"a\":\"ls\u202E\u200B" + strings.Repeat(" ", 40) + "rm⟨\"}",
			" {\n-  \"a\": \"ls\"\n+  \"a\": \"ls\\u202e\\u200b⟨␠×40⟩rm⟨U+27E8⟩\"\n }\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, drawn(web.InputDiff(json.RawMessage(c.was), json.RawMessage(c.is)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLargeInputDiff checks that nothing of two inputs that have little in common is left out, and that it takes no time.
func TestLargeInputDiff(t *testing.T) {
	script := func(word string) json.RawMessage {
		return json.RawMessage(`{"command":"` + strings.Repeat(word+`\n`, 40000) + `end"}`)
	}
	out, in := 0, 0
	for _, line := range web.InputDiff(script("a"), script("b")) {
		switch line.Op {
		case views.DiffOut:
			out++
		case views.DiffIn:
			in++
		}
	}
	if out != 40000 || in != 40000 {
		t.Errorf("%d lines out and %d in", out, in)
	}
}
