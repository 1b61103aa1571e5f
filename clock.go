package incumbent

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
)

// clock is the loop's time on this machine: see systemClock in clock_linux.go and
// clock_other.go.
type clock struct{ now func() int64 }

func (c clock) Now() int64 { return c.now() }

func (clock) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// loopClock is a clock for one loop, which has one timer at a time: it is always the same one.
type loopClock struct {
	of    clock
	timer *time.Timer // nil before the first
	stop  func()
}

// Now returns the clock's time.
func (c *loopClock) Now() int64 { return c.of.Now() }

// Timer is called when the timer before has stopped.
func (c *loopClock) Timer(d time.Duration) (<-chan time.Time, func()) {
	if c.timer == nil {
		timer := time.NewTimer(d)
		c.timer, c.stop = timer, func() { timer.Stop() }
	} else {
		c.timer.Reset(d)
	}
	return c.timer.C, c.stop
}

// loopClock returns the client's clock for the loop.
func (c *Client) loopClock() engine.Clock {
	if own, ok := c.clock.(clock); ok {
		return &loopClock{of: own}
	}
	return c.clock
}

// sinceStart returns Go's monotonic clock. It does not run while a machine is suspended;
// testing/synctest replaces it.
func sinceStart() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) + 1 }
}

// instant returns the present time, for differences.
func instant() time.Time { return time.Now() }

// wall returns the wall clock's time so many nanoseconds from now.
func wall(after int64) time.Time { return time.Now().Add(time.Duration(after)).Round(0) }
