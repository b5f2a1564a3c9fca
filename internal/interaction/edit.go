package interaction

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Editable is the call's input as a person edits it: indented by two spaces, with order, numbers and strings kept. A character that
// would draw nothing or mislead in a text field is written as its JSON escape, which is the same string.
func (c ToolCall) Editable() string {
	var b bytes.Buffer
	if json.Indent(&b, c.Input, "", "  ") != nil {
		return string(c.Input) // unreachable unless what is stored is not what was checked
	}
	return escapeHidden(b.String())
}

func escapeHidden(s string) string {
	hidden := func(r rune) bool { return r >= utf8.RuneSelf && !Visible(r) }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b []byte
	for _, r := range s {
		if !hidden(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b = appendUnit(b, unit)
		}
	}
	return string(b)
}

func appendUnit(b []byte, unit uint16) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

// Visible says whether a character draws something that can be told from others: no control, format or private character, no
// white space but the space, and none that fonts leave out.
func Visible(r rune) bool {
	return unicode.IsPrint(r) && !strings.ContainsRune(drawNothing, r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// drawNothing are characters that count as printable and are not, or stand for what could not be read.
const drawNothing = "\u2800\u2d7f\ufffc\ufffd\U0001107f\U00013441\U00013442\U00016fe4\U0001bc9d\U0001d159"

// Edited is the input that a person made of the call's, without blanks between its parts; nil if it still says the same, so that
// the agent's own bytes stay. What is wrong with it is ValidationFailed, naming line and column.
func (c ToolCall) Edited(text string) (json.RawMessage, error) {
	compact, err := readEdit(text)
	if err != nil {
		return nil, err
	}
	unchanged, _ := readEdit(c.Editable())
	if bytes.Equal(compact, unchanged) {
		return nil, nil
	}
	return compact, nil
}

const editField = "The edited input"

func readEdit(text string) (json.RawMessage, error) {
	var value json.RawMessage
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, misplaced(text, err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		return nil, misplaced(text, err)
	}
	return b.Bytes(), checkInput(editField, b.Bytes())
}

// misplaced says where in a text its JSON goes wrong.
func misplaced(text string, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return Errorf(ValidationFailed, "%s is not JSON: %v", editField, err)
	}
	before := text[:max(0, min(int(syntax.Offset), len(text))-1)]
	if strings.HasPrefix(syntax.Error(), "unexpected end") {
		before = text
	}
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return Errorf(ValidationFailed, "%s is not JSON: line %d, column %d: %s", editField, line, column, syntax.Error())
}
