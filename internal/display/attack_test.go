package display_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/display"
)

// attacks are code points by which a text has been made to look like another,
// or to carry what nobody sees.
var attacks = []struct {
	name string
	char rune
}{
	{"null", 0x00}, {"bell", 0x07}, {"backspace", 0x08}, {"vertical tab", 0x0B}, {"form feed", 0x0C},
	{"carriage return", 0x0D}, {"shift out", 0x0E}, {"escape", 0x1B}, {"unit separator", 0x1F}, {"delete", 0x7F},
	{"padding character", 0x80}, {"next line", 0x85}, {"control sequence introducer", 0x9B},
	{"operating system command", 0x9D}, {"no-break space", 0xA0}, {"soft hyphen", 0xAD},
	{"combining grapheme joiner", 0x034F}, {"arabic letter mark", 0x061C}, {"hangul choseong filler", 0x115F},
	{"hangul jungseong filler", 0x1160}, {"ogham space", 0x1680}, {"khmer inherent aq", 0x17B4},
	{"khmer inherent aa", 0x17B5}, {"mongolian variation selector", 0x180B}, {"mongolian vowel separator", 0x180E},
	{"en quad", 0x2000}, {"em space", 0x2003}, {"hair space", 0x200A}, {"zero width space", 0x200B},
	{"zero width non-joiner", 0x200C}, {"zero width joiner", 0x200D}, {"left-to-right mark", 0x200E},
	{"right-to-left mark", 0x200F}, {"line separator", 0x2028}, {"paragraph separator", 0x2029},
	{"left-to-right embedding", 0x202A}, {"right-to-left embedding", 0x202B}, {"pop directional formatting", 0x202C},
	{"left-to-right override", 0x202D}, {"right-to-left override", 0x202E}, {"narrow no-break space", 0x202F},
	{"medium mathematical space", 0x205F}, {"word joiner", 0x2060}, {"function application", 0x2061},
	{"invisible times", 0x2062}, {"invisible separator", 0x2063}, {"invisible plus", 0x2064},
	{"reserved ignorable", 0x2065}, {"left-to-right isolate", 0x2066}, {"right-to-left isolate", 0x2067},
	{"first strong isolate", 0x2068}, {"pop directional isolate", 0x2069}, {"inhibit symmetric swapping", 0x206A},
	{"nominal digit shapes", 0x206F}, {"mathematical left angle bracket", 0x27E8}, {"braille blank", 0x2800},
	{"ideographic space", 0x3000}, {"hangul filler", 0x3164}, {"private use", 0xE000}, {"last private use", 0xF8FF},
	{"noncharacter", 0xFDD0}, {"text style selector", 0xFE0E}, {"emoji style selector", 0xFE0F},
	{"variation selector 1", 0xFE00}, {"byte order mark", 0xFEFF}, {"halfwidth hangul filler", 0xFFA0},
	{"interlinear anchor", 0xFFF9}, {"interlinear separator", 0xFFFA}, {"interlinear terminator", 0xFFFB},
	{"object replacement", 0xFFFC}, {"last noncharacter of the BMP", 0xFFFF}, {"unassigned", 0x0378},
	{"egyptian full blank", 0x13441}, {"khitan filler", 0x16FE4}, {"shorthand overlap", 0x1BCA0},
	{"musical null notehead", 0x1D159}, {"musical begin beam", 0x1D173}, {"noncharacter of plane 1", 0x1FFFE},
	{"unassigned of plane 4", 0x40000}, {"language tag", 0xE0001}, {"tag space", 0xE0020}, {"tag letter", 0xE0041},
	{"cancel tag", 0xE007F}, {"variation selector 17", 0xE0100}, {"variation selector 256", 0xE01EF},
	{"supplementary private use", 0xF0000}, {"last private use of all", 0x10FFFD}, {"last code point", 0x10FFFF},
}

func TestAttackCodePoints(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			in := "a" + string(a.char) + "b"
			mark := fmt.Sprintf("⟨U+%04X⟩", a.char)
			for form, got := range map[string]display.Text{"Show": display.Show(in), "Line": display.Line(in)} {
				want := []display.Segment{{Text: "a"}, {Text: mark, Mark: true}, {Text: "b"}}
				if diff := cmpSegments(want, got.Segments); diff != "" {
					t.Errorf("%s: %s", form, diff)
				}
				if c, found := chip(got, display.HiddenCharacters); !found || c.Match != mark {
					t.Errorf("%s: chip = %+v, want one that names %s", form, c, mark)
				}
			}
		})
	}
}

// TestEveryCodePoint compares the treatment of each code point between two
// letters with a definition in terms of package unicode.
func TestEveryCodePoint(t *testing.T) {
	for block := rune(0); block <= unicode.MaxRune; block += 256 {
		if 0xD800 <= block && block <= 0xDFFF {
			continue
		}
		in, want := spelled(block)
		if got := display.Show(in).String(); got != want {
			t.Errorf("from U+%04X: %s", block, cmp.Diff(strings.Fields(want), strings.Fields(got)))
		}
	}
}

// spelled has the code points of a block between letters, and how they are to
// be shown.
func spelled(block rune) (in, want string) {
	var ins, wants strings.Builder
	for c := max(block, '!'); c < block+256; c++ {
		ins.WriteString("a" + string(c) + "b ")
		if drawsItself(c) {
			wants.WriteString("a" + string(c) + "b ")
		} else {
			wants.WriteString(fmt.Sprintf("a⟨U+%04X⟩b ", c))
		}
	}
	return ins.String() + ".", wants.String() + "."
}

// drawsItself reports whether c, between letters, is drawn as nothing else can
// be.
func drawsItself(c rune) bool {
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, c):
		return true
	case unicode.In(c, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return false
	}
	switch c {
	case '⟨', 0x2800, 0x2D7F, 0xFFFC, 0x1107F, 0x13441, 0x13442, 0x16FE4, 0x1BC9D, 0x1D159:
		return false
	}
	return unicode.In(c, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

func TestInvalidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"a\x9bb":                 `a⟨\x9B⟩b`,
		"\xff\xfe":               `⟨\xFF⟩⟨\xFE⟩`,
		"\xe2\x80":               `⟨\xE2⟩⟨\x80⟩`,
		"\xe2\x80x":              `⟨\xE2⟩⟨\x80⟩x`,
		"\xed\xa0\x80":           `⟨\xED⟩⟨\xA0⟩⟨\x80⟩`, // a surrogate
		"\xc0\xaf":               `⟨\xC0⟩⟨\xAF⟩`,       // an overlong slash
		"\xf4\x90\x80\x80":       `⟨\xF4⟩⟨\x90⟩⟨\x80⟩⟨\x80⟩`,
		"\xf0\x9f\x91":           `⟨\xF0⟩⟨\x9F⟩⟨\x91⟩`,
		"\ufffd":                 "\ufffd", // written by somebody, and drawn
		"é\xe9":                  `é⟨\xE9⟩`,
		"\x80\x80\x80\x80\x81":   `⟨\x80⟩⟨\x80⟩⟨\x80⟩⟨\x80⟩⟨\x81⟩`,
		"\xef\xbf\xbf\xf8\x88":   `⟨U+FFFF⟩⟨\xF8⟩⟨\x88⟩`,
		"ok\xe2\x80\xae\xe2\x80": `ok⟨U+202E⟩⟨\xE2⟩⟨\x80⟩`,
	} {
		if got := display.Show(in).String(); got != want {
			t.Errorf("Show(%q) = %s, want %s", in, got, want)
		}
	}
}
