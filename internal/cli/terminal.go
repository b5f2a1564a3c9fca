package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"sayso/internal/display"
)

// The rules of what people read:
//
//   - The result goes to standard output, bare.
//   - Everything else goes to standard error, one line each, after "sayso: ".
//   - A line that says what went wrong continues "error: ", one that says what to do "hint: ".
//   - Nothing is written that display has not made safe.

// notice says something on the way. With --json it is for terminals only, so that a program finds nothing but the error there.
func (p *program) notice(format string, args ...any) {
	if !p.json || isTerminal(p.stderr) {
		p.line(format, args...)
	}
}

// tell says what went wrong.
func (p *program) tell(f *failure) {
	if p.json {
		p.refusal(f)
		return
	}
	p.line("error: %s", f.what)
	if f.hint != "" {
		p.line("hint: %s", f.hint)
	}
}

// line writes one line to standard error. There is nobody to tell that it failed.
func (p *program) line(format string, args ...any) {
	text := strings.TrimSpace(fmt.Sprintf(format, args...))
	fmt.Fprintf(p.stderr, "sayso: %s\n", display.Line(text))
}

// result writes the result, which may have several lines.
func (p *program) result(text string) error {
	_, err := fmt.Fprintln(p.stdout, display.Show(text))
	return err
}

// resultLine writes a result that is one line, whatever it holds.
func (p *program) resultLine(text string) error {
	_, err := fmt.Fprintln(p.stdout, display.Line(text))
	return err
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
