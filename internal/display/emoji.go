package display

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Code points that draw nothing by themselves and yet belong in an emoji.
const (
	joiner     = 0x200D
	emojiStyle = 0xFE0F
	blackFlag  = 0x1F3F4
)

const keycap = "\u20E3"

// flags are the three tag sequences that are drawn as flags of their own:
// England, Scotland and Wales. Any other is drawn as a black flag, and its
// tags would carry text that nobody sees.
var flags = []string{
	"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
	"\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
	"\U0001F3F4\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F",
}

// flagSize is the length of the flag that s, which starts with a black flag,
// starts with.
func flagSize(s string) int {
	for _, f := range flags {
		if strings.HasPrefix(s, f) {
			return len(f)
		}
	}
	return len(string(rune(blackFlag)))
}

// styles reports whether the emoji style selector at s[i:] does something: it
// follows a pictograph, or stands between a digit and a keycap.
func styles(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	if isPictograph(before) {
		return true
	}
	after := s[i+utf8.RuneLen(emojiStyle):]
	return isKeycapBase(before) && strings.HasPrefix(after, keycap)
}

// joins reports whether the joiner at s[i:] stands between two emoji.
func joins(s string, i int) bool {
	after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(joiner):])
	return isPictograph(after) && endsInEmoji(s[:i])
}

// endsInEmoji reports whether s ends in a pictograph, which may have a style
// or a skin tone.
func endsInEmoji(s string) bool {
	last, size := utf8.DecodeLastRuneInString(s)
	if last == emojiStyle || isSkinTone(last) {
		last, _ = utf8.DecodeLastRuneInString(s[:len(s)-size])
	}
	return isPictograph(last)
}

func isSkinTone(c rune) bool { return 0x1F3FB <= c && c <= 0x1F3FF }

func isKeycapBase(c rune) bool { return '0' <= c && c <= '9' || c == '#' || c == '*' }

func isPictograph(c rune) bool { return unicode.Is(pictographs, c) }

