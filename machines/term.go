package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// term is belief, and the work that runs under it.
type term struct {
	leads        bool
	first        bool  // no place is ahead: only a confirmation is missing
	rideOut      bool  // a disconnect does not end belief
	heartbeating bool  // heartbeats for the own node were asked for
	works        int32 // pieces of work that have not returned yet
	since        int64 // when the term began
	askedSince   int64 // since when confirmations were asked for, and none has counted; 0: none was
}

// suspendedText returns why a selector that does not queue again ends with the connection.
func suspendedText(ev events.Event) string {
	if ev.Paused != 0 {
		return events.PauseText(time.Duration(ev.Paused))
	}
	return "the connection was suspended"
}

// expired reports whether belief has ended, although the session machine has not handled its timer
// yet.
func (t *term) expired(ev events.Event) bool {
	return ev.ValidUntil != 0 && ev.At >= ev.ValidUntil
}

// ridesOut reports whether a disconnect does not end belief, because the user chose so.
func (t *term) ridesOut(ev events.Event) bool { return t.rideOut && ev.At < ev.ValidUntil }

// confirmed reports whether promise 2 holds at this moment.
func confirmed(ev events.Event) bool { return ev.Attached && ev.At < ev.ValidUntil }

// lossText returns why an event ends belief, for people.
func lossText(ev events.Event) string {
	switch why := reason(ev); why {
	case events.ReasonOwnPause:
		return events.PauseText(time.Duration(ev.Paused))
	case events.ReasonUnreadable:
		return why.String() + ": " + string(ev.Code)
	default:
		return why.String()
	}
}

// ownPause returns the pause of this process by which an event ends belief, 0 if there is none.
func ownPause(ev events.Event) time.Duration {
	if reason(ev) == events.ReasonOwnPause {
		return time.Duration(ev.Paused)
	}
	return 0
}

// reason returns why an event ends belief. The end of the session stays the reason if a pause of this
// process was behind it: another may lead by then.
func reason(ev events.Event) events.Reason {
	if ev.Paused != 0 && (ev.Kind == events.ConnectionSuspended || ev.Kind == events.ConnectionUnconfirmed) {
		return events.ReasonOwnPause
	}
	switch ev.Kind {
	case events.WatchDeleted:
		return events.ReasonDeleted
	case events.ReplyStat:
		if ev.Code != events.OK && ev.Code != events.NoNode {
			return events.ReasonUnreadable
		}
		return events.ReasonNodeGone
	case events.ReplyChildren, events.ReplyMulti:
		return events.ReasonNodeGone
	case events.WatchChanged:
		return events.ReasonNodeChanged
	case events.ConnectionSuspended:
		return events.ReasonSuspended
	case events.ConnectionLost:
		return events.ReasonSessionOver
	case events.ConnectionUnconfirmed:
		return events.ReasonUnconfirmed
	case events.CommandResign:
		return events.ReasonResigned
	case events.CommandClose:
		return events.ReasonClosed
	case events.WorkReturned:
		return events.ReasonReturned
	case events.HealthChecked:
		switch ev.Code { // a job's dealer says why
		case events.JobDisabled:
			return events.ReasonDisabled
		case events.JobConfig, events.JobStrategy:
			return events.ReasonCannotDeal
		}
		return events.ReasonUnhealthy
	}
	return events.Reason(ev.Kind)
}
