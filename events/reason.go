package events

// Reason is why belief ended: a code that programs compare. The written form of a
// notice and String have its sentence, which may be worded better at any time.
type Reason string

// Reasons for the end of belief.
const (
	ReasonNodeGone    Reason = "node-gone"    // the own node was deleted, or is another session's
	ReasonNodeChanged Reason = "node-changed" // the own node's data was changed
	ReasonSuspended   Reason = "suspended"    // the connection is gone; the session may live
	ReasonSessionOver Reason = "session-over" // the session expired, was closed, or must be taken for dead
	ReasonUnconfirmed Reason = "unconfirmed"  // the deadline passed without a confirmation
	ReasonResigned    Reason = "resigned"     // by command
	ReasonClosed      Reason = "closed"       // by command
	ReasonReturned    Reason = "returned"     // the work returned, or the holder of a lock let it go
)

var reasons = map[Reason]string{
	ReasonNodeGone:    "the own node is gone",
	ReasonNodeChanged: "the own node was changed",
	ReasonSuspended:   "the connection is suspended",
	ReasonSessionOver: "the session is over",
	ReasonUnconfirmed: "no confirmation in time",
	ReasonResigned:    "resigned",
	ReasonClosed:      "closed",
	ReasonReturned:    "the work returned",
}

// String is the reason in a sentence, for people; of a code that it does not know,
// the code.
func (r Reason) String() string {
	if words, ok := reasons[r]; ok {
		return words
	}
	return string(r)
}

// Successible reports whether another may lead as soon as belief has ended for this
// reason. In every other case the own node still stands.
func (r Reason) Successible() bool { return r == ReasonNodeGone || r == ReasonSessionOver }
