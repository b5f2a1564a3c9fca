package views

import (
	"strconv"
	"time"

	"sayso/internal/display"
)

// Page is what every page shares.
type Page struct {
	Title   string
	Base    string // path the product is mounted on: "" or "/sayso"; no slash at its end
	Nonce   string // of this response's Content-Security-Policy
	Project string // how paths name the project in view; "" where none is
	Section Section
	Open    int    // open cards in the project: the rail's count, the tab title, the favicon
	User    string // who is signed in; "" shows no rail
	// ProjectName is what people call the project in view, and Projects are the others that they may go to.
	ProjectName string
	Projects    []ProjectLink
	// MayAudit and MayManage say whose pages the rail and the settings lead to.
	MayAudit, MayManage bool
	// MayFound says that the person makes orgs and projects.
	MayFound bool
	// Now is when this was rendered: relative times run from it. Zero shows exact times instead.
	Now time.Time

	// Command is how to call the program on this server's machine, "sayso --data ./data"; pages that name a command begin it so.
	Command string
	// Self is the address of this page, for a link that loads it again.
	Self string

	// LiveURL is the page's socket and CardsURL the same cards over plain GET; both "" on a page that shows no cards.
	LiveURL, CardsURL string
}

// ProjectLink leads to the inbox of a project.
type ProjectLink struct{ Name, URL string }

// Section is the entry of the rail that a page belongs to.
type Section string

// The sections of the rail.
const (
	SectionInbox    Section = "inbox"
	SectionAgents   Section = "agents"
	SectionAudit    Section = "audit"
	SectionSettings Section = "settings"
	SectionNone     Section = ""
)

// URL is a path of ours as the browser must ask for it, under the base path.
func (p Page) URL(path string) string { return p.Base + path }

// Inbox is every open card of one project, oldest first, grouped by agent.
type Inbox struct {
	Page
	Groups []Group
	More   int // open cards that are not shown: the page holds only so many
	// DemoURL starts the demo agent by POST; "" when there is none to start.
	DemoURL string
}

// Group is one agent's cards in the inbox.
type Group struct {
	AgentID  string
	Agent    display.Text
	AgentURL string
	Cards    []Card
}

// Agents is the table of a project's agents.
type Agents struct {
	Page
	Rows     []AgentRow
	Archived bool // the archived ones are shown
	NextURL  string
}

// AgentRow is one line of Agents.
type AgentRow struct {
	Name        display.Text
	Key         string
	URL         string
	Archived    bool
	Open        int
	LastSeen    time.Time     // zero: never
	LongestWait time.Duration // of its open cards; zero: none open
	Now         time.Time     // when this was rendered, for AgentStateView; zero shows exact times
}

// Conversation is one agent's timeline, with its open cards at the bottom, then what the agent has not taken yet, then the composer.
type Conversation struct {
	Page
	Agent     AgentRow
	Timeline  []Entry // oldest first
	OlderURL  string  // loads the entries before these; "" when the timeline starts here
	NewestURL string  // "" when these are the newest
	Cards     []Card  // open ones, oldest first
	More      int     // open cards that are not shown: the page holds only so many
	Waiting   Waiting
	Composer  *Composer // nil: the viewer may only look, or the agent is archived
}

// Entry is one event of the timeline. Exactly one of the pointers is set.
type Entry struct {
	Sequence int64
	At       time.Time
	Now      time.Time // when this was rendered
	Message  *Message  // somebody wrote to the agent
	Output   *Output   // the agent said or did something
	Result   *Result   // of a tool call that is on no page, or on an older one
	Card     *Card     // an interaction, where it ended
	Divider  *Divider  // the agent was stopped or archived
}

// Message is what somebody wrote to the agent.
type Message struct {
	From       display.Text
	Channel    string // dashboard, api, cli, …
	Steering   bool
	Text       []string // as written: a person's words are not Markdown
	Superseded int      // open requests that it canceled
}

// Output is what an agent said and did at once.
type Output struct {
	Blocks     []Block
	StopReason string // why it went no further; "" when there is nothing to tell
}

// Block is a part of an Output. Exactly one of them is set; Text and Reasoning are the agent's own Markdown.
type Block struct {
	Text, Reasoning string
	Call            *Call
}

// Call is a tool call, drawn as one line that opens.
type Call struct {
	ID      string // tcl_…
	Version int64  // grows with every change
	Name    display.Text
	Input   display.Text
	Gist    display.Text // one line of the input
	State   CallState
	Outcome string // succeeded, failed, denied or canceled, once completed
	Result  *Result
	URL     string // of its interaction; "" when it needed none
}

// ElementID is the id of the call's element, by which pushes find it.
func (c Call) ElementID() string { return "call-" + c.ID }

// CallState is where a tool call stands.
type CallState string

