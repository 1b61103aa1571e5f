package incumbent

import (
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/fault"
)

// What a LostError is about.
const (
	whatLeadership = "leadership"
	whatLock       = "lock"
	whatPermits    = "permits"
	whatItems      = "items"
)

// LostError is the error of every term of leadership, and of every hold of a lock, that has
// ended: the cause of its context, the error of Check, Write and Unlock, and what
// Listener.NotLeader gets. errors.As finds it. It is ErrLeadershipLost; that of a lock or of
// permits is ErrLockLost, too.
type LostError struct {
	Reason  Reason
	What    string        // "leadership", "lock", "permits" or "items"
	Path    string        // the directory of the line
	Node    string        // the own node; "" if it was lost before it was held
	Token   int64         // the own node's czxid; 0 if it was lost before it was held
	Session int64         // the number of the client's ZooKeeper session, from 1
	Paused  time.Duration // for how long this process did not run, with ReasonOwnPause; else 0
	Led     time.Duration // from the beginning of the term until BelievedUntil
	// BelievedUntil is the instant until which it was believed, by this machine's wall clock:
	// if the clock ended it, the deadline, however much later the process noticed. It is not
	// after Leadership.AloneUntil, except after a deletion of the own node: that is noticed
	// when the server reports it.
	BelievedUntil time.Time

	detail string // of the failure, for people
}

// Error says what ended, its path and token, and why: "incumbent: leadership of
// /jobs/nightly (token 5) lost: the connection ended, perhaps with the session".
func (e *LostError) Error() string {
	text := "incumbent: " + e.subject()
	if e.Token != 0 {
		text += fmt.Sprintf(" (token %d)", e.Token)
	}
	if e.Reason.Planned() {
		text += " ended: "
	} else {
		text += " lost: "
	}
	text += e.why()
	if e.detail != "" {
		text += ": " + events.Foreign(e.detail, events.MaxText)
	}
	return text
}

func (e *LostError) subject() string {
	if e.What == whatLock {
		return "lock " + fault.Path(e.Path)
	}
	return e.What + " of " + fault.Path(e.Path)
}

// why returns the reason's sentence. A lock has no work that returns, and a pause has a
// length.
func (e *LostError) why() string {
	switch {
	case e.What != whatLeadership && e.Reason == ReasonReturned:
		return "released"
	case e.Reason == ReasonOwnPause && e.Paused > 0:
		return events.PauseText(e.Paused)
	}
	return e.Reason.String()
}

// Is reports whether target is ErrLeadershipLost, or ErrLockLost for a lock or permits.
func (e *LostError) Is(target error) bool {
	return target == ErrLeadershipLost || target == ErrLockLost && e.What != whatLeadership && e.What != whatItems
}

// LostReason returns the reason in an error that is ErrLeadershipLost or ErrLockLost, and
// "" if there is none.
func LostReason(err error) Reason {
	var lost *LostError
	if errors.As(err, &lost) {
		return lost.Reason
	}
	return ""
}
