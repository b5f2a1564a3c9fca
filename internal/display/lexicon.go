package display

// lexicon finds words among the few hundred that a chip knows, faster than a
// map: it is asked for each word of a text.
type lexicon[T any] struct {
	shelves [256][]entry[T]
}

type entry[T any] struct {
	word    string
	meaning T
}

func (l *lexicon[T]) add(word string, meaning T) {
	shelf := &l.shelves[shelfOf(word)]
	*shelf = append(*shelf, entry[T]{word, meaning})
}

// find is what word, which is not empty, means, or nothing.
func (l *lexicon[T]) find(word string) (meaning T) {
	shelf := l.shelves[shelfOf(word)]
	for i := range shelf {
		if shelf[i].word == word {
			return shelf[i].meaning
		}
	}
	return meaning
}

func shelfOf(word string) uint8 {
	n := len(word)
	return word[0] + word[n-1]<<3 + word[n/2]<<5 + uint8(n)
}
