package incumbent

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The watch ends with its client.
func TestTheWatchEndsWithItsClient(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		ran := n.pauses.LastRan
		before := ran()
		pass(time.Minute)
		if ran() == before {
			t.Error("it does not run while the client is open")
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		before = ran()
		pass(time.Minute)
		if ran() != before {
			t.Error("it runs, and the client is closed")
		}
	})
}

// The watch counts with the shortest timeout that the session was granted, as belief does.
func TestTheWatchCountsWithTheShortestTimeout(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(func(c *Config) { c.Tick, c.RideOut = 2*time.Second, true })
		for _, granted := range []time.Duration{6 * time.Second, 12 * time.Second} {
			w.srv.SetSessionTimeouts(granted, granted)
			n.cut()
			pass(time.Minute)
		}
		if period := n.pauses.Period(); period != 6*time.Second/40 {
			t.Errorf("it has a period of %s, want a fortieth of 6 s", period)
		}
	})
}

// AloneUntil is over when a tick grew, and not when belief ends.
func TestTheTimeThatIsLeftForTheWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := n.leads()
		session := held.Term().Session
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: session})
		if time.Until(held.AloneUntil()) <= 0 {
			t.Error("the end of belief ends the time that is left for the work")
		}
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: session, Alone: n.clock.Now()})
		if left := time.Until(held.AloneUntil()); left > 0 {
			t.Errorf("%s are left although the tick grew", left)
		}
		held.Release()
	})
}
