package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

func answered(sign <-chan struct{}) bool {
	select {
	case <-sign:
		return true
	default:
		return false
	}
}

// A loop that waits for events answers at once, as often as it is asked; nothing
// is recorded and nothing done.
func TestAnIdleLoopGivesSignsOfLife(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.run()
		virtual.Sleep(time.Hour)
		synctest.Wait()
		records, effects := len(s.records), len(s.did)
		for range 3 {
			sign := s.SignOfLife()
			synctest.Wait()
			want(t, "answered", answered(sign), true)
		}
		s.end()
		want(t, "records", len(s.records), records)
		want(t, "effects", len(s.did), effects)
		sign := s.SignOfLife()
		synctest.Wait()
		want(t, "answered after the end", answered(sign), false)
	})
}

// A loop that hangs in a step, in an effect or in its recorder, does not answer
// before the end of the step. All who ask meanwhile share one sign.
func TestALoopThatHangsGivesNoSignOfLife(t *testing.T) {
	for _, where := range []string{"effect", "record"} {
		t.Run(where, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				s := newStage(bubble{time.Now()})
				free := make(chan struct{})
				if where == "effect" {
					s.hands.answer = func(events.ID, events.Effect) { <-free }
				} else {
					s.record = func([]events.Record) { <-free }
				}
				s.run()
				synctest.Wait()
				first, second := s.SignOfLife(), s.SignOfLife()
				virtual.Sleep(time.Hour)
				synctest.Wait()
				want(t, "answered while it hangs", answered(first) || answered(second), false)
				close(free)
				synctest.Wait()
				want(t, "answered", answered(first) && answered(second), true)
				s.end()
			})
		})
	}
}

// A long line of events does not keep the loop from answering: it does so after
// each step.
func TestABusyLoopGivesASignOfLifeAfterEachStep(t *testing.T) {
	s := newStage(fixed{})
	for range 10_000 {
		s.post("w", events.Event{Kind: events.WorkReturned})
	}
	var sign <-chan struct{}
	steps := 0
	s.record = func([]events.Record) {
		if sign != nil && !answered(sign) {
			t.Fatalf("step %d: the sign that was asked for in the step before is not there", steps)
		}
		sign = s.SignOfLife()
		steps++
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Run(ctx)
	want(t, "steps", steps, 10_003)
}
