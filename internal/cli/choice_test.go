package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sayso/internal/api"
	"sayso/internal/inbox"
)

// selectCase is one of the worked cases of `answer --select … --text …`.
type selectCase struct {
	Questions []string   `json:"questions"` // "text|header"
	Options   [][]string `json:"options"`
	Multi     []bool     `json:"multi"`
	Args      []string   `json:"args"`
	Text      *string    `json:"text"`
	Want      struct {
		Answers  json.RawMessage `json:"answers"`
		Response string          `json:"response"`
	} `json:"want"`
	Error bool `json:"error"`
}

func (c selectCase) form() (form api.Request) {
	for n, question := range c.Questions {
		prompt, header, _ := strings.Cut(question, "|")
		form.Questions = append(form.Questions, api.Question{Prompt: prompt, Header: header, Multiple: c.Multi[n], Options: inbox.Choices(c.Options[n])})
	}
	return form
}

func TestSelect(t *testing.T) {
	text, err := os.ReadFile("testdata/cases/select.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []selectCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 13 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(strings.Join(c.Args, " "), func(t *testing.T) { c.run(t) })
	}
}

func (c selectCase) run(t *testing.T) {
	form := c.form()
	answer, err := choose(form, c.Args, c.Text)
	if c.Error {
		if err == nil || failureOf(err).exit != exitInput {
			t.Errorf("got %+v, %v; want it refused", answer, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(inbox.AnswersOf(form, answer.Answers))
	if err != nil {
		t.Fatal(err)
	}
	if want := compact(t, c.Want.Answers); string(got) != want || answer.Response != c.Want.Response {
		t.Errorf("got %s and %q, want %s and %q", got, answer.Response, want, c.Want.Response)
	}
}

func compact(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var v map[string]any // for its order of keys
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestChooseSaysWhatIsAllowed(t *testing.T) {
	form := api.Request{Questions: []api.Question{
		{Prompt: "Where?", Header: "W", Options: []api.Option{{Label: "staging"}, {Label: "live"}}},
		{Prompt: "When?", Header: "W", Options: inbox.Choices([]string{"now"})},
	}}
	one := api.Request{Questions: form.Questions[:1]}
	text := "the moon"
	for name, test := range map[string]struct {
		form    api.Request
		selects []string
		text    *string
		want    string
	}{
		"unknown label":      {form, []string{"1=moon"}, nil, `--select: "moon" is not an option of "Where?"; the options are "staging", "live"`},
		"unknown question":   {form, []string{"Who?=me"}, nil, `--select: there is no question "Who?"; the questions are "Where?", "When?"`},
		"two of that header": {form, []string{"W=now"}, nil, `--select: "W" names several questions`},
		"number too high":    {form, []string{"3=now"}, nil, `--select: there is no question 3; allowed are 1 to 2`},
		"two of one":         {form, []string{"1=staging,live"}, nil, `--select: question 1 (Where?) takes one option, got 2`},
		"no other answer":    {one, nil, &text, `--text: this question takes no other answer than its options, which are "staging", "live"`},
		"left open":          {form, []string{"2=now"}, nil, `--select: question 1 (Where?) must be answered; the options are "staging", "live"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := choose(test.form, test.selects, test.text); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
