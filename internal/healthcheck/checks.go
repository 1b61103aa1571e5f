// Package healthcheck calls a user's health check again and again, and passes on what a machine has to know.
package healthcheck

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Checks calls a health check again and again, and posts what the machine has to know. It
// decides nothing. A check has a goroutine of its own, so that one that hangs holds up
// nothing, and no second one begins meanwhile.
type Checks struct {
	Check    func(context.Context) error
	Interval func() time.Duration // from the beginning of one check to that of the next
	Timeout  time.Duration        // of a check; 0: Interval
	Failures int                  // how many in a row the machine has to know of
	Ended    <-chan struct{}      // closed when the handle has closed
	Closed   <-chan struct{}      // closed when the client is
	Post     func(events.Event)
	// Guard calls f, and then calls then with its error, also if f panics.
	Guard func(f func() error, then func(error))

	result  chan error         // of the check that has not returned yet; nil: none runs
	limited context.Context    // that check's
	release context.CancelFunc // ends limited
	again   <-chan time.Time   // when a check that hangs fails again

	failed int    // checks in a row
	text   string // of the last one's error
}

// Run checks health until the handle has closed. It waits for no check that hangs then: it
// cancels the check's context.
func (h *Checks) Run(base context.Context) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(base))
	defer cancel()
	for {
		next := time.After(h.Interval())
		err, open := h.check(ctx)
		if open {
			h.post(err)
			open = h.wait(next)
		}
		if !open {
			return
		}
	}
}

// wait waits for the timer; it returns false if the handle closed first.
func (h *Checks) wait(timer <-chan time.Time) (open bool) {
	select {
	case <-timer:
		return true
	case <-h.Ended:
	case <-h.Closed:
	}
	return false
}

// check returns the result of one check, or that it did not return in time. It begins one, unless the last one still
// hangs: that one fails again when as much time has passed since as a check may take. It returns false if the handle
// closed first.
func (h *Checks) check(ctx context.Context) (err error, open bool) {
	h.dropLate()
	limit := cmp.Or(h.Timeout, h.Interval())
	hangs := h.result != nil
	if !hangs {
		h.begin(ctx, limit)
	}
	ends, again := h.limited.Done(), (<-chan time.Time)(nil)
	if hangs {
		ends, again = nil, h.again
	}
	select {
	case err := <-h.result:
		inTime := h.limited.Err() == nil
		h.result = nil
		h.release()
		if inTime {
			return err, true
		}
		if hangs {
			return h.check(ctx)
		}
	case <-ends:
	case <-again:
	case <-h.Ended:
		return nil, false
	case <-h.Closed:
		return nil, false
	}
	h.again = time.After(limit)
	return fmt.Errorf("the check has not returned within %s", limit), true
}

// dropLate drops the result of a check that returned after its time, and counted as failed.
func (h *Checks) dropLate() {
	select {
	case <-h.result:
		h.result = nil
	default:
	}
}

// begin begins a check.
func (h *Checks) begin(ctx context.Context, limit time.Duration) {
	limited, release := context.WithTimeout(ctx, limit)
	result := make(chan error, 1)
	h.limited, h.release, h.result = limited, release, result
	go func() {
		h.Guard(func() error { return h.Check(limited) }, func(err error) { result <- err })
	}()
}

// post posts a result if it may change something: the machine counts those that fail.
func (h *Checks) post(err error) {
	if err == nil {
		if h.failed == 0 {
			return
		}
		h.failed = 0
		h.Post(events.Event{Kind: events.HealthChecked})
		return
	}
	text := cmp.Or(strings.ToValidUTF8(err.Error(), "\uFFFD"), "(an error without text)") // as a log has it
	h.failed++
	if h.failed > h.Failures && text == h.text {
		return
	}
	h.text = text
	h.Post(events.Event{Kind: events.HealthChecked, Code: events.Unhealthy, Text: text})
}
