package clock

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
)

// Clock is the loop's time on this machine: see System in system_linux.go and system_other.go.
type Clock struct{ now func() int64 }

// Now returns the time in nanoseconds, from an instant that is the same as long as the process runs.
func (c Clock) Now() int64 { return c.now() }

// Timer returns a channel that gets the time after d, and what stops that.
func (Clock) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// loopClock is a clock for one loop, which has one timer at a time: it is always the same one.
type loopClock struct {
	of    Clock
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

// ForLoop returns c for one loop. A clock of this package has one timer then.
func ForLoop(c engine.Clock) engine.Clock {
	if own, ok := c.(Clock); ok {
		return &loopClock{of: own}
	}
	return c
}

// Of returns a clock whose time is what now returns, in nanoseconds.
func Of(now func() int64) Clock { return Clock{now} }

// SinceStart returns Go's monotonic clock. It does not run while a machine is suspended;
// testing/synctest replaces it.
func SinceStart() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) + 1 }
}

// Instant returns the present time, for differences.
func Instant() time.Time { return time.Now() }

// Wall returns the wall clock's time so many nanoseconds from now.
func Wall(after int64) time.Time { return time.Now().Add(time.Duration(after)).Round(0) }
