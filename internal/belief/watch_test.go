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

// term is a term with work.
type term struct{ stopped atomic.Bool }

// newWatch returns a watch of the terms of session 1.
func newWatch(now func() int64, timeout time.Duration) *Watch[*term] {
	return &Watch[*term]{Deadline: &Deadline{}, Now: now, Timeout: func() time.Duration { return timeout },
		Wake: func() {}, Session: func(*term) int64 { return 1 },
		Lapse: func(t *term) (stop func()) { return func() { t.stopped.Store(true) } }}
}

// TestALookDoesNotStopTheNextTerm: one term after the other ends and begins in one session
// while the deadline watch runs. A new term is believed and goes on: none can begin between
// the check and its result.
func TestALookDoesNotStopTheNextTerm(t *testing.T) {
	now := clock.SinceStart()
	var w *Watch[*term]
	w = newWatch(func() int64 {
		if w.mu.TryLock() {
			w.mu.Unlock()
			t.Error("the deadline is read without the lock")
		}
		return now()
	}, time.Hour)
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-done:
				return
			default:
				w.stopLapsed()
			}
		}
	}()
	var all []*term
	for range 20000 {
		w.Deadline.Publish(events.Deadline{Session: 1, Until: now() + int64(time.Hour)}, now())
		one := &term{}
		w.Add(one)
		all = append(all, one)
		w.Remove(one)
		w.Deadline.Publish(events.Deadline{Session: 1}, now())
	}
	close(done)
	<-looked
	for i, one := range all {
		if one.stopped.Load() {
			t.Fatalf("term %d was stopped, and was believed while it was watched", i)
		}
	}
	if len(w.terms) != 0 {
		t.Errorf("%d terms are watched when all are over", len(w.terms))
	}
}

// TestAServerThatGrantsNoTimeMakesNobodyBusy: the server chooses the session timeout, and a
// reconnect can change it to anything.
func TestAServerThatGrantsNoTimeMakesNobodyBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		now, asked := clock.SinceStart(), 0
		w := newWatch(func() int64 {
			if asked++; asked > 10000 {
				panic("the clock was asked ten thousand times within a second")
			}
			return now()
		}, 1)
		w.Deadline.Publish(events.Deadline{Session: 1, Until: now() + int64(time.Hour)}, now())
		one := &term{}
		w.Add(one)
		virtual.Sleep(time.Second)
		synctest.Wait()
		if one.stopped.Load() || asked < 2 {
			t.Errorf("it is stopped: %t, after %d questions", one.stopped.Load(), asked)
		}
		w.Remove(one)
	})
}

// TestNothingWatchesDeadlinesWithoutWork: a client without work has no timer.
func TestNothingWatchesDeadlinesWithoutWork(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		now := clock.SinceStart()
		w := newWatch(now, 10*time.Second)
		idle := func(when string) {
			t.Helper()
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.terms) != 0 || w.timer != nil && w.timer.Stop() {
				t.Errorf("%s: %d terms are watched", when, len(w.terms))
			}
		}
		w.Deadline.Publish(events.Deadline{Session: 1, Until: now() + int64(7*time.Second)}, now())
		idle("before any work")
		first, second := &term{}, &term{}
		w.Add(first)
		w.Add(second)
		w.Remove(first)
		w.mu.Lock()
		if len(w.terms) != 1 || !w.timer.Reset(time.Second) {
			t.Error("work is left, and nothing watches its deadline")
		}
		w.mu.Unlock()
		w.Remove(second)
		idle("after the work")
		w.Add(first)
		virtual.Sleep(8 * time.Second)
		synctest.Wait()
		if !first.stopped.Load() {
			t.Error("it does not end with the deadline")
		}
		idle("after the deadline")
	})
}

// The terms of one participant are compared when one is added.
func TestTermsAreCheckedInPairs(t *testing.T) {
	w := newWatch(func() int64 { return 0 }, time.Hour)
	w.Deadline.Publish(events.Deadline{Session: 1, Until: 10}, 0)
	first, second, checked := &term{}, &term{}, 0
	w.Check = func(other, added *term) {
		if checked++; other != first || added != second {
			t.Error("these are other terms")
		}
	}
	w.Add(first)
	w.Add(second)
	w.Remove(first)
	w.Remove(second)
	if checked != 1 {
		t.Errorf("%d pairs were checked, want 1", checked)
	}
}
