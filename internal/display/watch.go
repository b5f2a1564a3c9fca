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

// lookAtCommands reads text as commands if the clues make that worthwhile.
func (f *findings) lookAtCommands(text string, clues clue) {
	if clues.any(quoteClue) {
		clues = glance(withoutQuotes(text)) // r\m, s""udo
	}
	w := watches{findings: f, text: text}
	w.choose(clues)
	for l := newLexer(text); w.any() && l.scan(); {
		if w.busy || l.token.kind != wordToken || l.token.command != noCommand {
			w.see(l)
			w.busy = w.cares()
		}
	}
}

func withoutQuotes(text string) string {
	return quoteRemover.Replace(strings.ReplaceAll(text, "\\\n", ""))
}

var quoteRemover = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// choose starts the watches that could find anything.
func (w *watches) choose(clues clue) {
	if clues.any(pipeClue|openClue) && clues.any(anyFetchClue) {
		w.download = new(downloadWatch)
	}
	if clues.any(dashClue) && clues.any(targetClue|parentClue) && clues.any(anyRemoveClue) {
		w.remove = new(removeWatch)
	}
	if clues.any(anyRootClue) {
		w.root = new(rootWatch)
	}
	if clues.any(dashClue|plusClue) && clues.any(pushClue) {
		w.push = new(pushWatch)
	}
}

func (w *watches) any() bool {
	return w.download != nil || w.remove != nil || w.root != nil || w.push != nil
}

// cares reports whether a watch is in the middle of a command, so that any word
// matters.
func (w *watches) cares() bool {
	return w.remove != nil && w.remove.command != noCommand || w.push != nil && w.push.state != outsideGit ||
		w.root != nil && w.root.command != noCommand || w.download != nil && w.download.cares()
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
