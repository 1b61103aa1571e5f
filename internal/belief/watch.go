package belief

import (
	"sync"
	"time"
)

// Watch stops the work under all terms of a client when their deadline has passed,
// whatever the loop does. It has one timer, which runs only while there is work.
//
// When the timer fires, the deadline is read; so the loop need not reset the timer when the
// deadline moves on. The timer fires at least eight times in a session timeout, because
// Go's timers stand still while the machine is suspended, and the client's clock does not.
type Watch[T comparable] struct {
	Deadline *Deadline
	Now      func() int64         // the client's clock
	Timeout  func() time.Duration // of the session
	Wake     func()               // the loop
	Session  func(T) int64        // the number of a term's session
	// Lapse is called while the deadline is read, and stop, which stops the work under the term, after that.
	Lapse func(T) (stop func())
	Check func(other, added T) // of each two that have work; nil: nothing is checked

	mu      sync.Mutex
	terms   map[T]bool // with work that has not been stopped
	session int64      // of the term added last
	timer   *time.Timer
}

// Add adds a term that has work now.
func (w *Watch[T]) Add(t T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.terms == nil {
		w.terms = map[T]bool{}
	}
	first := len(w.terms) == 0 || w.session != w.Session(t)
	w.terms[t], w.session = true, w.Session(t)
	if w.Check != nil {
		for other := range w.terms {
			if other != t {
				w.Check(other, t)
			}
		}
	}
	if first || w.Deadline.Until(w.Session(t)) == 0 {
		w.setTimer()
	}
}

// Remove removes a term without work, or whose work was stopped.
func (w *Watch[T]) Remove(t T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.terms, t)
	if len(w.terms) == 0 && w.timer != nil {
		w.timer.Stop()
	}
}

// stopLapsed stops the work under every term whose deadline has passed. The lock is held
// while the deadline is read: a term that begins afterwards is not among them.
func (w *Watch[T]) stopLapsed() {
	w.mu.Lock()
	var lapsed []func()
	for t := range w.terms {
		if !w.Deadline.Holds(w.Session(t), w.Now) {
			lapsed = append(lapsed, w.Lapse(t))
			delete(w.terms, t)
		}
	}
	w.setTimer()
	w.mu.Unlock()
	for _, stop := range lapsed {
		stop()
	}
	if len(lapsed) > 0 {
		// The session machine's own timer ends the terms. An event with the same content
		// could wait behind a confirmation, and end the next term.
		w.Wake()
	}
}

// setTimer sets the timer for the earliest deadline. The caller holds the lock.
func (w *Watch[T]) setTimer() {
	if len(w.terms) == 0 {
		return
	}
	next := max(w.Timeout()/8, time.Millisecond) // a server may grant anything
	now := w.Now()
	for t := range w.terms {
		next = min(next, time.Duration(w.Deadline.Until(w.Session(t))-now))
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(next, w.stopLapsed)
		return
	}
	w.timer.Reset(next)
}
