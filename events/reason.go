package events

// Reason is why belief ended: a code that programs compare. String and the written
// form of a notice have its sentence, which may change at any time.
type Reason string

// Reasons for the end of belief.
const (
	// the server reported that the own node was deleted: by another client, an eviction say, or with the session
	ReasonDeleted     Reason = "deleted"
	ReasonNodeGone    Reason = "node-gone"    // the own node was not found any longer, or is another session's
	ReasonUnreadable  Reason = "unreadable"   // the own node could not be read
	ReasonNodeChanged Reason = "node-changed" // the own node's data was changed
	ReasonSuspended   Reason = "suspended"    // the connection is lost; the session may go on
	ReasonSessionOver Reason = "session-over" // the session expired, was closed, or must be assumed to be over
	ReasonUnconfirmed Reason = "unconfirmed"  // the deadline passed without a confirmation
	ReasonOwnPause    Reason = "own-pause"    // this process did not run for too long; the session may go on
	ReasonResigned    Reason = "resigned"     // by command
	ReasonClosed      Reason = "closed"       // by command
	ReasonReturned    Reason = "returned"     // the work returned, or the holder of a lock released it
	ReasonRevoked     Reason = "revoked"      // the holder of a lock released it, after another client had asked for it
	// the work's clock was past the deadline before the loop could end the term
	ReasonLapsed     Reason = "lapsed"
	ReasonUnhealthy  Reason = "unhealthy"   // the user's health check failed several times in a row
	ReasonDisabled   Reason = "disabled"    // an operator has disabled the server that the instance of a job is on
	ReasonMoved      Reason = "moved"       // the shard was assigned to another member
	ReasonCannotDeal Reason = "cannot-deal" // the configuration or strategy of a job is not known
)

var reasons = map[Reason]string{
	ReasonDeleted:     "the own node was deleted",
	ReasonNodeGone:    "the own node is gone",
	ReasonUnreadable:  "the own node could not be read",
	ReasonNodeChanged: "the own node was changed",
	ReasonSuspended:   "the connection ended, perhaps with the session",
	ReasonSessionOver: "the session is over",
	ReasonUnconfirmed: "no confirmation in time",
	ReasonOwnPause:    "this process did not run for too long",
	ReasonResigned:    "resigned",
	ReasonClosed:      "closed",
	ReasonReturned:    "the work returned",
	ReasonRevoked:     "released at another client's request",
	ReasonLapsed:      "the deadline passed before the client could confirm",
	ReasonUnhealthy:   "the health check failed",
	ReasonDisabled:    "an operator has disabled this server",
	ReasonMoved:       "it is assigned to another member",
	ReasonCannotDeal:  "this instance cannot deal the job's items",
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
func (r Reason) Successible() bool {
	return r == ReasonDeleted || r == ReasonNodeGone || r == ReasonSessionOver
}

// Planned reports whether this side ended the term on purpose: by a command, by the work's
// return, or by the release of a lock. Every other end is a loss.
func (r Reason) Planned() bool {
	switch r {
	case ReasonResigned, ReasonClosed, ReasonReturned, ReasonRevoked, ReasonMoved:
		return true
	}
	return false
}
