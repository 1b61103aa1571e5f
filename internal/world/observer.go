package world

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Observer sees what happens in a world when it happens, and may change some of it:
// checks, planted bugs, coverage and programs hook in here, and nowhere else. What it does
// is part of the world: if an observer is a function of its calls, the world is a function
// of its script. Idle does nothing, and may be embedded.
type Observer interface {
	// Happens reports whether the fault or bug of this name, below, happens at this moment.
	Happens(name string) bool
	// Rare is called when something rare has happened: see DeadlineLapsed.
	Rare(c *Client, what string)
	// Logged is called with a line of the world's story.
	Logged(at int64, format string, args ...any)

	// Done is called with the outcome of an action of the script.
	Done(o Outcome)
	// Committed is called when a transaction has become part of the history.
	Committed(p *Proposal)
	// DataReplaced is called when the history was replaced by another.
	DataReplaced()

	// Posting is called with an event on its way into a loop's inbox, and may change
	// it; if it returns false, the event is dropped.
	Posting(c *Client, to events.ID, ev *events.Event) bool
	// Feeding is called with the event that the engine gets next, and may change it.
	Feeding(c *Client, env *events.Envelope)
	// Stepped is called with a step's effects, and returns those to perform.
	Stepped(c *Client, out []engine.Addressed) []engine.Addressed
	// Recorded is called with each record of a step.
	Recorded(c *Client, r events.Record)
	// Performed is called when the effects of a step were performed.
	Performed(c *Client)
	// Entered is called when a machine has entered a state.
	Entered(c *Client, id events.ID, now events.Entered)

	// Asked is called with an effect for the executor.
	Asked(c *Client, a engine.Addressed)
	// Sent is called with a request that leaves, and may replace it with Feigned.
	Sent(c *Client, a *Packet)
	// Replied is called with a machine's reply, before it is posted.
	Replied(c *Client, a *Packet, ev events.Event)

	// Published is called when another deadline holds: see Client.Deadline.
	Published(c *Client, old events.Deadline)
	// Notice is called with a notice from a machine to its handle.
	Notice(c *Client, id events.ID, n events.Notify)
	// Answered is called with the answer of a command. expected is false if nobody asked
	// for it, or it was answered already.
	Answered(c *Client, id events.ID, a events.Answer, expected bool)
	// Payload returns the user's data for their number.
	Payload(c *Client, id events.ID, number uint64) []byte
	// UserData is called with a reply whose data are the user's: no machine gets them.
	UserData(c *Client, id events.ID, ev events.Event)
}

// Faults whose moments Observer.Happens decides.
const (
	CutBeforeSend  = "cut before send"    // a connection is cut before a request leaves
	CutAfterSend   = "cut after send"     // a connection is cut after a request has left
	CutAfterApply  = "cut after apply"    // a write is carried out, and its reply is lost
	AnsweredByCode = "answered by a code" // a write is carried out, and answered by a code that says nothing about it
	CarriedOutLate = "carried out late"   // a create is answered so, and carried out later
	HalfOpen       = "half-open"          // the next connection is up, and nothing gets to the server
	Throttled      = "throttled"          // a server refuses a request
	NoContainers   = "no containers"      // a server does not know containers
	NoTreeWatches  = "no tree watches"    // a server does not know recursive watches, and may end the connection
	OtherID        = "other id"           // a server gives out another session
)

// Bugs of the executor or the clock, which Observer.Happens plants.
const (
	BugQueuesRequests   = "bug: requests wait for the next connection, whichever session's"
	BugCountsUnanswered = "bug: a frame that was sent counts as a contact, answered or not"
	BugProbeIgnoresZxid = "bug: a probe does not ask how far the ensemble is"
	BugRevivesDeadline  = "bug: a deadline moves that was seen to pass"
	BugClockStops       = "bug: the clock stops while the process is paused"
	BugSeesCounters     = "bug: the last zxid is the one with the highest lower half"
	BugLapseWaits       = "bug: a lapse of belief waits behind what is in the loop"
	BugDialsOneServer   = "bug: a lost connection is dialled at the same server"
)

// What Observer.Rare is called with.
const (
	// DeadlineLapsed: a deadline passed while the process was paused between a step and its
	// effects, which would have moved it.
	DeadlineLapsed = "deadline lapsed"
	// WentBack: a session came back with a backup, to an ensemble whose zxid was below its
	// own. A probe noticed that and ended it.
	WentBack = "the ensemble went back"
	// TickLearned: a client learned a larger tick from a granted timeout.
	TickLearned = "a tick is learned"
	// TimeoutShortened and TimeoutLengthened: a session got another timeout at a new connection.
	TimeoutShortened  = "a timeout is shortened"
	TimeoutLengthened = "a timeout is lengthened"
)

// Idle is an Observer that does nothing: nothing goes wrong by itself.
type Idle struct{}

var _ Observer = Idle{}

// Happens reports false.
func (Idle) Happens(string) bool { return false }

// Rare does nothing.
func (Idle) Rare(*Client, string) {}

// Logged does nothing.
func (Idle) Logged(int64, string, ...any) {}

// Done does nothing.
func (Idle) Done(Outcome) {}

// Committed does nothing.
func (Idle) Committed(*Proposal) {}

// DataReplaced does nothing.
func (Idle) DataReplaced() {}

// Posting reports true.
func (Idle) Posting(*Client, events.ID, *events.Event) bool { return true }

// Feeding does nothing.
func (Idle) Feeding(*Client, *events.Envelope) {}

// Recorded does nothing.
func (Idle) Recorded(*Client, events.Record) {}

// Performed does nothing.
func (Idle) Performed(*Client) {}

// Entered does nothing.
func (Idle) Entered(*Client, events.ID, events.Entered) {}

// Asked does nothing.
func (Idle) Asked(*Client, engine.Addressed) {}

// Sent does nothing.
func (Idle) Sent(*Client, *Packet) {}

// Replied does nothing.
func (Idle) Replied(*Client, *Packet, events.Event) {}

// Published does nothing.
func (Idle) Published(*Client, events.Deadline) {}

// Notice does nothing.
func (Idle) Notice(*Client, events.ID, events.Notify) {}

// Answered does nothing.
func (Idle) Answered(*Client, events.ID, events.Answer, bool) {}

// Payload returns nil.
func (Idle) Payload(*Client, events.ID, uint64) []byte { return nil }

// UserData does nothing.
func (Idle) UserData(*Client, events.ID, events.Event) {}

// Stepped returns out.
func (Idle) Stepped(_ *Client, out []engine.Addressed) []engine.Addressed { return out }
