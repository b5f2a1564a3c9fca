package display

import (
	"sync"
	"unicode"
)

// pointSet is a set of code points of the planes that hold visible ones
// (0 to 3); no other code point is ever in it.
type pointSet [0x40000 / 64]uint64

func (s *pointSet) has(c rune) bool {
	return uint32(c) < 0x40000 && s[c>>6]&(1<<(c&63)) != 0
}

func (s *pointSet) add(c rune)    { s[c>>6] |= 1 << (c & 63) }
func (s *pointSet) remove(c rune) { s[c>>6] &^= 1 << (c & 63) }

// each applies do to the code points of tables that a pointSet can hold.
func each(do func(rune), tables ...*unicode.RangeTable) {
	for _, t := range tables {
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				do(c)
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi) && c < 0x40000; c += rune(r.Stride) {
				do(c)
			}
		}
	}
}

// codePoints says how each code point outside ASCII is treated. A code point is
// in one of the sets, or is shown as a mark.
type codePoints struct {
	plain    pointSet // shown as they are, wherever they stand
	foreign  pointSet // also, but they make it worthwhile to look at scripts
	stacking pointSet // combining marks: shown unless they have no base or are too many
	watched  pointSet // shown unless they could be taken for a sign of ours
}

// points builds the sets from the tables of package unicode when first needed:
// it costs more than a process that shows only ASCII should pay.
var points = sync.OnceValue(func() *codePoints {
	p := new(codePoints)
	each(p.plain.add, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Prepended_Concatenation_Mark)
	each(p.plain.remove, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, drawsNothing)
	each(p.moveTo(&p.stacking), unicode.Mn, unicode.Me)
	each(p.moveTo(&p.watched), watchedTable)
	each(p.moveTo(&p.foreign), foreignTable)
	return p
})

// moveTo returns a function that moves a code point from the plain ones to
// set. What was taken out of them for drawing nothing stays out.
func (p *codePoints) moveTo(set *pointSet) func(rune) {
	return func(c rune) {
		if p.plain.has(c) {
			p.plain.remove(c)
			set.add(c)
		}
	}
}

// drawsNothing lists what package unicode counts as letters, marks or symbols,
// yet a person cannot see: it would let two different strings look the same.
var drawsNothing = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // Braille pattern blank
		{Lo: 0x2D7F, Hi: 0x2D7F, Stride: 1}, // Tifinagh consonant joiner
		{Lo: 0xFFFC, Hi: 0xFFFC, Stride: 1}, // object replacement character
	},
	R32: []unicode.Range32{
		{Lo: 0x1107F, Hi: 0x1107F, Stride: 1}, // Brahmi number joiner
		{Lo: 0x13441, Hi: 0x13442, Stride: 1}, // Egyptian blanks
		{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, // Khitan filler
		{Lo: 0x1BC9D, Hi: 0x1BC9D, Stride: 1}, // Duployan letter selector
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // musical null notehead
	},
}

// watchedTable lists what must be looked at with its neighbours: brackets that
// could pass for the start of a mark, our sign for a newline, and what may be
// part of an emoji.
var watchedTable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2039, Hi: 0x2039, Stride: 1}, // ‹
		{Lo: 0x23CE, Hi: 0x23CE, Stride: 1}, // ⏎
		{Lo: 0x2329, Hi: 0x2329, Stride: 1}, // 〈
		{Lo: 0x276C, Hi: 0x276C, Stride: 1}, // ❬
		{Lo: 0x2770, Hi: 0x2770, Stride: 1}, // ❰
		{Lo: 0x27E8, Hi: 0x27E8, Stride: 1}, // ⟨
		{Lo: 0x29FC, Hi: 0x29FC, Stride: 1}, // ⧼
		{Lo: 0x3008, Hi: 0x3008, Stride: 1}, // 〈
		{Lo: 0xFE3F, Hi: 0xFE3F, Stride: 1}, // ︿
		{Lo: 0xFF1C, Hi: 0xFF1C, Stride: 1}, // ＜
	},
	R32: []unicode.Range32{
		{Lo: blackFlag, Hi: blackFlag, Stride: 1},
	},
}
