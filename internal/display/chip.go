package display

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Chip is a warning about a string. Label says in a few words what was found;
// Match is the text that caused it, already safe to show on one line and cut
// to about 80 characters.
type Chip struct {
	ID    ChipID
	Label string
	Match string
}

// ChipID names a kind of warning. A text has at most one chip of each, in the
// order of the constants.
type ChipID string

// What chips warn of.
const (
	HiddenCharacters       ChipID = "hidden_characters"
	WhitespacePadding      ChipID = "whitespace_padding"
	MixedScript            ChipID = "mixed_script"
	PipesDownloadIntoShell ChipID = "pipes_download_into_shell"
	RecursiveDelete        ChipID = "recursive_delete"
	Sudo                   ChipID = "sudo"
	ForcePush              ChipID = "force_push"
	EncodedBlob            ChipID = "encoded_blob"
	Credentials            ChipID = "credentials"
	VeryLong               ChipID = "very_long"
	AddressesApprover      ChipID = "addresses_approver"
)

var chipOrder = []ChipID{
	HiddenCharacters, WhitespacePadding, MixedScript, PipesDownloadIntoShell, RecursiveDelete, Sudo,
	ForcePush, EncodedBlob, Credentials, VeryLong, AddressesApprover,
}

// maxMatch is how many characters of the matched text a chip shows.
const maxMatch = 80

// maxLines is how many lines a person can be expected to read.
const maxLines = 200

// chips are the warnings about the string that was walked.
func (r *rendering) chips() []Chip {
	var f findings
	if r.tally.kinds > 0 {
		f.list(Chip{HiddenCharacters, r.tally.label(), r.tally.match()})
	}
	if n := int(r.padding); n > 0 {
		f.list(Chip{WhitespacePadding, fmt.Sprintf("%d blanks in a row", n), string(appendBlankMark(nil, n))})
	}
	f.look(r.bare.of(r.src), r.foreign)
	if r.tally.kinds > 0 {
		f.lookAtTokens(r.src) // a hidden character may also keep a key apart
	}
	f.lookAtLength(r.src)
	return f.ordered()
}

// findings are the chips found so far, the first of each kind.
type findings []Chip

func (f *findings) look(text string, foreign bool) {
	if foreign {
		f.lookAtScripts(text)
	}
	clues := glance(text)
	f.lookAtCommands(text, clues)
	f.lookAtTokens(text)
	f.lookAtCredentials(text, clues)
	f.lookAtPleas(text, clues)
}

func (f *findings) has(id ChipID) bool {
	return slices.ContainsFunc(*f, func(c Chip) bool { return c.ID == id })
}

// add lists a chip about match, which is as the agent wrote it.
func (f *findings) add(id ChipID, label, match string) {
	f.list(Chip{id, label, shown(match)})
}

func (f *findings) list(c Chip) {
	if !f.has(c.ID) {
		*f = append(*f, c)
	}
}

func (f *findings) ordered() []Chip {
	slices.SortFunc(*f, func(a, b Chip) int {
		return slices.Index(chipOrder, a.ID) - slices.Index(chipOrder, b.ID)
	})
	return *f
}

// lookAtLength matches the first line that is one too many.
func (f *findings) lookAtLength(text string) {
	text = strings.TrimSuffix(text, "\n")
	if lines := strings.Count(text, "\n") + 1; lines > maxLines {
		f.add(VeryLong, fmt.Sprintf("%d lines", lines), lineAfter(text, maxLines))
	}
}

// lineAfter is the line of text that comes after n others.
func lineAfter(text string, n int) string {
	for range n {
		_, text, _ = strings.Cut(text, "\n")
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// shown makes match safe to show on one line and short. Marks are longer than
// what they stand for, so the start of match that fits is found by halving.
func shown(match string) string {
	for n := maxMatch; ; n /= 2 {
		start := firstRunes(match, n)
		text := lineText(start, start == match)
		if n == 1 || utf8.RuneCountInString(text) <= maxMatch+1 {
			return text
		}
	}
}

func lineText(s string, whole bool) string {
	if !whole {
		s = strings.TrimRight(s, " \t") + "…"
	}
	var r rendering
	r.walk(s, true)
	return Text{Segments: r.segments()}.String()
}

// firstRunes is the start of s of at most n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
