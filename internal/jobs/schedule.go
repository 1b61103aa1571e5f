package jobs

import "time"

// Every is a schedule with a tick at each multiple of it.
type Every time.Duration

// Next returns the first multiple after an instant.
func (e Every) Next(after time.Time) time.Time {
	d := time.Duration(e)
	return after.Round(0).Truncate(d).Add(d)
}

// clockLooks is how often a clock is read while a tick is awaited: it may be set, and the machine may be suspended.
const clockLooks = 10 * time.Second

// Await waits for the next tick. It returns false when the schedule has changed, or nobody waits any longer. Tick
// returns the next tick after now, the zero time if there is none.
func Await(now, tick func() time.Time, changed, done <-chan struct{}) bool {
	next := tick()
	for {
		now := now()
		if !next.IsZero() && !now.Before(next) {
			return true
		}
		var look <-chan time.Time // nil: there is no tick
		if !next.IsZero() {
			look = time.After(min(next.Sub(now), clockLooks))
		}
		select {
		case <-look:
		case <-changed:
			return false
		case <-done:
			return false
		}
		if again := tick(); !again.IsZero() && again.Before(next) { // the clock was set back
			next = again
		}
	}
}
