package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

const schema = "animus.cli.v1"

// success is the line on standard output under --json.
type success struct {
	Schema string `json:"schema"`
	OK     bool   `json:"ok"`
	Data   any    `json:"data"`
}

// refusal is the line on standard error under --json.
type refusal struct {
	Schema string       `json:"schema"`
	OK     bool         `json:"ok"`
	Error  refusalError `json:"error"`
}

type refusalError struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	ExitCode int    `json:"exit_code"`
}

func (p *program) success(data any) error {
	return writeLine(p.stdout, success{Schema: schema, OK: true, Data: data})
}

func (p *program) refusal(f *failure) {
	_ = writeLine(p.stderr, refusal{Schema: schema, Error: refusalError{codes[f.exit], f.what, f.exit}})
}

// writeLine writes v as one line of JSON in which nothing can control a terminal.
func writeLine(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(append(escaped(bytes.TrimSpace(b.Bytes())), '\n'))
	return err
}

// escaped escapes every character of a JSON text that is not printable. Outside of strings there are none.
func escaped(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch {
		case unicode.IsPrint(r):
			out = append(out, string(r)...)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
