package display

import (
	"fmt"
	"strings"
	"unicode"
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

// foreignTable is what scriptOf counts as another script than Latin.
var foreignTable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0370, Hi: 0x058F, Stride: 1},
		{Lo: 0x13A0, Hi: 0x13FF, Stride: 1},
		{Lo: 0x1C80, Hi: 0x1C8F, Stride: 1},
		{Lo: 0x1F00, Hi: 0x1FFF, Stride: 1},
		{Lo: 0x2C80, Hi: 0x2CFF, Stride: 1},
		{Lo: 0x2DE0, Hi: 0x2DFF, Stride: 1},
		{Lo: 0xA4D0, Hi: 0xA4FF, Stride: 1},
		{Lo: 0xA640, Hi: 0xA69F, Stride: 1},
		{Lo: 0xAB70, Hi: 0xABBF, Stride: 1},
	},
}

// twins are the letters outside Latin that are drawn like Latin ones.
const twins = "αικνορυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ" + "аеорсухѕіјһԁԛԝӏкАВЕКМНОРСТУХЅІЈӀԌԚԜҮү" + "օսոհցզՍՕԼ"

var isTwinAt = func() (at [0x590]bool) {
	for _, c := range twins {
		at[c] = true
	}
	return at
}()

func isTwin(c rune) bool { return c < 0x590 && isTwinAt[c] }

// span is a part of a text.
type span struct{ start, end int }

// lookAtScripts looks for words in which letters of another script pass for
// Latin ones, and for hosts with such a label.
func (f *findings) lookAtScripts(text string) {
	if !strings.ContainsFunc(text, isASCIILetter) {
		return // nothing to pass for
	}
	for r := (scriptReader{text: text}); !f.has(MixedScript) && r.read(); {
		f.lookAtWord(text, r.word, r.mix)
	}
}

func isASCIILetter(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// scriptReader goes over the words of a text that have foreign letters.
type scriptReader struct {
	text string
	word span
	mix  mix
}

// read reads up to the next word with a foreign letter, and reports whether
// there was one.
func (r *scriptReader) read() bool {
	start, m := r.word.end, mix{}
	for i := start; i < len(r.text); {
		c, size := utf8.DecodeRuneInString(r.text[i:])
		if isInWord(c) {
			m.add(c)
			i += size
			continue
		}
		if m.foreign != 0 {
			r.word, r.mix = span{start, i}, m
			return true
		}
		i += size
		start, m = i, mix{}
	}
	r.word, r.mix = span{start, len(r.text)}, m
	return m.foreign != 0
}

// isInWord leaves words to be of letters and digits. For characters outside
// ASCII it goes by block, as precise as it needs to be.
func isInWord(c rune) bool {
	switch {
	case c < utf8.RuneSelf:
		return isAlphanumeric(byte(c))
	case c < 0xC0:
		return c == 0xAA || c == 0xB5 || c == 0xBA
	case c < 0x2000:
		return true
	}
	return c >= 0x2C00 && (c < 0x3000 || c >= 0x3040)
}

// mix is what scripts a word is made of.
type mix struct {
	latin   bool
	foreign rune // the first letter that could be read for a Latin one, or 0
	others  bool // a letter outside ASCII is like no Latin one
}

// add adds a letter to the mix. Greek letters that are like no Latin one are
// common in units and formulas: 10 kΩ, Δt.
func (m *mix) add(c rune) {
	s := scriptOf(c)
	twin := isTwin(c)
	m.latin = m.latin || s == latin
	m.others = m.others || c >= utf8.RuneSelf && !twin
	if m.foreign == 0 && s > latin && (s != greek || twin) {
		m.foreign = c
	}
}

// lookAtWord adds the chip if the word with foreign letters mixes scripts so
// that one could be read for another, or labels a host with nothing but twins.
func (f *findings) lookAtWord(text string, at span, m mix) {
	word, rest := text[at.start:at.end], text[at.end:]
	name := scriptNames[scriptOf(m.foreign)]
	switch {
	case m.latin:
		f.add(MixedScript, fmt.Sprintf("mixes Latin and %s letters (%c is U+%04X)", name, m.foreign, m.foreign), word)
	case !m.others && labelsHost(rest):
		f.add(MixedScript, fmt.Sprintf("%s letters pass for Latin ones (%c is U+%04X)", name, m.foreign, m.foreign), word+hostAt(rest))
	}
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
