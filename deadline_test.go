package incumbent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// isolate ends the client's connection for good.
func (n *node) isolate() { n.w.refuse(n, true); n.cut() }

// leads awaits leadership.
func (n *node) leads() *Leadership {
	n.w.t.Helper()
	held, err := n.latch.Await(n.w.t.Context())
	if err != nil {
		n.w.t.Fatal(err)
	}
	return held
}

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
	add := func(name string, l *Leadership, err error) {
		t.Helper()
		must(err)
		t.Cleanup(l.Release)
		all[name] = held{l.Context(), l.Check}
	}
	options := LatchOptions{}
	election, err := n.Election("/election", "n_", options)
	must(errors.Join(err, election.Start()))
	job, err := n.JobElection("/job", options)
	must(errors.Join(err, job.Start()))
	working := make(chan *Leadership, 1)
	selector, err := n.Selector("/selector", func(l *Leadership) error {
		working <- l
		<-l.Context().Done()
		return nil
	}, SelectorOptions{})
	must(errors.Join(err, selector.Start()))
	mutex, err := n.Mutex("/mutex", MutexOptions{})
	must(err)
	semaphore, err := n.Semaphore("/semaphore", 2, SemaphoreOptions{})
	must(err)
	rw, err := n.ReadWriteLock("/rw", MutexOptions{})
	must(err)
	several, err := n.Mutex("/several", MutexOptions{})
	must(err)
	multi, err := NewMultiLock(several)
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
		if n.latch, err = n.Latch("/line", LatchOptions{WorkGrace: grace}); err != nil {
			t.Fatal(err)
		}
		if err := n.latch.Start(); err != nil {
			t.Fatal(err)
		}
		lost := 0
		n.latch.participant.AddListener(Listener{NotLeader: func(Term, error) { lost++ }})
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
			if cause := context.Cause(h.Context); !errors.Is(cause, ErrLeadershipLost) ||
				!errors.Is(h.Check(), ErrLeadershipLost) {
				t.Errorf("%s: at the deadline the context's cause is %v, Check says %v", name, cause, h.Check())
			}
			var lost *LostError
			if cause := context.Cause(h.Context); !errors.As(cause, &lost) || lost.Reason != ReasonLapsed ||
				!lost.BelievedUntil.Equal(until) || LostReason(h.Check()) != ReasonLapsed {
				t.Errorf("%s: the cause is %+v, want that it lapsed at %s", name, lost, until)
			}
		}
		if pass(grace - 1); !n.latch.participant.works.Running() {
			t.Error("its grace was over too early")
		}
		if pass(1); n.latch.participant.works.Running() {
			t.Error("its grace did not begin at the deadline")
		}
		if lost != 0 || n.latch.participant.Phase() != "leading" {
			t.Errorf("the loop went on (%s, %d): the test shows nothing", n.latch.participant.Phase(), lost)
		}

		free()
		if lost != 1 || n.latch.participant.Phase() == "leading" {
			t.Errorf("NotLeader was called %d times; %s", lost, n.latch.participant.Phase())
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
		n.latch.participant.AddListener(Listener{NotLeader: func(Term, error) { lost++ }})
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

// TestNothingWatchesDeadlinesWithoutWork: a client that leads without work, or whose work
// has ended, has no timer.
func TestNothingWatchesDeadlinesWithoutWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		idle := func(when string) {
			t.Helper()
			n.deadlines.mu.Lock()
			defer n.deadlines.mu.Unlock()
			if len(n.deadlines.terms) != 0 || n.deadlines.timer != nil && n.deadlines.timer.Stop() {
				t.Errorf("%s: %d terms are watched", when, len(n.deadlines.terms))
			}
		}
		idle("before any work")
		first, second := n.leads(), n.leads()
		first.Release()
		n.deadlines.mu.Lock()
		if len(n.deadlines.terms) != 1 || !n.deadlines.timer.Reset(time.Second) {
			t.Error("work is left, and nothing watches its deadline")
		}
		n.deadlines.mu.Unlock()
		second.Release()
		idle("after the work")
		third := n.leads()
		n.isolate()
		if third.Context().Err() == nil {
			t.Fatal("it does not end with the connection")
		}
		idle("after the term, before Release")
		third.Release()
	})
}

