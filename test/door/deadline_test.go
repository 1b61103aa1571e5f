package door_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// held are all kinds of work under one client, by the handle that they use.
type held struct {
	Context context.Context
	Check   func() error
}

func holdAll(t *testing.T, n *node) map[string]held {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]held{}
	add := func(name string, l *incumbent.Leadership, err error) {
		t.Helper()
		must(err)
		t.Cleanup(l.Release)
		all[name] = held{l.Context(), l.Check}
	}
	options := incumbent.LatchOptions{}
	election, err := n.Election("/election", "n_", options)
	must(errors.Join(err, election.Start()))
	job, err := n.JobElection("/job", incumbent.JobElectionOptions{})
	must(errors.Join(err, job.Start()))
	working := make(chan *incumbent.Leadership, 1)
	selector, err := n.Selector("/selector", func(l *incumbent.Leadership) error {
		working <- l
		<-l.Context().Done()
		return nil
	}, incumbent.SelectorOptions{})
	must(errors.Join(err, selector.Start()))
	mutex, err := n.Mutex("/mutex", incumbent.MutexOptions{})
	must(err)
	semaphore, err := n.Semaphore("/semaphore", 2, incumbent.SemaphoreOptions{})
	must(err)
	rw, err := n.ReadWriteLock("/rw", incumbent.MutexOptions{})
	must(err)
	several, err := n.Mutex("/several", incumbent.MutexOptions{})
	must(err)
	multi, err := incumbent.NewMultiLock(several)
	must(err)

	ctx := t.Context()
	l, err := election.Await(ctx)
	add("election", l, err)
	l, err = job.Await(ctx)
	add("job election", l, err)
	l = <-working
	all["selector"] = held{l.Context(), l.Check}
	h, err := mutex.Lock(ctx)
	add("mutex", h.Leadership, err)
	h, err = semaphore.Acquire(ctx, 1)
	add("semaphore", h.Leadership, err)
	h, err = rw.Holder().RLock(ctx)
	add("read-write holder", h.Leadership, err)
	m, err := multi.Lock(ctx)
	must(err)
	t.Cleanup(func() { _ = m.Unlock(context.Background()) })
	all["multi-lock"] = held{m.Context(), m.Check}
	return all
}

// TestWorkStopsAtTheDeadlineThoughTheLoopHangs: only the client's clock shows that the
// deadline has passed. All contexts end at that instant, the work's grace begins, and the
// listeners are called once, when the loop goes on.
func TestWorkStopsAtTheDeadlineThoughTheLoopHangs(t *testing.T) {
	const grace = 2 * time.Second
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		var err error
		if n.latch, err = n.Latch("/line", incumbent.LatchOptions{WorkGrace: grace}); err != nil {
			t.Fatal(err)
		}
		if err := n.latch.Start(); err != nil {
			t.Fatal(err)
		}
		lost := 0
		n.latch.AddListener(incumbent.Listener{NotLeader: func(incumbent.Term, error) { lost++ }})
		pass(1500 * time.Millisecond) // so that the timer fires shortly before the deadline, too
		work := n.leads()
		defer work.Release()
		all := holdAll(t, n)
		all["latch"] = held{work.Context(), work.Check}
		pass(time.Minute)
		free := n.stopLoop()
		n.isolate()
		until := work.ValidUntil()
		pass(time.Until(until) - 1)
		for name, h := range all {
			if h.Context.Err() != nil || h.Check() != nil {
				t.Errorf("%s: stopped before the deadline: %v, %v", name, context.Cause(h.Context), h.Check())
			}
		}
		pass(1)
		if now := time.Now(); !now.Equal(until) {
			t.Fatalf("it is %s past the deadline: the test shows nothing", now.Sub(until))
		}
		for name, h := range all {
			if cause := context.Cause(h.Context); !errors.Is(cause, incumbent.ErrLeadershipLost) ||
				!errors.Is(h.Check(), incumbent.ErrLeadershipLost) {
				t.Errorf("%s: at the deadline the context's cause is %v, Check says %v", name, cause, h.Check())
			}
			var lost *incumbent.LostError
			if cause := context.Cause(h.Context); !errors.As(cause, &lost) || lost.Reason != incumbent.ReasonLapsed ||
				!lost.BelievedUntil.Equal(until) || incumbent.LostReason(h.Check()) != incumbent.ReasonLapsed {
				t.Errorf("%s: the cause is %+v, want that it lapsed at %s", name, lost, until)
			}
		}
		if pass(grace - 1); draining(n) == 0 {
			t.Error("its grace was over too early")
		}
		if pass(1); draining(n) != 0 {
			t.Error("its grace did not begin at the deadline")
		}
		if lost != 0 || n.latch.Phase() != "leading" {
			t.Errorf("the loop went on (%s, %d): the test shows nothing", n.latch.Phase(), lost)
		}

		free()
		if lost != 1 || n.latch.Phase() == "leading" {
			t.Errorf("NotLeader was called %d times; %s", lost, n.latch.Phase())
		}
		w.refuse(n, false)
		again := n.leads()
		defer again.Release()
		pass(time.Minute)
		if again.Context().Err() != nil || again.Check() != nil || lost != 1 {
			t.Errorf("the next term: %v, %v; NotLeader %d times", context.Cause(again.Context()), again.Check(), lost)
		}
	})
}

