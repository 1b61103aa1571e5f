package incumbent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestLostOnceIsLostForTheTerm: the process stops between the stamp of a
// confirmation and the publishing of the deadline that comes of it; the old
// deadline passes, and the work asks. What it was told stays true, and the term
// ends, so that a new one can begin.
func TestLostOnceIsLostForTheTerm(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held, err := n.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Minute + time.Second)
		n.ahead.Store(int64(time.Until(held.ValidUntil())))
		if held.Check() == nil || n.latch.HasLeadership() {
			t.Fatal("it believes at validUntil")
		}
		// The loop goes on with the event that it had stamped before.
		n.ahead.Store(0)
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: 1, Until: n.clock.Now() + int64(7*time.Second)})
		if held.Check() == nil || n.latch.HasLeadership() || time.Until(held.ValidUntil()) > 0 {
			t.Fatal("lost, and held again within one term")
		}
		synctest.Wait()
		if !errors.Is(held.Check(), ErrLeadershipLost) || held.Context().Err() == nil {
			t.Fatalf("the term did not end: %v", held.Check())
		}
		if phase := n.latch.Phase(); phase != "draining" {
			t.Fatalf("%s while the old work runs", phase)
		}
		held.Release()
		again, err := n.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer again.Release()
		if again.Check() != nil || held.Check() == nil {
			t.Fatalf("the new term: %v, the old one: %v", again.Check(), held.Check())
		}
		lapses := 0
		for _, r := range n.tape.Records() {
			if r.Event.Kind == events.BeliefLapsed {
				lapses++
			}
		}
		if lapses != 1 {
			t.Errorf("the session machine was told %d times", lapses)
		}
	})
}
