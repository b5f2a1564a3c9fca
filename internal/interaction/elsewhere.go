package interaction

import (
	"bytes"
	"slices"
)

// A tool call can reach us through two doors: one tells what the agent's program prints or has done, another asks about it, as a permission
// prompt or a hook. They do not wait for each other. Whichever comes first, it is one call with one interaction, by these rules. The two are the
// same call if the program gave both the same id and they ask for exactly the same; one that differs is a call of its own, since nobody decided
// on it.

// askedElsewhere is the id of the call of an interaction about exactly c, which p may report on; "": there is none. A call that was canceled is
// over for us, and what its program did with it all the same is told as a call of its own.
func (c ToolCall) askedElsewhere(in Conversation, p Principal) (ID, error) {
	ask, err := askOf(c)
	if err != nil {
		return "", err
	}
	calls, err := in.AskedAs(Head{Kind: ask.kind(), Request: *ask.Request, ToolCall: ask.ToolCall}.digest(), c.ProviderCallID)
	for _, asked := range calls {
		if p.made(asked) && asked.Outcome != ToolCallCanceled {
			return asked.ID, err
		}
	}
	return "", err
}

// takenOver is a with the id of its call if that was told already, has not ended and has no interaction.
func (a Ask) takenOver(in Conversation, p Principal) (Ask, error) {
	if a.Join == nil || a.Join.CallID == "" || a.ToolCall == nil {
		return a, nil
	}
	calls, err := in.Unfinished()
	for _, told := range slices.Backward(calls) {
		if told.InteractionID == "" && told.ProviderCallID == a.Join.CallID && told.same(*a.ToolCall) && p.made(told) {
			call := *a.ToolCall
			call.ID = told.ID
			a.ToolCall = &call
			break
		}
	}
	return a, err
}

// same says whether c and o ask for exactly the same.
func (c ToolCall) same(o ToolCall) bool { return c.Name == o.Name && bytes.Equal(c.Input, o.Input) }
