package door_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// OnConnection of a closed selector is not called any longer.
func TestAClosedSelectorLeavesNoListener(t *testing.T) {
	for name, started := range map[string]bool{"started": true, "not started": false} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				synctest.Wait()
				called := 0
				for range 100 {
					before := called
					work := func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil }
					s, err := n.Selector("/line", work,
						incumbent.SelectorOptions{
							OnConnection: func(incumbent.ConnectionState) error { called++; return nil },
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
					if err := s.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				before := called
				n.cut()
				if pass(time.Minute); called != before || n.Connection() != incumbent.Reconnected {
					t.Errorf("OnConnection of closed selectors was called %d times (%s)", called-before, n.Connection())
				}
			})
		})
	}
}
