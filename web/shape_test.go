package web_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sayso/web"
)

// endpoint is a route that takes a body, with a body that has every field.
type endpoint struct {
	name   string
	method string
	body   string
	fields []field
	at     func(*site) string // a place where the body is accepted once
	once   bool               // it takes an Idempotency-Key
	key    func(*site) string
}

// field is one field of a body.
type field struct {
	at       string // as an error names it
	member   string // as it stands in the body: name and value
	is       form
	most     int // characters, items, levels or the greatest number
	required bool
}

// form is what a field holds, and with that, what may be wrong with it.
type form func(f field) []row

// row is one body, or what stands in one place of it, and what the server says to it. says empty: it is accepted.
type row struct {
	name  string
	value string // in place of the field's value
	whole string // in place of the whole member; used when value is empty
	says  []string
	loose bool // accepted, though the document does not promise it
	other bool // the error names another field than this
}

func (f field) name() string { return f.at[strings.LastIndexByte(f.at, '.')+1:] }

func (f field) parent() string { return f.at[:strings.LastIndexByte(f.at, '.')+1] }

// smile is one character, two UTF-16 units and four bytes: who counts anything but characters miscounts it.
const smile = "🙂"

func repeated(s string, n int) string { return strings.Repeat(s, n) }

func quote(s string) string { return `"` + s + `"` }

// wrong are values of every JSON type but those in but.
func wrong(but string) (rows []row) {
	for kind, value := range map[string]string{"string": `"x"`, "number": "7", "flag": "true", "list": "[]", "object": "{}"} {
		if kind != but {
			rows = append(rows, row{name: "a " + kind, value: value, says: []string{""}})
		}
	}
	return append(rows, row{name: "null", value: "null", says: []string{"null"}})
}

// text is trimmed and has 1 to most characters.
func text(f field) []row {
	return append(wrong("string"),
		row{name: "empty", value: `""`, says: when(f.required, "must not be blank"), loose: true},
		row{name: "blank", value: `" \t\u3000 "`, says: []string{"must not be blank"}},
		row{name: "too long by one", value: quote(repeated(smile, f.most+1)), says: []string{strconv.Itoa(f.most+1) + " characters", strconv.Itoa(f.most)}},
		row{name: "at the limit", value: quote(repeated(smile, f.most))},
		row{name: "at the limit, with blanks around it", value: quote(" " + repeated(smile, f.most) + `\n`), loose: true},
		row{name: "NUL", value: `"a\u0000b"`, says: []string{"NUL"}},
		row{name: "a lone surrogate", value: `"\ud83d"`, says: []string{"surrogate"}},
		row{name: "a lone low surrogate", value: `"a\ude42b"`, says: []string{"surrogate"}},
		row{name: "not UTF-8", value: "\"\xff\"", says: []string{"UTF-8"}},
	)
}

// kept is text that is not trimmed: the blanks around it count.
func kept(f field) []row {
	rows := text(f)
	for n, r := range rows {
		if r.name == "at the limit, with blanks around it" {
			rows[n] = row{name: "too long with the blanks around it", value: quote(repeated(smile, f.most) + " "), says: []string{strconv.Itoa(f.most)}}
		}
	}
	return append(rows, row{name: "blanks around it", value: `" x "`})
}

// free is text that may be blank.
func free(f field) []row {
	rows := text(f)
	for n, r := range rows {
		if r.name == "blank" || r.name == "too long by one" {
			rows[n].says = when(r.name != "blank", strconv.Itoa(f.most))
		}
	}
	return rows
}

// toolName is text that must not have blanks around it.
func toolName(f field) []row {
	rows := text(f)
	for n, r := range rows {
		if r.name == "at the limit, with blanks around it" {
			rows[n] = row{name: "blanks around it", value: `" Bash"`, says: []string{"blanks"}}
		}
	}
	return rows
}

// key is 1 to most letters, digits, dots, dashes and underscores.
func key(f field) []row {
	rows := append(wrong("string"),
		row{name: "empty", value: `""`, loose: true},
		row{name: "too long by one", value: quote(repeated("k", f.most+1)), says: []string{strconv.Itoa(f.most)}},
		row{name: "at the limit", value: quote(repeated("Z", f.most))},
		row{name: "every letter", value: `"aZ09._-"`},
	)
	for _, bad := range []string{" ", "a b", "swe ", "é", "a/b", `a\u0000`, `a\n`, "a:b"} {
		rows = append(rows, row{name: bad, value: quote(bad), says: []string{"allowed are"}})
	}
	return rows
}

// number is a whole number from 1 to most.
func number(f field) []row {
	rows := append(wrong("number"),
		row{name: "zero", value: "0", says: []string{"out of range", strconv.Itoa(f.most)}},
		row{name: "negative", value: "-1", says: []string{"out of range", strconv.Itoa(f.most)}},
		row{name: "too great by one", value: strconv.Itoa(f.most + 1), says: []string{"out of range", strconv.Itoa(f.most)}},
		row{name: "the least", value: "1"},
		row{name: "the greatest", value: strconv.Itoa(f.most)},
	)
	for _, bad := range []string{"1.5", "1.0", "1e2", "99999999999999999999", `"5"`} {
		rows = append(rows, row{name: bad, value: bad, says: []string{"whole number"}})
	}
	for _, bad := range []string{"NaN", "Infinity", "+5", "05", "0x10", ".5", "5."} {
		rows = append(rows, row{name: bad, value: bad, says: []string{"not valid JSON"}, other: bad[0] == '0'})
	}
	return rows
}

