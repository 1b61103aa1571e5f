// Package belief has the deadline until which leadership is believed, as the loop publishes it and as work reads it.
package belief

import (
	"cmp"
	"sync/atomic"

	"github.com/incumbent-go/incumbent/events"
)

// Deadline is the deadline of belief that the loop published last. Work reads it at
// any time without a lock.
//
// A reader that finds the deadline in the past marks it as passed before it reports so: a
// later deadline does not replace it then. The loop may be about to publish one, from an
// event with a timely stamp that it processed too late, as after a pause of the process.
// Without the mark the work would learn that its leadership is lost, and a moment later
// that it is not.
type Deadline struct {
	now    atomic.Pointer[SessionDeadline]
	lapsed int64 // the session whose lapse the loop knows; only the loop uses it
	last   atomic.Pointer[Publication]
}

// Publication is the last deadline with which there was belief in a session, and what became
// of it.
type Publication struct {
	session int64
	At      int64 // when the loop published it
	Until   int64 // the deadline
	ended   int64 // when belief ended, at the deadline or before; 0: the loop has not ended it
}

// SessionDeadline is one deadline. Passed is set when a reader has found that it has
// passed.
type SessionDeadline struct {
	events.Deadline
	Passed bool
}

// Holds reports whether the deadline of this session is in the future. Once it has returned
// false because the deadline had passed, it returns false until the loop has ended all
// terms of the session.
func (d *Deadline) Holds(session int64, clock func() int64) bool {
	for {
		v := d.now.Load()
		switch {
		case v == nil || v.Session != session || v.Until == 0 || v.Passed:
			return false
		case clock() < v.Until:
			return true
		case d.now.CompareAndSwap(v, &SessionDeadline{v.Deadline, true}):
			return false
		}
	}
}

// Present returns what was published last; nil if nothing was.
func (d *Deadline) Present() *SessionDeadline { return d.now.Load() }

// Until returns the deadline of this session; 0 if there is none.
func (d *Deadline) Until(session int64) int64 {
	if v := d.now.Load(); v != nil && v.Session == session && !v.Passed {
		return v.Until
	}
	return 0
}

// Publish sets the loop's next deadline. It returns true, once, if a reader has found that
// the last one had passed: then all terms have to be ended, and there is no belief before
// the loop has published that as well.
func (d *Deadline) Publish(next events.Deadline, now int64) (lapsed bool) {
	if last := d.Published(next.Session); next.Until == 0 && last != nil && last.ended == 0 {
		// Before a reader finds no belief.
		d.last.Store(&Publication{last.session, last.At, last.Until, min(now, last.Until)})
	}
	for {
		v := d.now.Load()
		if v != nil && v.Passed && v.Session == next.Session && next.Until != 0 {
			lapsed = d.lapsed != next.Session
			d.lapsed = next.Session
			return lapsed
		}
		if d.now.CompareAndSwap(v, &SessionDeadline{Deadline: next}) {
			break
		}
	}
	d.lapsed = 0
	if next.Until != 0 {
		d.last.Store(&Publication{session: next.Session, At: now, Until: next.Until})
	}
	return false
}

// Published returns the last deadline with which there was belief; nil if that was in
// another session.
func (d *Deadline) Published(session int64) *Publication {
	if last := d.last.Load(); last != nil && last.session == session {
		return last
	}
	return nil
}

// End returns the instant, now at the latest, until which this session's belief held or holds.
func (d *Deadline) End(session, now int64) int64 {
	last := d.Published(session)
	if last == nil {
		return now
	}
	return min(now, cmp.Or(last.ended, last.Until))
}
