package display

import "strings"

// downloadWatch looks for a download that is run unseen: piped into a shell,
// or substituted into what a shell is told to run.
type downloadWatch struct {
	start, end int // of the match

	fetch  fetch
	runner runner
	sink   bool // an interpreter reads the pipe, and runs it unless a script is named

	depth  int  // of parentheses and braces
	ticked bool // between backquotes
	armed  int  // the depth from which on output is run, or 0
}

// fetch is a download in the pipeline being read.
type fetch struct {
	start   int
	named   bool // the command was
	started bool // and it was given something to download
	piped   bool // and its output goes on
}

// runner is a command that may run its arguments.
type runner struct {
	start   int
	command command
	code    bool // an option says that code follows
	operand bool // a script was named
}

func (w *downloadWatch) see(l *lexer) bool {
	if l.token.kind == wordToken {
		return w.seeWord(&l.token)
	}
	if w.sink {
		return true
	}
	w.seeOperator(l)
	return false
}

// cares reports whether a word that names no command matters.
func (w *downloadWatch) cares() bool {
	return w.sink || w.fetch.named && !w.fetch.started || w.runner.command != noCommand
}

func (w *downloadWatch) seeOperator(l *lexer) {
	switch l.token.kind {
	case pipeToken:
		w.pipe()
	case openToken:
		w.open(l.after('$') || l.after('<'))
	case closeToken:
		w.close()
	case tickToken:
		w.tick()
	case newlineToken, endToken:
		w.endCommand(&l.token)
	}
}

// pipe notes that what was downloaded goes on. A download of nothing, as in
// the pattern foo|curl|sh, is none.
func (w *downloadWatch) pipe() {
	w.runner = runner{}
	if !w.fetch.started {
		w.fetch = fetch{}
	}
	w.fetch.piped = w.fetch.started
}

// endCommand forgets the pipeline, unless it goes on: inside parentheses, as
// all of (a; b) is piped, and at a newline right after a pipe.
func (w *downloadWatch) endCommand(t *token) {
	w.runner = runner{}
	if w.depth == 0 && !t.afterPipe {
		w.fetch = fetch{}
	}
}

func (w *downloadWatch) tick() {
	w.ticked = !w.ticked
	if w.ticked {
		w.open(true)
	} else {
		w.close()
	}
}

// open enters parentheses, which arm the watch when their output is run.
func (w *downloadWatch) open(substituted bool) {
	w.depth++
	if w.armed == 0 && w.runner.runs(substituted) {
		w.armed, w.start = w.depth, w.runner.start
	}
	w.runner = runner{}
}

func (w *downloadWatch) close() {
	w.depth = max(0, w.depth-1)
	if w.depth < w.armed {
		w.armed = 0
	}
	w.runner = runner{}
}

// runs reports whether what stands in the parentheses that follow is run. A
// shell runs it as code after -c, or in place of a script; to a script it
// would be an argument.
func (r *runner) runs(substituted bool) bool {
	switch r.command {
	case evaluateCommand:
		return true
	case shellCommand, interpreterCommand:
		return substituted && (r.code || !r.operand)
	}
	return false
}

func (w *downloadWatch) seeWord(t *token) bool {
	if w.sink {
		w.sink = false
		if t.word == "-" {
			return true
		}
	}
	if w.fetch.named && !w.fetch.started {
		w.fetch.started = true
		if w.armed > 0 {
			w.end = t.end
			return true
		}
	}
	return w.seeCommand(t)
}

func (w *downloadWatch) seeCommand(t *token) bool {
	switch t.command {
	case fetchCommand:
		w.seeFetch(t)
	case fetchMethod:
		w.end = t.end
		return w.armed > 0
	case shellCommand, interpreterCommand, evaluateCommand:
		return w.seeRunner(t)
	default:
		w.runner.seeArgument(t.word)
	}
	return false
}

// seeFetch notes a download. Under xargs it needs no argument of its own, and
// that git fetches means something else.
func (w *downloadWatch) seeFetch(t *token) {
	if (!w.fetch.started || w.armed > 0) && t.first != gitCommand {
		w.fetch = fetch{start: t.start, named: true, started: t.first == wrapperCommand}
	}
}

func (w *downloadWatch) seeRunner(t *token) bool {
	if !leads(t) {
		return false
	}
	w.runner = runner{start: t.start, command: t.command}
	if !w.fetch.piped {
		return false
	}
	w.start, w.end = w.fetch.start, t.end
	w.sink = t.command == interpreterCommand
	return !w.sink
}

// leads reports whether t stands where a command does: first, or after one
// that runs another.
func leads(t *token) bool {
	switch {
	case t.position == 0:
		return true
	case t.word == ".":
		return false
	}
	return t.first == wrapperCommand || t.first == rootCommand || t.first == suCommand
}

// seeArgument notes how the runner is told what to run.
func (r *runner) seeArgument(word string) {
	switch {
	case r.command == noCommand, word == "$":
	case word[0] == '-':
		r.code = r.code || strings.ContainsAny(word, "ce")
	default:
		r.operand = true
	}
}
