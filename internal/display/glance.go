package display

import "strings"

// clue is a set of signs that a text holds what a chip is about. Without them
// there is no need to read it as commands or as prose.
type clue uint64

const (
	pipeClue clue = 1 << iota
	openClue
	curlClue
	wgetClue
	fetchClue
	iwrClue
	irmClue
	axelClue
	ariaClue
	lwpClue
	invokeClue
	downloadClue
	rmClue
	findClue
	itemClue
	aliasClue
	targetClue
	parentClue
	dashClue
	sudoClue
	doasClue
	pkexecClue
	run0Clue
	suClue
	pushClue
	plusClue
	quoteClue
	urlClue
	atClue
	keyClue
	authClue
	approveClue
	allowClue
	reviewClue
)

// Clues that come in several forms.
const (
	anyFetchClue  = curlClue | wgetClue | fetchClue | iwrClue | irmClue | axelClue | ariaClue | lwpClue | invokeClue | downloadClue
	anyRemoveClue = rmClue | findClue | itemClue | aliasClue
	anyRootClue   = sudoClue | doasClue | pkexecClue | run0Clue | suClue
	anyPleaClue   = approveClue | allowClue | reviewClue | authClue
)

// clueShapes are three bytes in a row that give a clue: for each, which it may
// be, or nothing for any.
var clueShapes = map[clue][3]string{
	pipeClue:     {"|"},
	openClue:     {"(`"},
	curlClue:     {"c", "u", "r"},
	wgetClue:     {"w", "g", "e"},
	fetchClue:    {"f", "e", "t"},
	iwrClue:      {"i", "w", "r"},
	irmClue:      {"i", "r", "m"},
	axelClue:     {"a", "x", "e"},
	ariaClue:     {"a", "2", "c"},
	lwpClue:      {"l", "w", "p"},
	invokeClue:   {"n", "v", "o"},
	downloadClue: {"w", "n", "l"},
	rmClue:       {"r", "m", notLetters},
	findClue:     {"i", "n", "d"},
	itemClue:     {"e", "-", "Ii"},
	aliasClue:    {"idler", " \t", "-"},
	targetClue:   {"/~$%:`"},
	parentClue:   {".", "."},
	dashClue:     {"-"},
	sudoClue:     {"u", "d", "o"},
	doasClue:     {"o", "a", "s"},
	pkexecClue:   {"p", "k", "e"},
	run0Clue:     {"u", "n", "0"},
	suClue:       {"u", " \t", "-"},
	pushClue:     {"u", "s", "h"},
	plusClue:     {"+"},
	quoteClue:    {`"'\`},
	urlClue:      {":", "/", "/"},
	atClue:       {"@"},
	keyClue:      {"-", "B", "E"},
	authClue:     {"uU", "tT", "hH"},
	approveClue:  {"pP", "rR", "oO"},
	allowClue:    {"lL", "oO", "wW"},
	reviewClue:   {"vV", "iI", "eE"},
}

const notLetters = "\t\n !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// clueBits are the clues of which a byte may be the first, second and third.
type clueBits [3]clue

var clueTable = func() *[256]clueBits {
	t := new([256]clueBits)
	for c, shape := range clueShapes {
		for at, bytes := range shape {
			for b := range 256 {
				if bytes == "" || strings.IndexByte(bytes, byte(b)) >= 0 {
					t[b][at] |= c
				}
			}
		}
	}
	return t
}()

// glance finds all clues in text, as if a newline followed. It takes less time
// than searching for a few of the words that they stand for.
func glance(text string) (found clue) {
	var first, second clue // those that the bytes so far have started
	for i := range len(text) {
		bits := &clueTable[text[i]]
		found |= second & bits[2]
		second = first & bits[1]
		first = bits[0]
	}
	end := &clueTable['\n']
	return found | second&end[2] | first&end[1]&end[2]
}

func (c clue) any(of clue) bool { return c&of != 0 }
