package interaction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPermissionRequest checks the form that is made of a tool call, for inputs that are odd.
func TestPermissionRequest(t *testing.T) {
	for _, c := range []struct {
		name, input string
		context     []ContextItem
	}{
		{"nothing", `{}`, nil},
		{"nothing with blanks", " {\n} ", nil},
		{"known fields, in their own order", `{"cwd":"/srv","shell":"zsh","machine":"m","command":"ls"}`, []ContextItem{
			{"Working directory", "/srv"}, {"Shell", "zsh"}, {"Machine", "m"}, {"Command", "ls"},
		}},
		{"other fields under their keys", `{"Command":"a","CWD":"b","command ":"c","":"d"," ":"e"}`, []ContextItem{{"Command", "a"}, {"CWD", "b"}, {"command ", "c"}, {"", "d"}, {" ", "e"}}},
		{"an escaped key", `{"comm\u0061nd":"ls"}`, []ContextItem{{"Command", "ls"}}},
		{"strings verbatim", `{"a":"","b":" \n ","c":"<b>&\u0000\u202e\"\\","d":"\ud83d\ude42\u2028"}`, []ContextItem{
			{"a", ""}, {"b", " \n "}, {"c", "<b>&\x00\u202e\"\\"}, {"d", "🙂\u2028"},
		}},
		{"numbers as they came", `{"a":2512292042121000001,"b":1.10,"c":1E+02,"d":-0,"e":1e9999}`, []ContextItem{
			{"a", "2512292042121000001"}, {"b", "1.10"}, {"c", "1E+02"}, {"d", "-0"}, {"e", "1e9999"},
		}},
		{"other values", `{"a":null,"b":true,"c":false,"d":[],"e":{},"f":[ ],"g":{ }}`, []ContextItem{
			{"a", "null"}, {"b", "true"}, {"c", "false"}, {"d", "[]"}, {"e", "{}"}, {"f", "[]"}, {"g", "{}"},
		}},
		{"nested values, indented", `{"a":{"z":1.10,"b":["x",{"c":null}],"é":"\u00e9"}}`, []ContextItem{
			{"a", "{\n  \"z\": 1.10,\n  \"b\": [\n    \"x\",\n    {\n      \"c\": null\n    }\n  ],\n  \"é\": \"\\u00e9\"\n}"},
		}},
		{"blanks taken out, but not in strings", "{\"a\":[ 1 ,\r\n\t\"  x  \" ]}", []ContextItem{{"a", "[\n  1,\n  \"  x  \"\n]"}}},
		{"fields that differ in case", `{"a":1,"A":2}`, []ContextItem{{"a", "1"}, {"A", "2"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := PermissionRequest(ToolCall{Name: " any name ", Input: json.RawMessage(c.input)})
			want := Request{Title: "Permission requested for  any name ", Context: c.context, Questions: PermissionQuestions}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestNothingIsCut checks that an input of any size and number of fields is shown whole.
func TestNothingIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.String(), 0, 200).Draw(t, "values")
		var input bytes.Buffer
		input.WriteByte('{')
		for n, value := range values {
			if n > 0 {
				input.WriteByte(',')
			}
			text, _ := json.Marshal(value)
			fmt.Fprintf(&input, `"k%d":%s`, n, text)
		}
		input.WriteByte('}')
		got, err := PermissionRequest(ToolCall{Name: "Bash", Input: input.Bytes()})
		if err != nil || len(got.Context) != len(values) {
			t.Fatalf("%d items of %d, %v", len(got.Context), len(values), err)
		}
		for n, value := range values {
			if got.Context[n] != (ContextItem{fmt.Sprintf("k%d", n), value}) {
				t.Fatalf("item %d is %q, want %q", n, got.Context[n], value)
			}
		}
	})
}

// TestDepth checks that levels are counted as the limit means them, and that brackets in strings are none.
func TestDepth(t *testing.T) {
	for input, want := range map[string]int{
		`1`: 0, `"[{"`: 0, `{}`: 1, `[]`: 1, `{"a":1}`: 1, `{"a":{}}`: 2, `[[[]],[]]`: 3, `{"[":"]","{":"\"[["}`: 1, `["\\",["\\\""]]`: 2,
		strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64): 64,
	} {
		if got := depth([]byte(input)); got != want {
			t.Errorf("%s: %d, want %d", input, got, want)
		}
	}
}
