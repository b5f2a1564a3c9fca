package licences

import (
	"os"
	"slices"
	"testing"
)

func TestBuiltInIsAccepted(t *testing.T) {
	modules, err := BuiltInto("sayso/cmd/sayso")
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 20 {
		t.Errorf("only %d modules are built in", len(modules))
	}
	for _, m := range modules {
		if !slices.Contains(Accepted, m.Licence) {
			t.Errorf("%s %s is under %s; accepted are %v", m.Path, m.Version, m.Licence, Accepted)
		}
	}
}

func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"GNU AFFERO GENERAL PUBLIC LICENSE\n Version 3":                                            "AGPL",
		"GNU Lesser General\nPublic License, beside the GNU General Public License":                "LGPL",
		"This is under the GNU  General Public License":                                            "GPL",
		"Apache License\n\tVersion 2.0, January 2004":                                              "Apache-2.0",
		"Redistribution and use in source and binary forms ... Neither the name of the ... ":       "BSD-3-Clause",
		"Redistribution and use in source and binary forms ... in binary form must reproduce ... ": "BSD-2-Clause",
		"Redistribution and use in source and binary forms is forbidden":                           Unknown,
		"Permission is hereby granted, free of charge, to nobody":                                  Unknown,
		"All rights reserved.": Unknown,
		"":                     Unknown,
		"This is free and unencumbered software released into the public domain.":                                                 "Unlicense",
		"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.": "0BSD",
	} {
		if got := Named(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestFolderWithoutLicence: what says nothing is not taken for good.
func TestFolderWithoutLicence(t *testing.T) {
	folder := t.TempDir()
	if got := of(folder); got != Unknown {
		t.Error(got)
	}
	if err := os.WriteFile(folder+"/LICENSE", []byte("GNU General Public License"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := of(folder); got != "GPL" || slices.Contains(Accepted, got) {
		t.Error(got)
	}
}
