package interaction

import (
	"fmt"
	"strings"
)

// Request is the form shown to a person. It never changes once created, and is kept for ever.
type Request struct {
	Title     string        `json:"title"`
	Context   []ContextItem `json:"context,omitempty"`
	Questions []Question    `json:"questions"`
}

// ContextItem is one labelled piece of evidence beside the questions.
type ContextItem struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// Question asks for one option, or with Multiple for at least one.
type Question struct {
	Prompt   string   `json:"prompt"`
	Header   string   `json:"header,omitempty"` // a short name for it
	Multiple bool     `json:"multiple,omitempty"`
	Options  []Option `json:"options"`
}

// Option is one possible answer. Answers name it by its index, so two may have the same label.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	AllowsText  bool   `json:"allows_text,omitempty"`
}

// The limits of a form that a caller wrote. Lengths are in characters, but for the value's.
const (
	MaxTitle        = 300
	MaxContext      = 50
	MaxLabel        = 200
	MaxValueBytes   = 256 << 10
	MaxQuestions    = 20
	MaxPrompt       = 4000
	MaxHeader       = 200
	MaxOptions      = 50
	MaxOptionLabel  = 500
	MaxDescription  = 2000
	MaxAnswerText   = 20000
	MaxInputBytes   = 512 << 10
	MaxInputDepth   = 64
	MaxToolName     = 256
	maxIdentity     = 200 // workflow and task ids, destination parts
	maxNote         = MaxAnswerText
	maxResponse     = MaxAnswerText
	maxProviderCall = 200
	maxAction       = MaxPrompt
)

// Normalised is r trimmed and within the limits; the first thing wrong is named in a ValidationFailed error. It is for forms
// that a caller wrote: the form of a permission is made by [PermissionRequest] and is verbatim.
func (r Request) Normalised() (Request, error) {
	var err error
	if r.Title, err = line("request.title", r.Title, MaxTitle); err != nil {
		return r, err
	}
	if r.Context, err = normalised("request.context", r.Context, 0, MaxContext, ContextItem.normalised); err != nil {
		return r, err
	}
	r.Questions, err = normalised("request.questions", r.Questions, 1, MaxQuestions, Question.normalised)
	return r, err
}

// normalised checks how many items there are and normalises each.
func normalised[T any](field string, items []T, least, most int, each func(T, string) (T, error)) ([]T, error) {
	if n := len(items); n < least || n > most {
		return nil, Errorf(ValidationFailed, "%s: %d to %d are allowed, got %d", field, least, most, n)
	}
	out := make([]T, len(items))
	for i, item := range items {
		var err error
		if out[i], err = each(item, fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c ContextItem) normalised(field string) (ContextItem, error) {
	var err error
	if c.Label, err = line(field+".label", c.Label, MaxLabel); err != nil {
		return c, err
	}
	if hasNUL(c.Value) {
		return c, Errorf(ValidationFailed, "%s.value: the NUL character is not allowed", field)
	}
	c.Value = strings.TrimSpace(c.Value)
	if n := len(c.Value); n == 0 || n > MaxValueBytes {
		return c, Errorf(ValidationFailed, "%s.value: must not be blank, and hold at most %d bytes (256 KiB); got %d", field, MaxValueBytes, n)
	}
	return c, nil
}

func (q Question) normalised(field string) (Question, error) {
	var err error
	if q.Prompt, err = line(field+".prompt", q.Prompt, MaxPrompt); err != nil {
		return q, err
	}
	if q.Header, err = optionalLine(field+".header", q.Header, MaxHeader); err != nil {
		return q, err
	}
	q.Options, err = normalised(field+".options", q.Options, 1, MaxOptions, Option.normalised)
	return q, err
}

func (o Option) normalised(field string) (Option, error) {
	var err error
	if o.Label, err = line(field+".label", o.Label, MaxOptionLabel); err != nil {
		return o, err
	}
	o.Description, err = optionalLine(field+".description", o.Description, MaxDescription)
	return o, err
}

// optionalLine is line for a field that may be left out; "" is the field left out.
func optionalLine(field, s string, most int) (string, error) {
	if s == "" {
		return "", nil
	}
	return line(field, s, most)
}