// flag is true or false.
func flag(field) []row {
	return append(wrong("flag"), row{name: "false", value: "false"}, row{name: "True", value: "True", says: []string{"not valid JSON"}})
}

// oneOf is one of some words.
func oneOf(words ...string) form {
	return func(field) []row {
		rows := append(wrong("string"), row{name: "empty", value: `""`, loose: true})
		for _, word := range words {
			rows = append(rows, row{name: word, value: quote(word)})
		}
		for _, bad := range []string{"later", strings.ToUpper(words[0]), " " + words[0]} {
			rows = append(rows, row{name: bad, value: quote(bad), says: append([]string{"allowed are"}, words...)})
		}
		return rows
	}
}

// list holds up to most items like item; %d in it is the item's number.
func list(item string) form {
	return func(f field) []row {
		items := func(n int) string {
			all := make([]string, n)
			for i := range all {
				all[i] = strings.ReplaceAll(item, "%d", strconv.Itoa(i))
			}
			return "[" + strings.Join(all, ",") + "]"
		}
		return append(wrong("list"),
			row{name: "empty", value: "[]", says: when(f.required, strconv.Itoa(f.most))},
			row{name: "too many by one", value: items(f.most + 1), says: []string{strconv.Itoa(f.most), strconv.Itoa(f.most + 1)}},
			row{name: "as many as allowed", value: items(f.most)},
			row{name: "a null in it", value: "[null]", says: []string{"[0]", "null"}},
			row{name: "a text in it", value: `["x"]`, says: []string{"[0]", "an object is expected"}},
		)
	}
}

// object is an object with fields of its own.
func object(field) []row { return wrong("object") }

// metadata is up to 16 pairs of text.
func metadata(field) []row {
	pairs := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`"k%d":"v"`, i)
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return append(wrong("object"),
		row{name: "none", value: "{}"},
		row{name: "too many pairs", value: pairs(17), says: []string{"16", "17"}},
		row{name: "as many pairs as allowed", value: pairs(16)},
		row{name: "a key too long by one", value: `{"` + repeated(smile, 65) + `":"v"}`, says: []string{"64"}},
		row{name: "a key at the limit", value: `{"` + repeated(smile, 64) + `":"v"}`},
		row{name: "an empty key", value: `{"":"v"}`, says: []string{"1 to 64"}},
		row{name: "NUL in a key", value: `{"a\u0000":"v"}`, says: []string{"NUL"}},
		row{name: "a value too long by one", value: `{"a":"` + repeated(smile, 513) + `"}`, says: []string{".a", "512"}},
		row{name: "a value at the limit", value: `{"a":"` + repeated(smile, 512) + `"}`},
		row{name: "an empty value", value: `{"a":""}`},
		row{name: "NUL in a value", value: `{"a":"\u0000"}`, says: []string{".a", "NUL"}},
		row{name: "a number as a value", value: `{"a":1}`, says: []string{".a", "a string is expected"}},
		row{name: "null as a value", value: `{"a":null}`, says: []string{".a", "null"}},
		row{name: "a key twice", value: `{"a":"1","a":"2"}`, says: []string{".a", "twice"}},
		row{name: "an escaped key twice", value: `{"a":"1","\u0061":"2"}`, says: []string{".a", "twice"}},
	)
}

// anything is what agents write and what stays as it is: only its JSON, its size and its depth are looked at.
func anything(wrap string) form {
	in := func(s string) string { return strings.Replace(wrap, "%", s, 1) }
	wrapped := strings.Count(wrap, "[") + strings.Count(wrap, "{")
	deep := func(levels int) string {
		n := levels - wrapped
		return in(repeated("[", n) + repeated("]", n))
	}
	return func(field) []row {
		return []row{
			{name: "null", value: "null", says: []string{"null"}},
			{name: "a string", value: `"x"`, says: []string{"must be"}},
			{name: "a number", value: "7", says: []string{"must be"}},
			{name: "a flag", value: "true", says: []string{"must be"}},
			{name: "64 levels", value: deep(64)},
			{name: "65 levels", value: deep(65), says: []string{"64"}},
			{name: "1,000 levels", value: deep(1000), says: []string{"64"}},
			{name: "a field twice inside", value: in(`{"b":1,"b":1}`), says: []string{"b", "twice"}},
			{name: "fields that differ in case inside", value: in(`{"b":1,"B":1}`)},
			{name: "a lone surrogate inside", value: in(`"\ud83d"`), says: []string{"surrogate"}},
			{name: "not UTF-8 inside", value: in("\"\xff\""), says: []string{"UTF-8"}},
			{name: "NaN inside", value: in("NaN"), says: []string{"not valid JSON"}},
			{name: "a comma too many inside", value: in("[1,]"), says: []string{"not valid JSON"}},
			{name: "a comment inside", value: in("1/**/"), says: []string{"not valid JSON"}},
			{name: "null inside", value: in("null")},
			{name: "NUL inside", value: in(`"\u0000"`)},
			{name: "a number beyond every float inside", value: in(beyondFloat)},
			{name: "empty", value: strings.NewReplacer(`{"a":%}`, "{}").Replace(wrap)},
		}
	}
}

