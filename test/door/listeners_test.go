package door_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Connection and HasLeadership, called by a listener, say the same as what the listener
// was called with.
func TestListenersAskTheirHandles(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		calls := map[incumbent.ConnectionState]int{}
		n.OnConnection(func(s incumbent.ConnectionState) {
			calls[s]++
			if now := n.Connection(); now != s {
				t.Errorf("OnConnection was called with %s, and Connection is %s", s, now)
			}
		})
		leads := 0
		n.latch.AddListener(incumbent.Listener{
			IsLeader: func(incumbent.Term) {
				if leads++; !n.latch.HasLeadership() {
					t.Error("IsLeader was called, and HasLeadership is false")
				}
			},
			NotLeader: func(incumbent.Term, error) {
				if n.latch.HasLeadership() {
					t.Error("NotLeader was called, and HasLeadership is true")
				}
			},
		})
		synctest.Wait()
		for range 20 {
			w.refuse(n, true)
			n.cut()
			pass(20 * time.Second) // longer than the session
			w.refuse(n, false)
			pass(20 * time.Second)
		}
		if calls[incumbent.Suspended] != 20 || calls[incumbent.Lost] != 20 || calls[incumbent.Reconnected] != 20 ||
			leads != 21 {
			t.Errorf("OnConnection was called with %v, and IsLeader %d times: want 20 of each, and 21", calls, leads)
		}
	})
}
