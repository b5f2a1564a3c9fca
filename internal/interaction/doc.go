// Package interaction is what Sayso is about: one request of an agent to a person and the rules of how it ends, and the conversation of
// that agent in which it happens.
//
// # The life of an interaction
//
// An asker creates it: a permission from a tool call, or a question from a form ([Ask], [New]). It is then [Open] and shows as a
// card. It ends once, for ever, by one of three methods on the value:
//
//	Interaction.Resolve   a person answered
//	Interaction.Cancel    its asker withdrew it
//	Interaction.Expire    its deadline passed
//
// or with what happens in its agent's conversation: a message superseded it, the agent was stopped or archived, or its tool call was
// completed another way.
//
// Each returns a [Change]: everything that this ending writes. The methods do no I/O and read no clock. The [Store] runs them
// inside the transaction that writes the change, so whoever commits first wins and everybody after sees a final interaction.
// Nothing is checked first and done later.
//
// # The conversation
//
// People send an agent an [Input], which waits until the agent's runtime takes it ([Service.Send], [Service.Claim]). The runtime reports
// what the agent says and the tools it calls ([Service.Report]); a [Call] that a person must decide on opens an interaction. What became
// of a call is its result ([Service.Finish]). Each of these, and [Service.Stop] and [Service.Archive], is one function over a
// [Conversation], which reads inside a transaction, to a [Turn]: the list of everything that is written, in order. The order of the list
// is the order of the log, and there is no state between the one before a turn and the one after it.
//
// The log ([Event]) is one for the whole project. Readers see parts of it: [ConversationEvents], [LifecycleEvents], [TimelineEvents].
//
// # The parts
//
// A [Head] is everything that never changes after creation: the request shown, the tool call, the deadline, the digest to which a
// decision is bound. An [End] is how it ended and by whom. A [Delivery] is how far the answer got to the agent, and the only part
// that may change after the end. Head and end are encoded once, as the published JSON record ([Record.AppendJSON]); the store
// keeps those bytes and REST sends them, so what was shown, what is stored and what is read later are the same text.
//
// A tool call meets what an operator has written down, a [Decider], before anybody is asked: in [Service.Create] and [Service.Report], by which
// every one comes in, and inside the transaction that writes what became of it. A [Decided] call opens nothing and is told to nobody; it is
// recorded, and audited. What the rules say is elsewhere.
//
// A call that the agent's program asks about itself, as a permission prompt or a hook, may also be reported, before or after. It is one call all
// the same: see [Elsewhere].
//
// [Service] is the one door: REST, pages, CLI and MCP call it with a [Principal], and it decides who may do what. An agent's
// credential can never list or resolve; that is refused by type in [Interaction.Resolve], and again by a constraint in the database.
//
// A [Guest] is somebody whom another app vouches for, in a frame on that app's pages. What its registration, an [Embed], allows at the moment is the
// most that a guest has: to see the cards of its agents and to answer them, and nothing beside.
//
// The package imports the standard library only. Every failure that a caller can cause is an [*Error], whose message may be shown to
// anybody.
package interaction