// input is a tool's input: an object.
func input(f field) []row {
	sized := func(n int) string { return `{"a":"` + repeated("é", (n-8)/2) + `"}` }
	return append(anything(`{"a":%}`)(f),
		row{name: "a list", value: "[]", says: []string{"must be a JSON object"}},
		row{name: "too large by one", value: strings.Replace(sized(512<<10), "é", "éa", 1), says: []string{"524289", "524288"}},
		row{name: "at the limit", value: sized(512 << 10)},
	)
}

// updates are permission updates: a list of objects.
func updates(f field) []row {
	return append(anything(`[{"a":%}]`)(f),
		row{name: "no items", value: "[]"},
		row{name: "an object", value: "{}", says: []string{"must be an array of objects"}},
		row{name: "a null in it", value: "[null]", says: []string{"must be an array of objects"}},
		row{name: "a list in it", value: "[[]]", says: []string{"must be an array of objects"}},
		row{name: "a text in it", value: `[{},"x"]`, says: []string{"must be an array of objects"}},
	)
}

// contextValue is text of at most most bytes.
func contextValue(f field) []row {
	rows := text(field{most: 10, required: true})
	keep := rows[:0]
	for _, r := range rows {
		if !strings.Contains(r.name, "limit") && r.name != "too long by one" {
			keep = append(keep, r)
		}
	}
	return append(keep,
		row{name: "too large by one byte", value: quote(repeated("é", f.most/2) + "a"), says: []string{strconv.Itoa(f.most), strconv.Itoa(f.most + 1)}},
		row{name: "at the limit", value: quote(repeated("é", f.most/2))},
	)
}

// indices are the options chosen.
func indices(field) []row {
	rows := []row{
		{name: "empty", value: "[]", says: []string{"must not be empty"}},
		{name: "a null in it", value: "[null]", says: []string{"[0]", "null"}},
		{name: "a text in it", value: `["0"]`, says: []string{"[0]", "whole number"}},
		{name: "a fraction in it", value: "[0.5]", says: []string{"[0]", "whole number"}},
		{name: "a float in it", value: "[0.0]", says: []string{"[0]", "whole number"}},
		{name: "a huge one in it", value: "[99999999999999999999]", says: []string{"[0]", "whole number"}},
		{name: "a negative one", value: "[-1]", says: []string{"[0]", "negative"}},
		{name: "one twice", value: "[1,0,1]", says: []string{"[2]", "twice"}},
		{name: "all of 100,000 and one twice", value: "[" + counted(100_000) + ",7]", says: []string{"[100000]", "twice"}},
	}
	return append(rows, wrong("list")...)
}

func counted(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i))
	}
	return b.String()
}

// chosen are answers, of which there is at least one.
func chosen(field) []row {
	return append(wrong("list"),
		row{name: "empty", value: "[]", says: []string{"must not be empty"}},
		row{name: "a null in it", value: "[null]", says: []string{"[0]", "null"}},
		row{name: "a number in it", value: "[0]", says: []string{"[0]", "an object is expected"}},
	)
}

func when(yes bool, says ...string) []string {
	if !yes {
		return nil
	}
	return says
}

// rows are all that may be wrong with a field, and what may be just right.
func (f field) rows() []row {
	value := strings.TrimPrefix(f.member, quote(f.name())+":")
	variant := strings.ToUpper(f.name()[:1]) + f.name()[1:]
	rows := append(f.is(f),
		row{name: "twice", whole: f.member + "," + f.member, says: []string{"twice"}},
		row{name: "twice, once escaped", whole: f.member + `,"\u00` + fmt.Sprintf("%x", f.name()[0]) + f.name()[1:] + `":` + value, says: []string{"twice"}},
		row{name: "in another case", whole: quote(variant) + ":" + value, says: []string{f.parent() + variant, "unknown"}, other: true},
		row{name: "an unknown field beside it", whole: f.member + `,"bogus":1`, says: []string{f.parent() + "bogus", "unknown"}, other: true},
	)
	if f.required {
		rows = append(rows, row{name: "missing", whole: " ", says: []string{""}})
	}
	return rows
}

// with is the body with the field as the row has it.
func (f field) with(t testing.TB, body string, r row) string {
	t.Helper()
	if strings.Count(body, f.member) != 1 {
		t.Fatalf("%s is not there once in %s", f.member, body)
	}
	switch {
	case r.value != "":
		return strings.Replace(body, f.member, quote(f.name())+":"+r.value, 1)
	case r.whole == " ":
		body = strings.Replace(body, f.member, "", 1)
		return strings.NewReplacer(",,", ",", "{,", "{", ",}", "}").Replace(body)
	}
	return strings.Replace(body, f.member, r.whole, 1)
}