// pictographs are the code points that are both Emoji and Extended_Pictographic
// in Unicode 15, the version of package unicode.
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00A9, Hi: 0x00A9, Stride: 1},
		{Lo: 0x00AE, Hi: 0x00AE, Stride: 1},
		{Lo: 0x203C, Hi: 0x203C, Stride: 1},
		{Lo: 0x2049, Hi: 0x2049, Stride: 1},
		{Lo: 0x2122, Hi: 0x2122, Stride: 1},
		{Lo: 0x2139, Hi: 0x2139, Stride: 1},
		{Lo: 0x2194, Hi: 0x2199, Stride: 1},
		{Lo: 0x21A9, Hi: 0x21AA, Stride: 1},
		{Lo: 0x231A, Hi: 0x231B, Stride: 1},
		{Lo: 0x2328, Hi: 0x2328, Stride: 1},
		{Lo: 0x23CF, Hi: 0x23CF, Stride: 1},
		{Lo: 0x23E9, Hi: 0x23F3, Stride: 1},
		{Lo: 0x23F8, Hi: 0x23FA, Stride: 1},
		{Lo: 0x24C2, Hi: 0x24C2, Stride: 1},
		{Lo: 0x25AA, Hi: 0x25AB, Stride: 1},
		{Lo: 0x25B6, Hi: 0x25B6, Stride: 1},
		{Lo: 0x25C0, Hi: 0x25C0, Stride: 1},
		{Lo: 0x25FB, Hi: 0x25FE, Stride: 1},
		{Lo: 0x2600, Hi: 0x2604, Stride: 1},
		{Lo: 0x260E, Hi: 0x260E, Stride: 1},
		{Lo: 0x2611, Hi: 0x2611, Stride: 1},
		{Lo: 0x2614, Hi: 0x2615, Stride: 1},
		{Lo: 0x2618, Hi: 0x2618, Stride: 1},
		{Lo: 0x261D, Hi: 0x261D, Stride: 1},
		{Lo: 0x2620, Hi: 0x2620, Stride: 1},
		{Lo: 0x2622, Hi: 0x2623, Stride: 1},
		{Lo: 0x2626, Hi: 0x2626, Stride: 1},
		{Lo: 0x262A, Hi: 0x262A, Stride: 1},
		{Lo: 0x262E, Hi: 0x262F, Stride: 1},
		{Lo: 0x2638, Hi: 0x263A, Stride: 1},
		{Lo: 0x2640, Hi: 0x2640, Stride: 1},
		{Lo: 0x2642, Hi: 0x2642, Stride: 1},
		{Lo: 0x2648, Hi: 0x2653, Stride: 1},
		{Lo: 0x265F, Hi: 0x2660, Stride: 1},
		{Lo: 0x2663, Hi: 0x2663, Stride: 1},
		{Lo: 0x2665, Hi: 0x2666, Stride: 1},
		{Lo: 0x2668, Hi: 0x2668, Stride: 1},
		{Lo: 0x267B, Hi: 0x267B, Stride: 1},
		{Lo: 0x267E, Hi: 0x267F, Stride: 1},
		{Lo: 0x2692, Hi: 0x2697, Stride: 1},
		{Lo: 0x2699, Hi: 0x2699, Stride: 1},
		{Lo: 0x269B, Hi: 0x269C, Stride: 1},
		{Lo: 0x26A0, Hi: 0x26A1, Stride: 1},
		{Lo: 0x26A7, Hi: 0x26A7, Stride: 1},
		{Lo: 0x26AA, Hi: 0x26AB, Stride: 1},
		{Lo: 0x26B0, Hi: 0x26B1, Stride: 1},
		{Lo: 0x26BD, Hi: 0x26BE, Stride: 1},
		{Lo: 0x26C4, Hi: 0x26C5, Stride: 1},
		{Lo: 0x26C8, Hi: 0x26C8, Stride: 1},
		{Lo: 0x26CE, Hi: 0x26CF, Stride: 1},
		{Lo: 0x26D1, Hi: 0x26D1, Stride: 1},
		{Lo: 0x26D3, Hi: 0x26D4, Stride: 1},
		{Lo: 0x26E9, Hi: 0x26EA, Stride: 1},
		{Lo: 0x26F0, Hi: 0x26F5, Stride: 1},
		{Lo: 0x26F7, Hi: 0x26FA, Stride: 1},
		{Lo: 0x26FD, Hi: 0x26FD, Stride: 1},
		{Lo: 0x2702, Hi: 0x2702, Stride: 1},
		{Lo: 0x2705, Hi: 0x2705, Stride: 1},
		{Lo: 0x2708, Hi: 0x270D, Stride: 1},
		{Lo: 0x270F, Hi: 0x270F, Stride: 1},
		{Lo: 0x2712, Hi: 0x2712, Stride: 1},
		{Lo: 0x2714, Hi: 0x2714, Stride: 1},
		{Lo: 0x2716, Hi: 0x2716, Stride: 1},
		{Lo: 0x271D, Hi: 0x271D, Stride: 1},
		{Lo: 0x2721, Hi: 0x2721, Stride: 1},
		{Lo: 0x2728, Hi: 0x2728, Stride: 1},
		{Lo: 0x2733, Hi: 0x2734, Stride: 1},
		{Lo: 0x2744, Hi: 0x2744, Stride: 1},
		{Lo: 0x2747, Hi: 0x2747, Stride: 1},
		{Lo: 0x274C, Hi: 0x274C, Stride: 1},
		{Lo: 0x274E, Hi: 0x274E, Stride: 1},
		{Lo: 0x2753, Hi: 0x2755, Stride: 1},
		{Lo: 0x2757, Hi: 0x2757, Stride: 1},
		{Lo: 0x2763, Hi: 0x2764, Stride: 1},
		{Lo: 0x2795, Hi: 0x2797, Stride: 1},
		{Lo: 0x27A1, Hi: 0x27A1, Stride: 1},
		{Lo: 0x27B0, Hi: 0x27B0, Stride: 1},
		{Lo: 0x27BF, Hi: 0x27BF, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2B05, Hi: 0x2B07, Stride: 1},
		{Lo: 0x2B1B, Hi: 0x2B1C, Stride: 1},
		{Lo: 0x2B50, Hi: 0x2B50, Stride: 1},
		{Lo: 0x2B55, Hi: 0x2B55, Stride: 1},
		{Lo: 0x3030, Hi: 0x3030, Stride: 1},
		{Lo: 0x303D, Hi: 0x303D, Stride: 1},
		{Lo: 0x3297, Hi: 0x3297, Stride: 1},
		{Lo: 0x3299, Hi: 0x3299, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1F004, Hi: 0x1F004, Stride: 1},
		{Lo: 0x1F0CF, Hi: 0x1F0CF, Stride: 1},
		{Lo: 0x1F170, Hi: 0x1F171, Stride: 1},
		{Lo: 0x1F17E, Hi: 0x1F17F, Stride: 1},
		{Lo: 0x1F18E, Hi: 0x1F18E, Stride: 1},
		{Lo: 0x1F191, Hi: 0x1F19A, Stride: 1},
		{Lo: 0x1F201, Hi: 0x1F202, Stride: 1},
		{Lo: 0x1F21A, Hi: 0x1F21A, Stride: 1},
		{Lo: 0x1F22F, Hi: 0x1F22F, Stride: 1},
		{Lo: 0x1F232, Hi: 0x1F23A, Stride: 1},
		{Lo: 0x1F250, Hi: 0x1F251, Stride: 1},
		{Lo: 0x1F300, Hi: 0x1F321, Stride: 1},
		{Lo: 0x1F324, Hi: 0x1F393, Stride: 1},
		{Lo: 0x1F396, Hi: 0x1F397, Stride: 1},
		{Lo: 0x1F399, Hi: 0x1F39B, Stride: 1},
		{Lo: 0x1F39E, Hi: 0x1F3F0, Stride: 1},
		{Lo: 0x1F3F3, Hi: 0x1F3F5, Stride: 1},
		{Lo: 0x1F3F7, Hi: 0x1F3FA, Stride: 1},
		{Lo: 0x1F400, Hi: 0x1F4FD, Stride: 1},
		{Lo: 0x1F4FF, Hi: 0x1F53D, Stride: 1},
		{Lo: 0x1F549, Hi: 0x1F54E, Stride: 1},
		{Lo: 0x1F550, Hi: 0x1F567, Stride: 1},
		{Lo: 0x1F56F, Hi: 0x1F570, Stride: 1},
		{Lo: 0x1F573, Hi: 0x1F57A, Stride: 1},
		{Lo: 0x1F587, Hi: 0x1F587, Stride: 1},
		{Lo: 0x1F58A, Hi: 0x1F58D, Stride: 1},
		{Lo: 0x1F590, Hi: 0x1F590, Stride: 1},
		{Lo: 0x1F595, Hi: 0x1F596, Stride: 1},
		{Lo: 0x1F5A4, Hi: 0x1F5A5, Stride: 1},
		{Lo: 0x1F5A8, Hi: 0x1F5A8, Stride: 1},
		{Lo: 0x1F5B1, Hi: 0x1F5B2, Stride: 1},
		{Lo: 0x1F5BC, Hi: 0x1F5BC, Stride: 1},
		{Lo: 0x1F5C2, Hi: 0x1F5C4, Stride: 1},
		{Lo: 0x1F5D1, Hi: 0x1F5D3, Stride: 1},
		{Lo: 0x1F5DC, Hi: 0x1F5DE, Stride: 1},
		{Lo: 0x1F5E1, Hi: 0x1F5E1, Stride: 1},
		{Lo: 0x1F5E3, Hi: 0x1F5E3, Stride: 1},
		{Lo: 0x1F5E8, Hi: 0x1F5E8, Stride: 1},
		{Lo: 0x1F5EF, Hi: 0x1F5EF, Stride: 1},
		{Lo: 0x1F5F3, Hi: 0x1F5F3, Stride: 1},
		{Lo: 0x1F5FA, Hi: 0x1F64F, Stride: 1},
		{Lo: 0x1F680, Hi: 0x1F6C5, Stride: 1},
		{Lo: 0x1F6CB, Hi: 0x1F6D2, Stride: 1},
		{Lo: 0x1F6D5, Hi: 0x1F6D7, Stride: 1},
		{Lo: 0x1F6DC, Hi: 0x1F6E5, Stride: 1},
		{Lo: 0x1F6E9, Hi: 0x1F6E9, Stride: 1},
		{Lo: 0x1F6EB, Hi: 0x1F6EC, Stride: 1},
		{Lo: 0x1F6F0, Hi: 0x1F6F0, Stride: 1},
		{Lo: 0x1F6F3, Hi: 0x1F6FC, Stride: 1},
		{Lo: 0x1F7E0, Hi: 0x1F7EB, Stride: 1},
		{Lo: 0x1F7F0, Hi: 0x1F7F0, Stride: 1},
		{Lo: 0x1F90C, Hi: 0x1F93A, Stride: 1},
		{Lo: 0x1F93C, Hi: 0x1F945, Stride: 1},
		{Lo: 0x1F947, Hi: 0x1F9FF, Stride: 1},
		{Lo: 0x1FA70, Hi: 0x1FA7C, Stride: 1},
		{Lo: 0x1FA80, Hi: 0x1FA88, Stride: 1},
		{Lo: 0x1FA90, Hi: 0x1FABD, Stride: 1},
		{Lo: 0x1FABF, Hi: 0x1FAC5, Stride: 1},
		{Lo: 0x1FACE, Hi: 0x1FADB, Stride: 1},
		{Lo: 0x1FAE0, Hi: 0x1FAE8, Stride: 1},
		{Lo: 0x1FAF0, Hi: 0x1FAF8, Stride: 1},
	},
	LatinOffset: 2,
}
