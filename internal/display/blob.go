package display

import (
	"fmt"
	"strings"
)

// A long token is an unbroken run of the characters that base64, in either
// alphabet, keys and their prefixes are made of. Encoded blocks are long ones
// and keys stand in some: everything shorter is passed over quickly.
const minToken = 16

// maxEncoded is how many characters of base64 in a row are left alone, and
// minEncodedLine how long a line of it is at least when it is wrapped.
const (
	maxEncoded     = 200
	minEncodedLine = 60
)

var inToken = func() (in [256]bool) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-") {
		in[b] = true
	}
	return in
}()

// lookAtTokens looks at each long token of text for a block and for keys.
func (f *findings) lookAtTokens(text string) {
	var b block
	for start, end := nextToken(text, 0); start >= 0; start, end = nextToken(text, end) {
		f.lookForKeys(text, start, end)
		if f.has(EncodedBlob) {
			continue
		}
		if b.extend(text, start, end); b.isEncoded() {
			f.add(EncodedBlob, fmt.Sprintf("encoded block of %d characters", b.size()), text[b.start:b.end])
		}
	}
}

// nextToken finds the first long token from i on. It probes every minToken
// bytes, since no token of that length fits between.
func nextToken(text string, i int) (start, end int) {
	for probe := i + minToken - 1; probe < len(text); {
		if !inToken[text[probe]] {
			probe += minToken
			continue
		}
		start, end = tokenAround(text, i, probe)
		if end-start >= minToken {
			return start, end
		}
		probe, i = end+minToken, end
	}
	return -1, -1
}

// tokenAround is the token that holds text[i], as far as it is after min.
func tokenAround(text string, min, i int) (start, end int) {
	for start = i; start > min && inToken[text[start-1]]; start-- {
	}
	for end = i + 1; end < len(text) && inToken[text[end]]; end++ {
	}
	return start, end
}

// block is what may be one encoded block: a token, or several, one to a line.
type block struct {
	start, end int
	newlines   int
	lastLine   int
	others     int // characters that are neither letters nor digits
}

func (b *block) extend(text string, start, end int) {
	if b.lastLine >= minEncodedLine && start == b.end+1 && text[b.end] == '\n' {
		b.newlines++
	} else {
		*b = block{start: start}
	}
	b.end, b.lastLine = end, end-start
	b.others += others(text[start:end])
}

func (b *block) size() int { return b.end - b.start - b.newlines }

// isEncoded tells a block from a ruler, a path or a slug: base64 has few
// characters that are neither letters nor digits.
func (b *block) isEncoded() bool {
	return b.size() > maxEncoded && 10*b.others <= b.size()
}

func others(s string) (n int) {
	for _, separator := range []string{"+", "/", "-", "_", "="} {
		n += strings.Count(s, separator)
	}
	return n
}
