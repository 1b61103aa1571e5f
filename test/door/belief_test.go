package door_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestLostOnceIsLostForTheTerm: the process stops between the stamp of a confirmation and
// the publishing of its deadline; the old deadline passes, and the work calls Check. Its
// answer stays true, and the term ends, so that a new one can begin.
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
		n.ahead.Store(0) // as by the clock of the event that the loop had stamped before
		for n.latch.Phase() == "leading" {
			if held.Check() == nil || n.latch.HasLeadership() || time.Until(held.ValidUntil()) > 0 {
				t.Fatal("lost, and held again within one term")
			}
			pass(time.Second) // the next heartbeat is confirmed within four
		}
		if !errors.Is(held.Check(), incumbent.ErrLeadershipLost) || held.Context().Err() == nil {
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
			t.Errorf("the session machine got %d events", lapses)
		}
	})
}

// TestATermThatEndedIsNotValid: the session is confirmed all the time, and the same latch
// leads again, so that the deadline of belief is in the future. That of the term that ended
// is not.
func TestATermThatEndedIsNotValid(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *node, *incumbent.Leadership){
		"resigned": func(t *testing.T, n *node, held *incumbent.Leadership) {
			var resigned sync.WaitGroup
			defer resigned.Wait()
			resigned.Go(func() {
				if err := n.latch.Resign(t.Context()); err != nil {
					t.Error(err)
				}
			})
			over(t, n, held)
			held.Release()
		},
		"evicted": func(t *testing.T, n *node, held *incumbent.Leadership) {
			line, err := n.Line(t.Context(), "/line")
			if err == nil {
				err = n.Evict(t.Context(), line.Participants[0])
			}
			if err != nil {
				t.Fatal(err)
			}
			over(t, n, held)
			held.Release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start()
				held, err := n.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pass(time.Minute)
				if left := time.Until(held.ValidUntil()); left <= 0 {
					t.Fatalf("it leads, and is valid for %v", left)
				}
				end(t, n, held)
				again, err := n.latch.Await(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer again.Release()
				if left := time.Until(again.ValidUntil()); left <= 0 {
					t.Fatalf("it leads again, and is valid for %v: the test shows nothing", left)
				}
				over(t, n, held)
			})
		})
	}
}

// over waits for the end of a term, and fails unless its deadline is in the past.
func over(t *testing.T, n *node, held *incumbent.Leadership) {
	t.Helper()
	<-held.Context().Done()
	if left := time.Until(held.ValidUntil()); left > 0 || held.Check() == nil {
		t.Errorf("the term is over, and valid for another %v (Check: %v); the latch is %s", left, held.Check(),
			n.latch.Phase())
	}
}
