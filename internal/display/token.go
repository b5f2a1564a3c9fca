package display

import "strings"

// A lexer cuts text into the words and operators of a shell, generously: the
// text may be a command, a script, JSON around a command, or prose about one.
// Quotes do not protect what is in them, since what is quoted for one shell is
// run by the next (sh -c '…', ssh host "…", ["rm", "-rf", "/"]); but quotes and
// backslashes within a word are taken out, as in r"m" or \rm.
type lexer struct {
	text  string
	next  int
	token token

	quoted byte            // the quote that is open, or 0
	ended  bool            // the newline that ends every text was given out
	cooked strings.Builder // the words that quotes were taken out of
}

type token struct {
	kind       tokenKind
	start, end int
	word       string
	command    command // what the word names, if it is a command of interest
	position   int     // of the word within its simple command
	first      command // the first word's
	apart      bool    // blanks come before it
	afterPipe  bool    // the token before this operator was a pipe
}

type tokenKind uint8

const (
	wordToken    tokenKind = iota
	pipeToken              // |
	endToken               // ; && || &
	newlineToken           // a newline, also as \n in JSON
	openToken              // ( {
	closeToken             // ) }
	tickToken              // `
)

// byteClass is what a byte is to the lexer.
type byteClass uint8

const (
	wordByte byteClass = iota
	blankByte
	quoteByte
	escapeByte
	operatorByte
)

var byteClasses = classify(map[byteClass]string{
	blankByte:    " \t,[]<>",
	quoteByte:    `"'`,
	escapeByte:   `\`,
	operatorByte: "\n|&;(){}`",
})

func classify(of map[byteClass]string) (classes [256]byteClass) {
	for class, bytes := range of {
		for _, b := range []byte(bytes) {
			classes[b] = class
		}
	}
	return classes
}

func newLexer(text string) *lexer {
	return &lexer{text: text, token: token{kind: newlineToken}}
}

// scan reads the next token and reports whether there was one. The last is
// always a newline, so that whoever waits for the end of a command sees it.
func (l *lexer) scan() bool {
	l.token.apart = false
	for l.next < len(l.text) {
		switch byteClasses[l.text[l.next]] {
		case blankByte:
			l.token.apart = true
			l.next++
		case operatorByte:
			if l.isData() {
				l.next++
			} else if l.operator() {
				return true
			}
		case escapeByte:
			if l.escapedNewline() || l.word() {
				return true
			}
		default:
			if l.word() {
				return true
			}
		}
	}
	if l.ended {
		return false
	}
	l.ended = true
	return l.emit(newlineToken, l.next)
}

// isData reports whether the operator that stands next is part of what a
// command such as grep is given in quotes, and separates nothing.
func (l *lexer) isData() bool {
	if !l.readsData() {
		return false
	}
	switch l.text[l.next] {
	case '\n', '`':
		return false
	case '(':
		return l.text[l.next-1] != '$'
	}
	return true
}

func (l *lexer) readsData() bool {
	return l.quoted != 0 && l.token.first == readerCommand && l.token.kind == wordToken
}

// quote goes over a quote.
func (l *lexer) quote() {
	switch c := l.text[l.next]; l.quoted {
	case 0:
		l.quoted = c
	case c:
		l.quoted = 0
	}
	l.next++
}

// word reads a word. Most need no cooking: they stand as they are, or next to
// quotes.
func (l *lexer) word() bool {
	if l.classAt(l.next) == quoteByte {
		l.quote()
	}
	start, end := l.next, l.wordEnd(l.next)
	rest := end
	if l.classAt(rest) == quoteByte {
		rest++
	}
	if end == start || l.continues(rest) {
		return l.cookedWord()
	}
	l.next = end
	l.emitWord(start, end, l.text[start:end])
	if end < rest {
		l.quote()
	}
	return true
}

func (l *lexer) wordEnd(i int) int {
	for i < len(l.text) && byteClasses[l.text[i]] == wordByte {
		i++
	}
	return i
}

func (l *lexer) classAt(i int) byteClass {
	if i >= len(l.text) {
		return operatorByte
	}
	return byteClasses[l.text[i]]
}

// continues reports whether a word that came to i may go on there: after a
// quote, or with the braces of a variable.
func (l *lexer) continues(i int) bool {
	switch l.classAt(i) {
	case wordByte, quoteByte, escapeByte:
		return true
	case operatorByte:
		return i < len(l.text) && l.text[i] == '{' && l.text[i-1] == '$'
	}
	return false
}

func (l *lexer) emitWord(start, end int, word string) {
	t := &l.token
	data := l.quoted != 0 && l.readsData()
	if t.kind != wordToken {
		t.position = -1
	}
	t.position++
	t.kind, t.start, t.end, t.word = wordToken, start, end, word
	t.command = noCommand
	if mayBeCommand(word) && !data {
		t.command = commandOf(word)
	}
	if t.position == 0 || t.first == gitCommand {
		t.noteFirst()
	}
}

// noteFirst keeps what the command line starts with, which says how to take
// the rest.
func (t *token) noteFirst() {
	switch {
	case t.position > 0:
		if takesProse(t.word) {
			t.first = readerCommand
		}
	case t.command == noCommand && strings.IndexByte(t.word, '=') > 0:
		t.first = wrapperCommand // an assignment before a command
	default:
		t.first = t.command
	}
}

// takesProse reports whether what follows the subcommand of git is for people.
func takesProse(subcommand string) bool {
	switch subcommand {
	case "commit", "tag", "notes", "grep", "log":
		return true
	}
	return false
}

// operator reads an operator, or goes over one that separates nothing.
func (l *lexer) operator() bool {
	start := l.next
	c := l.text[start]
	l.next++
	switch c {
	case '\n':
		l.quoted = 0
		return l.emit(newlineToken, start)
	case '|':
		return l.pipe(start)
	case '&':
		return l.ampersand(start)
	case ';':
		return l.emit(endToken, start)
	case '(', '{':
		return l.emit(openToken, start)
	case ')', '}':
		return l.emit(closeToken, start)
	}
	return l.emit(tickToken, start)
}

func (l *lexer) emit(kind tokenKind, start int) bool {
	l.token.afterPipe = l.token.kind == pipeToken || kind == newlineToken && l.token.kind == newlineToken && l.token.afterPipe
	l.token.kind, l.token.start, l.token.end = kind, start, l.next
	l.token.command, l.token.word = noCommand, ""
	return true
}

func (l *lexer) pipe(start int) bool {
	if l.follows('|') {
		return l.emit(endToken, start)
	}
	l.follows('&')
	return l.emit(pipeToken, start)
}

// escapedNewline reads a newline that is written \n, as in JSON.
func (l *lexer) escapedNewline() bool {
	start := l.next
	if !strings.HasPrefix(l.text[start:], `\n`) {
		return false
	}
	l.next += len(`\n`)
	return l.emit(newlineToken, start)
}

// ampersand tells the end of a command from a redirection such as 2>&1.
func (l *lexer) ampersand(start int) bool {
	if start > 0 && l.text[start-1] == '>' || l.follows('>') {
		return false
	}
	l.follows('&')
	return l.emit(endToken, start)
}

// follows goes over c if it comes next.
func (l *lexer) follows(c byte) bool {
	if l.next < len(l.text) && l.text[l.next] == c {
		l.next++
		return true
	}
	return false
}

// after reports whether the token was preceded immediately by c.
func (l *lexer) after(c byte) bool {
	return l.token.start > 0 && l.text[l.token.start-1] == c
}
