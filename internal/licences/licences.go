// Package licences names the licence of everything that is built into the program, for the test that holds it against what we accept.
//
// It reads the licence files that come with the modules, in the module cache, and knows a licence by sentences that only it has. What it does
// not know it calls unknown, which is not accepted: somebody has to read that one.
package licences

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Accepted are the licences that let us give the program away as one binary: each asks for its notice to be kept, and no more. MPL-2.0 asks
// for the source of changed files as well; we change none.
var Accepted = []string{"MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "0BSD", "MPL-2.0", "Unlicense"}

// Unknown is the licence of a module whose files say nothing that is known here.
const Unknown = "unknown"

// Module is a module that is built in, and under which licence.
type Module struct {
	Path, Version, Licence string
}

// BuiltInto lists the modules that packages are built from, but for our own, by path.
func BuiltInto(packages ...string) ([]Module, error) {
	args := append([]string{"list", "-deps", "-json=Module"}, packages...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	found := map[string]Module{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := p.Module; m != nil && !m.Main && found[m.Path].Path == "" {
			found[m.Path] = Module{m.Path, m.Version, of(m.Dir)}
		}
	}
	list := make([]Module, 0, len(found))
	for _, m := range found {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// of is the licence that the files of a folder give; the first that is known counts.
func of(folder string) string {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "License*"} {
		names, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are well-formed
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			if licence := Named(string(text)); licence != Unknown {
				return licence
			}
		}
	}
	return Unknown
}

// marks are sentences by which a licence is known: all of them are in its text. Stricter ones come first, since some are part of others.
var marks = []struct {
	licence string
	has     []string
}{
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"GPL", []string{"gnu general public license"}},
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms", "binary form must reproduce"}},
	{"MIT", []string{"permission is hereby granted, free of charge", "the above copyright notice and this permission notice"}},
	{"MIT-0", []string{"mit no attribution"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software", "provided that the above copyright notice"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software", "provided that the above copyright notice"}},
	{"0BSD", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted."}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
}

// Named is the licence that a text is of.
func Named(text string) string {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, m := range marks {
		if !slices.ContainsFunc(m.has, func(part string) bool { return !strings.Contains(plain, part) }) {
			return m.licence
		}
	}
	return Unknown
}
