// Package mcp gives Sayso to agents as MCP tools: ask, request_approval and await_answer, and for operators the inbox.
//
// # The shape
//
// [New] makes a server of the official SDK whose tools call a [Backend]. There is one set of rules, and it is not here: the backend is REST,
// for [Serve] over the network and for [Handler] inside the process, with the caller's own key. So no tool can do what its key may not, and a
// tool that lists or answers is no more than a client of routes that refuse an agent's key.
//
//   - ask.go, approval.go, question.go, await.go, inbox.go: the tools; tool.go: how they are described; argument.go: how arguments are read;
//   - result.go: what comes back, to the byte;
//   - wait.go: waiting, progress and what ends a wait; client.go: how long each client holds a call;
//   - stdio.go and http.go: the two ways in; method.go: the requests that are answered; resume.go: how a response over HTTP is gone on with that
//     broke off.
//
// # Promises
//
//   - An answer of request_approval is one text block of bare JSON, never structured content: Claude Code refuses it otherwise.
//   - A native call, Claude Code's permission prompt, is never answered with an MCP error. Whatever fails is a well-formed deny that says that
//     nobody answered; whatever allows carries the whole input, its values byte for byte.
//   - A call never outlives its client. One that is given up early returns what to do next, and the question stays open.
//   - A person's answer is asked for once: the same call again, or the same question of an asker that is gone, joins the card that is there.
//   - Only the client's own cancellation withdraws a question. A connection that breaks, a process that dies and our own shutdown do not.
package mcp
