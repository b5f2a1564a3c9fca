package views

// Frame is the page inside an app's frame. It holds no data: its script fetches the cards once somebody is vouched for.
type Frame struct {
	Base    string
	Nonce   string   // of this response's Content-Security-Policy
	EmbedID string   // "" for a frame that shows State alone
	Origins []string // of the pages that may hold it
	State   FrameState
}

// FrameState is what a frame says when it shows no cards.
type FrameState string

// The states of a frame.
const (
	FrameConnecting  FrameState = "connecting"  // waits for a token
	FrameEmpty       FrameState = "empty"       // no card is open
	FrameExpired     FrameState = "expired"     // the token or the session is not good any more
	FrameDisabled    FrameState = "disabled"    // the embed or its key is not good any more
	FrameUnknown     FrameState = "unknown"     // there is no such embed
	FrameWrongOrigin FrameState = "origin"      // the token was made for another site
	FrameUnreachable FrameState = "unreachable" // the server does not answer, or the app gives no token
	FrameMisused     FrameState = "misused"     // a token in the address
	FrameAlone       FrameState = "alone"       // it is in no frame
)

// frameWords are what each state says: what is the matter, and what there is to do.
var frameWords = []struct {
	State       FrameState
	Title, Text string
	Retry       bool // trying again may help
}{
	{FrameConnecting, "Loading requests…", "", false},
	{FrameEmpty, "Nothing is waiting for you", "Requests appear here as soon as an agent asks.", false},
	{FrameExpired, "This session has ended", "The app may let you in again. Nothing that you answered is lost.", true},
	{FrameDisabled, "These requests are not shown here any more", "Whoever runs Sayso has switched this off.", false},
	{FrameUnknown, "There are no requests here", "This frame is not registered with Sayso, or no longer.", false},
	{FrameWrongOrigin, "This site may not show these requests", "The app vouched for you on another site.", false},
	{FrameUnreachable, "The requests cannot be loaded right now", "The app or Sayso does not answer.", true},
	{FrameMisused, "This address cannot be used", "It has a token where others may read it. The app must hand it over another way.", false},
	{FrameAlone, "These requests are shown inside an app", "Open the app that shows them, or Sayso itself.", false},
}

// url is a path of ours, below the base path.
func (f Frame) url(path string) string { return f.Base + path }
