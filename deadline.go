package incumbent

import (
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// deadlineWatch stops the work under all terms of a client when their deadline has passed,
// whatever the loop does. It has one timer, which runs only while there is work.
//
// When the timer fires, the deadline is read; so the loop need not reset the timer when the
// deadline moves on. The timer fires at least eight times in a session timeout, because
// Go's timers stand still while the machine is suspended, and the client's clock does not.
type deadlineWatch struct {
	client *Client

	mu      sync.Mutex
	terms   map[*heldTerm]bool // with work that has not been stopped
	session int64              // of the term added last
	timer   *time.Timer
}

// add adds a term that has work now.
func (w *deadlineWatch) add(t *heldTerm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.terms == nil {
		w.terms = map[*heldTerm]bool{}
	}
	first := len(w.terms) == 0 || w.session != t.Session
	w.terms[t], w.session = true, t.Session
	w.client.invariants.works(w, t)
	if first || w.client.belief.Until(t.Session) == 0 {
		w.setTimer()
	}
}

// remove removes a term without work, or whose work was stopped.
func (w *deadlineWatch) remove(t *heldTerm) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.terms, t)
	if len(w.terms) == 0 && w.timer != nil {
		w.timer.Stop()
	}
}

// stopLapsed stops the work under every term whose deadline has passed. The lock is held
// while the deadline is read: a term that begins afterwards is not among them.
func (w *deadlineWatch) stopLapsed() {
	w.mu.Lock()
	lapsed := map[*heldTerm]*LostError{}
	for t := range w.terms {
		if !w.client.believes(t.Session) {
			lapsed[t] = w.client.lostByClock(t)
			delete(w.terms, t)
		}
	}
	w.setTimer()
	w.mu.Unlock()
	for t, why := range lapsed {
		t.lapse(why)
	}
	if len(lapsed) > 0 {
		// The session machine's own timer ends the terms. An event with the same content
		// could wait behind a confirmation, and end the next term.
		w.client.loop.Wake()
	}
}

// setTimer sets the timer for the earliest deadline. The caller holds the lock.
func (w *deadlineWatch) setTimer() {
	if len(w.terms) == 0 {
		return
	}
	next := max(w.client.timeout()/8, time.Millisecond) // a server may grant anything
	now := w.client.clock.Now()
	for t := range w.terms {
		next = min(next, time.Duration(w.client.belief.Until(t.Session)-now))
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(next, w.stopLapsed)
		return
	}
	w.timer.Reset(next)
}

// lapseEvent returns the session machine's event for when a reader has found that the last
// deadline had passed.
func (c *Client) lapseEvent(session int64) events.Event {
	ev := events.Event{Kind: events.BeliefLapsed, Session: session}
	if last := c.belief.Published(session); last != nil {
		ev.Paused = int64(c.pauses.Since(last.At))
	}
	return ev
}

// lapsed returns why work is stopped at the deadline of a session: the pause of this process
// that explains it, if one does. The machine ends the term later, for the same reason.
func (c *Client) lapsed(session int64) (why Reason, paused time.Duration) {
	if last := c.belief.Published(session); last != nil {
		paused = c.pauses.Since(last.At)
		if events.PauseExplains(paused, time.Duration(c.clock.Now()-last.At), time.Duration(last.Until-last.At)) {
			return ReasonOwnPause, paused
		}
	}
	return ReasonLapsed, 0
}
