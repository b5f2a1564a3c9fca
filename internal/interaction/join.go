package interaction

import "time"

// HandOverWithin is how long after its end an answer is handed to an asker that was gone, if it asks the same again.
const HandOverWithin = 10 * time.Minute

// Join has an ask take up what was asked before, instead of asking twice. Only asks with a Join take part in that, on both sides: whoever
// creates without one gets a new interaction each time.
type Join struct {
	CallID string // the asker's own id of the call, the same when the call is made again; "": it has none
}

func (j *Join) check() error {
	if j == nil {
		return nil
	}
	return verbatim("join.call_id", j.CallID, maxProviderCall)
}

// Joining finds the interaction that an ask takes up. The store looks in the transaction that would open a new one, so that two calls at
// once cannot make two cards.
type Joining struct {
	Digest string
	CallID string
	By     Principal
	In     ID // the project
	Now    time.Time
}

// joining is nil for an ask that takes up nothing.
func (a Ask) joining(p Principal, in Project, now time.Time) *Joining {
	if a.Join == nil {
		return nil
	}
	digest := Head{Kind: a.kind(), Request: *a.Request, ToolCall: a.ToolCall}.digest()
	return &Joining{Digest: digest, CallID: a.Join.CallID, By: p, In: in.ID, Now: now}
}

// Takes says whether i, which asks exactly the same and was asked under callID, is taken up: the caller's own, that is open and either the
// same call or one that nobody waits for, or that was answered lately and whose answer did not reach its asker. What ended in another way
// is asked anew.
func (j *Joining) Takes(i Interaction, callID string) bool {
	if !j.By.asked(i) || i.ProjectID != j.In {
		return false
	}
	sameCall := j.CallID != "" && j.CallID == callID
	nobodyWaits := !i.Delivery.AskerGoneSince.IsZero() || i.WaitMode == Suspend
	switch i.State {
	case Open:
		return sameCall || nobodyWaits
	case Resolved:
		late := j.Now.Sub(i.End.At) > HandOverWithin
		return !late && (sameCall || nobodyWaits && i.Delivery.PickedUpAt.IsZero())
	}
	return false
}
