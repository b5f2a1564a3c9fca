package display

import "strings"

// watches are the chips that are looked for in the commands of a text. Each is
// a small state machine that is shown one token after another, so that all of
// them together cost one reading.
type watches struct {
	findings *findings
	text     string

	download *downloadWatch
	remove   *removeWatch
	root     *rootWatch
	push     *pushWatch

	busy bool // one is in the middle of a command, and cares for any word
}

// lookAtCommands reads text as commands if a word in it makes that worthwhile.
func (f *findings) lookAtCommands(text string) {
	w := watches{findings: f, text: text}
	w.choose(withoutQuotes(text))
	for l := newLexer(text); w.any() && l.scan(); {
		if w.busy || l.token.kind != wordToken || l.token.command != noCommand {
			w.see(l)
			w.busy = w.cares()
		}
	}
}

func (w *watches) cares() bool {
	return w.remove != nil && w.remove.command != noCommand || w.push != nil && w.push.state != outsideGit ||
		w.root != nil && w.root.command != noCommand || w.download != nil && w.download.cares()
}

func (w *watches) any() bool {
	return w.download != nil || w.remove != nil || w.root != nil || w.push != nil
}

// choose starts the watches that could find anything. Searching for the words
// is many times faster than reading commands.
func (w *watches) choose(text string) {
	if !w.findings.has(PipesDownloadIntoShell) && mayPipeDownload(text) {
		w.download = new(downloadWatch)
	}
	if !w.findings.has(RecursiveDelete) && mayRemove(text) {
		w.remove = new(removeWatch)
	}
	if !w.findings.has(Sudo) && containsAny(text, "sudo", "doas", "pkexec", "run0", "su -") {
		w.root = new(rootWatch)
	}
	if !w.findings.has(ForcePush) && strings.Contains(text, "push") && hasByte(text, "-+") {
		w.push = new(pushWatch)
	}
}

// see shows the token that l is at to each watch, and drops those that found
// something.
func (w *watches) see(l *lexer) {
	if w.download != nil && w.download.see(l) {
		w.findings.add(PipesDownloadIntoShell, "pipes a download into a shell", w.text[w.download.start:w.download.end])
		w.download = nil
	}
	if w.remove != nil && w.remove.see(&l.token) {
		w.findings.add(RecursiveDelete, "deletes recursively", commandAt(w.text, w.remove.start))
		w.remove = nil
	}
	if w.root != nil && w.root.see(&l.token) {
		w.findings.add(Sudo, "runs as root (sudo)", commandAt(w.text, w.root.start))
		w.root = nil
	}
	if w.push != nil && w.push.see(&l.token) {
		w.findings.add(ForcePush, "force-pushes", commandAt(w.text, w.push.start))
		w.push = nil
	}
}

// commandAt is the simple command at text[start:], as far as a chip shows it.
func commandAt(text string, start int) string {
	text = text[start:min(len(text), start+8*maxMatch)]
	if end := strings.IndexAny(text, ";|&\n)`"); end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, " \t\"'")
}

// withoutQuotes is text without the quotes and backslashes that may break up
// a word.
func withoutQuotes(text string) string {
	if !hasByte(text, `"'\`) {
		return text
	}
	return quoteRemover.Replace(text)
}

var quoteRemover = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// hasByte is strings.ContainsAny, faster for few bytes in a long text.
func hasByte(text, bytes string) bool {
	for i := range len(bytes) {
		if strings.IndexByte(text, bytes[i]) >= 0 {
			return true
		}
	}
	return false
}

func containsAny(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
