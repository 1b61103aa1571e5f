package events

// Reason is why belief ended: a code that programs compare. String and the written
// form of a notice have its sentence, which may change at any time.
type Reason string

// Reasons for the end of belief.
const (
	ReasonNodeGone    Reason = "node-gone"    // the own node was deleted, or is another session's
	ReasonNodeChanged Reason = "node-changed" // the own node's data was changed
	ReasonSuspended   Reason = "suspended"    // the connection is lost; the session may go on
	ReasonSessionOver Reason = "session-over" // the session expired, was closed, or must be assumed to be over
	ReasonUnconfirmed Reason = "unconfirmed"  // the deadline passed without a confirmation
	ReasonResigned    Reason = "resigned"     // by command
	ReasonClosed      Reason = "closed"       // by command
	ReasonReturned    Reason = "returned"     // the work returned, or the holder of a lock released it
	ReasonUnhealthy   Reason = "unhealthy"    // the user's health check failed several times in a row
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
	ReasonUnhealthy:   "the health check failed",
}

// String returns the reason as a sentence for people, and an unknown code as it is.
func (r Reason) String() string {
	if words, ok := reasons[r]; ok {
		return words
	}
	return string(r)
}

// Successible reports whether another participant may lead as soon as belief has ended
// for this reason. For every other reason the own node still exists.
func (r Reason) Successible() bool { return r == ReasonNodeGone || r == ReasonSessionOver }
