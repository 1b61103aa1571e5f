//go:build !linux

package clock

import (
	"sync"
	"time"
)

// jump is how far the wall clock must run ahead of the monotonic one between two readings
// to count as a suspension.
const jump = time.Second

// System returns Go's monotonic clock, plus the time that the machine slept as the
// wall clock shows it: the monotonic one stops there. A wall clock that is set forward by
// hand ends belief early, which is harmless: the next confirmation renews it.
func System() Clock {
	var mu sync.Mutex
	start := time.Now()
	last, slept := start, time.Duration(0)
	return Clock{func() int64 {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		wall := now.Round(0).Sub(last.Round(0))
		if ahead := wall - now.Sub(last); ahead > jump {
			slept += ahead
		}
		last = now
		return int64(now.Sub(start)+slept) + 1
	}}
}

// Name returns what System reads.
func Name() string { return "monotonic" }
