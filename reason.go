package incumbent

import (
	"errors"

	"github.com/incumbent-go/incumbent/events"
)

// Reason is why a term of leadership, or a hold of a lock, ended: a code that programs
// compare. string(r) is the code in the log's lines, such as "own-pause"; printed by fmt, a
// Reason is its sentence.
type Reason string

// String returns the reason as a sentence for people, which may change in any release.
func (r Reason) String() string { return events.Reason(r).String() }

// Planned reports whether this side ended the term on purpose: by a command, by the work's
// return, or by the release of a lock. Every other end is a loss. A failed health check
// is a loss, too.
func (r Reason) Planned() bool { return events.Reason(r).Planned() }

// The reasons that are planned. The own node still exists when the term ends: no other
// participant leads before it is deleted, which follows when the work has returned.
const (
	// ReasonResigned: Resign or RemoveLeader was called.
	ReasonResigned = Reason(events.ReasonResigned)
	// ReasonClosed: the handle or the client is being closed.
	ReasonClosed = Reason(events.ReasonClosed)
	// ReasonReturned: the selector's work returned, or the holder released the lock.
	ReasonReturned = Reason(events.ReasonReturned)
	// ReasonRevoked: the holder released the lock after another client had asked for it: see
	// Hold.Revoked.
	ReasonRevoked = Reason(events.ReasonRevoked)
)

// The reasons that are losses.
const (
	// ReasonDeleted: the server reported that the own node was deleted: by another client,
	// an eviction say, or with the session. Another participant may lead already.
	ReasonDeleted = Reason(events.ReasonDeleted)
	// ReasonNodeGone: the own node was not found any longer, or belongs to another session.
	// Another participant may lead already.
	ReasonNodeGone = Reason(events.ReasonNodeGone)
	// ReasonUnreadable: the own node could not be read, as when its access list does not allow
	// that. The LostError's text has the server's code. The node still exists, and is read
	// again: no other participant leads before it is deleted.
	ReasonUnreadable = Reason(events.ReasonUnreadable)
	// ReasonNodeChanged: another client wrote to the own node of a JobElection, its marker, which
	// still exists. No other participant leads before it is deleted. Other recipes go on.
	ReasonNodeChanged = Reason(events.ReasonNodeChanged)
	// ReasonSuspended: the connection is lost. The session may go on: another participant
	// may lead when the ensemble has expired it, and not before Leadership.AloneUntil.
	ReasonSuspended = Reason(events.ReasonSuspended)
	// ReasonSessionOver: the session expired, was ended, or must be assumed to be over.
	// Another participant may lead already.
	ReasonSessionOver = Reason(events.ReasonSessionOver)
	// ReasonUnconfirmed: the deadline passed without a confirmation from the ensemble.
	// Another participant may lead when the ensemble has expired the session, and not before
	// Leadership.AloneUntil.
	ReasonUnconfirmed = Reason(events.ReasonUnconfirmed)
	// ReasonLapsed: this client's clock was past the deadline before its loop had ended the
	// term, as when the process is busy or was paused. Work and Check have this reason;
	// listeners and the log have the loop's own, a moment later. Another participant may
	// lead after Leadership.AloneUntil, which may have passed, too.
	ReasonLapsed = Reason(events.ReasonLapsed)
	// ReasonOwnPause: this process did not run for so long that a deadline passed. The
	// ensemble is not at fault. Another participant may lead already.
	ReasonOwnPause = Reason(events.ReasonOwnPause)
	// ReasonUnhealthy: LatchOptions.Healthy failed several times in a row. The own node is
	// deleted when the work has returned: no other participant leads before.
	ReasonUnhealthy = Reason(events.ReasonUnhealthy)
	// ReasonDisabled: an operator has disabled the server that this instance of a Job is on. Its
	// marker is deleted when the work has returned: no other instance leads before.
	ReasonDisabled = Reason(events.ReasonDisabled)
	// ReasonCannotDeal: this instance of a Job cannot deal its items, because the job has no
	// configuration, or one that cannot be read, or a strategy that only Java has: Job.Err says
	// which. Its marker is deleted when the work has returned: no other instance leads before.
	ReasonCannotDeal = Reason(events.ReasonCannotDeal)
)

// LostReason returns the reason in an error that is ErrLeadershipLost or ErrLockLost, and
// "" if there is none.
func LostReason(err error) Reason {
	var lost *LostError
	if errors.As(err, &lost) {
		return lost.Reason
	}
	return ""
}
