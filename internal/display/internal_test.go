package display

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecodeIsThatOfUTF8(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			for _, tail := range []string{"", "\x80", "\xbf", "x", "\x80\x80", "\xbf\xbf\xbf", "\x80x", "\x8fx"} {
				checkDecode(t, string([]byte{byte(a), byte(b)})+tail)
			}
		}
	}
	for c := rune(0); c <= utf8.MaxRune; c += 7 {
		checkDecode(t, string(c))
	}
}

func checkDecode(t *testing.T, s string) {
	t.Helper()
	want, wantSize := utf8.DecodeRuneInString(s)
	if want == utf8.RuneError && wantSize == 1 {
		want = invalidByte(s[0])
	}
	if got, size := decode(s, 0); got != want || size != wantSize {
		t.Fatalf("decode(%+q) = %x, %d, want %x, %d", s, got, size, want, wantSize)
	}
}

func TestRepetitions(t *testing.T) {
	for n := 1; n < 300; n++ {
		for _, unit := range []string{"a", "é", "\u200b", "\U000E0041"} {
			for _, tail := range []string{"", "b", unit[:len(unit)-1]} {
				s := strings.Repeat(unit, n) + tail
				if len(unit) == 1 && tail == "" || tail != unit {
					if got := repetitions(s, len(unit)); got != n {
						t.Fatalf("%d × %+q + %+q: %d", n, unit, tail, got)
					}
				}
			}
		}
	}
}

func TestSkipPlainStopsWhereSomethingIsToJudge(t *testing.T) {
	for _, stop := range []string{"\n", "\t", "\x00", "\x1f", "\x7f", "\x80", "é", "  ", " \n", "\xff"} {
		for before := range 40 {
			s := strings.Repeat("x y~!z0", 7)[:before] + stop + strings.Repeat("w", 20)
			if got := skipPlain(s, 0); got > before {
				t.Errorf("went over %q at %d to %d", stop, before, got)
			}
		}
	}
}

// TestClues compares a glance with searching.
func TestClues(t *testing.T) {
	for c, words := range map[clue][]string{
		rmClue: {"rm -rf", "rm,", "(rm)", "rm\n", "rm"}, sudoClue: {"sudo", "xsudoku"}, urlClue: {"https://x"}, approveClue: {"APPROVE", "pre-approve"},
		parentClue: {"..", "../x"}, plusClue: {"+"}, pipeClue: {"|", "a|b"}, suClue: {"su -", "su -c"}, quoteClue: {`\`, `'`, `"`}, keyClue: {"-----BEGIN "},
	} {
		for _, word := range words {
			if !glance(word).any(c) || !glance("x "+word+" y").any(c) {
				t.Errorf("no clue in %q", word)
			}
		}
		if glance("x\u200bé").any(c) || glance("").any(c) {
			t.Errorf("clue %b in nothing", c)
		}
	}
	if glance("form").any(sudoClue) || glance("arms").any(rmClue) {
		t.Error("clues where there are none")
	}
}

// TestClueOfEveryCommand keeps the clues in step with the words that chips
// look for.
func TestClueOfEveryCommand(t *testing.T) {
	for command, clues := range map[command]clue{
		rootCommand: anyRootClue, removeCommand: anyRemoveClue, findCommand: anyRemoveClue, powerRemoveCommand: anyRemoveClue,
		fetchCommand: anyFetchClue, fetchMethod: anyFetchClue,
	} {
		for _, name := range strings.Fields(commandNames[command]) {
			if !glance(name + " -x").any(clues) {
				t.Errorf("%s gives no clue", name)
			}
		}
	}
}

func TestCommandNamesAreFound(t *testing.T) {
	for command, names := range commandNames {
		for _, name := range strings.Fields(names) {
			if got := commandOf(name); got != command || !mayBeCommand(name) {
				t.Errorf("%s is %d, want %d", name, got, command)
			}
		}
	}
	for word, want := range map[string]command{
		"/usr/bin/rm": removeCommand, "/x/rm": noCommand, "rm/": noCommand, "bin/rm": removeCommand, "rm.exe": removeCommand, ".exe": noCommand,
		"/": noCommand, "RM": noCommand, strings.Repeat("x", 500): noCommand,
	} {
		if got := commandOf(word); got != want {
			t.Errorf("commandOf(%q) = %d, want %d", word, got, want)
		}
	}
}

// TestPleasUseTheVocabulary catches a word in a plea that could never match,
// and one in the vocabulary that no plea uses.
func TestPleasUseTheVocabulary(t *testing.T) {
	used := map[string]bool{}
	for _, phrase := range pleas {
		for _, slot := range strings.Fields(phrase) {
			for _, word := range strings.Split(strings.TrimSuffix(slot, "*"), "|") {
				used[word] = true
				if vocabulary[word] == "" {
					t.Errorf("%q of %q is not in the vocabulary", word, phrase)
				}
			}
		}
	}
	for word, forms := range vocabulary {
		if !used[word] {
			t.Errorf("no plea uses %q", word)
		}
		for _, form := range strings.Fields(forms) {
			if len(form) >= maxPleaWord {
				t.Errorf("%q is too long", form)
			}
		}
	}
	if len(vocabulary) > 62 {
		t.Errorf("%d groups of words do not fit into the bits of a slot", len(vocabulary))
	}
}

// TestScriptsAreThoseOfTheTable keeps foreignTable in step with scriptOf.
func TestScriptsAreThoseOfTheTable(t *testing.T) {
	for c := rune(0); c < 0x20000; c++ {
		if k := kinds().of(c); (k == foreign) != (scriptOf(c) > latin) && (k == plain || k == foreign) {
			t.Errorf("U+%04X is of kind %d and script %d", c, k, scriptOf(c))
		}
	}
}

func TestLexer(t *testing.T) {
	for in, want := range map[string]string{
		`a "b c" 'd'`:           "a b c d ↵",
		`a|b||c|&d`:             "a | b ; c | d ↵",
		"a; b && c & d\ne":      "a ; b ; c ; d ↵ e ↵",
		"a 2>&1 &>x":            "a 2 1 x ↵",
		`r"m" s\udo $'x'`:       "rm sudo x ↵",
		`{"k":"v w"}`:           "( k: v w ) ↵",
		`["a","b"]`:             "a b ↵",
		`x="y z"`:               "x= y z ↵",
		"${A:-b} $(c) `d`":      "${A:-b} $ ( c ) ` d ` ↵",
		`a\nb "c\nd"`:           "a ↵ b c ↵ d ↵",
		"a\\\nb \\\n c":         "ab c ↵",
		`grep -E "a|(b;c)" d|e`: "grep -E a b c d | e ↵",
		`grep "$(x | y)" z`:     "grep $ ( x | y ) z ↵",
		`""`:                    "↵",
		`\`:                     "↵",
		`"`:                     "↵",
		`a\`:                    "a ↵",
		`a\ b`:                  "a b ↵",
		"":                      "↵",
	} {
		if got := lexed(in); got != want {
			t.Errorf("%q is lexed as %q, want %q", in, got, want)
		}
	}
}

func lexed(in string) string {
	signs := map[tokenKind]string{
		pipeToken: "|", endToken: ";", newlineToken: "↵", openToken: "(", closeToken: ")", tickToken: "`",
	}
	var out []string
	for l := newLexer(in); l.scan(); {
		if l.token.kind == wordToken {
			out = append(out, l.token.word)
		} else {
			out = append(out, signs[l.token.kind])
		}
	}
	return strings.Join(out, " ")
}