// The states of a tool call.
const (
	CallAwaitingPermission CallState = "awaiting_permission"
	CallReady              CallState = "ready"   // may run
	CallWaiting            CallState = "waiting" // runs, and waits for something
	CallCompleted          CallState = "completed"
)

// Result is what a tool call came to.
type Result struct {
	CallID  string
	Name    display.Text
	Outcome string // succeeded, failed, denied or canceled
	Text    display.Text
	At      time.Time
}

// Divider marks a turn of the conversation.
type Divider struct {
	Word     string // Stopped or Archived
	By       display.Text
	Canceled int // open requests that ended with it
}

// Waiting is what the agent has not taken yet: first what is sent now, then what is queued, in the order in which it will get them.
type Waiting struct {
	Version  int64 // grows with every change; zero: a page always takes this one for the newest
	Inputs   []WaitingInput
	CanWrite bool // the audience may move and cancel them
	Now      time.Time
}

// WaitingInput is one of them. The addresses take a POST; "" where there is nothing to do.
type WaitingInput struct {
	ID          string // inp_…
	Text        display.Text
	From        display.Text
	At          time.Time
	Steering    bool
	First, Last bool // among the queued

	CancelURL, FrontURL, UpURL, DownURL, PromoteURL, DemoteURL string
}

// Composer is where one writes to the agent, stops it and archives it.
type Composer struct {
	PostURL, StopURL, ArchiveURL string

	Open    int    // open cards: what Send now can cancel, and Stop and Archive do
	Waiting int    // messages that the agent has not taken, which Archive ends
	Text    string // put back after a failure
	Problem string // why nothing was sent
}

// InteractionPage is the permalink of one interaction, whatever its state.
type InteractionPage struct {
	Page
	Card    Card
	History []HistoryItem
	Record  display.Text // the raw JSON, indented
	JSONURL string       // the raw JSON as bytes
}

// HistoryItem is one line of an interaction's history: created, shown, answered, picked up, reported.
type HistoryItem struct {
	At   time.Time
	What string
	Who  display.Text
}

// Card is one interaction on screen. Nothing in it depends on who looks, so that one rendering serves everybody who may answer.
type Card struct {
	ID       string // int_…
	Version  int64  // grows with every change; a page never replaces a card by an older one
	Kind     Kind
	State    State
	AgentID  string
	Agent    display.Text
	AgentURL string // "" in a frame
	URL      string // the permalink
	PostURL  string // where its forms go
	Title    display.Text
	Context  []ContextItem
	Chips    []display.Chip
	// MoreItems counts the pieces of evidence that were left out because there are very many. FullURL has them all.
	MoreItems int
	FullURL   string
	// Questions of a question card; empty for a permission, whose two options are its buttons.
	Questions []Question
	Digest    string // what a decision is bound to
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	Now       time.Time // when this was rendered: the countdown runs from ExpiresAt − Now
	Asker     Asker
	End       *End // nil while open
	Delivery  Delivery
	// ReadOnly hides the buttons: the audience may look and not answer.
	ReadOnly bool
	// Framed is for an app's frame: what leads into the dashboard is called so and opens beside the app. AllowElsewhere has people go there to allow.
	Framed, AllowElsewhere bool
	Problem                *Problem // what was wrong with the form just posted; nil: nothing
	// Lost says that somebody else's answer came first; the card then shows theirs, and what was typed, to copy.
	Lost bool
	// Typed are the texts of the form just posted, for Lost.
	Typed []string
	// With is what may go with Allow, under More; of an open permission.
	With With
	// Review is an edited input that was sent to be looked at. Nothing is allowed yet. nil: none.
	Review *Review
	// Draft is what the form just posted held, put back with Problem.
	Draft Draft
}

// ElementID is the id of the card's element, by which pushes find it.
func (c Card) ElementID() string { return "interaction-" + c.ID }

// FieldID is the id of the n-th question's part of the form, unique in the page.
func (c Card) FieldID(n int, part string) string { return c.ID + "-q" + strconv.Itoa(n) + part }

// With is what may go with Allow.
type With struct {
	ReviewURL string // where an edited input goes to be looked at; it allows nothing
	Input     string // the input to edit, as JSON; "" when it is too long for every page: WholeURL has it
	WholeURL  string
	Remember  []Grant // what the agent suggests to remember; empty: nothing is offered
	Session   SessionRule
}

// Grant is one thing that would be remembered.
type Grant struct {
	Does  string // "Allow without asking"
	Rules []ToolRule
	Names []display.Text // directories, or a mode
	JSON  display.Text   // instead of all that: what cannot be put into words
}

// ToolRule is a tool, and what of it.
type ToolRule struct {
	Tool    display.Text
	Content display.Text
	Every   bool // no content: every call
}

