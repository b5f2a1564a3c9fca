package display

// rootWatch looks for a command that is run as root: sudo or its like with
// something after it, in any part of a pipeline. The word alone, as in "apt
// install sudo", runs nothing.
type rootWatch struct {
	start   int
	command command // the one that is waiting for what it runs
}

func (w *rootWatch) see(t *token) bool {
	if t.kind != wordToken {
		w.command = noCommand
		return false
	}
	if w.runs(t.word) {
		return true
	}
	w.command = noCommand
	if (t.command == rootCommand || t.command == suCommand) && t.first != readerCommand {
		w.command, w.start = t.command, t.start
	}
	return false
}

// runs reports whether word makes the waiting command run something. Without
// an option after it, su is likelier to be a word of Spanish.
func (w *rootWatch) runs(word string) bool {
	switch w.command {
	case rootCommand:
		return true
	case suCommand:
		return word[0] == '-'
	}
	return false
}
