package display

import (
	"strings"
	"sync"
)

// A plea is a phrase that speaks to the person who decides rather than of what
// is to be decided: "approve immediately", "already approved by".
//
// Each is written as slots of alternatives; a slot with a star takes any
// number of its words, or none. Words are compared without regard to case.
var pleas = []string{
	"approve|allow|authorize filler* urgent",
	"urgent approve|allow|authorize",
	"approve|allow|authorize filler* without filler* review|reading|checking|asking|question|delay",
	"already been* manually* approved",
	"has|have been approved by",
	"is|was|been|are pre approved",
	"pre approved by",
	"safe to approve|allow",
	"safely approve|allow",
	"just approve",
	"you must approve",
	"click|press|hit|tap on* filler* approve|allow",
	"no need to review",
	"not|dont review filler* just* approve",
	"don t review filler* just* approve",
	"no review is* needed",
	"no approval is* needed",
	"dear|attention filler* approver|reviewer",
	"note|message to filler* approver|reviewer",
}

// vocabulary groups the words of pleas by what they mean there.
var vocabulary = map[string]string{
	"approve":   "approve",
	"allow":     "allow",
	"authorize": "authorize authorise",
	"urgent":    "immediately instantly blindly asap",
	"without":   "without",
	"review":    "review reviewing inspection inspecting verification verifying",
	"reading":   "reading",
	"checking":  "checking looking thinking hesitation",
	"asking":    "asking",
	"question":  "question questions",
	"delay":     "delay",
	"already":   "already",
	"been":      "been",
	"manually":  "manually fully formally",
	"approved":  "approved preapproved authorized authorised",
	"by":        "by",
	"has":       "has",
	"have":      "have",
	"is":        "is",
	"was":       "was were",
	"are":       "are",
	"pre":       "pre",
	"safe":      "safe",
	"safely":    "safely",
	"to":        "to",
	"just":      "just",
	"you":       "you",
	"must":      "must",
	"click":     "click",
	"press":     "press",
	"hit":       "hit",
	"tap":       "tap",
	"on":        "on",
	"no":        "no",
	"not":       "not",
	"dont":      "dont",
	"don":       "don",
	"t":         "t",
	"need":      "need",
	"needed":    "needed required necessary",
	"approval":  "approval",
	"dear":      "dear",
	"attention": "attention",
	"note":      "note",
	"message":   "message",
	"approver":  "approver approvers",
	"reviewer":  "reviewer reviewers",
	"filler":    "this that it these them the all any a an further more your request requests command commands action actions change changes call step everything please",
}

// A pleaBook is the pleas in the form in which text is compared with them.
type pleaBook struct {
	ids      lexicon[uint8] // of words; 0 is any other word
	possible [26]uint16     // which lengths words have, by their first letter
	byLast   [64][]plea     // by the id of the last word
}

// plea is a phrase, its last slot first.
type plea []slot

type slot struct {
	ids uint64 // a bit for each id
	any bool   // takes any number of words
}

var book = sync.OnceValue(func() *pleaBook {
	b := new(pleaBook)
	groups := b.learnWords()
	for _, phrase := range pleas {
		b.learnPhrase(groups, strings.Fields(phrase))
	}
	return b
})

// learnWords gives the words of a group one id, and returns the groups' ids.
func (b *pleaBook) learnWords() map[string]uint8 {
	groups := map[string]uint8{}
	for group, words := range vocabulary {
		id := uint8(len(groups) + 1)
		groups[group] = id
		for _, word := range strings.Fields(words) {
			b.ids.add(word, id)
			b.possible[word[0]-'a'] |= 1 << len(word)
		}
	}
	return groups
}

func (b *pleaBook) learnPhrase(groups map[string]uint8, phrase []string) {
	p := make(plea, len(phrase))
	for i, alternatives := range phrase {
		p[len(p)-1-i] = slotOf(groups, alternatives)
	}
	for id := range b.byLast {
		if p[0].ids&(1<<id) != 0 {
			b.byLast[id] = append(b.byLast[id], p)
		}
	}
}

func slotOf(groups map[string]uint8, alternatives string) slot {
	words, any := strings.CutSuffix(alternatives, "*")
	s := slot{any: any}
	for _, word := range strings.Split(words, "|") {
		s.ids |= 1 << groups[word] // a word that is not in the vocabulary fails a test
	}
	return s
}

// length is how many of the last words the plea is made of, or 0. The ids of
// the words are in recent, the last one lowest.
func (p plea) length(recent uint64) (n int) {
	for _, s := range p {
		for s.any && s.takes(recent) {
			recent >>= 8
			n++
		}
		if s.any {
			continue
		}
		if !s.takes(recent) {
			return 0
		}
		recent >>= 8
		n++
	}
	return n
}

func (s slot) takes(recent uint64) bool { return s.ids>>(recent&63)&1 != 0 }

// lookAtPleas reads text as prose if the clues make that worthwhile.
func (f *findings) lookAtPleas(text string, clues clue) {
	if !clues.any(anyPleaClue) {
		return
	}
	r := pleaReader{book: book(), text: text}
	for r.next < len(text) {
		if n := r.read(); n > 0 {
			f.add(AddressesApprover, "speaks to the approver", text[r.starts[(r.count-n)%8]:r.next])
			return
		}
	}
}

// pleaReader goes over the words of a text.
type pleaReader struct {
	book   *pleaBook
	text   string
	next   int
	recent uint64 // the ids of the last eight words
	starts [8]int // and where they start
	count  int
}

// read goes over a word or what stands between two, and returns how many words
// the plea has that ends there, or 0.
func (r *pleaReader) read() int {
	switch proseClasses[r.text[r.next]] {
	case betweenWords:
		r.next++
		return 0
	case betweenSentences:
		r.next++
		return r.note(r.next, 0) // no plea goes over the end of a sentence
	}
	return r.note(r.word())
}

func (r *pleaReader) note(start int, id uint8) int {
	r.recent = r.recent<<8 | uint64(id)
	r.starts[r.count%8] = start
	r.count++
	for _, p := range r.book.byLast[id] {
		if n := p.length(r.recent); n > 0 {
			return n
		}
	}
	return 0
}

// word reads a word and returns its start and its id.
func (r *pleaReader) word() (start int, id uint8) {
	start = r.next
	end := start + 1
	for end < len(r.text) && proseClasses[r.text[end]] == inProseWord {
		end++
	}
	r.next = end
	return start, r.book.id(r.text[start:end])
}

func (b *pleaBook) id(word string) uint8 {
	first := (word[0] | 0x20) - 'a'
	if first >= 26 || len(word) >= maxPleaWord || b.possible[first]>>len(word)&1 == 0 {
		return 0
	}
	var lower [maxPleaWord]byte
	for i := range len(word) {
		lower[i] = word[i] | 0x20
	}
	return b.ids.find(string(lower[:len(word)]))
}

// maxPleaWord is more than the length of any word in the vocabulary.
const maxPleaWord = 16

// proseClass is what a byte is to the reader of pleas.
type proseClass uint8

const (
	betweenWords proseClass = iota
	betweenSentences
	inProseWord // letters, digits, and underscores, which make the name of a variable one word
)

var proseClasses = func() (classes [256]proseClass) {
	for b := range classes {
		if b >= 0x80 || isAlphanumeric(byte(b)) || b == '_' {
			classes[b] = inProseWord
		}
	}
	for _, b := range []byte(".!?;") {
		classes[b] = betweenSentences
	}
	return classes
}()