// TestALookDoesNotStopTheNextTerm: one term after the other ends and begins in one session
// while the deadline watch runs. A new term is believed and goes on: none can begin between
// the check and its result.
func TestALookDoesNotStopTheNextTerm(t *testing.T) {
	c := &Client{closed: make(chan struct{})}
	now := clock.System().Now
	c.clock = clock.Of(func() int64 {
		if c.deadlines.mu.TryLock() {
			c.deadlines.mu.Unlock()
			t.Error("the horizon is asked without the lock")
		}
		return now()
	})
	c.deadlines.client = c
	c.attached.Store(&attachment{granted: time.Hour, counted: time.Hour})
	c.loop = engine.NewLoop(engine.New(false, machines.Recipes()...), nil, c.clock, nil)
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-done:
				return
			default:
				c.deadlines.stopLapsed()
			}
		}
	}()
	holder := &participant{handle: handle{client: c}, options: &noOptions}
	for i := range 20000 {
		c.belief.Publish(events.Deadline{Session: 1, Until: now() + int64(time.Hour)}, now())
		term := &heldTerm{Term: Term{Session: 1, Token: int64(i)}, holder: holder}
		l := term.hold(context.Background(), c, func(error) {})
		if i%2 == 0 {
			term.hold(context.Background(), c, func(error) {}).Release()
		}
		if err := l.Context().Err(); err != nil {
			t.Errorf("term %d was stopped as it began", i)
		}
		c.belief.Publish(events.Deadline{Session: 1}, now())
		term.end(&LostError{})
		l.Release()
	}
	close(done)
	<-looked
	if len(c.deadlines.terms) != 0 {
		t.Errorf("%d terms are watched when all are over", len(c.deadlines.terms))
	}
}

// TestAServerThatGrantsNoTimeMakesNobodyBusy: the server chooses the session timeout, and a
// reconnect can change it to anything.
func TestAServerThatGrantsNoTimeMakesNobodyBusy(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		c, asked := &Client{closed: make(chan struct{})}, 0
		now := clock.SinceStart()
		c.clock = clock.Of(func() int64 {
			if asked++; asked > 10000 {
				panic("the clock was asked ten thousand times within a second")
			}
			return now()
		})
		c.deadlines.client = c
		c.attached.Store(&attachment{granted: 1, counted: 1})
		c.belief.Publish(events.Deadline{Session: 1, Until: now() + int64(time.Hour)}, now())
		term := &heldTerm{Term: Term{Session: 1}, holder: &participant{handle: handle{client: c}, options: &noOptions}}
		l := term.hold(context.Background(), c, func(error) {})
		pass(time.Second)
		if l.Context().Err() != nil || asked < 2 {
			t.Errorf("%v, after %d questions", l.Context().Err(), asked)
		}
		l.Release()
	})
}

// The watch ends with its client.
func TestTheWatchEndsWithItsClient(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		ran := n.pauses.LastRan
		before := ran()
		pass(time.Minute)
		if ran() == before {
			t.Error("it does not run while the client is open")
		}
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		before = ran()
		pass(time.Minute)
		if ran() != before {
			t.Error("it runs, and the client is closed")
		}
	})
}

// The watch counts with the shortest timeout that the session was granted, as belief does.
func TestTheWatchCountsWithTheShortestTimeout(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(func(c *Config) { c.Tick, c.RideOut = 2*time.Second, true })
		for _, granted := range []time.Duration{6 * time.Second, 12 * time.Second} {
			w.srv.SetSessionTimeouts(granted, granted)
			n.cut()
			pass(time.Minute)
		}
		if period := n.pauses.Period(); period != 6*time.Second/40 {
			t.Errorf("it has a period of %s, want a fortieth of 6 s", period)
		}
	})
}

// AloneUntil is over when a tick grew, and not when belief ends.
func TestTheTimeThatIsLeftForTheWork(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		held := n.leads()
		session := held.Term().Session
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: session})
		if time.Until(held.AloneUntil()) <= 0 {
			t.Error("the end of belief ends the time that is left for the work")
		}
		executor{n.Client}.Execute(events.SessionMachine, events.Deadline{Session: session, Alone: n.clock.Now()})
		if left := time.Until(held.AloneUntil()); left > 0 {
			t.Errorf("%s are left although the tick grew", left)
		}
		held.Release()
	})
}
