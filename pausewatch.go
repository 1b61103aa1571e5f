package incumbent

import (
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// pauseWatch knows for how long this process did not run: it was stopped, its machine or
// container was suspended, or it got no CPU. A timer fires every period and notes the
// clock. The process did not run between two notes that are further apart than that, so
// what is taken for a pause is up to half a period longer or shorter than the real one.
type pauseWatch struct {
	clock   engine.Clock
	timeout func() time.Duration // Client.timeout
	noticed func(time.Duration)  // is called with each pause, under mu; nil: nobody is

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

// period returns the time between two ticks: a fortieth of the session timeout.
func (w *pauseWatch) period() time.Duration {
	return min(max(w.timeout()/40, 50*time.Millisecond), 500*time.Millisecond)
}

// start starts the watch. stop has to be called.
func (w *pauseWatch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ranAt = w.clock.Now()
	w.every = w.period()
	w.timer = time.AfterFunc(w.every, w.tick)
}

func (w *pauseWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *pauseWatch) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.note()
		w.every = w.period()
		w.timer.Reset(w.every)
	}
}

// note notes that the process runs. The caller holds the lock.
func (w *pauseWatch) note() {
	now := w.clock.Now()
	if quiet := time.Duration(now - w.ranAt); quiet > w.every+lateness {
		w.gaps[w.n%len(w.gaps)] = gap{now, quiet - w.every/2}
		w.n++
		if w.noticed != nil {
			w.noticed(quiet - w.every/2)
		}
	}
	w.ranAt = now
}

// since returns for how long the process did not run: the sum of the pauses that ended
// after an instant of the client's clock. The caller runs, so a pause that the timer has not
// noticed yet ends with that. It is safe to call from any goroutine.
func (w *pauseWatch) since(at int64) (paused time.Duration) {
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

// lapseEvent returns the session machine's event for when a reader has found that the last
// deadline had passed.
func (c *Client) lapseEvent(session int64) events.Event {
	ev := events.Event{Kind: events.BeliefLapsed, Session: session}
	if last := c.belief.published(session); last != nil {
		ev.Paused = int64(c.pauses.since(last.at))
	}
	return ev
}

// lapsed returns why work is stopped at the deadline of a session: the pause of this process
// that explains it, if one does. The machine ends the term later, for the same reason.
func (c *Client) lapsed(session int64) (why Reason, paused time.Duration) {
	if last := c.belief.published(session); last != nil {
		paused = c.pauses.since(last.at)
		if events.PauseExplains(paused, time.Duration(c.clock.Now()-last.at), time.Duration(last.until-last.at)) {
			return ReasonOwnPause, paused
		}
	}
	return ReasonLapsed, 0
}
