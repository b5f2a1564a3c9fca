package display

import (
	"path"
	"strings"
)

// removeWatch looks for a recursive removal whose target is the root, a top
// directory of the system, somebody's home, a parent directory, or a variable,
// of which nobody can tell here what it holds. Removing ./build or /tmp/x is
// ordinary work.
type removeWatch struct {
	start     int
	command   command // the removal that is being read
	recursive bool
	dangerous bool // a target is
	operands  bool // no more options are expected
}

func (w *removeWatch) see(t *token) bool {
	switch t.kind {
	case wordToken:
		w.seeWord(t)
	case openToken, closeToken: // $(…) may stand for any part of the command
	case tickToken:
		w.seeTick(t)
	default:
		*w = removeWatch{}
	}
	return w.recursive && w.dangerous
}

// seeTick tells rm -rf `pwd`, where something unknown is removed, from the
// tick that ends code in prose: that one stands right after a word.
func (w *removeWatch) seeTick(t *token) {
	if w.recursive && t.apart {
		w.dangerous = true
		return
	}
	*w = removeWatch{}
}

func (w *removeWatch) seeWord(t *token) {
	switch {
	case w.command == findCommand:
		w.seeFind(t)
	case t.command == removeCommand, t.command == findCommand, t.command == powerRemoveCommand:
		w.begin(t)
	case w.command == removeCommand:
		w.seeRemove(t.word)
	case w.command == powerRemoveCommand:
		w.seePowerRemove(t.word)
	}
}

// begin notes the start of a removal. What a second one inherits from a first
// in the same command is wrong at worst in favour of a warning.
func (w *removeWatch) begin(t *token) {
	w.command, w.start = t.command, t.start
}

func (w *removeWatch) seeRemove(word string) {
	switch {
	case w.operands || word[0] != '-':
		w.dangerous = w.dangerous || isDangerousTarget(word)
	case word == "--":
		w.operands = true
	default:
		w.recursive = w.recursive || asksRecursion(word)
	}
}

// asksRecursion reports whether an option of rm does: -r, -R, -fr, --recursive
// or the start of it.
func asksRecursion(option string) bool {
	if strings.HasPrefix(option, "--") {
		return len(option) > 2 && strings.HasPrefix("--recursive", option)
	}
	return strings.ContainsAny(option, "rR")
}

func (w *removeWatch) seePowerRemove(word string) {
	switch {
	case word[0] != '-':
		w.dangerous = w.dangerous || isDangerousTarget(word)
	case len(word) > 1 && (word[1] == 'r' || word[1] == 'R'):
		w.recursive = true
	}
}

// seeFind reads find, whose targets come before its first test and which
// removes by -delete or by running rm.
func (w *removeWatch) seeFind(t *token) {
	switch {
	case t.word == "-delete":
		w.recursive = true
	case t.command == removeCommand:
		w.recursive, w.operands = true, false
		w.command = removeCommand
	case t.word[0] == '-' && len(t.word) > 2:
		w.operands = true
	case !w.operands:
		w.dangerous = w.dangerous || isDangerousTarget(t.word)
	}
}

func isDangerousTarget(target string) bool {
	switch target[0] {
	case '$', '%', '~':
		return true
	case '/':
		return isDangerousPath(path.Clean(target))
	}
	return isDrive(target) || climbs(target)
}

// isDrive reports whether target is all of C:\ and the like, of which the
// lexer has left no backslashes.
func isDrive(target string) bool {
	return len(target) >= 2 && target[1] == ':' && strings.Trim(target[2:], "/.*") == ""
}

func climbs(target string) bool {
	if !strings.Contains(target, "..") {
		return false
	}
	target = path.Clean(target)
	return target == ".." || strings.HasPrefix(target, "../")
}

// isDangerousPath judges an absolute path: the root and anything unknown in
// it, a top directory or all it holds, a person's home or all it holds.
func isDangerousPath(clean string) bool {
	parts := strings.SplitN(clean[1:], "/", 4)
	if top := parts[0]; top == "" || isUnknown(top) {
		return true
	}
	own := ownedBySystem[parts[0]]
	switch len(parts) {
	case 1:
		return own > 0
	case 2:
		return own > 1 || own > 0 && isEverything(parts[1])
	case 3:
		return own > 1 && isEverything(parts[2])
	}
	return false
}

// isUnknown reports whether a shell puts something else for name.
func isUnknown(name string) bool { return strings.ContainsAny(name, "*?$[{") }

func isEverything(name string) bool {
	return name[0] == '$' || strings.Trim(name, "*.?") == ""
}

// ownedBySystem says of top directories how deep they should not be removed:
// 1 the directory itself, 2 also what stands in it, a person's home each.
var ownedBySystem = map[string]int{
	"bin": 1, "boot": 1, "dev": 1, "etc": 1, "lib": 1, "lib32": 1, "lib64": 1, "media": 1, "mnt": 1, "nix": 1,
	"opt": 1, "proc": 1, "root": 1, "run": 1, "sbin": 1, "srv": 1, "sys": 1, "usr": 1, "var": 1,
	"Applications": 1, "Library": 1, "System": 1, "Volumes": 1, "private": 1,
	"home": 2, "Users": 2,
}
