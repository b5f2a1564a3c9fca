package cli

import "errors"

// The exit codes. Scripts depend on them.
const (
	exitOK          = 0 // done: answered, or allowed
	exitInternal    = 1
	exitDenied      = 1 // a person said no; to a script that only looks for 0, a bug of ours is the same
	exitInput       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitTimedOut    = 6  // nobody answered
	exitCanceled    = 7  // ended without an answer, by somebody
	exitPending     = 75 // still open: come back later (EX_TEMPFAIL)
	exitInterrupted = 130
)

// ended is the error of a command that has said everything it has to say: only the exit code is left.
type ended int

func (ended) Error() string { return "ended" }

// exit writes what went wrong, if something did, and gives the exit code.
func (p *program) exit(err error) int {
	var code ended
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	f := failureOf(err)
	p.tell(f)
	return f.exit
}