var destinationFields = []field{
	{at: "destination", member: `"destination":{"integration_id":"slack","integration_target_id":"C024","handler_key":"h1","conversation":"#releases"}`, is: object},
	{at: "destination.integration_id", member: `"integration_id":"slack"`, is: kept, most: 200, required: true},
	{at: "destination.integration_target_id", member: `"integration_target_id":"C024"`, is: kept, most: 200},
	{at: "destination.handler_key", member: `"handler_key":"h1"`, is: kept, most: 200},
	{at: "destination.conversation", member: `"conversation":"#releases"`, is: kept, most: 200},
}

var askFields = append([]field{
	{at: "wait_mode", member: `"wait_mode":"block"`, is: oneOf("block", "poll")},
	{at: "timeout_secs", member: `"timeout_secs":300`, is: number, most: 3600},
	{at: "workflow_id", member: `"workflow_id":"wf_1"`, is: kept, most: 200},
	{at: "task_id", member: `"task_id":"task-1"`, is: kept, most: 200},
}, destinationFields...)

const destinationJSON = `"destination":{"integration_id":"slack","integration_target_id":"C024","handler_key":"h1","conversation":"#releases"}`

const askJSON = `"wait_mode":"block","timeout_secs":300,"workflow_id":"wf_1","task_id":"task-1",` + destinationJSON

const optionJSON = `{"label":"Option %d"}`