// SessionRule is what "Don't ask again in this session" would cover.
type SessionRule struct {
	Tool      display.Text
	Command   display.Text // exactly this one; empty: every call of the tool
	Redirects bool         // it reads or writes by redirection
	Chains    bool         // it is made of several commands
	Refused   string       // why there is no such rule; "" when there is one
}

// Review is an edited input, and what would go with it.
type Review struct {
	Lines    []DiffLine
	Input    string // sent as it is
	Bound    string // names exactly this input and request
	Note     string
	Remember bool
	Session  *SessionRule // nil: not asked for
}

// DiffLine is a line of what changed.
type DiffLine struct {
	Op      DiffOp
	Text    display.Text
	Skipped int // of DiffSkip: how many unchanged lines are left out
}

// DiffOp is what became of a line.
type DiffOp string

// What can become of a line.
const (
	DiffSame DiffOp = "same"
	DiffOut  DiffOp = "out"
	DiffIn   DiffOp = "in"
	DiffSkip DiffOp = "skip" // unchanged lines that are left out
)

// Draft is what somebody filled in.
type Draft struct {
	Reason            string
	Note              string
	Input             string // "": as the agent sent it
	Remember, Session bool
}

// Kind is what an interaction asks for.
type Kind string

// The kinds.
const (
	PermissionKind Kind = "permission"
	QuestionKind   Kind = "question"
)

// State is where an interaction stands.
type State string

// The states; the last two are final.
const (
	Open     State = "open"
	Resolved State = "resolved"
	Canceled State = "canceled"
)

// ContextItem is one labelled piece of evidence.
type ContextItem struct {
	Label display.Text
	Value display.Text // cut to its beginning when Hidden > 0
	Mono  bool
	Lines int
	// Hidden counts the lines that were left out because the value is longer than 256 KiB. FullURL has all of it.
	Hidden  int
	FullURL string // the permalink with nothing left out
	RawURL  string // the original bytes as text, for the copy button; "" in a frame, which has none
}

// Question is one question of a question card.
type Question struct {
	Prompt   display.Text
	Header   display.Text
	Multiple bool
	Options  []Option
	Text     string // what was typed, when the form comes back
	Problem  string // what is missing, when the form comes back
}

// Option is one answer that can be chosen.
type Option struct {
	Label       display.Text
	Description display.Text
	AllowsText  bool
	Chosen      bool // when the form comes back, and when it was answered
}

// Problem is why a posted form was refused. Nothing was recorded.
type Problem struct{ Message string }

// Asker is the state of the process that waits for the answer.
type Asker struct {
	State      AskerState
	Since      time.Time    // for AskerGone
	WorkflowID display.Text // for AskerSuspended
}

// AskerState is one of the states below.
type AskerState string

// How an asker waits.
const (
	AskerWaiting   AskerState = "waiting"   // on the line
	AskerGone      AskerState = "gone"      // was on the line, and has not been heard of for 30 s
	AskerSuspended AskerState = "suspended" // its workflow pauses and resumes with the answer
	AskerPolling   AskerState = "polling"   // will come back for the answer
)

// End is how an interaction ended.
type End struct {
	Word    EndWord
	By      display.Text // name of the person, key or service; empty when the system ended it
	Channel string       // dashboard, api, cli, …
	At      time.Time
	Reason  display.Text // of a denial, as typed
	Note    display.Text // that came with Allow
	// Instead is the input that was allowed in place of the one proposed, and Remembered the permissions that were granted with it; both as
	// JSON, empty when there are none.
	Instead    display.Text
	Remembered display.Text
	Changes    []DiffLine   // from the input proposed to Instead; empty also when they are very long
	Cause      string       // why it was canceled, as a sentence; "" otherwise
	Answers    []AnswerLine // of a question
}

// EndWord is the word for how an interaction ended. Denied, canceled and expired are different facts and never told as one another.
type EndWord string

// The words.
const (
	Allowed     EndWord = "allowed"
	Denied      EndWord = "denied"
	Answered    EndWord = "answered"
	CanceledEnd EndWord = "canceled"
	Expired     EndWord = "expired"
)

// AnswerLine is the answer to one question.
type AnswerLine struct {
	Prompt display.Text
	Chosen []display.Text
	Text   display.Text
}

// Delivery is how far the answer got: recorded, picked up by the agent, reported done.
type Delivery struct {
	PickedUpAt time.Time // zero: not yet
	ReportedAt time.Time // zero: not yet
	Outcome    string    // succeeded or failed, with ReportedAt
}

// Setup is the page of a one-time link: one click signs the owner in.
type Setup struct {
	Page
	Code  string
	First bool // nobody has signed in yet: the click also starts the demo agent
}

// ErrorPage is any failure, told to a person.
type ErrorPage struct {
	Page
	Status  int
	Heading string
	Message string
}