// draining returns for how long work under the latch has gone on after it had to end; 0 if none does.
func draining(n *node) (d time.Duration) {
	for _, h := range n.Stats().Handles {
		if h.Path == n.latch.Path() {
			d = h.Draining
		}
	}
	return d
}

// TestAConfirmationJustBeforeTheDeadlineKeepsTheWork: every answer takes nearly as long as
// belief lasts. The delay grows step by step: after a long silence an answer would confirm
// nothing.
func TestAConfirmationJustBeforeTheDeadlineKeepsTheWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		work := n.leads()
		defer work.Release()
		pass(time.Minute)
		delay := time.Duration(0)
		remove := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti {
				delay = min(delay+500*time.Millisecond, 3300*time.Millisecond)
				return zkmem.Verdict{Delay: delay}
			}
			return zkmem.Verdict{}
		})
		defer remove()
		least := time.Hour
		for range 6000 {
			pass(10 * time.Millisecond)
			least = min(least, time.Until(work.ValidUntil()))
			if work.Context().Err() != nil || work.Check() != nil {
				t.Fatalf("it was stopped: %v\n%s", context.Cause(work.Context()), n.tape.Tail(14))
			}
		}
		if least > 500*time.Millisecond {
			t.Errorf("a confirmation came %s before the deadline at the latest: the test shows nothing", least)
		}
	})
}

// TestWorkStopsWhenTheMachineWasSuspended: the client's clock has run on, and Go's timers
// have not.
func TestWorkStopsWhenTheMachineWasSuspended(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		lost := 0
		n.latch.AddListener(incumbent.Listener{NotLeader: func(incumbent.Term, error) { lost++ }})
		work := n.leads()
		pass(time.Minute + 100*time.Millisecond)
		n.isolate()
		if work.Context().Err() == nil {
			t.Fatal("it does not end with the connection")
		}
		work.Release()
		w.refuse(n, false)

		work = n.leads()
		defer work.Release()
		lost = 0
		w.srv.Freeze(zkmem.Outbound) // no answer wakes the loop
		pass(10 * time.Millisecond)
		n.ahead.Store(int64(time.Until(work.ValidUntil())))
		if work.Context().Err() != nil {
			t.Fatal("the timers have run: the test shows nothing")
		}
		pass(n.SessionTimeout() / 8)
		if work.Context().Err() == nil || lost != 1 {
			t.Errorf("an eighth of the session timeout after the machine woke: %v, NotLeader %d times",
				work.Context().Err(), lost)
		}
	})
}
