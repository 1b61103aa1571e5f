package incumbent

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
)

// Term is one uninterrupted period of leadership.
type Term struct {
	Path    string // the participant's own node
	Token   int64  // the node's czxid: grows from leader to leader, see Leadership.Token
	Session int64  // the number of the client's ZooKeeper session, from 1
}

// heldTerm is a term that the loop begins and ends. Its work may be stopped before its end:
// at the deadline, see deadlineWatch.
type heldTerm struct {
	Term
	holder    *participant // whose term it is
	guards    []events.Op  // the operations of Leadership.Write's guard; nil: the own node exists
	began     int64        // the loop's clock
	zkSession int64        // ZooKeeper's id of the session; 0: not known
	reason    error
	over      atomic.Bool

	nodeGone bool // under mu: ended because its node, or the session, is gone
	released bool // under mu: ended because the work under it had returned
	overdue  bool // under mu: the timer has fired

	mu      sync.Mutex
	stopAt  time.Time              // when the work had to end
	stopped error                  // why the work was stopped; nil: it may go on
	works   map[*Leadership]uint64 // that has not returned, numbered in the order in which it was given out
	given   uint64                 // how often work was given out
	watch   *deadlineWatch         // the client's; nil before there is work
	why     string                 // why the work has to return, for people; "": it may go on
	timer   *time.Timer            // runs while the work has to return and has not; nil: it does not
}

// end ends the term. The loop calls it once, on its goroutine.
func (t *heldTerm) end(lost *LostError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	why := events.Reason(lost.Reason)
	t.reason, t.nodeGone, t.released = lost, why.Successible(), why == events.ReasonReturned || why == events.ReasonRevoked
	t.over.Store(true)
	t.stop(lost)
	t.expectReturn(lost.why())
}

// lapse stops the work because the deadline has passed. The loop ends the term later.
func (t *heldTerm) lapse(lost *LostError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop(lost)
	t.expectReturn(lost.why())
}

// stop cancels the contexts of all work, once; the grace of the work begins. The caller
// holds the lock.
func (t *heldTerm) stop(reason error) {
	if t.stopped != nil {
		return
	}
	t.stopped = reason
	t.stopAt = clock.Instant()
	for l := range t.works {
		l.stop(reason)
	}
	if t.watch != nil {
		t.watch.remove(t)
	}
}

// gone reports whether the term ended because its node was deleted or its session ended.
func (t *heldTerm) gone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nodeGone
}

// lossErr returns why the term ended, nil if the holder ended it.
func (t *heldTerm) lossErr() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.released || !t.over.Load() {
		return nil
	}
	return t.reason
}

// hold returns the Leadership of one piece of work. Done is called once, when the work has
// returned, or with ErrWorkRunning if its grace ended before.
func (t *heldTerm) hold(parent context.Context, c *Client, done func(late error)) *Leadership {
	ctx, cancel := context.WithCancelCause(parent)
	l := &Leadership{client: c, term: t, ctx: ctx, cancel: cancel, from: callers(), returned: make(chan struct{})}
	var once sync.Once
	l.done = func(late error) {
		once.Do(func() {
			t.mu.Lock()
			delete(t.works, l)
			if len(t.works) == 0 {
				t.watch.remove(t)
				t.allReturned()
			}
			t.mu.Unlock()
			cancel(context.Canceled)
			t.observeReturn(late)
			done(late)
			close(l.returned)
		})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.works == nil {
		t.works, t.watch = map[*Leadership]uint64{}, &c.deadlines
	}
	t.works[l] = t.given
	t.given++
	switch {
	case t.stopped != nil:
		l.stop(t.stopped)
		t.expectReturn(t.why)
	case len(t.works) == 1:
		t.watch.add(t)
	}
	return l
}

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

func (t *heldTerm) place() Place {
	place := t.holder.place(t.Path, t.Token, t.Session)
	place.SessionID = t.zkSession
	return place
}

// observeReturn reports that work has returned, or is no longer waited for.
func (t *heldTerm) observeReturn(late error) {
	ended := WorkEnded{Place: t.place(), Overran: errors.Is(late, ErrWorkRunning)}
	t.mu.Lock()
	if t.stopped != nil {
		ended.Late = clock.Instant().Sub(t.stopAt)
	}
	t.mu.Unlock()
	t.holder.client.observed.emitAside(ended)
}
