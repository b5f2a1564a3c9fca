package display

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// script is a writing system, as far as its letters can pass for Latin ones.
type script uint8

const (
	noScript script = iota // any other, or none
	latin
	greek
	cyrillic
	armenian
	cherokee
	coptic
	lisu
)

var scriptNames = [...]string{"", "Latin", "Greek", "Cyrillic", "Armenian", "Cherokee", "Coptic", "Lisu"}

func scriptOf(c rune) script {
	switch {
	case c < 0x250:
		return latinOrNone(c)
	case c < 0x370:
		return noScript
	case c < 0x590:
		return nearEastern(c)
	}
	return distant(c)
}

func latinOrNone(c rune) script {
	if 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0xC0 && c != 0xD7 && c != 0xF7 {
		return latin
	}
	return noScript
}

func nearEastern(c rune) script {
	switch {
	case 0x3E2 <= c && c <= 0x3EF:
		return coptic
	case c < 0x400:
		return greek
	case c < 0x530:
		return cyrillic
	}
	return armenian
}

func distant(c rune) script {
	switch {
	case 0x13A0 <= c && c <= 0x13FF, 0xAB70 <= c && c <= 0xABBF:
		return cherokee
	case 0x1C80 <= c && c <= 0x1C8F, 0x2DE0 <= c && c <= 0x2DFF, 0xA640 <= c && c <= 0xA69F:
		return cyrillic
	case 0x1E00 <= c && c <= 0x1EFF:
		return latin
	case 0x1F00 <= c && c <= 0x1FFF:
		return greek
	case 0x2C80 <= c && c <= 0x2CFF:
		return coptic
	case 0xA4D0 <= c && c <= 0xA4FF:
		return lisu
	}
	return noScript
}

// mayPassForLatin reports whether c is of a script whose letters look like
// Latin ones.
func mayPassForLatin(c rune) bool { return c >= 0x370 && scriptOf(c) > latin }

// twins are the letters outside Latin that are drawn like Latin ones.
const twins = "αικνορυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ" + "аеорсухѕіјһԁԛԝӏкАВЕКМНОРСТУХЅІЈӀԌԚԜҮү" + "օսոհցզՍՕԼ"

var isTwinAt = func() (at [0x590]bool) {
	for _, c := range twins {
		at[c] = true
	}
	return at
}()

func isTwin(c rune) bool { return c < 0x590 && isTwinAt[c] }

// lookAtScripts looks for words in which letters of another script pass for
// Latin ones, and for hosts with such a label.
func (f *findings) lookAtScripts(text string) {
	seen := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if scriptOf(c) > latin {
			word := wordAround(text, seen, i)
			if f.lookAtWord(text, word) {
				return
			}
			i, seen = word.end, word.end
		}
	}
}

// span is a part of a text.
type span struct{ start, end int }

// wordAround is the run of letters and digits that text[:i] ends in, as far as
// it is after min, and that goes on from i.
func wordAround(text string, min, i int) span {
	start := min + strings.LastIndexFunc(text[min:i], isNotInWord)
	if start < min {
		start = min
	} else {
		_, size := utf8.DecodeRuneInString(text[start:])
		start += size
	}
	end := strings.IndexFunc(text[i:], isNotInWord)
	if end < 0 {
		return span{start, len(text)}
	}
	return span{start, i + end}
}

// isNotInWord leaves words to be of letters and digits. For characters outside
// ASCII it goes by block, as precise as it needs to be.
func isNotInWord(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return !isAlphanumeric(byte(c))
	case c < 0xC0:
		return c != 0xAA && c != 0xB5 && c != 0xBA
	}
	return 0x2000 <= c && c < 0x2C00 || 0x3000 <= c && c < 0x3040
}

// lookAtWord adds the chip if the word mixes scripts so that a letter could be
// read for another, or is a label of a host that is all twins. Greek letters
// that are like no other are common in units and formulas: 10 kΩ, Δt.
func (f *findings) lookAtWord(text string, at span) bool {
	m := mixOf(text[at.start:at.end])
	switch {
	case m.latin && m.foreign != 0:
		label := fmt.Sprintf("mixes Latin and %s letters (%c is U+%04X)", scriptNames[scriptOf(m.foreign)], m.foreign, m.foreign)
		f.add(MixedScript, label, text[at.start:at.end])
	case !m.latin && m.foreign != 0 && m.allTwins && labelsHost(text[at.end:]):
		label := fmt.Sprintf("%s letters pass for Latin ones (%c is U+%04X)", scriptNames[scriptOf(m.foreign)], m.foreign, m.foreign)
		f.add(MixedScript, label, text[at.start:at.end]+hostAt(text[at.end:]))
	}
	return f.has(MixedScript)
}

// mix is what scripts a word is made of.
type mix struct {
	latin    bool
	foreign  rune // the first letter that could be read for a Latin one, or 0
	allTwins bool // every letter outside ASCII could
}

func mixOf(word string) mix {
	m := mix{allTwins: true}
	for _, c := range word {
		s := scriptOf(c)
		m.latin = m.latin || s == latin
		m.allTwins = m.allTwins && (c < utf8.RuneSelf || isTwin(c))
		if m.foreign == 0 && s > latin && (s != greek || isTwin(c)) {
			m.foreign = c
		}
	}
	return m
}

// labelsHost reports whether a word that rest follows is part of a host name
// in a domain where Latin is expected.
func labelsHost(rest string) bool {
	host := hostAt(rest)
	dot := strings.LastIndexByte(host, '.')
	return dot >= 0 && latinDomains[host[dot+1:]]
}

// hostAt is the ASCII part of a host name that s starts with.
func hostAt(s string) string {
	s = s[:min(len(s), 64)]
	end := 0
	for end < len(s) && (isAlphanumeric(s[end]) || s[end] == '-' || s[end] == '.') {
		end++
	}
	return strings.TrimRight(s[:end], ".")
}

var latinDomains = map[string]bool{
	"com": true, "net": true, "org": true, "io": true, "dev": true, "app": true, "ai": true, "co": true, "me": true,
	"info": true, "cloud": true, "sh": true, "xyz": true, "gov": true, "edu": true, "mil": true, "int": true,
	"uk": true, "us": true, "de": true, "fr": true, "eu": true, "ch": true, "nl": true, "example": true, "test": true,
}
