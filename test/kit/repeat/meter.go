package repeat

import (
	"sync"
	"testing"
	"time"
)

// Meter measures, by the machine's clock, how long this process did not run: a goroutine that wants to run every few
// milliseconds notes by how much it was late. Another process is not measured. Programs that read a result against a
// Meter must not run in a bubble.
type Meter struct {
	mu      sync.Mutex
	last    time.Time // when the goroutine last ran
	longest time.Duration
	total   time.Duration
}

const (
	step = 5 * time.Millisecond
	// least is the shortest lateness that is a pause: less is how a scheduler works.
	least = 20 * time.Millisecond
)

// Measure starts a meter, which the test's end stops.
func Measure(t testing.TB) *Meter {
	m := &Meter{last: time.Now()}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(step)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.ran(time.Now())
			case <-quit:
				return
			}
		}
	}()
	t.Cleanup(func() { close(quit); <-ended })
	return m
}

// ran notes that the process runs now.
func (m *Meter) ran(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if late := now.Sub(m.last) - step; late >= least {
		m.longest = max(m.longest, late)
		m.total += late
	}
	m.last = now
}

// Longest returns the longest pause until now, one that has just ended included.
func (m *Meter) Longest() time.Duration {
	m.ran(time.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.longest
}

// Total returns how long the process did not run until now, in pauses that are worth a note.
func (m *Meter) Total() time.Duration {
	m.ran(time.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}
