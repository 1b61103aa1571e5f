package door_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestBeliefEndsBeforeTheSessionWhenOnlyRequestsAreBlocked: nothing that the client sends
// arrives, and a watch event makes the connection look alive. Belief ends nevertheless,
// before the server can give the session up.
func TestBeliefEndsBeforeTheSessionWhenOnlyRequestsAreBlocked(t *testing.T) {
	for _, phase := range []time.Duration{0, 1700 * time.Millisecond, 3600 * time.Millisecond,
		4900 * time.Millisecond} {
		for _, rideOut := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ride out %t", phase, rideOut), func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
					n := w.start(func(c *incumbent.Config) { c.RideOut = rideOut })
					held, err := n.latch.Await(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer held.Release()
					pass(time.Minute + phase)
					w.srv.Freeze(zkmem.Inbound, n.session())
					w.refuse(n, true) // a new connection would tell the server that the client lives
					pass(6 * time.Second)
					if err := w.srv.Set(held.Term().Path, nil); err != nil { // its watch is not set again
						t.Fatal(err)
					}
					believed := true
					for range 200 {
						pass(100 * time.Millisecond)
						gone := n.session() == 0
						if held.Check() == nil && gone {
							t.Fatal("it believes, and its session is over")
						}
						if believed && held.Check() != nil {
							believed = false
							if n.Connection() != incumbent.Connected {
								t.Errorf("belief ended with the connection (%s): the test shows nothing",
									n.Connection())
							}
						}
						if gone {
							break
						}
					}
					if believed || n.session() != 0 {
						t.Error("the session did not end: the test shows nothing")
					}
				})
			})
		}
	}
}