var endpoints = []endpoint{
	{
		name: "create an agent", method: "POST", once: true,
		body: `{"name":"Release bot","key":"release","profile":"claude","metadata":{"team":"platform"},` + destinationJSON + `}`,
		at:   func(*site) string { return project + "/agents" },
		key:  func(s *site) string { return s.agent },
		fields: append([]field{
			{at: "name", member: `"name":"Release bot"`, is: text, most: 200, required: true},
			{at: "key", member: `"key":"release"`, is: key, most: 100},
			{at: "profile", member: `"profile":"claude"`, is: text, most: 100},
			{at: "metadata", member: `"metadata":{"team":"platform"}`, is: metadata},
		}, destinationFields...),
	},
	{
		name: "change an agent", method: "PATCH",
		body: `{"name":"Release bot","metadata":{"team":"platform"},` + destinationJSON + `}`,
		at:   func(s *site) string { _, path := s.newAgent("to be changed"); return path },
		key:  func(s *site) string { return s.operator },
		fields: append([]field{
			{at: "name", member: `"name":"Release bot"`, is: patchedName, most: 200},
			{at: "metadata", member: `"metadata":{"team":"platform"}`, is: metadata},
		}, destinationFields...),
	},
	{
		name: "ask for permission", method: "POST", once: true,
		body: `{"tool_call":{"name":"Bash","input":{"command":"ls"},"provider_call_id":"toolu_01"},"suggestions":[{"type":"addRules"}],` + askJSON + `}`,
		at:   func(s *site) string { return askable(s) + "/interactions" },
		key:  func(s *site) string { return s.agent },
		fields: append([]field{
			{at: "tool_call", member: `"tool_call":{"name":"Bash","input":{"command":"ls"},"provider_call_id":"toolu_01"}`, is: object, required: true},
			{at: "tool_call.name", member: `"name":"Bash"`, is: toolName, most: 256, required: true},
			{at: "tool_call.input", member: `"input":{"command":"ls"}`, is: input},
			{at: "tool_call.provider_call_id", member: `"provider_call_id":"toolu_01"`, is: kept, most: 200},
			{at: "suggestions", member: `"suggestions":[{"type":"addRules"}]`, is: updates},
		}, askFields...),
	},
	{
		name: "ask a question", method: "POST", once: true,
		body: `{"request":{"title":"Which report?","context":[{"label":"Quarter","value":"Q3 2026"}],"questions":[{"prompt":"Which format?","header":"Format","multiple":true,"options":[{"label":"Full","description":"All of it","allows_text":true}]}]},` + askJSON + `}`,
		at:   func(s *site) string { return askable(s) + "/interactions" },
		key:  func(s *site) string { return s.agent },
		fields: append([]field{
			{at: "request", member: `"request":{"title":"Which report?","context":[{"label":"Quarter","value":"Q3 2026"}],"questions":[{"prompt":"Which format?","header":"Format","multiple":true,"options":[{"label":"Full","description":"All of it","allows_text":true}]}]}`, is: object, required: true},
			{at: "request.title", member: `"title":"Which report?"`, is: text, most: 300, required: true},
			{at: "request.context", member: `"context":[{"label":"Quarter","value":"Q3 2026"}]`, is: list(`{"label":"L","value":"V%d"}`), most: 50},
			{at: "request.context[0].label", member: `"label":"Quarter"`, is: text, most: 200, required: true},
			{at: "request.context[0].value", member: `"value":"Q3 2026"`, is: contextValue, most: 256 << 10, required: true},
			{at: "request.questions", member: `"questions":[{"prompt":"Which format?","header":"Format","multiple":true,"options":[{"label":"Full","description":"All of it","allows_text":true}]}]`, is: list(`{"prompt":"P%d","options":[{"label":"O"}]}`), most: 20, required: true},
			{at: "request.questions[0].prompt", member: `"prompt":"Which format?"`, is: text, most: 4000, required: true},
			{at: "request.questions[0].header", member: `"header":"Format"`, is: text, most: 200},
			{at: "request.questions[0].multiple", member: `"multiple":true`, is: flag},
			{at: "request.questions[0].options", member: `"options":[{"label":"Full","description":"All of it","allows_text":true}]`, is: list(optionJSON), most: 50, required: true},
			{at: "request.questions[0].options[0].label", member: `"label":"Full"`, is: text, most: 500, required: true},
			{at: "request.questions[0].options[0].description", member: `"description":"All of it"`, is: text, most: 2000},
			{at: "request.questions[0].options[0].allows_text", member: `"allows_text":true`, is: flag},
		}, askFields...),
	},
	{
		name: "allow", method: "POST",
		body: `{"answers":[{"option_indices":[0]}],"actor":{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana","metadata":{"team":"platform"}},"note":"With lease.","updated_input":{"command":"ls"},"remember":true,"updated_permissions":[{"type":"addRules"}]}`,
		at:   func(s *site) string { _, at := s.asks(askable(s), bash); return at + "/resolve" },
		key:  func(s *site) string { return s.operator },
		fields: []field{
			{at: "answers", member: `"answers":[{"option_indices":[0]}]`, is: chosen, required: true},
			{at: "answers[0].option_indices", member: `"option_indices":[0]`, is: indices, required: true},
			{at: "actor", member: `"actor":{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana","metadata":{"team":"platform"}}`, is: object},
			{at: "actor.provider_user_id", member: `"provider_user_id":"U1"`, is: text, most: 256, required: true},
			{at: "actor.provider_tenant_id", member: `"provider_tenant_id":"T1"`, is: text, most: 256},
			{at: "actor.display_name", member: `"display_name":"Dana"`, is: text, most: 256},
			{at: "actor.metadata", member: `"metadata":{"team":"platform"}`, is: metadata},
			{at: "note", member: `"note":"With lease."`, is: text, most: 20000},
			{at: "updated_input", member: `"updated_input":{"command":"ls"}`, is: input},
			{at: "remember", member: `"remember":true`, is: flag},
			{at: "updated_permissions", member: `"updated_permissions":[{"type":"addRules"}]`, is: updates},
		},
	},
	{
		name: "answer a question", method: "POST",
		body: `{"answers":[{"option_indices":[0],"text":"a table"}],"response":"Keep it short."}`,
		at: func(s *site) string {
			_, at := s.asks(askable(s), `{"request":{"title":"T","questions":[{"prompt":"P","options":[{"label":"Other","allows_text":true}]}]}}`)
			return at + "/resolve"
		},
		key: func(s *site) string { return s.operator },
		fields: []field{
			{at: "answers[0].option_indices", member: `"option_indices":[0]`, is: indices, required: true},
			{at: "answers[0].text", member: `"text":"a table"`, is: free, most: 20000},
			{at: "response", member: `"response":"Keep it short."`, is: text, most: 20000},
		},
	},
	{
		name: "withdraw", method: "POST", body: `{}`,
		at:  func(s *site) string { _, at := s.asks(askable(s), bash); return at + "/cancel" },
		key: func(s *site) string { return s.agent },
	},
	{
		name: "send", method: "POST", once: true,
		body: `{"content_blocks":[{"type":"text","text":"Hello."}],"delivery_mode":"queued","cancel_open_interactions":false,` + actorJSON + `}`,
		at:   func(s *site) string { return askable(s) + "/inputs" },
		key:  func(s *site) string { return s.operator },
		fields: append([]field{
			{at: "content_blocks", member: `"content_blocks":[{"type":"text","text":"Hello."}]`, is: list(textJSON), most: 100, required: true},
			{at: "content_blocks[0].type", member: `"type":"text"`, is: exactly("text"), required: true},
			{at: "content_blocks[0].text", member: `"text":"Hello."`, is: contextValue, most: 512 << 10, required: true},
			{at: "delivery_mode", member: `"delivery_mode":"queued"`, is: oneOf("queued", "steering")},
		}, actorFields("actor.")...),
	},
	{
		name: "steer", method: "POST", once: true,
		body:   `{"content_blocks":[{"type":"text","text":"Hello."}],"delivery_mode":"steering","cancel_open_interactions":true}`,
		at:     func(s *site) string { return askable(s) + "/inputs" },
		key:    func(s *site) string { return s.operator },
		fields: []field{{at: "cancel_open_interactions", member: `"cancel_open_interactions":true`, is: flag}},
	},
	{
		name: "move", method: "POST", body: `{"position":"front"}`,
		at:     func(s *site) string { path := askable(s); return path + "/inputs/" + s.sends(path, hello).ID + "/move" },
		key:    func(s *site) string { return s.operator },
		fields: []field{{at: "position", member: `"position":"front"`, is: exactly("front", "back"), required: true}},
	},
	{
		name: "promote", method: "POST", body: `{}`,
		at: func(s *site) string {
			path := askable(s)
			return path + "/inputs/" + s.sends(path, hello).ID + "/promote_to_steering"
		},
		key: func(s *site) string { return s.operator },
	},
	{
		name: "demote", method: "POST", body: `{}`,
		at: func(s *site) string {
			path := askable(s)
			return path + "/inputs/" + s.sends(path, hello).ID + "/demote_to_queued"
		},
		key: func(s *site) string { return s.operator },
	},
	{
		name: "take back", method: "POST", body: `{}`,
		at: func(s *site) string {
			path := askable(s)
			return path + "/inputs/" + s.sends(path, hello).ID + "/cancel"
		},
		key: func(s *site) string { return s.operator },
	},
	{
		name: "claim", method: "POST", body: `{}`, once: true,
		at:  func(s *site) string { return askable(s) + "/inputs/claim" },
		key: func(s *site) string { return s.agent },
	},
	{
		name: "stop", method: "POST", body: `{}`,
		at:  func(s *site) string { return askable(s) + "/cancel" },
		key: func(s *site) string { return s.operator },
	},
	{
		name: "archive", method: "POST", body: `{}`,
		at:  func(s *site) string { return askable(s) + "/archive" },
		key: func(s *site) string { return s.operator },
	},
	{
		name: "report", method: "POST", once: true,
		body: `{"events":[{"event_kind":"model_output","content_blocks":[{"type":"reasoning","text":"Hm."},` + callJSON + `],"stop_reason":"tool_use"}]}`,
		at:   func(s *site) string { return askable(s) + "/events" },
		key:  func(s *site) string { return s.agent },
		fields: []field{
			{at: "events", member: `"events":[{"event_kind":"model_output","content_blocks":[{"type":"reasoning","text":"Hm."},` + callJSON + `],"stop_reason":"tool_use"}]`, is: list(`{"event_kind":"model_output","content_blocks":[` + textJSON + `]}`), most: 100, required: true},
			{at: "events[0].event_kind", member: `"event_kind":"model_output"`, is: exactly("model_output"), required: true},
			{at: "events[0].content_blocks", member: `"content_blocks":[{"type":"reasoning","text":"Hm."},` + callJSON + `]`, is: list(textJSON), most: 100, required: true},
			{at: "events[0].content_blocks[0].type", member: `"type":"reasoning"`, is: exactly("reasoning", "text"), required: true},
			{at: "events[0].content_blocks[0].text", member: `"text":"Hm."`, is: printed, most: 512 << 10, required: true},
			{at: "events[0].content_blocks[1].name", member: `"name":"Bash"`, is: toolName, most: 256, required: true},
			{at: "events[0].content_blocks[1].input", member: `"input":{"command":"ls"}`, is: input},
			{at: "events[0].content_blocks[1].provider_call_id", member: `"provider_call_id":"toolu_01"`, is: kept, most: 200},
			{at: "events[0].content_blocks[1].permission", member: `"permission":"always_allow"`, is: oneOf("always_allow", "always_ask", "always_deny")},
			{at: "events[0].stop_reason", member: `"stop_reason":"tool_use"`, is: kept, most: 200},
		},
	},
	{
		name: "result", method: "POST", once: true,
		body: `{"outcome":"succeeded","content_blocks":[{"type":"text","text":"ok"}]}`,
		at: func(s *site) string {
			path := askable(s)
			return path + "/tool-calls/" + s.calls(path, toolCall("ls", "{}", permission("always_allow")))[0].ID + "/result"
		},
		key: func(s *site) string { return s.agent },
		fields: []field{
			{at: "outcome", member: `"outcome":"succeeded"`, is: exactly("succeeded", "failed"), required: true},
			{at: "content_blocks", member: `"content_blocks":[{"type":"text","text":"ok"}]`, is: emptiable(list(textJSON)), most: 100, required: true},
			{at: "content_blocks[0].type", member: `"type":"text"`, is: exactly("text"), required: true},
			{at: "content_blocks[0].text", member: `"text":"ok"`, is: printed, most: 512 << 10, required: true},
		},
	},
	{
		name: "store an actor", method: "PUT", body: "{" + actorJSON[len(`"actor":{`):],
		at:     func(*site) string { return project + "/actors" },
		key:    func(s *site) string { return s.operator },
		fields: actorFields("")[1:],
	},
	{
		name: "make a sign-in link", method: "POST", body: `{}`,
		at:  func(*site) string { return "/api/v1/signin-links" },
		key: func(s *site) string { return s.operator },
	},
}

