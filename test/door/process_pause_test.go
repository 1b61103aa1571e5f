package door_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The tests here let a client's clock run on while its loop does not run, as a
// stopped process or a suspended machine does.

func TestBeliefEndsByTheClockThoughTheLoopHasNotRun(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held, err := n.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release()
		pass(time.Minute)
		left := time.Until(held.ValidUntil())
		if left <= 0 || left > 7500*time.Millisecond {
			t.Fatalf("valid for %s, want at most half of the session timeout", left)
		}
		seen := len(n.tape.Records())
		n.ahead.Store(int64(left) - 1)
		if held.Check() != nil || !n.latch.HasLeadership() {
			t.Fatal("belief ended before validUntil")
		}
		n.ahead.Add(1)
		if held.Check() == nil || n.latch.HasLeadership() || time.Until(held.ValidUntil()) > 0 {
			t.Fatal("it believes at validUntil")
		}
		if held.Context().Err() != nil || len(n.tape.Records()) != seen {
			t.Fatal("the loop has run: the test shows nothing")
		}
		before := w.srv.Counts().ByOp[zkmem.OpMulti]
		if _, err := held.Write(t.Context(), incumbent.CreateNode("/data", nil)); !errors.Is(err,
			incumbent.ErrLeadershipLost) {
			t.Fatal(err)
		}
		if after := w.srv.Counts().ByOp[zkmem.OpMulti]; after != before {
			t.Fatal("the write was sent")
		}
		held.Release()
		pass(10 * time.Second) // the loop wakes, ends the term and begins another
		if held.Check() == nil || !n.latch.HasLeadership() {
			t.Fatalf("the old term: %v; leads: %t", held.Check(), n.latch.HasLeadership())
		}
	})
}

// TestAWaiterThatStoodStillDoesNotLeadByAnOldEvent shows promise 5: the predecessor's
// deletion is in its socket when it wakes, and its last confirmation is too old.
func TestAWaiterThatStoodStillDoesNotLeadByAnOldEvent(t *testing.T) {
	for name, test := range map[string]struct {
		asleep  time.Duration
		settles time.Duration // what it received last is as old as if the ensemble's leader had stood still
		row     string
	}{
		"awake":  {0, 0, "watch.deleted [mayTakeOver]"},
		"asleep": {10 * time.Second, 2 * time.Second, "reply."},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				first, second := w.start(), w.start()
				pass(time.Minute)
				w.srv.Freeze(zkmem.Outbound, second.session())
				if err := first.latch.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				second.ahead.Store(int64(test.asleep))
				w.srv.Heal()
				synctest.Wait()
				pass(time.Second + test.settles)
				if !second.latch.HasLeadership() {
					t.Fatal(second.latch.Phase())
				}
				for _, r := range second.tape.Records() {
					if r.To == "leading" && r.From != "leading" && !strings.HasPrefix(r.Row, test.row) {
						t.Errorf("its term began by %q, want %q", r.Row, test.row)
					}
				}
			})
		})
	}
}
