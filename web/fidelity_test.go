package web_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"sayso/internal/api"
)

// inputs are tool inputs that a careless program would change.
var inputs = map[string]string{
	"nothing":               `{}`,
	"19 digits":             `{"order":2512292042121000001,"low":-9223372036854775809,"high":18446744073709551616}`,
	"numbers as written":    `{"a":1.10,"b":1e2,"c":1E+02,"d":-0,"e":0.0,"f":100,"g":0.1000000000000000055511151231257827}`,
	"beyond every float":    `{"a":` + beyondFloat + `,"b":-1e-9999}`,
	"blanks":                "{ \"a\" :\t1 ,\r\n\"b\"\n:[ 1 , 2 ,[ ] ],\"c\": { } }",
	"escapes as written":    `{"a":"\u0041\u00e9\ud83d\ude42\/\b\f\n\r\t\"\\\u0000\u001f\u2028","\u0062":1}`,
	"letters as written":    "{\"a\":\"Aé🙂/\u2028\u2029\u007f\u0085\ufeff\u202e\",\"é🙂\":1}",
	"what HTML escapes":     `{"a":"<script>alert('&amp;')</script>"}`,
	"keys in their order":   `{"z":1,"a":2,"M":3,"m":4,"":5," ":6}`,
	"nested":                `{"a":` + strings.Repeat(`{"b":[`, 31) + `null` + strings.Repeat(`]}`, 31) + `}`,
	"64 levels":             strings.Repeat(`{"a":`, 63) + `{}` + strings.Repeat(`}`, 63),
	"null, true and false":  `{"a":null,"b":true,"c":false,"d":[null]}`,
	"JSON in a string":      `{"a":"{\"b\": 1}"}`,
	"known fields":          `{"shell":"bash","cwd":" /srv ","machine":"","command":"ls"}`,
	"a large one":           `{"a":"` + strings.Repeat("x", 500<<10) + `"}`,
	"composed and not":      "{\"\u00e9\":\"\u00e9\",\"e\u0301\":\"e\u0301\"}",
	"what YAML would read":  `{"a":"no","b":"0755","c":"~","d":"1_000"}`,
	"fields named as ours":  `{"state":"resolved","delivery":{},"id":"int_x","resolution":{"answers":[]}}`,
	"an array in an object": `{"a":[[[]],{},"",0]}`,
}

// rawAt gives a member of JSON as it stands there.
func rawAt(t testing.TB, text []byte, path ...string) string {
	t.Helper()
	for _, name := range path {
		var members map[string]json.RawMessage
		must(t, json.Unmarshal(text, &members))
		text = members[name]
	}
	return string(text)
}

// TestInputsAreKept checks that a tool's input comes back byte for byte, wherever an interaction is given, and that so does what a person
// allowed in its place.
func TestInputsAreKept(t *testing.T) {
	s := newSite(t)
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			path := askable(s)
			body := `{"tool_call": {"input" : ` + input + "\t, \"name\":\"tool\"}}"
			made := s.call(s.agent, "POST", path+"/interactions", body, "Idempotency-Key", name)
			i := made.interaction(t)
			at := path + "/interactions/" + i.ID
			kept := func(where string, text []byte, path ...string) {
				t.Helper()
				if got := rawAt(t, text, append(path, "tool_call", "input")...); got != input {
					t.Errorf("%s: %.300q, want %.300q", where, got, input)
				}
			}
			first := func(a answer) []byte {
				t.Helper()
				var list struct{ Data []json.RawMessage }
				read(t, a, &list)
				return list.Data[0]
			}
			kept("made", made.body)
			kept("made again", s.call(s.agent, "POST", path+"/interactions", body, "Idempotency-Key", name).body)
			kept("read", s.call(s.agent, "GET", at, "").body)
			kept("listed", first(s.call(s.operator, "GET", path+"/interactions", "")))
			answer := `{"answers":[{"option_indices":[0]}],"updated_input": ` + input + ` }`
			resolved := s.call(s.operator, "POST", at+"/resolve", answer)
			kept("resolved", resolved.body)
			again := s.call(s.operator, "POST", at+"/resolve", answer)
			kept("resolved again", again.body)
			lost := s.call(s.operator, "POST", at+"/resolve", deny)
			kept("lost", lost.body, "interaction")
			kept("waited", s.call(s.agent, "GET", at+"?wait_secs=55", "").body)
			for where, text := range map[string]string{"resolved": string(resolved.body), "resolved again": string(again.body), "lost": rawAt(t, lost.body, "interaction")} {
				if got := rawAt(t, []byte(text), "decision", "updated_input"); got != input {
					t.Errorf("%s, the updated input: %.300q, want %.300q", where, got, input)
				}
			}
			if again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the same again: %d %.300s", again.status, again.body)
			}
			if got, want := i.Digest, digestOf(t, "permission", rawAt(t, made.body, "request"), "tool", input); got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		})
	}
}

