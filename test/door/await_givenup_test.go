package door_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// An Await whose context has ended leaves nothing with the handle or its machine, and is
// granted nothing when the handle leads later: neither if another participant led meanwhile
// nor if there was no connection.
func TestAwaitsGivenUpLeaveNothing(t *testing.T) {
	const times = 300
	for name, cutOff := range map[string]bool{"another leads": false, "without a connection": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				first, second := w.start(), w.start()
				if cutOff {
					w.refuse(second, true)
					second.cut()
				}
				for range times {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					_, err := second.latch.Await(ctx)
					if cancel(); !errors.Is(err, context.DeadlineExceeded) {
						t.Fatalf("its context ended: %v", err)
					}
				}
				synctest.Wait()
				if err := first.latch.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.refuse(second, false)
				if pass(time.Minute); !second.latch.HasLeadership() {
					t.Fatalf("it does not lead: %s", second.latch.Phase())
				}
				if granted := second.tape.Effects("latch-1", "notify granted"); granted != 0 {
					t.Errorf("%d Awaits were given up, and the machine grants leadership to %d", times, granted)
				}
				held, err := second.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				held.Release()
			})
		})
	}
}
