package display_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sayso/internal/display"
)

func cmpSegments(want, got []display.Segment) string { return cmp.Diff(want, got) }

func TestShowSegments(t *testing.T) {
	got := display.Show("a\u200b\u200bb\r\nc\x1b  ").Segments
	want := []display.Segment{
		{Text: "a"}, {Text: "⟨U+200B⟩⟨U+200B⟩", Mark: true}, {Text: "b\nc"}, {Text: "⟨U+001B⟩⟨␠×2⟩", Mark: true},
	}
	if diff := cmpSegments(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestShowEmpty(t *testing.T) {
	if got := display.Show(""); got.String() != "" || got.Segments != nil || got.Chips != nil {
		t.Errorf("Show of nothing = %+v", got)
	}
}

func TestShowIsOneSegmentWithoutMarks(t *testing.T) {
	for _, in := range []string{"plain", "a\nb\n", "日本語\nשלום", "👩‍💻 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣", strings.Repeat("word\n", 300)} {
		if got := display.Show(in).Segments; len(got) != 1 || got[0].Text != in || got[0].Mark {
			t.Errorf("Show(%q) = %v, want it in one segment", in, got)
		}
	}
}

// TestShowBoundsSegments keeps a hostile value from making a page of hundreds
// of thousands of elements. All of it is there all the same.
func TestShowBoundsSegments(t *testing.T) {
	in := strings.Repeat("a\u200b", 50_000)
	got := display.Show(in)
	if len(got.Segments) > 4096 {
		t.Errorf("%d segments", len(got.Segments))
	}
	if got.String() != strings.Repeat("a⟨U+200B⟩", 50_000) {
		t.Error("the text is not complete")
	}
	if last := got.Segments[len(got.Segments)-1]; last.Mark {
		t.Error("the rest is styled as a mark")
	}
}

func TestNewlines(t *testing.T) {
	for _, c := range []struct{ in, show, line string }{
		{"a\nb", "a\nb", "a⏎b"},
		{"a\r\nb", "a\nb", "a⏎b"},
		{"a\rb", "a⟨U+000D⟩b", "a⟨U+000D⟩b"},
		{"a\r\r\nb", "a⟨U+000D⟩\nb", "a⟨U+000D⟩⏎b"},
		{"a\n\rb", "a\n⟨U+000D⟩b", "a⏎⟨U+000D⟩b"},
		{"\n", "\n", "⏎"},
		{"\r\n\r\n", "\n\n", "⏎⏎"},
		{"a\n\n\nb", "a\n\n\nb", "a⏎⏎⏎b"},
		{"a\u2028b", "a⟨U+2028⟩b", "a⟨U+2028⟩b"},
		{"a⏎b", "a⏎b", "a⟨U+23CE⟩b"}, // nothing else on a line looks like a newline
	} {
		if got := display.Show(c.in).String(); got != c.show {
			t.Errorf("Show(%q) = %q, want %q", c.in, got, c.show)
		}
		if got := display.Line(c.in).String(); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.in, got, c.line)
		}
	}
}

func TestNewlinesRaiseNoChip(t *testing.T) {
	if got := display.Line("Approve\nnow\r\n").Chips; got != nil {
		t.Errorf("chips = %v", got)
	}
	if _, found := chip(display.Line("a⏎b"), display.HiddenCharacters); !found {
		t.Error("a forged newline raises no chip")
	}
}

