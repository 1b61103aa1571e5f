package incumbent

import (
	"sync/atomic"

	"github.com/incumbent-go/incumbent/events"
)

// beliefDeadline is until when anything may be believed: what the loop published last,
// read by the work at any time without a lock.
//
// Whoever finds the deadline in the past makes it stay so before saying it: a
// later deadline does not take its place then. The loop may be about to publish
// one, from an event that it stamped in time and dealt with too late, as after a
// pause of the process; the work would be told that its leadership is lost, and
// a moment later that it is not.
type beliefDeadline struct {
	now    atomic.Pointer[sessionDeadline]
	lapsed int64 // the session whose lapse the loop has heard of; the loop's alone
}

// sessionDeadline is one deadline; passed once somebody was told that it has passed.
type sessionDeadline struct {
	events.Deadline
	passed bool
}

// holds reports whether the deadline of this session lies ahead. Once it has
// reported that the deadline passed, it does not say otherwise until the loop has
// ended all terms of the session.
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

// until is the deadline of this session; 0 where nothing may be believed.
func (h *beliefDeadline) until(session int64) int64 {
	if v := h.now.Load(); v != nil && v.Session == session && !v.passed {
		return v.Until
	}
	return 0
}

// publish takes the loop's next deadline. It reports true, once, where somebody
// was told that the last one had passed: all terms have to be ended then, and
// nothing may be believed before the loop has published that as well.
func (h *beliefDeadline) publish(d events.Deadline) (lapsed bool) {
	for {
		v := h.now.Load()
		if v != nil && v.passed && v.Session == d.Session && d.Until != 0 {
			lapsed = h.lapsed != d.Session
			h.lapsed = d.Session
			return lapsed
		}
		if h.now.CompareAndSwap(v, &sessionDeadline{Deadline: d}) {
			h.lapsed = 0
			return false
		}
	}
}
