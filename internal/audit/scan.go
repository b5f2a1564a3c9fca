package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// errForm is the error of a text that is not the JSON that this program writes.
var errForm = errors.New("is not JSON as this program writes it")

// eachMember calls f with each member of a JSON object that this program wrote: it holds no white space outside of strings, and its names no
// escapes. Values are not looked into; strings keep their quotes. A million entries are read in a verification, so this is no more than it must be.
func eachMember(text []byte, f func(name, value []byte) error) error {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return errForm
	}
	for rest := text[1:]; len(rest) > 1; {
		n := valueEnd(rest)
		if rest[0] != '"' || n < 2 || n >= len(rest) || rest[n] != ':' {
			return errForm
		}
		name, value := rest[1:n-1], rest[n+1:]
		end := valueEnd(value)
		if end < 1 || end >= len(value) || value[end] != ',' && (value[end] != '}' || end != len(value)-1) {
			return errForm
		}
		if err := f(name, value[:end]); err != nil {
			return err
		}
		rest = value[end+1:]
	}
	return nil
}

// valueEnd is the length of the value that text begins with; -1 if it does not end.
func valueEnd(text []byte) int {
	depth := 0
	for n := 0; n < len(text); n++ {
		switch text[n] {
		case '"':
			length := stringEnd(text[n:])
			if length < 0 {
				return -1
			}
			if n += length - 1; depth == 0 {
				return n + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return n
			}
			if depth == 0 {
				return n + 1
			}
		case ',':
			if depth == 0 {
				return n
			}
		}
	}
	return -1
}

// stringEnd is the length of the string that text begins with, with its quotes; -1 if it does not end.
func stringEnd(text []byte) int {
	for n := 1; n < len(text); n++ {
		quote := bytes.IndexByte(text[n:], '"')
		if quote < 0 {
			return -1
		}
		escape := bytes.IndexByte(text[n:n+quote], '\\')
		if escape < 0 {
			return n + quote + 1
		}
		n += escape + 1 // what is escaped is passed over
	}
	return -1
}

// text is what a JSON string says.
func text(value []byte) (string, error) {
	if len(value) < 2 || value[0] != '"' {
		return "", errForm
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), nil
	}
	said, err := jsontext.AppendUnquote(nil, value)
	return string(said), err
}

// members are the text members of a record that facts name, in their order.
func members(record []byte, facts []Fact) (said [factsMost]string, err error) {
	err = eachMember(record, func(name, value []byte) (err error) {
		for n, f := range facts {
			if string(name) == f.Name {
				said[n], err = text(value)
			}
		}
		return err
	})
	return said, err
}

// decode reads an entry from its canonical form. Names that are out of order, or there twice, are not canonical.
func decode(canonical []byte) (e Entry, err error) {
	err = inOrder(canonical, func(name string, value []byte) (err error) {
		switch name {
		case "actor":
			return inOrder(value, e.Actor.set)
		case "subject":
			e.Target = &Target{}
			return inOrder(value, e.Target.set)
		case "policy":
			e.Policy = &Policy{}
			return inOrder(value, e.Policy.set)
		case "sequence":
			e.Sequence, err = strconv.ParseInt(string(value), 10, 64)
			return err
		}
		return set(e.field(name), value)
	})
	return e, err
}

// inOrder is eachMember for an object whose names must be in their order.
func inOrder(object []byte, f func(name string, value []byte) error) error {
	var last string
	return eachMember(object, func(member, value []byte) error {
		name := string(member)
		if name <= last {
			return fmt.Errorf("%w: %q stands behind %q", errForm, name, last)
		}
		last = name
		return f(name, value)
	})
}

// set reads a text into a field; a nil one is not known here, and left out.
func set(field *string, value []byte) (err error) {
	if field != nil {
		*field, err = text(value)
	}
	return err
}

func (e *Entry) field(name string) *string {
	switch name {
	case "action":
		return &e.Action
	case "agent_id":
		return &e.Agent
	case "at":
		return &e.At
	case "digest":
		return &e.Digest
	case "interaction_id":
		return &e.Interaction
	case "previous":
		return &e.Previous
	case "project_id":
		return &e.Project
	case "record":
		return &e.Record
	}
	return nil
}

func (a *Actor) set(name string, value []byte) error {
	switch name {
	case "channel":
		return set(&a.Channel, value)
	case "credential":
		return set(&a.Credential, value)
	case "id":
		return set(&a.ID, value)
	case "kind":
		return set(&a.Kind, value)
	case "name":
		return set(&a.Name, value)
	}
	return nil
}

func (t *Target) set(name string, value []byte) error {
	switch name {
	case "id":
		return set(&t.ID, value)
	case "kind":
		return set(&t.Kind, value)
	case "name":
		return set(&t.Name, value)
	}
	return nil
}

func (p *Policy) set(name string, value []byte) error {
	switch name {
	case "decision":
		return set(&p.Decision, value)
	case "pattern":
		return set(&p.Pattern, value)
	case "source":
		return set(&p.Source, value)
	case "subject":
		return set(&p.Subject, value)
	}
	return nil
}