// digestOf is the digest as the contract defines it, computed by another program's canonical JSON. Without a tool there is no tool call.
func digestOf(t testing.TB, kind, request, tool, input string) string {
	t.Helper()
	subject := map[string]any{"interaction_kind": kind, "request": json.RawMessage(request)}
	if tool != "" {
		subject["tool_call"] = map[string]string{"name": tool, "input": input}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	must(t, e.Encode(subject))
	canonical := jsontext.Value(text.Bytes())
	must(t, canonical.Canonicalize())
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// letters are pieces of JSON strings: plain, escaped, and in need of an escape.
var letters = []string{
	"a", "Z", " ", "0", "é", "🙂", "\u2028", "\u007f", "\u0085", "\u202e", "\ufeff", "e\u0301", "<", "&", "'", "/", `\/`, `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`,
	`\u0041`, `\u00e9`, `\u001f`, `\u2029`, `\ud83d\ude42`, `\uFFFD`, `\uD83D\uDE42`,
}

var blanks = rapid.SampledFrom([]string{"", "", "", " ", "\t", "\n  ", "\r\n"})

// jsonString is the text of a JSON string that is not blank.
var jsonString = rapid.Custom(func(t *rapid.T) string {
	return `"x` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 8).Draw(t, "letters"), "") + `"`
})

var jsonNumber = rapid.OneOf(
	rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
	rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?`),
)

// jsonValue is the text of any JSON value that nests up to depth levels.
func jsonValue(depth int) *rapid.Generator[string] {
	flat := []*rapid.Generator[string]{jsonString, jsonNumber, rapid.SampledFrom([]string{"null", "true", "false", "{}", "[]", "{ }", `""`})}
	if depth == 0 {
		return rapid.OneOf(flat...)
	}
	list := rapid.Custom(func(t *rapid.T) string {
		items := rapid.SliceOfN(jsonValue(depth-1), 0, 3).Draw(t, "items")
		return "[" + blanks.Draw(t, "blank") + strings.Join(items, blanks.Draw(t, "blank")+",") + "]"
	})
	return rapid.OneOf(append(flat, list, jsonObject(depth-1))...)
}

// jsonObject is the text of a JSON object.
func jsonObject(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString("{" + blanks.Draw(t, "blank"))
		for n, key := range rapid.SliceOfN(jsonString, 0, 4).Draw(t, "keys") {
			if n > 0 {
				b.WriteString("," + blanks.Draw(t, "blank"))
			}
			fmt.Fprintf(&b, `"%d%s%s:%s%s`, n, key[1:], blanks.Draw(t, "blank"), blanks.Draw(t, "blank"), jsonValue(depth).Draw(t, "value"))
		}
		return b.String() + "}"
	})
}

