package clock

import (
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/engine"
)

// Pauses knows for how long this process did not run: it was stopped, its machine or
// container was suspended, or it got no CPU. A timer fires every period and notes the
// clock. The process did not run between two notes that are further apart than that, so
// what is taken for a pause is up to half a period longer or shorter than the real one.
type Pauses struct {
	Clock   engine.Clock
	Timeout func() time.Duration // returns the session timeout
	Noticed func(time.Duration)  // is called with each pause, under a lock; nil: nothing is called

	mu    sync.Mutex
	ranAt int64 // when the process surely ran
	gaps  [32]gap
	n     int           // gaps so far; the last of them are kept
	timer *time.Timer   // nil while the watch does not run
	every time.Duration // the period with which the timer was set last
}

// gap is one pause.
type gap struct {
	ended  int64
	lasted time.Duration
}

// lateness is how much later than its period a tick comes if it counts as a pause. A busy
// machine delays one by less.
const lateness = 200 * time.Millisecond

// Period returns the time between two ticks: a fortieth of the session timeout.
func (w *Pauses) Period() time.Duration {
	return min(max(w.Timeout()/40, 50*time.Millisecond), 500*time.Millisecond)
}

// Start starts the watch. Stop has to be called.
func (w *Pauses) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ranAt = w.Clock.Now()
	w.every = w.Period()
	w.timer = time.AfterFunc(w.every, w.tick)
}

// Stop ends the watch. Since goes on with what is known.
func (w *Pauses) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *Pauses) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.note()
		w.every = w.Period()
		w.timer.Reset(w.every)
	}
}

// LastRan returns when the process surely ran, by the clock.
func (w *Pauses) LastRan() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ranAt
}

// note notes that the process runs. The caller holds the lock.
func (w *Pauses) note() {
	now := w.Clock.Now()
	if quiet := time.Duration(now - w.ranAt); quiet > w.every+lateness {
		w.gaps[w.n%len(w.gaps)] = gap{now, quiet - w.every/2}
		w.n++
		if w.Noticed != nil {
			w.Noticed(quiet - w.every/2)
		}
	}
	w.ranAt = now
}

// Since returns for how long the process did not run: the sum of the pauses that ended
// after an instant of the client's clock. The caller runs, so a pause that the timer has not
// noticed yet ends with that. It is safe to call from any goroutine.
func (w *Pauses) Since(at int64) (paused time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.note()
	}
	for i := w.n - 1; i >= max(0, w.n-len(w.gaps)); i-- {
		g := w.gaps[i%len(w.gaps)]
		if g.ended <= at {
			break
		}
		paused += g.lasted
	}
	return paused
}
