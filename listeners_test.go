package incumbent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Connection and HasLeadership, called by a listener, say the same as what the listener
// was called with.
func TestListenersAskTheirHandles(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		calls := map[ConnectionState]int{}
		n.OnConnection(func(s ConnectionState) {
			calls[s]++
			if now := n.Connection(); now != s {
				t.Errorf("OnConnection was called with %s, and Connection is %s", s, now)
			}
		})
		leads := 0
		n.latch.participant.AddListener(Listener{
			IsLeader: func(Term) {
				if leads++; !n.latch.participant.HasLeadership() {
					t.Error("IsLeader was called, and HasLeadership is false")
				}
			},
			NotLeader: func(Term, error) {
				if n.latch.participant.HasLeadership() {
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
		if calls[Suspended] != 20 || calls[Lost] != 20 || calls[Reconnected] != 20 || leads != 21 {
			t.Errorf("OnConnection was called with %v, and IsLeader %d times: want 20 of each, and 21", calls, leads)
		}
	})
}

// OnConnection of a closed selector is not called any longer, and the client does not keep
// it.
func TestAClosedSelectorLeavesNoListener(t *testing.T) {
	for name, started := range map[string]bool{"started": true, "not started": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				synctest.Wait()
				called := 0
				for range 100 {
					before := called
					s, err := n.Selector("/line", func(l *Leadership) error { <-l.Context().Done(); return nil }, SelectorOptions{
						OnConnection: func(ConnectionState) error { called++; return nil },
					})
					if err == nil && started {
						err = s.Start()
					}
					if err != nil {
						t.Fatal(err)
					}
					if synctest.Wait(); called == before {
						t.Fatal("OnConnection of an open selector was not called: the test shows nothing")
					}
					if err := s.participant.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if left := n.Client.session.listeners.Len(); left != 0 {
					t.Errorf("100 selectors were closed, and the client keeps %d listeners", left)
				}
				before := called
				n.cut()
				if pass(time.Minute); called != before || n.Connection() != Reconnected {
					t.Errorf("OnConnection of closed selectors was called %d times (%s)", called-before, n.Connection())
				}
			})
		})
	}
}
