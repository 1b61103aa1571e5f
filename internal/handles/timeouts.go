package handles

import (
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Timeouts are the session timeout and the tick, as the client asks for them and as the ensemble granted them.
type Timeouts struct {
	Asked           time.Duration // the session timeout
	TickAssumed     bool          // no tick was given: it is learned
	ObserverMasters bool

	tick     atomic.Int64               // the ensemble's, as the session machine knows it, nanoseconds
	attached atomic.Pointer[Attachment] // the last
}

// Attachment is a connection that a server confirmed.
type Attachment struct {
	Session int64 // the session's number
	ID      int64 // ZooKeeper's id of it
	Granted time.Duration
	counted time.Duration // the shortest that was granted to the session
}

// SetTick sets the ensemble's tick, before the first connection.
func (t *Timeouts) SetTick(tick time.Duration) { t.tick.Store(int64(tick)) }

// Attach takes a connection that a server has confirmed. It does what the session machine does with the granted
// timeout, but before the connection's first request.
func (t *Timeouts) Attach(ev events.Event) {
	granted := time.Duration(ev.Timeout)
	before := t.Attachment(ev.Session)
	counted := machines.CountedTimeout(before.ID != 0, before.counted, granted)
	t.attached.Store(&Attachment{ev.Session, ev.SessionID, granted, counted})
	if tick := t.tick.Load(); t.TickAssumed {
		t.tick.Store(int64(machines.LargerTick(time.Duration(tick), t.Asked, granted)))
	}
}

// Attached returns the last connection; the zero value before the first.
func (t *Timeouts) Attached() Attachment {
	if a := t.attached.Load(); a != nil {
		return *a
	}
	return Attachment{}
}

// Attachment returns the last connection of a session; the zero value if the last was another session's.
func (t *Timeouts) Attachment(session int64) Attachment {
	if a := t.attached.Load(); a != nil && a.Session == session {
		return *a
	}
	return Attachment{Session: session}
}

// ReportLag returns how long a server may take to report a session, after the client's
// request, to the ensemble's leader.
func (t *Timeouts) ReportLag() time.Duration {
	return machines.ReportLag(time.Duration(t.tick.Load()), t.ObserverMasters)
}

// Timeout returns the session timeout that all waits and paces of handles count with: the one
// that the session machine counts with, the shortest that was granted to the session. Before
// the first connection it is the one that is asked for.
func (t *Timeouts) Timeout() time.Duration {
	if a := t.attached.Load(); a != nil && a.counted != 0 {
		return a.counted
	}
	return t.Asked
}

// Budget returns how long belief lasts after a confirmation, as far as the granted timeout allows.
func (t *Timeouts) Budget() time.Duration {
	return machines.FirstBelief(t.Timeout(), time.Duration(t.tick.Load()), t.ObserverMasters)
}
