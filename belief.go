package incumbent

import (
	"cmp"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/events"
)

// beliefDeadline is the deadline of belief that the loop published last. Work reads it at
// any time without a lock.
//
// A reader that finds the deadline in the past marks it as passed before it reports so: a
// later deadline does not replace it then. The loop may be about to publish one, from an
// event with a timely stamp that it processed too late, as after a pause of the process.
// Without the mark the work would learn that its leadership is lost, and a moment later
// that it is not.
type beliefDeadline struct {
	now    atomic.Pointer[sessionDeadline]
	lapsed int64 // the session whose lapse the loop knows; only the loop uses it
	last   atomic.Pointer[publication]
}

// publication is the last deadline with which there was belief in a session, and what became
// of it.
type publication struct {
	session int64
	at      int64 // when the loop published it
	until   int64 // the deadline
	ended   int64 // when belief ended, at the deadline or before; 0: the loop has not ended it
}

// sessionDeadline is one deadline. passed is set when a reader has found that it has
// passed.
type sessionDeadline struct {
	events.Deadline
	passed bool
}

// holds reports whether the deadline of this session is in the future. Once it has returned
// false because the deadline had passed, it returns false until the loop has ended all
// terms of the session.
func (h *beliefDeadline) holds(session int64, clock func() int64) bool {
	for {
		v := h.now.Load()
		switch {
		case v == nil || v.Session != session || v.Until == 0 || v.passed:
			return false
		case clock() < v.Until:
			return true
		case h.now.CompareAndSwap(v, &sessionDeadline{v.Deadline, true}):
			return false
		}
	}
}

// until returns the deadline of this session; 0 if there is none.
func (h *beliefDeadline) until(session int64) int64 {
	if v := h.now.Load(); v != nil && v.Session == session && !v.passed {
		return v.Until
	}
	return 0
}

// publish sets the loop's next deadline. It returns true, once, if a reader has found that
// the last one had passed: then all terms have to be ended, and there is no belief before
// the loop has published that as well.
func (h *beliefDeadline) publish(d events.Deadline, now int64) (lapsed bool) {
	if last := h.published(d.Session); d.Until == 0 && last != nil && last.ended == 0 {
		h.last.Store(&publication{last.session, last.at, last.until, min(now, last.until)}) // before a reader finds no belief
	}
	for {
		v := h.now.Load()
		if v != nil && v.passed && v.Session == d.Session && d.Until != 0 {
			lapsed = h.lapsed != d.Session
			h.lapsed = d.Session
			return lapsed
		}
		if h.now.CompareAndSwap(v, &sessionDeadline{Deadline: d}) {
			break
		}
	}
	h.lapsed = 0
	if d.Until != 0 {
		h.last.Store(&publication{session: d.Session, at: now, until: d.Until})
	}
	return false
}

// published returns the last deadline with which there was belief; nil if that was in
// another session.
func (h *beliefDeadline) published(session int64) *publication {
	if last := h.last.Load(); last != nil && last.session == session {
		return last
	}
	return nil
}

// end returns the instant, now at the latest, until which this session's belief held or holds.
func (h *beliefDeadline) end(session, now int64) int64 {
	last := h.published(session)
	if last == nil {
		return now
	}
	return min(now, cmp.Or(last.ended, last.until))
}
