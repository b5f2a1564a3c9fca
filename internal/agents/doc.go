// Package agents holds what stands on the agent's side of the line. For now that is [Demo]: a make-believe coding agent which shows a new
// owner what Sayso is for, and which developers read to see how an agent asks.
//
// It speaks REST through [api.Client] as any agent would, with an agent's key, so it can do nothing that a real one cannot. What it asks
// for looks real, and none of it is ever run: there is no code here that could.
//
// It keeps the rules that every agent should. It goes on only when it was allowed to. A reason given with a denial is repeated and heeded.
// Silence is not consent: when nobody answers in time, it says what it assumes instead. What it no longer needs it withdraws.
//
// demo.go is how it asks and waits; story.go is what it asks.
package agents