const (
	textJSON  = `{"type":"text","text":"T%d"}`
	callJSON  = `{"type":"tool_call","name":"Bash","input":{"command":"ls"},"provider_call_id":"toolu_01","permission":"always_allow"}`
	actorJSON = `"actor":{"provider_user_id":"U1","provider_tenant_id":"T1","display_name":"Dana","metadata":{"team":"platform"}}`
)

// actorFields are those of an external person; the first is the person as a whole.
func actorFields(in string) []field {
	return []field{
		{at: strings.TrimSuffix(in, "."), member: actorJSON, is: object},
		{at: in + "provider_user_id", member: `"provider_user_id":"U1"`, is: text, most: 256, required: true},
		{at: in + "provider_tenant_id", member: `"provider_tenant_id":"T1"`, is: text, most: 256},
		{at: in + "display_name", member: `"display_name":"Dana"`, is: text, most: 256},
		{at: in + "metadata", member: `"metadata":{"team":"platform"}`, is: metadata},
	}
}

// exactly is one of some words, and not left out.
func exactly(words ...string) form {
	return func(f field) []row {
		rows := wrong("string")
		for _, word := range words {
			rows = append(rows, row{name: word, value: quote(word)})
		}
		for _, bad := range []string{"", "later", strings.ToUpper(words[0]), " " + words[0]} {
			rows = append(rows, row{name: bad, value: quote(bad), says: append([]string{"allowed are"}, words...)})
		}
		return rows
	}
}

