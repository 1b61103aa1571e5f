package door_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Servers of an ensemble may grant different session timeouts. One grants 15 s, another one 6 s, a
// third 12 s. As long as the session lives, belief counts with 6 s, because the ensemble may end it by
// any of them. The log says so once. The next session counts with its own.
func TestTheShortestTimeoutThatASessionWasGrantedCounts(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(func(c *incumbent.Config) { c.Tick, c.Logger = 2*time.Second, zerolog.New(log) })
		leadsWith := func(granted, counts time.Duration) {
			t.Helper()
			pass(time.Minute)
			held := n.leads()
			defer held.Release()
			if got := n.SessionTimeout(); got != granted {
				t.Fatalf("granted %s, want %s", got, granted)
			}
			if left := time.Until(held.ValidUntil()); left <= 0 || left > counts/2 || left < counts/5 {
				t.Errorf("granted %s: belief lasts for %s more, want at most half of %s", granted, left, counts)
			}
		}
		leadsWith(15*time.Second, 15*time.Second)
		session := n.SessionID()
		for _, granted := range []time.Duration{6 * time.Second, 12 * time.Second} {
			w.srv.SetSessionTimeouts(granted, granted)
			n.cut()
			leadsWith(granted, 6*time.Second)
		}
		if n.SessionID() != session || len(log.with("the servers grant different session timeouts")) != 1 {
			t.Errorf("session %x, then %x; the log has %q: want one warning", session, n.SessionID(), log.with("grant"))
		}
		w.srv.ExpireSession(n.session())
		leadsWith(12*time.Second, 12*time.Second)
	})
}

// The waits and paces of handles count with the same timeout as belief: of a session that was granted
// 6 s and is granted 12 s now, 6 s.
func TestHandlesCountWithTheShortestTimeout(t *testing.T) {
	const counts = 6 * time.Second
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(func(c *incumbent.Config) { c.Tick, c.RideOut = 2*time.Second, true })
		for _, granted := range []time.Duration{counts, 12 * time.Second} {
			w.srv.SetSessionTimeouts(granted, granted)
			n.cut()
			pass(time.Minute)
		}
		if got := n.SessionTimeout(); got != 12*time.Second {
			t.Fatalf("the last server granted %s", got)
		}
		// Go's timers have stood still, and the client's clock has not.
		work := n.leads()
		defer work.Release()
		n.w.srv.Freeze(zkmem.Outbound)
		pass(10 * time.Millisecond)
		n.ahead.Add(int64(time.Until(work.ValidUntil())))
		pass(counts / 8)
		if work.Context().Err() == nil {
			t.Errorf("work goes on %s after the machine woke", counts/8)
		}
		n.w.srv.Heal()
		work.Release()
		pass(time.Minute)

		// A close waits for a deletion as long as the session may live.
		n.w.srv.Freeze(zkmem.Inbound)
		began := time.Now()
		if err := n.latch.Close(t.Context()); !errors.Is(err, incumbent.ErrNotDeleted) {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(began); took != counts {
			t.Errorf("Close took %s, want %s", took, counts)
		}
		w.srv.Heal()
	})
}

// So do the pings of a client that does nothing else: the ensemble's leader may still end the session by
// the shorter timeout.
func TestPingsCountWithTheShortestTimeout(t *testing.T) {
	bubble(t, zkmem.Options{MaxSessionTimeout: time.Minute}, func(t *testing.T, w *world) {
		n := w.start(func(c *incumbent.Config) { c.Tick = 2 * time.Second })
		if err := n.latch.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, granted := range []time.Duration{6 * time.Second, time.Minute} {
			w.srv.SetSessionTimeouts(granted, granted)
			n.cut()
			pass(time.Minute)
		}
		if got := n.SessionTimeout(); got != time.Minute {
			t.Fatalf("the last server granted %s", got)
		}
		before := w.srv.Counts()
		pass(time.Minute)
		if sent := w.srv.Counts().Pings - before.Pings; sent < 30 {
			t.Errorf("%d pings in a minute, want one in each third of 6 s", sent)
		}
	})
}
