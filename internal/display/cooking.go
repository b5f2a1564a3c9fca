package display

// cookedWord reads a word with quotes or backslashes in it, and without them.
func (l *lexer) cookedWord() bool {
	c := cooking{lexer: l, from: l.cooked.Len(), start: l.next}
	for l.next < len(l.text) && c.take(l.text[l.next]) {
	}
	word := l.cooked.String()[c.from:]
	if word == "" {
		return false
	}
	l.emitWord(c.start, l.next, word)
	return true
}

// cooking is a word being read.
type cooking struct {
	*lexer
	from, start int // of the word in cooked, and in text
	braces      int
}

// take reads what stands next, which starts with b, and reports whether it
// belongs to the word.
func (c *cooking) take(b byte) bool {
	switch byteClasses[b] {
	case wordByte:
		if b == '$' && c.classAt(c.next+1) == quoteByte {
			c.next++ // $'…' is a kind of quote
			return true
		}
		return c.keep(b)
	case quoteByte:
		return c.quote()
	case escapeByte:
		return c.escape()
	case operatorByte:
		return c.brace(b)
	}
	return false
}

func (c *cooking) keep(b byte) bool {
	c.cooked.WriteByte(b)
	c.next++
	return true
}

func (c *cooking) last() byte {
	if c.cooked.Len() == c.from {
		return 0
	}
	s := c.cooked.String()
	return s[len(s)-1]
}

// quote goes over a quote. After : or = it starts a word of its own, as the
// value in JSON or in alias x="…".
func (c *cooking) quote() bool {
	if last := c.last(); last == ':' || last == '=' {
		return false
	}
	c.lexer.quote()
	return true
}

// escape reads a backslash and what it protects.
func (c *cooking) escape() bool {
	if c.next+1 == len(c.text) {
		c.next++
		return true
	}
	switch b := c.text[c.next+1]; b {
	case 'n':
		return false
	case '\n', '"', '\'':
		c.next += 2
		return true
	default:
		c.next++
		return c.keep(b)
	}
}

// brace reads the braces of ${…}; others are operators.
func (c *cooking) brace(b byte) bool {
	switch {
	case b == '{' && c.last() == '$':
		c.braces++
	case b == '}' && c.braces > 0:
		c.braces--
	default:
		return false
	}
	return c.keep(b)
}
