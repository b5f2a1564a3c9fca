package store

import (
	"strings"
	"unicode"

	"sayso/internal/interaction"
)

// mostWords is how many words are searched for at most; more are not looked at.
const mostWords = 32

// shortestPrefix is how many characters the last word has at least to be taken as the beginning of one: few letters begin very many words.
const shortestPrefix = 3

// matchWords is what a person typed, in the syntax of FTS5: every word quoted, so that nothing in it means anything, and all of them wanted.
// It is "" where there is nothing to look for.
func matchWords(typed string) string {
	typed = strings.ToValidUTF8(strings.ReplaceAll(typed, "\x00", " "), " ")
	var words []string
	for word := range strings.FieldsSeq(typed) {
		if strings.ContainsFunc(word, isWordPart) && len(words) < mostWords {
			words = append(words, `"`+strings.ReplaceAll(word, `"`, `""`)+`"`)
		}
	}
	if len(words) == 0 {
		return ""
	}
	if last := words[len(words)-1]; strings.Count(last, "")-1 >= shortestPrefix+2 && !endsInBlank(typed) {
		words[len(words)-1] = last + "*"
	}
	return strings.Join(words, " ")
}

// isWordPart says whether the index has words of r at all.
func isWordPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// endsInBlank says whether the last word was typed to its end.
func endsInBlank(typed string) bool {
	return strings.TrimRightFunc(typed, unicode.IsSpace) != typed
}

// searched has the query look for words: through the index of them, which has the rows in their order. Without words it changes nothing.
func (s *Store) searched(q *query, words string) error {
	if words == "" {
		return nil
	}
	if !s.index.words {
		return interaction.Errorf(interaction.Unavailable,
			"This program was built without full-text search. Build it with make, or with: go build -tags sqlite_fts5 ./cmd/sayso")
	}
	if match := matchWords(words); match != "" {
		q.where("w.words MATCH +?", match)
	} else {
		q.where("0")
	}
	return nil
}

// searchedInteractions are interactions i that have the words, in the order of recording.
const searchedInteractions = "idx.words w CROSS JOIN idx.listed l ON l.key = w.rowid CROSS JOIN interactions i ON i.key = l.interaction"

// searchPage is a page of searchedInteractions, behind the interaction that the cursor names.
func (q *query) searchPage(p interaction.Page) {
	order, beyond := "", " > "
	if p.Newest {
		order, beyond = " DESC", " < "
	}
	if p.After != nil {
		q.where("w.rowid"+beyond+"(SELECT l.key FROM idx.listed l JOIN interactions i ON i.key = l.interaction WHERE i.id = +?)", p.After.ID)
	}
	q.tail = " ORDER BY w.rowid" + order + " LIMIT +?"
	q.args = append(q.args, p.Limit+1)
}
