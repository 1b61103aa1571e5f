package incumbent

import "time"

// clock is the loop's time on this machine: see systemClock in clock_linux.go and
// clock_other.go.
type clock struct{ now func() int64 }

func (c clock) Now() int64 { return c.now() }

func (clock) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
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
