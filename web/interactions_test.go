package web_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/api"
)

// TestAnswerCases runs the worked cases of the specification: questions and answers in, status and what is stored out.
func TestAnswerCases(t *testing.T) {
	var file struct {
		Cases []struct {
			Questions []api.Question
			Answers   json.RawMessage
			Status    int
			Code      string
			Stored    []api.Answer
			Why       string
		}
	}
	readCases(t, "answers.json", &file)
	s := newSite(t)
	_, path := s.newAgent("swe")
	for n, c := range file.Cases {
		ask := `{"request":{"title":"T","questions":` + toJSON(t, c.Questions) + `}}`
		if len(c.Questions) == 1 && c.Questions[0].Prompt == "Allow this tool call?" {
			ask = bash
		}
		i, at := s.asks(path, ask)
		got := s.call(s.operator, "POST", at+"/resolve", `{"answers":`+string(c.Answers)+`}`)
		if got.status != c.Status || c.Code != "" && got.code() != c.Code {
			t.Errorf("case %d (%s): %s answered with %s: %d %s, want %d %s", n, c.Why, ask, c.Answers, got.status, got.body, c.Status, c.Code)
		}
		after := s.call(s.operator, "GET", at, "").interaction(t)
		if c.Status != 200 {
			if after.State != "open" {
				t.Errorf("case %d: a refused answer left it %s", n, after.State)
			}
			s.call(s.agent, "POST", at+"/cancel", "")
			continue
		}
		if c.Stored != nil {
			if diff := cmp.Diff(c.Stored, after.Resolution.Answers); diff != "" {
				t.Errorf("case %d stored (-want +got):\n%s", n, diff)
			}
		}
		_ = i
	}
}

// TestPermissionForms runs the worked cases: a tool call in, the form out.
func TestPermissionForms(t *testing.T) {
	var file struct {
		Cases []struct {
			ToolCall json.RawMessage `json:"tool_call"`
			Title    string
			Context  [][2]string
		}
	}
	readCases(t, "permission_form.json", &file)
	s := newSite(t)
	_, path := s.newAgent("swe")
	for n, c := range file.Cases {
		i, _ := s.asks(path, `{"tool_call":`+string(c.ToolCall)+`}`)
		context := [][2]string{}
		for _, item := range i.Request.Context {
			context = append(context, [2]string{item.Label, item.Value})
		}
		if diff := cmp.Diff(c.Context, context); diff != "" || i.Request.Title != c.Title {
			t.Errorf("case %d: title %q, want %q; context (-want +got):\n%s", n, i.Request.Title, c.Title, diff)
		}
	}
}

func readCases(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	must(t, err)
	must(t, json.Unmarshal(text, into))
}
