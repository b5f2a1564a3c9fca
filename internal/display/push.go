package display

import "strings"

// pushWatch looks for a git push that overwrites what others pushed.
type pushWatch struct {
	start int
	state pushState
}

type pushState uint8

const (
	outsideGit pushState = iota
	afterGit             // options of git itself may come, then push
	optionValue
	pushing
)

func (w *pushWatch) see(t *token) bool {
	switch t.kind {
	case wordToken:
		return w.seeWord(t)
	case openToken, closeToken:
		return false // $(…) may stand for any part of the command
	}
	w.state = outsideGit
	return false
}

func (w *pushWatch) seeWord(t *token) bool {
	switch {
	case w.state == pushing:
		return forces(t.word)
	case t.command == gitCommand:
		w.state, w.start = afterGit, t.start
	case w.state == optionValue:
		w.state = afterGit
	case w.state == afterGit:
		w.state = afterGitWord(t.word)
	}
	return false
}

func afterGitWord(word string) pushState {
	switch word {
	case "push":
		return pushing
	case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env":
		return optionValue
	}
	if word[0] == '-' {
		return afterGit
	}
	return outsideGit
}

// forces reports whether word, after git push, forces it: an option, or a
// refspec with a plus. A force "with lease" still overwrites.
func forces(word string) bool {
	switch {
	case strings.HasPrefix(word, "--"):
		return strings.HasPrefix(word, "--for") || word == "--mirror"
	case word[0] == '-':
		letters, _, _ := strings.Cut(word[1:], "o") // -o takes the rest as its value
		return strings.Contains(letters, "f")
	case word[0] == '+':
		return len(word) > 1 && !('0' <= word[1] && word[1] <= '9')
	}
	return false
}