// TestDigests checks for many generated asks that what was sent is kept and that the digest is what the contract says it is.
func TestDigests(t *testing.T) {
	s := newSite(t)
	path := askable(s) + "/interactions"
	made := func(r *rapid.T, body string) (answer, api.Interaction) {
		got := s.call(s.agent, "POST", path, body)
		if got.status != http.StatusCreated {
			r.Fatalf("%s: %d %s", body, got.status, got.body)
		}
		i := got.interaction(t)
		s.call(s.agent, "POST", path+"/"+i.ID+"/cancel", "") // an agent may have 50 open ones
		return got, i
	}
	t.Run("permissions", rapid.MakeCheck(func(r *rapid.T) {
		input, name := jsonObject(3).Draw(r, "input"), jsonString.Draw(r, "name")
		name = strings.TrimRight(name[:len(name)-1], " ") + `y"`
		got, i := made(r, `{"tool_call":{"name":`+name+`,"input":`+input+`}}`)
		var plain string
		must(t, json.Unmarshal([]byte(name), &plain))
		if kept := rawAt(t, got.body, "tool_call", "input"); kept != input || i.ToolCall.Name != plain {
			r.Fatalf("kept %q %q", i.ToolCall.Name, kept)
		}
		if want := digestOf(t, "permission", rawAt(t, got.body, "request"), plain, input); i.Digest != want {
			r.Fatalf("digest %s, want %s", i.Digest, want)
		}
	}))
	t.Run("questions", rapid.MakeCheck(func(r *rapid.T) {
		text := func(what string) string { return jsonString.Draw(r, what) }
		flag := rapid.SampledFrom([]string{"true", "false"})
		var options []string
		for range rapid.IntRange(1, 3).Draw(r, "options") {
			options = append(options, fmt.Sprintf(`{"allows_text":%s,"label":%s,"description":%s}`, flag.Draw(r, "allows"), text("label"), text("description")))
		}
		body := fmt.Sprintf(`{"request":{"questions":[{"prompt":%s,"header":%s,"multiple":%s,"options":[%s]}],"title":%s,"context":[{"value":%s,"label":%s}]}}`,
			text("prompt"), text("header"), flag.Draw(r, "multiple"), strings.Join(options, ","), text("title"), text("value"), text("label"))
		got, i := made(r, body)
		if want := digestOf(t, "question", rawAt(t, got.body, "request"), "", ""); i.Digest != want {
			r.Fatalf("digest %s, want %s", i.Digest, want)
		}
	}))
}

// TestDigestNamesWhatIsAsked checks what is in a digest and what is not.
func TestDigestNamesWhatIsAsked(t *testing.T) {
	s := newSite(t)
	digest := func(body string) string {
		i, _ := s.asks(askable(s), body)
		return i.Digest
	}
	first := digest(bash)
	for name, body := range map[string]string{
		"the same": bash, "for another call": strings.Replace(bash, `"name"`, `"provider_call_id":"toolu_1","name"`, 1),
		"with a deadline": `{"wait_mode":"block","timeout_secs":5,` + bash[1:], "of a workflow": `{"workflow_id":"wf_1","task_id":"t",` + bash[1:],
		"with suggestions": `{"suggestions":[{}],` + bash[1:], "elsewhere": `{"destination":{"integration_id":"x"},` + bash[1:],
	} {
		if got := digest(body); got != first {
			t.Errorf("%s: %s, want the same as the first, %s", name, got, first)
		}
	}
	seen := map[string]string{first: "the first"}
	for name, body := range map[string]string{
		"another tool": strings.Replace(bash, "Bash", "bash", 1), "another input": strings.Replace(bash, "--force", "", 1),
		"a blank more in the input": strings.Replace(bash, `{"command":`, `{ "command":`, 1), "a digit that a float loses": `{"tool_call":{"name":"pay","input":{"n":9007199254740993}}}`,
		"the digit's neighbour": `{"tool_call":{"name":"pay","input":{"n":9007199254740992}}}`, "a question": question,
		"another title": strings.Replace(question, "report", "Report", 1), "another option": strings.Replace(question, "Full", "full", 1),
	} {
		got := digest(body)
		if other, taken := seen[got]; taken {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[got] = name
	}
}