func TestBlanks(t *testing.T) {
	blanks := func(n int) string { return strings.Repeat(" ", n) }
	for _, c := range []struct {
		name, in, text string
		padded         bool
	}{
		{"one", "a b", "a b", false},
		{"eight", "a" + blanks(8) + "b", "a" + blanks(8) + "b", false},
		{"nine", "a" + blanks(9) + "b", "a⟨␠×9⟩b", true},
		{"tabs", "a" + strings.Repeat("\t", 10) + "b", "a⟨␠×10⟩b", true},
		{"mixed", "a" + strings.Repeat(" \t", 5) + "b", "a⟨␠×10⟩b", true},
		{"eight mixed", "a \t \t \t \tb", "a \t \t \t \tb", false},
		{"indentation", blanks(64) + "a", blanks(64) + "a", false},
		{"tabs before a line", "a\n\t\t\tb", "a\n\t\t\tb", false},
		{"too much indentation", blanks(65) + "a", "⟨␠×65⟩a", true},
		{"indentation of a later line", "a\n" + blanks(65) + "b", "a\n⟨␠×65⟩b", true},
		{"end", "a ", "a⟨␠×1⟩", false},
		{"end with a tab", "a\t", "a⟨␠×1⟩", false},
		{"eight at the end", "a" + blanks(8), "a⟨␠×8⟩", false},
		{"nine at the end", "a" + blanks(9), "a⟨␠×9⟩", true},
		{"end of a line", "a  \nb", "a⟨␠×2⟩\nb", false},
		{"end of a line with CRLF", "a  \r\nb", "a⟨␠×2⟩\nb", false},
		{"only blanks", blanks(3), "⟨␠×3⟩", false},
		{"a line of only blanks", "a\n" + blanks(12) + "\nb", "a\n⟨␠×12⟩\nb", true},
		{"after a hidden character", "\u200b" + blanks(20) + "b", "⟨U+200B⟩⟨␠×20⟩b", true},
		{"before a bare CR", "a  \rb", "a  ⟨U+000D⟩b", false},
		{"around a group of eight", "1234567  12345678  1", "1234567  12345678  1", false},
		{"two runs", "a" + blanks(9) + "b" + blanks(30) + "c", "a⟨␠×9⟩b⟨␠×30⟩c", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := display.Show(c.in)
			if got.String() != c.text {
				t.Errorf("text = %q, want %q", got, c.text)
			}
			if _, padded := chip(got, display.WhitespacePadding); padded != c.padded {
				t.Errorf("chips = %v, want padding: %v", got.Chips, c.padded)
			}
		})
	}
}

func TestPaddingNamesTheLongestRun(t *testing.T) {
	in := "a" + strings.Repeat(" ", 9) + "b" + strings.Repeat(" ", 30) + "c"
	want := display.Chip{ID: display.WhitespacePadding, Label: "30 blanks in a row", Match: "⟨␠×30⟩"}
	if diff := cmp.Diff([]display.Chip{want}, display.Show(in).Chips); diff != "" {
		t.Error(diff)
	}
}

// TestOrdinaryText has what people write, in many languages and with emoji:
// it reads as written and raises nothing.
func TestOrdinaryText(t *testing.T) {
	for _, in := range []string{
		"Deploy build 4711 to staging?", "naïve café, Łódź, Ærø, Ω resistor", "e\u0301 decomposed, n\u0303o",
		"مرحبا بالعالم، كيف الحال؟", "السَّلَامُ عَلَيْكُمْ", "שָׁלוֹם עוֹלָם", "שלום (world) 123",
		"日本語のコマンド", "Tシャツ、git コマンドを実行", "デプロイ：完了。「はい」〈注〉", "你好，世界", "한국어 PC방", "한국어",
		"Привет, мир", "IT-отдел, USB-кабель", "ελληνικά και English", "10 kΩ, Δt = 5 μs, λx", "ภาษาไทย ใช้git",
		"हिन्दी में", "தமிழ்", "ქართული", "Հայերեն", "አማርኛ", "ខ្មែរ", "မြန်မာ",
		"👍🏽 done", "👩‍💻 pair", "👨‍👩‍👧‍👦", "🏳️‍🌈 🏴‍☠️", "❤️ ☎️ ©️ ™️", "1️⃣ #️⃣ *️⃣", "🇩🇪🇯🇵", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿", "👁️‍🗨️", "🧑🏾‍🚀", "🏃🏽‍♀️", "🐦‍⬛", "🏴",
		"→ ✓ ★ │ ─ ⟩ ‹x› « » 〈U〉 €5", "x = {\n\t\"a\": [1, 2],\n}\n", "a<b && c>d", `C:\Users\dana\file.txt`,
	} {
		got := display.Show(in)
		if got.String() != in || got.Chips != nil {
			t.Errorf("Show(%q) = %q with chips %v", in, got, got.Chips)
		}
	}
}

