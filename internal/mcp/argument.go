package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// arguments are those of a call. Members are looked up by their exact names, which a struct would not do: what is shown to a person must be
// what the agent's own program will read.
type arguments struct {
	members map[string]json.RawMessage
	err     error // the first thing wrong
}

func argumentsOf(raw json.RawMessage) arguments {
	a := arguments{members: map[string]json.RawMessage{}}
	if len(raw) == 0 || string(raw) == "null" {
		return a
	}
	if err := json.Unmarshal(raw, &a.members); err != nil {
		a.err = errors.New("arguments: must be a JSON object")
	}
	return a
}

// raw is a member as it came; nil for one that is left out or null.
func (a *arguments) raw(name string) json.RawMessage {
	value := a.members[name]
	if string(value) == "null" {
		return nil
	}
	return value
}

func (a *arguments) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

func (a *arguments) read(name string, into any, what string) {
	value := a.raw(name)
	if value == nil {
		return
	}
	if err := json.Unmarshal(value, into); err != nil {
		a.fail("%s: must be %s", name, what)
	}
}

func (a *arguments) text(name string) (s string) {
	a.read(name, &s, "a string")
	return s
}

func (a *arguments) flag(name string) (b bool) {
	a.read(name, &b, "true or false")
	return b
}

// number reads a whole number; nil if it is left out. Models write 600.0 as well.
func (a *arguments) number(name string) *int {
	var f *float64
	a.read(name, &f, "a whole number")
	if f == nil {
		return nil
	}
	if *f != math.Trunc(*f) || math.Abs(*f) > 1<<31 {
		a.fail("%s: must be a whole number", name)
		return nil
	}
	n := int(*f)
	return &n
}

// only refuses what a tool would ignore, so that a model which misspells something is told.
func (a *arguments) only(names ...string) {
	var unknown []string
	for name := range a.members {
		if !slices.Contains(names, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		a.fail("%s: unknown; allowed are %s", unknown[0], strings.Join(names, ", "))
	}
}