// printed is contextValue that may be blank.
func printed(f field) []row {
	rows := contextValue(f)
	for n, r := range rows {
		if r.name == "empty" || r.name == "blank" {
			rows[n].says = nil
		}
	}
	return rows
}

// emptiable is a list that must be there and may be empty.
func emptiable(is form) form {
	return func(f field) []row {
		f.required = false
		return is(f)
	}
}

// patchedName is a name that may be left out, and not be made empty.
func patchedName(f field) []row {
	f.required = true
	return text(f)
}

// askable is the path of a new agent: an asker may have 50 open interactions for each.
func askable(s *site) string {
	s.agents++
	_, path := s.newAgent(fmt.Sprintf("agent %d", s.agents))
	return path
}

// TestFields goes through all that may be wrong with each field of each body: it is refused, the error names the field and the limit, and
// nothing is written. What is just within the limits is accepted.
func TestFields(t *testing.T) {
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			common := e.at(s)
			for _, f := range e.fields {
				for _, r := range f.rows() {
					body := f.with(t, e.body, r)
					if r.says == nil {
						s.accepts(t, e, f.at+": "+r.name, body, r.loose)
						continue
					}
					if !r.other {
						r.says = append(r.says, f.at)
					}
					s.refuses(t, e, common, f.at+": "+r.name, body, r.says...)
				}
			}
		})
	}
}

// accepts checks that a body is taken.
func (s *site) accepts(t *testing.T, e endpoint, what, body string, loose bool, headers ...string) {
	t.Helper()
	if loose {
		headers = append(headers, loosely, "yes")
	}
	got := s.call(e.key(s), e.method, e.at(s), body, headers...)
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		t.Errorf("%s: %d %.300s, want it accepted", what, got.status, got.body)
	}
}

// refuses checks that a body is not taken, that the error says why, and that nothing is written.
func (s *site) refuses(t *testing.T, e endpoint, at, what, body string, says ...string) {
	t.Helper()
	before := s.writes()
	got := s.call(e.key(s), e.method, at, body)
	s.refused(t, what, got, before, says...)
}

func (s *site) refused(t *testing.T, what string, got answer, before int, says ...string) {
	t.Helper()
	if got.status != http.StatusBadRequest || got.code() != "validation_failed" {
		t.Errorf("%s: %d %.300s, want validation_failed", what, got.status, got.body)
		return
	}
	for _, part := range says {
		if !strings.Contains(got.message(), part) {
			t.Errorf("%s: the error %q does not say %q", what, got.message(), part)
		}
	}
	if len(got.message()) > 600 {
		t.Errorf("%s: an error of %d bytes", what, len(got.message()))
	}
	if s.writes() != before {
		t.Errorf("%s: something was written", what)
	}
}

