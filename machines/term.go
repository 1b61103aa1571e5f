package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// term is belief, and the work done under it.
type term struct {
	leads        bool
	first        bool        // nobody is ahead: what is missing is a confirmation
	rideOut      bool        // a disconnect does not end belief
	guards       []events.Op // what guarded writes begin with, where the own node's name is not its alone
	heartbeating bool        // the session machine was told that we lead or are next in line
	works        int         // pieces of work that have not returned
	waiters      []uint64
	since        int64 // when the term began
}

// suspendedText is why a selector that does not queue again ends with a connection.
const suspendedText = "the connection was suspended"

// expired is belief that is over, although the session machine's timer has not
// been dealt with yet.
func (t *term) expired(ev events.Event) bool {
	return ev.ValidUntil != 0 && ev.At >= ev.ValidUntil
}

// ridesOut is belief that a disconnect does not end, by choice.
func (t *term) ridesOut(ev events.Event) bool { return t.rideOut && ev.At < ev.ValidUntil }

// cancel takes an await back; one that was granted already is not there.
func (t *term) cancel(ev events.Event, out *engine.Outbox) {
	for i, w := range t.waiters {
		if w == ev.Work {
			t.waiters = append(t.waiters[:i], t.waiters[i+1:]...)
			out.Answer(w, events.Cancelled, "")
			return
		}
	}
}

func (t *term) refuseWaiters(code events.Code, text string, out *engine.Outbox) {
	for _, w := range t.waiters {
		out.Answer(w, code, text)
	}
	t.waiters = nil
}

// confirmed is promise 2 at this very moment.
func confirmed(ev events.Event) bool { return ev.Attached && ev.At < ev.ValidUntil }

// reason returns why an event ends belief.
func reason(ev events.Event) events.Reason {
	switch ev.Kind {
	case events.WatchDeleted, events.ReplyStat, events.ReplyChildren, events.ReplyMulti:
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
	}
	return events.Reason(ev.Kind)
}
