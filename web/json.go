package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"sayso/internal/interaction"
)

// bodyWithin is how long a body may take to arrive. The server itself has no such limit, since askers wait on their requests.
const bodyWithin = 30 * time.Second

// readJSON reads a body strictly: the right type, no unknown or repeated or differently spelled member, no null, nothing behind it. The
// error names the member. Members named in raw are kept as they came, nulls included. Nothing may stand in the query.
func (s *Server) readJSON(c echo.Context, into any, raw ...jsontext.Pointer) ([]byte, error) {
	if err := noQuery(c); err != nil {
		return nil, err
	}
	return s.readBodyJSON(c, into, raw...)
}

// readBodyJSON is readJSON for a route that has a query of its own.
func (s *Server) readBodyJSON(c echo.Context, into any, raw ...jsontext.Pointer) ([]byte, error) {
	body, err := s.readBody(c)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true)); err != nil {
		return nil, shapeError(err)
	}
	return body, refuseNull(body, raw)
}

// readNothing reads a body that may be left out and holds no fields.
func (s *Server) readNothing(c echo.Context) error {
	if c.Request().ContentLength == 0 {
		return noQuery(c)
	}
	_, err := s.readJSON(c, &struct{}{})
	return err
}

func (s *Server) readBody(c echo.Context) ([]byte, error) {
	given := c.Request().Header.Get(echo.HeaderContentType)
	if kind, _, err := mime.ParseMediaType(given); err != nil || kind != echo.MIMEApplicationJSON {
		return nil, interaction.Errorf(interaction.ValidationFailed, "Content-Type: must be application/json, got %q", given)
	}
	return s.readAll(c)
}

// readAll reads a body that is within the limit and comes in time.
func (s *Server) readAll(c echo.Context) ([]byte, error) {
	control := http.NewResponseController(c.Response())
	if err := control.SetReadDeadline(time.Now().Add(bodyWithin)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, s.config.BodyLimit))
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, interaction.Errorf(interaction.RequestTooLarge, "The body is too large; at most %d bytes are allowed.", large.Limit)
	}
	if err != nil {
		return nil, &interaction.Error{Code: interaction.ValidationFailed, Message: "The body could not be read to its end.", Err: err}
	}
	return body, nil
}

// shapeError tells what is wrong with a body, and where.
func shapeError(err error) error {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return interaction.Errorf(interaction.ValidationFailed, "%s: %s (at byte %d)", field(syntax.JSONPointer), syntaxText(syntax.Err), syntax.ByteOffset)
	case errors.As(err, &meaning) && errors.Is(meaning.Err, json.ErrUnknownName):
		return interaction.Errorf(interaction.ValidationFailed, "%s: unknown field", field(meaning.JSONPointer))
	case errors.As(err, &meaning):
		return interaction.Errorf(interaction.ValidationFailed, "%s: %s is not allowed here; %s is expected", field(meaning.JSONPointer), kindName(meaning.JSONKind), typeName(meaning))
	}
	return &interaction.Error{Code: interaction.ValidationFailed, Message: "The body is not valid JSON.", Err: err}
}

func syntaxText(err error) string {
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "this field is there twice"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the JSON ends too early"
	}
	return "not valid JSON: " + strings.TrimPrefix(err.Error(), "jsontext: ")
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "a string"
	case '0':
		return "this number"
	case 't', 'f':
		return "true or false"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 'n':
		return "null"
	}
	return "this value"
}

func typeName(e *json.SemanticError) string {
	if e.GoType == nil {
		return "another type"
	}
	switch name := e.GoType.Kind().String(); name {
	case "int", "int64":
		return "a whole number"
	case "slice":
		return "an array"
	case "struct", "map", "ptr", "pointer":
		return "an object"
	case "bool":
		return "true or false"
	default:
		return "a " + name
	}
}

// field writes a JSON pointer as people write a place: answers[0].text.
func field(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	if b.Len() == 0 {
		return "body"
	}
	return clip(b.String())
}

// clip shortens what a caller wrote for a message about it.
func clip(s string) string {
	const most = 200
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// refuseNull refuses null anywhere but in the raw members: a field that is absent is left out.
func refuseNull(body []byte, raw []jsontext.Pointer) error {
	if !bytes.Contains(body, []byte("null")) {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return nil // its end: the body was read once already
		}
		if at := dec.StackPointer(); token.Kind() == 'n' && !within(at, raw) {
			return interaction.Errorf(interaction.ValidationFailed, "%s: null is not allowed; give a value, or leave the field out if it is optional", field(at))
		}
	}
}

// within says whether a place lies inside one of the raw members, whose names may have * for any. The member itself must not be null.
func within(at jsontext.Pointer, raw []jsontext.Pointer) bool {
	for _, r := range raw {
		if inside(slices.Collect(at.Tokens()), slices.Collect(r.Tokens())) {
			return true
		}
	}
	return false
}

func inside(at, member []string) bool {
	if len(at) <= len(member) {
		return false
	}
	for n, name := range member {
		if name != "*" && name != at[n] {
			return false
		}
	}
	return true
}

// quoted appends s as a JSON string. What is not UTF-8 in it, as a message that quotes a request may have, becomes U+FFFD.
func quoted(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		return append(b, `""`...) // unreachable: it is valid UTF-8
	}
	return b
}
