package proxy

import (
	"sync"
	"time"
)

// piece is the result of one read, and when it may arrive.
type piece struct {
	data []byte
	due  time.Time
}

// way is the state of one direction.
type way struct {
	mu      sync.Mutex
	silent  bool
	over    bool // the link is closed
	delay   time.Duration
	changed chan struct{} // closed and replaced at every change
}

func newWay() *way { return &way{changed: make(chan struct{})} }

func (w *way) set(change func(*way)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
	close(w.changed)
	w.changed = make(chan struct{})
}

// due returns when something that is sent now may arrive.
func (w *way) due() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.delay)
}

// await returns when the way is not silent and the time has come, or when the link is closed.
func (w *way) await(due time.Time) {
	for {
		w.mu.Lock()
		silent, over, changed := w.silent, w.over, w.changed
		w.mu.Unlock()
		early := time.Until(due)
		if over || !silent && early <= 0 {
			return
		}
		if silent {
			<-changed
			continue
		}
		timer := time.NewTimer(early)
		select {
		case <-timer.C:
		case <-changed:
			timer.Stop()
			if w.quick() {
				due = time.Time{}
			}
		}
	}
}

// quick reports whether delays were taken back.
func (w *way) quick() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.delay == 0
}