// TestBodies goes through what may be wrong with a body as a whole.
func TestBodies(t *testing.T) {
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			common := e.at(s)
			inner := e.body[1:] // behind the first brace
			for _, c := range []struct{ name, body, says string }{
				{"an array", "[]", "an object is expected"},
				{"a text", `"x"`, "an object is expected"},
				{"a number", "1", "an object is expected"},
				{"true", "true", "an object is expected"},
				{"null", "null", "null"},
				{"blanks only", " \n", "ends too early"},
				{"an end too early", e.body[:len(e.body)-1], "ends too early"},
				{"another value behind it", e.body + "{}", "not valid JSON"},
				{"a brace behind it", e.body + "}", "not valid JSON"},
				{"NUL behind it", e.body + "\x00", "not valid JSON"},
				{"a byte order mark", "\ufeff" + e.body, "not valid JSON"},
				{"UTF-16", "\xff\xfe{\x00}\x00", "not valid JSON"},
				{"single quotes", "{'a':1}", "not valid JSON"},
				{"a comment", "/* */" + e.body, "not valid JSON"},
				{"an unknown field", `{"bogus":1` + comma(inner) + inner, "bogus: unknown field"},
				{"an unknown field of 100,000 letters", `{"` + repeated("b", 100_000) + `":1` + comma(inner) + inner, "unknown field"},
				{"an empty name", `{"":1` + comma(inner) + inner, "unknown field"},
				{"an unknown field 1,000 levels deep", `{"bogus":` + repeated(`[`, 1000) + repeated("]", 1000) + comma(inner) + inner, "bogus"},
				{"1,000 levels", repeated(`{"a":`, 1000) + "1" + repeated("}", 1000), "a: unknown field"},
				{"100,000 levels", repeated("[", 100_000) + repeated("]", 100_000), ""},
				{"__proto__", `{"__proto__":{}` + comma(inner) + inner, "__proto__: unknown field"},
			} {
				s.refuses(t, e, common, c.name, c.body, c.says)
			}
			if e.body == "{}" {
				s.accepts(t, e, "no body", "", false)
				s.accepts(t, e, "no body and a Content-Type", "", false, "Content-Type", "application/json")
			} else {
				before := s.writes()
				s.refused(t, "no body", s.call(e.key(s), e.method, common, ""), before, "Content-Type")
				s.refused(t, "an empty body", s.call(e.key(s), e.method, common, "", "Content-Type", "application/json"), before, "ends too early")
			}
			s.accepts(t, e, "blanks around it", " \r\n\t"+e.body+" \n", false)
		})
	}
}

func comma(rest string) string {
	if rest == "}" {
		return ""
	}
	return ","
}

// TestContentTypes goes through the media types of a body.
func TestContentTypes(t *testing.T) {
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			common := e.at(s)
			for _, kind := range []string{
				absent, "", "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp",
				"application/problem+json", "application", "application/json, text/plain", "*/*", `application/json; charset="utf-8`,
			} {
				before := s.writes()
				got := s.call(e.key(s), e.method, common, e.body, "Content-Type", kind)
				s.refused(t, "Content-Type "+kind, got, before, "Content-Type", "application/json")
			}
			for _, kind := range []string{"application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"} {
				s.accepts(t, e, kind, e.body, true, "Content-Type", kind)
			}
		})
	}
}

// TestBodySize checks the limit of a body, which counts whatever it holds.
func TestBodySize(t *testing.T) {
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			common := e.at(s)
			s.accepts(t, e, "1 MiB", e.body+repeated(" ", 1<<20-len(e.body)), false)
			before := s.writes()
			for _, body := range []string{e.body + repeated(" ", 1<<20-len(e.body)+1), `{"bogus":"` + repeated("b", 3<<20) + `"}`} {
				got := s.call(e.key(s), e.method, common, body)
				if got.status != http.StatusRequestEntityTooLarge || got.code() != "request_too_large" || !strings.Contains(got.message(), "1048576") {
					t.Errorf("%d bytes: %d %s", len(body), got.status, got.body)
				}
			}
			if s.writes() != before {
				t.Error("something was written")
			}
		})
	}
}

// TestBodyLimitIsSet checks that the limit of a body can be set, and is then the one that is told.
func TestBodyLimitIsSet(t *testing.T) {
	s := newSite(t, func(c *web.Config) { c.BodyLimit = 100 })
	body := `{"name":"` + repeated("n", 89) + `"}`
	if got := s.call(s.agent, "POST", project+"/agents", body); got.status != http.StatusCreated {
		t.Errorf("%d bytes: %d %s", len(body), got.status, got.body)
	}
	if got := s.call(s.agent, "POST", project+"/agents", body+" "); got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.message(), "at most 100 bytes") {
		t.Errorf("%d bytes: %d %s", len(body)+1, got.status, got.body)
	}
}

// TestHeaders goes through the headers that mean something.
func TestHeaders(t *testing.T) {
	for _, e := range endpoints {
		t.Run(e.name, func(t *testing.T) {
			s := newSite(t)
			common := e.at(s)
			for _, channel := range []string{"dashboard", "embed", "api", "CLI", "cli,mcp", "x" + smile} {
				before := s.writes()
				s.refused(t, "Sayso-Channel "+channel, s.call(e.key(s), e.method, common, e.body, "Sayso-Channel", channel), before, "Sayso-Channel", "cli, mcp and chat")
			}
			for _, channel := range []string{"cli", "mcp", "chat"} {
				s.accepts(t, e, channel, e.body, false, "Sayso-Channel", channel)
			}
			before := s.writes()
			s.refused(t, "a query parameter", s.call(e.key(s), e.method, common+"?limit=1", e.body), before, "limit", "unknown query parameter")
		})
	}
	s := newSite(t)
	for _, e := range endpoints {
		if !e.once {
			continue
		}
		common := e.at(s)
		for _, once := range []string{"", repeated("k", 256)} {
			before := s.writes()
			s.refused(t, e.name+": Idempotency-Key "+once, s.call(e.key(s), e.method, common, e.body, "Idempotency-Key", once), before, "Idempotency-Key", "255")
		}
		s.accepts(t, e, "an Idempotency-Key at the limit", e.body, false, "Idempotency-Key", e.name+repeated("k", 255-len(e.name)))
	}
}
