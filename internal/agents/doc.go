// Package agents holds what stands on the agent's side of the line: the adapters of coding agents that are not ours, and a demo agent that is.
//
// # Adapters
//
// [Hooks] answers the hooks of Claude Code, Codex and Gemini CLI, for `sayso hook` and for POST /hooks/claude alike: what a client wants to do
// becomes a card, what it did and said reaches the conversation. Reading a call ([ReadHook]) and writing the answer ([Verdict.Reply]) are pure
// functions. [Notes] are what one call of a hook leaves for the next, since an asker's key can look for nothing on the server. [Run] tells a
// conversation what Claude Code prints, for `sayso run`.
//
// A gate allows only what a person or a policy allowed, and exactly that; whatever else happens it denies, and says what happened. Only a hook that is
// told to advise leaves it to its client then. Answers are in the client's own form, to the byte: it takes a form that it does not know for no
// opinion.
//
// # Demo
//
// [Demo] is a make-believe coding agent which shows a new owner what Sayso is for, and which developers read to see how an agent asks.
//
// It speaks REST through [api.Client] as any agent would, with an agent's key, so it can do nothing that a real one cannot. What it asks
// for looks real, and none of it is ever run: there is no code here that could.
//
// It keeps the rules that every agent should. It tells its conversation what it thinks, says and calls; a call that a person is to decide on
// opens a card, and what became of an allowed one is reported. It goes on only when it was allowed to. A reason given with a denial is repeated
// and heeded. Silence is not consent: when nobody answers in time, it says what it assumes instead. What it no longer needs it withdraws. What
// people write it reads between its steps, and what steers it also while it waits; a message that took the place of what it asked comes first, and changes its plan. When it is told to
// stop it stops.
//
// An agent's key cannot read the conversation back. The agent knows its calls, and which of them a person decides on, from the answer to its
// own report; and it learns of a stop from how its open request ended, or from a result that comes too late. (There is no other way: while
// nothing is open, a stop reaches it with its next result.)
//
// hook.go is the forms of hooks, prompt.go Claude Code's own questions, session.go what becomes of a call, note.go and result.go what these share;
// run.go is a run. Of the demo, demo.go is how it begins and ends; call.go is how it tells, asks and waits; listen.go is how it reads what people write; story.go is what it
// does.
package agents
