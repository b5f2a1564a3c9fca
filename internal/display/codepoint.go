package display

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// kind is how a character is treated.
type kind uint8

const (
	plain    kind = iota // shown as it is, wherever it stands
	foreign              // also, but it makes it worthwhile to look at scripts
	layout               // space, tab, newline
	stacking             // combining marks: shown unless they have no base or are too many
	watched              // shown unless it could be taken for a sign of ours
	inEmoji              // shown in an emoji, where it draws something

	hidden      // shown as a mark
	hiddenBlank // and acts like a blank
	hiddenBreak // and acts like a newline
)

// kindTable holds the kinds of the code points of planes 0 to 3, by pages of
// which many are the same. No other plane has anything that can be shown.
type kindTable struct {
	pages  [kindPoints >> 8]uint8
	blocks [256][256]kind
}

const kindPoints = 0x40000

func (t *kindTable) of(c rune) kind {
	if uint32(c) >= kindPoints {
		return hidden
	}
	return t.blocks[t.pages[c>>8]][uint8(c)]
}

// kinds builds the table from those of package unicode when it is first
// needed: it costs more than a process that shows only ASCII should pay.
var kinds = sync.OnceValue(func() *kindTable {
	flat := make([]kind, kindPoints)
	for i := range flat {
		flat[i] = hidden
	}
	mark := func(to kind, tables ...*unicode.RangeTable) {
		each(func(c rune) { flat[c] = to }, tables...)
	}
	markShown := func(to kind, tables ...*unicode.RangeTable) {
		each(func(c rune) {
			if flat[c] == plain {
				flat[c] = to
			}
		}, tables...)
	}
	mark(plain, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Prepended_Concatenation_Mark)
	mark(hidden, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, drawsNothing)
	markShown(stacking, unicode.Mn, unicode.Me)
	markShown(watched, watchedTable)
	markShown(foreign, foreignTable)
	mark(hiddenBlank, unicode.White_Space, controls)
	mark(hiddenBreak, lineBreaks)
	mark(layout, layoutTable)
	mark(inEmoji, emojiParts)
	return paged(flat)
})

// paged finds the pages of flat that are the same.
func paged(flat []kind) *kindTable {
	t := new(kindTable)
	block := map[[256]kind]uint8{}
	for page := range t.pages {
		content := [256]kind(flat[page<<8:])
		n, known := block[content]
		if !known {
			n = uint8(len(block))
			block[content] = n
			t.blocks[n] = content
		}
		t.pages[page] = n
	}
	return t
}

// each applies do to the code points of tables that a kindTable can hold.
func each(do func(rune), tables ...*unicode.RangeTable) {
	for _, t := range tables {
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				do(c)
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi) && c < kindPoints; c += rune(r.Stride) {
				do(c)
			}
		}
	}
}

// drawsNothing lists what package unicode counts as letters, marks or symbols,
// yet a person cannot see: it would let two different strings look the same.
var drawsNothing = tableOf(
	0x2800,           // Braille pattern blank
	0x2D7F,           // Tifinagh consonant joiner
	0xFFFC,           // object replacement character
	0x1107F,          // Brahmi number joiner
	0x13441, 0x13442, // Egyptian blanks
	0x16FE4, // Khitan filler
	0x1BC9D, // Duployan letter selector
	0x1D159, // musical null notehead
)

// watchedTable lists what must be looked at with its neighbours: brackets that
// could pass for the start of a mark, our sign for a newline, and the black
// flag, which tags may turn into another.
var watchedTable = tableOf(
	markOpen, newlineMark, blackFlag,
	0x2039, 0x2329, 0x276C, 0x2770, 0x29FC, 0x3008, 0xFE3F, 0xFF1C, // brackets
)

var emojiParts = tableOf(emojiStyle, joiner)

var layoutTable = tableOf('\t', '\n', ' ')

// lineBreaks lists what starts a line in some program other than ours.
var lineBreaks = tableOf('\v', '\f', '\r', 0x85, 0x2028, 0x2029)

// controls are taken for blanks, as they move what is drawn, except for those
// that are dropped: NUL by shells and DEL by terminals.
var controls = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x01, Hi: 0x1F, Stride: 1}, {Lo: 0x80, Hi: 0x9F, Stride: 1}}}

func tableOf(points ...rune) *unicode.RangeTable {
	t := new(unicode.RangeTable)
	for _, c := range points {
		if c <= 0xFFFF {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(c), Hi: uint16(c), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(c), Hi: uint32(c), Stride: 1})
		}
	}
	return t
}

// decode is utf8.DecodeRuneInString, except that a byte that is not part of any
// UTF-8 is a negative number, and that it is twice as fast outside ASCII.
func decode(s string, i int) (c rune, size int) {
	b := s[i]
	switch {
	case b < utf8.RuneSelf:
		return rune(b), 1
	case b < 0xE0:
		if i+1 < len(s) && isContinuation(s[i+1]) && b >= 0xC2 {
			return rune(b&0x1F)<<6 | rune(s[i+1]&0x3F), 2
		}
	case b < 0xF0:
		if i+2 < len(s) && isContinuation(s[i+1]) && isContinuation(s[i+2]) {
			c = rune(b&0x0F)<<12 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F)
			if c >= 0x800 && (c < 0xD800 || c > 0xDFFF) {
				return c, 3
			}
		}
	default:
		if i+3 < len(s) && isContinuation(s[i+1]) && isContinuation(s[i+2]) && isContinuation(s[i+3]) && b <= 0xF4 {
			c = rune(b&0x07)<<18 | rune(s[i+1]&0x3F)<<12 | rune(s[i+2]&0x3F)<<6 | rune(s[i+3]&0x3F)
			if c >= 0x10000 && c <= utf8.MaxRune {
				return c, 4
			}
		}
	}
	return invalidByte(b), 1
}

func isContinuation(b byte) bool { return b&0xC0 == 0x80 }
