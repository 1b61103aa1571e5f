package belief

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// at returns a clock that shows one instant.
func at(now int64) func() int64 { return func() int64 { return now } }

// deadline is one of a session.
func deadline(session, until int64) events.Deadline {
	return events.Deadline{Session: session, Until: until}
}

// There is belief before the deadline of one's own session, and not at it, after it, in another session, or before
// anything was published. What is published as the deadline agrees.
func TestBeliefIsBeforeTheDeadlineOfItsSession(t *testing.T) {
	for _, c := range []struct {
		published    []events.Deadline
		session, now int64
		until        int64 // before anybody reads whether it holds
		holds        bool
	}{
		{nil, 0, 0, 0, false},
		{nil, 1, 0, 0, false},
		{[]events.Deadline{deadline(1, 100)}, 1, 99, 100, true},
		{[]events.Deadline{deadline(1, 100)}, 1, 100, 100, false},
		{[]events.Deadline{deadline(1, 100)}, 1, 101, 100, false},
		{[]events.Deadline{deadline(1, 100)}, 2, 0, 0, false},
		{[]events.Deadline{deadline(1, 100)}, 0, 0, 0, false},
		{[]events.Deadline{deadline(1, 100), deadline(2, 0)}, 1, 0, 0, false},
		{[]events.Deadline{deadline(1, 100), deadline(2, 200)}, 1, 0, 0, false},
		{[]events.Deadline{deadline(1, 100), deadline(2, 200)}, 2, 199, 200, true},
		{[]events.Deadline{deadline(1, 100), deadline(1, 0)}, 1, 0, 0, false},
		{[]events.Deadline{deadline(1, 100), deadline(1, 150)}, 1, 149, 150, true},
	} {
		d := &Deadline{}
		for _, next := range c.published {
			if d.Publish(next, 0) {
				t.Errorf("%v: a reader found a deadline in the past, and none read it", c.published)
			}
		}
		if until := d.Until(c.session); until != c.until {
			t.Errorf("%v: session %d is believed until %d, want %d", c.published, c.session, until, c.until)
		}
		if holds := d.Holds(c.session, at(c.now)); holds != c.holds {
			t.Errorf("%v: session %d is believed at %d: %t, want %t", c.published, c.session, c.now, holds, c.holds)
		}
	}
}

// A deadline that a reader found in the past stays passed until the loop ends belief. The loop learns of it once
// in each round, and another session begins without it.
func TestALapseIsSaidOnceInEachRound(t *testing.T) {
	d := &Deadline{}
	for round, session := range []int64{1, 1, 2, 1} {
		from := int64(1000 * round)
		want := func(next events.Deadline, lapsed, holds bool) {
			t.Helper()
			if got := d.Publish(next, from); got != lapsed {
				t.Errorf("round %d, %v is published: lapsed %t, want %t", round, next, got, lapsed)
			}
			if got := d.Holds(session, at(from)); got != holds || got != (d.Until(session) != 0) {
				t.Errorf("round %d, %v is published: believed %t until %d, want %t",
					round, next, got, d.Until(session), holds)
			}
		}
		want(deadline(session, from+100), false, true)
		if d.Holds(session, at(from+100)) {
			t.Errorf("round %d: it is believed at the deadline", round)
		}
		want(deadline(session, from+500), true, false)
		want(deadline(session, from+600), false, false)
		if round != 1 { // else the next session begins before the loop ends this one
			want(deadline(session, 0), false, false)
			want(deadline(session, 0), false, false)
		}
	}
}

// The end of belief is when the loop ended it, or the deadline, whichever is first, and does not move when the
// loop says so again.
func TestWhenBeliefEnded(t *testing.T) {
	for _, c := range []struct{ ended, again, want int64 }{
		{40, 60, 40}, {100, 120, 100}, {130, 150, 100},
	} {
		d := &Deadline{}
		d.Publish(deadline(1, 100), 10)
		if p := d.Published(1); p == nil || p.At != 10 || p.Until != 100 || d.Published(2) != nil {
			t.Fatalf("published %v, and of another session %v", p, d.Published(2))
		}
		if d.End(1, 50) != 50 || d.End(1, 200) != 100 || d.End(2, 200) != 200 {
			t.Errorf("before it ends: %d, %d, and of another session %d", d.End(1, 50), d.End(1, 200), d.End(2, 200))
		}
		for _, now := range []int64{c.ended, c.again} {
			d.Publish(deadline(1, 0), now)
			if got := d.End(1, 1000); got != c.want {
				t.Errorf("ended at %d, and at %d it ended at %d, want %d", c.ended, now, got, c.want)
			}
		}
		if d.Publish(deadline(1, 300), 200); d.End(1, 1000) != 300 {
			t.Errorf("in the next term it ends at %d, want 300", d.End(1, 1000))
		}
	}
}

// The watch's timer is for the time that is left, on a clock that has run for long; work is stopped at the
// deadline and not later, and the loop is woken once.
func TestWorkIsStoppedAtTheDeadlineAndNotLater(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		since := clock.SinceStart()
		now := func() int64 { return since() + int64(300*time.Hour) }
		var wakes atomic.Int64
		w := newWatch(now, time.Hour)
		w.Wake = func() { wakes.Add(1) }
		w.Remove(&term{}) // of a term whose work did not begin
		for round := range int64(2) {
			begin := now()
			w.Deadline.Publish(deadline(1, begin+int64(7*time.Second)), begin)
			one := &term{}
			w.Add(one)
			virtual.Sleep(7*time.Second - 1)
			synctest.Wait()
			if one.stopped.Load() || wakes.Load() != round {
				t.Errorf("round %d, before the deadline: stopped %t, %d wakes", round, one.stopped.Load(), wakes.Load())
			}
			virtual.Sleep(1)
			synctest.Wait()
			if !one.stopped.Load() || wakes.Load() != round+1 {
				t.Errorf("round %d, at the deadline: stopped %t, %d wakes", round, one.stopped.Load(), wakes.Load())
			}
			w.Deadline.Publish(deadline(1, 0), now())
		}
	})
}
