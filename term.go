package incumbent

import (
	"context"
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