func TestEmojiPartsOutsideEmoji(t *testing.T) {
	for in, want := range map[string]string{
		"a\u200db":                        "a⟨U+200D⟩b",
		"👩\u200d":                         "👩⟨U+200D⟩",
		"👩\u200da":                        "👩⟨U+200D⟩a",
		"\u200d💻":                         "⟨U+200D⟩💻",
		"👩\u200d\u200d💻":                  "👩⟨U+200D⟩⟨U+200D⟩💻",
		"a\ufe0f":                         "a⟨U+FE0F⟩",
		"1\ufe0f":                         "1⟨U+FE0F⟩",
		"1\ufe0f2":                        "1⟨U+FE0F⟩2",
		"❤\ufe0f\ufe0f":                   "❤\ufe0f⟨U+FE0F⟩",
		"❤\ufe0e":                         "❤⟨U+FE0E⟩",
		"\ufe0f❤":                         "⟨U+FE0F⟩❤",
		"🇩\u200d🇪":                        "🇩⟨U+200D⟩🇪",
		"葛\U000E0100":                     "葛⟨U+E0100⟩",
		"🏴\U000E0067":                     "🏴⟨U+E0067⟩",
		"🏴\U000E0068\U000E0069\U000E007F": "🏴⟨U+E0068⟩⟨U+E0069⟩⟨U+E007F⟩", // hides "hi"
		"👍\U000E0041":                     "👍⟨U+E0041⟩",
		"می\u200cخواهم":                   "می⟨U+200C⟩خواهم",
		"क्\u200dष":                       "क्⟨U+200D⟩ष",
	} {
		got := display.Show(in)
		if got.String() != want {
			t.Errorf("Show(%+q) = %+q, want %+q", in, got, want)
		}
		if _, found := chip(got, display.HiddenCharacters); !found {
			t.Errorf("Show(%+q) raises no chip", in)
		}
	}
}

func TestNoTextForgesAMark(t *testing.T) {
	for in, want := range map[string]string{
		"⟨U+202E⟩":           "⟨U+27E8⟩U+202E⟩",
		"⟨␠×400⟩":            "⟨U+27E8⟩␠×400⟩",
		`⟨\x9B⟩`:             `⟨U+27E8⟩\x9B⟩`,
		"⟨":                  "⟨U+27E8⟩",
		"⟩":                  "⟩",
		"\u2329U+202E\u232A": "⟨U+2329⟩U+202E\u232A",
		"〈U+202E〉":           "⟨U+3008⟩U+202E〉",
		"❬␠×9❭":              "⟨U+276C⟩␠×9❭",
		`‹\x9B›`:             `⟨U+2039⟩\x9B›`,
		"‹quoted›":           "‹quoted›",
		"\u0338a":            "⟨U+0338⟩a",                // would strike through what the page shows before
		"\u200b\u0338":       "⟨U+200B⟩⟨U+0338⟩",         // would strike through our mark
		"a\n\u0301b":         "a\n⟨U+0301⟩b",             // has no base
		" \u0301":            " \u0301",                  // is how an accent is written alone
		"␠×9":                "␠×9",                      // is no mark without the bracket
		"\u2066⟨\u200b":      "⟨U+2066⟩⟨U+27E8⟩⟨U+200B⟩", // all three are ours
	} {
		if got := display.Show(in).String(); got != want {
			t.Errorf("Show(%+q) = %+q, want %+q", in, got, want)
		}
	}
}

func TestStackedMarks(t *testing.T) {
	eight := strings.Repeat("\u0301", 8)
	if got := display.Show("e" + eight + "x"); got.String() != "e"+eight+"x" || got.Chips != nil {
		t.Errorf("eight marks: %+q %v", got, got.Chips)
	}
	got := display.Show("e" + eight + "\u0302\u0303x")
	if want := "e" + eight + "⟨U+0302⟩⟨U+0303⟩x"; got.String() != want {
		t.Errorf("ten marks: %+q, want %+q", got, want)
	}
	if c, _ := chip(got, display.HiddenCharacters); c.Label != "2 misleading characters" {
		t.Errorf("chip = %+v", c)
	}
}

func TestHiddenCharactersChip(t *testing.T) {
	for in, want := range map[string]display.Chip{
		"a\u200bb":                     {Label: "1 invisible character", Match: "⟨U+200B⟩"},
		"\u200b\u200b\u202e":           {Label: "3 invisible characters", Match: "⟨U+200B⟩ ⟨U+202E⟩"},
		"\x9b\u200b":                   {Label: "2 invisible characters", Match: `⟨\x9B⟩ ⟨U+200B⟩`},
		"⟨":                            {Label: "1 misleading character", Match: "⟨U+27E8⟩"},
		"⟨\u200b":                      {Label: "2 invisible or misleading characters", Match: "⟨U+27E8⟩ ⟨U+200B⟩"},
		"\x01\x02\x03\x04\x05\x06\x07": {Label: "7 invisible characters", Match: "⟨U+0001⟩ ⟨U+0002⟩ ⟨U+0003⟩ ⟨U+0004⟩ ⟨U+0005⟩ ⟨U+0006⟩"},
	} {
		want.ID = display.HiddenCharacters
		if diff := cmp.Diff([]display.Chip{want}, display.Show(in).Chips); diff != "" {
			t.Errorf("%+q: %s", in, diff)
		}
	}
}
