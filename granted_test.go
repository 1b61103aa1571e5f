package incumbent

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Servers of an ensemble may grant different session timeouts. One grants 15 s, another one 6 s, a
// third 12 s. As long as the session lives, belief counts with 6 s, because the ensemble may end it by
// any of them. The log says so once. The next session counts with its own.
func TestTheShortestTimeoutThatASessionWasGrantedCounts(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log := &lines{}
		n := w.start(func(c *Config) { c.Tick, c.Logger = 2*time.Second, zerolog.New(log) })
		leadsWith := func(granted, counts time.Duration) {
			t.Helper()
			pass(time.Minute)
			held, err := n.latch.Await(t.Context())
			if err != nil {
				t.Fatal(err)
			}
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
