package door_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A leader's process does not run for 3 s: all that is said of the end of its term names that,
// to a tenth of a second. AloneUntil stays what it was: the session may go on.
func TestAnOwnPauseEndsATerm(t *testing.T) {
	for phase := range 10 {
		bubble(t, zkmem.Options{Tick: 400 * time.Millisecond}, func(t *testing.T, w *world) {
			n := w.start(timeouts(4*time.Second, 400*time.Millisecond))
			why := make(chan error, 1)
			n.latch.AddListener(incumbent.Listener{NotLeader: func(_ incumbent.Term, err error) { why <- err }})
			held, err := n.latch.Await(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Minute + time.Duration(phase)*111*time.Millisecond)
			alone := held.AloneUntil()
			n.ahead.Store(int64(3 * time.Second))
			<-held.Context().Done()
			said := []error{<-why, held.Check(), context.Cause(held.Context())}
			for i, err := range said {
				var lasted float64
				text := lossOf(err)
				if _, err := fmt.Sscanf(text, "this process did not run for %f s", &lasted); err != nil ||
					lasted < 2.85 || lasted > 3.15 {
					t.Errorf("%d: it says %q", i, text)
				}
			}
			if now := held.AloneUntil().Add(3 * time.Second); now.Sub(alone).Abs() > time.Millisecond {
				t.Errorf("the session cannot expire before %s, and now before %s", alone, now)
			}
			held.Release()
		})
	}
}

// The process stops between a confirmation and the publication of its deadline, and the work
// finds that the last deadline has passed: the event for the session machine has the pause.
func TestALapseNamesThePause(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := n.leads()
		defer held.Release()
		pass(time.Minute)
		n.ahead.Store(int64(7500 * time.Millisecond))
		if held.Check() == nil {
			t.Fatal("it believes")
		}
		n.ahead.Store(0)      // as by the clock of the event that the loop had stamped before
		pass(4 * time.Second) // to the next confirmation
		var lapses []time.Duration
		for _, r := range n.tape.Records() {
			if r.Event.Kind == events.BeliefLapsed {
				lapses = append(lapses, time.Duration(r.Event.Paused))
			}
		}
		if len(lapses) != 1 || (lapses[0]-7500*time.Millisecond).Abs() > 200*time.Millisecond {
			t.Errorf("the session machine got pauses of %s, want one of 7.5 s", lapses)
		}
		if text := lossOf(held.Check()); !strings.HasPrefix(text, "this process did not run for 7.") {
			t.Errorf("the term ended: %s", text)
		}
	})
}

// lossOf returns why a term was lost.
func lossOf(err error) string {
	_, why, _ := strings.Cut(err.Error(), " lost: ")
	return why
}
