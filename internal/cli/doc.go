// Package cli is the command line: `sayso serve` and the commands that talk to a server.
//
// [Main] runs it for this process and [Run] for a test. Every command is one file named after it; the rest of the files are the nouns that
// commands share:
//
//   - discovery.go: which server, with which key;
//   - request.go: a request to a person, from the flags to its end; answer.go: what is printed of it;
//   - operator.go: what an operator's commands look up; inbox.go, show.go and reply.go: the commands of the inbox; choice.go: what --select and
//     --text choose;
//   - mcp.go and setup.go: the tools for agents, and how their programs are told of them;
//   - hook.go and run.go: the adapters of coding agents, which are in package agents;
//   - verify.go, backup.go, restore.go: the commands that work on the data folder itself, through package store;
//   - outage.go: what happens while the server is away;
//   - failure.go and exit.go: what went wrong, what to do about it, and the exit code; envelope.go: the same as JSON;
//   - completion.go: what shells complete; reference.go: the manual, docs/cli.md, which package reference prints;
//   - terminal.go and table.go: what is written for people.
//
// # Promises
//
//   - Standard output holds the result and nothing else: the text of an answer, `allow` or `deny: reason`, an id, a link, or with --json one
//     line. Everything else goes to standard error, after "sayso: ", so that a shell script can wait for a person. With --json, standard
//     error holds at most one line, the error; what is said on the way is told to terminals only.
//   - `allow` is printed and the exit code is 0 only if a person allowed exactly what was asked. Everything else is another exit code: a
//     denial, a timeout, a withdrawal and a server that is away are never told as one another.
//   - What others wrote (requests, reasons, answers, messages of a server) goes through package display, so it cannot control a terminal. Where
//     it stands among our lines it is indented or follows a label of ours, so it cannot pass for one. The exact text comes with --json, in which
//     every character that is not printable is escaped. A command that is told to be run holds nothing that an agent wrote.
//   - What an operator decides is decided on what was read: the answer is bound to its digest, and one that ended meanwhile is a conflict, even
//     if it ended with the same answer.
//   - An error says what happened and where; a hint says what to do.
//   - A request is made at most once, waits through restarts of the server, and is withdrawn when the command is interrupted.
//
// It is not a second client library: everything that a server does goes through [api.Client]. And it decides nothing: the limits of a request are the
// server's, told here in the words of the flags.
//
// The scripts in testdata are its manual.
package cli
