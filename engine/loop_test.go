package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// bubble is the time of a synctest bubble, which only moves when all wait.
type bubble struct{ start time.Time }

func (b bubble) Now() int64 { return int64(time.Since(b.start)) }
func (b bubble) Timer(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// hands writes down what the loop wants done, and may answer.
type hands struct {
	busy   atomic.Bool
	did    []string
	answer func(events.ID, events.Effect)
}

func (h *hands) Execute(from events.ID, e events.Effect) {
	if h.busy.Swap(true) {
		panic("two effects at once")
	}
	h.did = append(h.did, fmt.Sprintf("%s: %s", from, e))
	if h.answer != nil {
		h.answer(from, e)
	}
	h.busy.Store(false)
}

// stage is a loop over toys that runs until the test ends it.
type stage struct {
	*Loop
	*hands
	records []events.Record
	end     func() // cancels, and waits for Run to return
}

func newStage(clock Clock) *stage {
	s := &stage{hands: &hands{}}
	s.Loop = NewLoop(New(true, toys...), s.hands, clock,
		func(r []events.Record) { s.records = append(s.records, slices.Clone(r)...) })
	s.Post(events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.CommandOpen, Recipe: "link"}})
	s.Post(events.Envelope{To: "w", Event: events.Event{Kind: events.CommandOpen, Recipe: "worker"}})
	s.Post(events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.CommandStart, Request: 1}})
	return s
}

func (s *stage) run() {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.Run(ctx)
	}()
	s.end = func() { cancel(); <-over }
}

func (s *stage) post(to events.ID, ev events.Event) { s.Post(events.Envelope{To: to, Event: ev}) }

func (s *stage) rows(machine events.ID) string {
	var rows []string
	for _, r := range s.records {
		if r.Machine == machine {
			rows = append(rows, fmt.Sprintf("%s %s", time.Duration(r.Event.At), r.Row))
		}
	}
	return strings.Join(rows, "\n")
}

func TestLoopFiresTimers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.run()
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		virtual.Sleep(61 * time.Second)
		synctest.Wait()
		s.end()
		want(t, "rows", s.rows("w"), "0s command.open\n0s command.start\n1s timer.fired\n1m1s timer.fired")
	})
}

// ahead is a clock that may run on while timers do not, as in suspend.
type ahead struct {
	bubble
	by *atomic.Int64
}

func (a ahead) Now() int64 { return a.bubble.Now() + a.by.Load() }

// What is due by the clock is dealt with when the loop is woken, though no timer has
// fired and nothing was posted.
func TestLoopLooksAtItsTimersWhenItIsWoken(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		clock := ahead{bubble{time.Now()}, &atomic.Int64{}}
		s := newStage(clock)
		s.run()
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		synctest.Wait()
		clock.by.Store(int64(time.Second))
		synctest.Wait()
		asleep := s.rows("w")
		s.Wake()
		synctest.Wait()
		s.end()
		want(t, "rows before", asleep, "0s command.open\n0s command.start")
		want(t, "rows", s.rows("w"), "0s command.open\n0s command.start\n1s timer.fired")
	})
}

func TestLoopStopsTimers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.run()
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		virtual.Sleep(time.Second / 2)
		s.post("w", events.Event{Kind: events.ReplyCreate, Request: 1, Session: 1})
		virtual.Sleep(time.Minute)
		synctest.Wait()
		s.end()
		want(t, "rows", s.rows("w"), "0s command.open\n0s command.start\n500ms reply.create [made]")
		_, left := s.timers.next()
		want(t, "a timer is left", left, false)
		for _, d := range s.did {
			if strings.Contains(d, "timer") {
				t.Errorf("the executor was handed %q, which is the loop's own business", d)
			}
		}
	})
}

// plodding is a clock on which every look at it takes a tenth of a second.
type plodding struct {
	bubble
	looks *atomic.Int64
}

func (p plodding) Now() int64 { return p.looks.Add(1) * int64(time.Second/10) }

// A timer that comes due while a long line of events is dealt with does not wait
// for its end.
func TestLoopFiresTimersBetweenEvents(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(plodding{bubble{time.Now()}, new(atomic.Int64)})
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		for range 100 {
			s.post(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 3})
		}
		s.run()
		synctest.Wait()
		s.end()
		for i, r := range s.records {
			if r.Machine == "w" && r.Event.Kind == events.TimerFired {
				if i > 20 {
					t.Errorf("a timer of a second fired as number %d of %d", i, len(s.records))
				}
				return
			}
		}
		t.Error("the timer did not fire")
	})
}

// The loop stamps an event when it takes it out, not when it was posted.
func TestLoopStampsWhenItTakes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2, At: 77})
		virtual.Sleep(3 * time.Second)
		s.run()
		synctest.Wait()
		s.end()
		want(t, "rows", s.rows("w"), "3s command.open\n3s command.start")
	})
}

// Answers that an executor posts at once come after what was posted before.
func TestLoopKeepsTheOrderOfTheInbox(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.answer = func(id events.ID, e events.Effect) {
			if c, ok := e.(events.Create); ok {
				s.post(id, events.Event{Kind: events.ReplyCreate, Request: c.Request, Session: c.Session})
			}
		}
		s.post("w", events.Event{Kind: events.CommandStart, Request: 2})
		s.post("w", events.Event{Kind: events.WorkReturned})
		s.run()
		synctest.Wait()
		s.end()
		want(t, "rows", s.rows("w"), "0s command.open\n0s command.start\n0s work.returned\n0s reply.create [made]")
	})
}

// Effects are handed out before their records are written.
func TestLoopRecordsAfterItsEffects(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		var order []string
		s.answer = func(events.ID, events.Effect) { order = append(order, "effect") }
		s.record = func([]events.Record) { order = append(order, "record") }
		s.run()
		synctest.Wait()
		s.end()
		want(t, "order", order, []string{"record", "record", "effect", "effect", "effect", "record"})
	})
}

func TestLoopWithoutRecorder(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := newStage(bubble{time.Now()})
		s.record = nil
		s.run()
		synctest.Wait()
		s.end()
		want(t, "effects", strings.Join(s.did, "\n"), "session: connect session 1\nsession: answer 1 ok\nsession: "+
			"entered up")
	})
}

func TestLoopDrainsWhenItEnds(t *testing.T) {
	s := newStage(bubble{time.Now()})
	for i := range 100 {
		s.post("w", events.Event{Kind: events.WorkReturned, Request: uint64(i)})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Run(ctx)
	want(t, "records", len(s.records), 103)
	want(t, "post after the end", s.Post(events.Envelope{To: "w"}), false)
}

// Post tells the truth: what it took is dealt with, even when the loop ends at
// that moment.
func TestNothingIsLostWhenTheLoopEnds(t *testing.T) {
	for range 50 {
		s := newStage(bubble{time.Now()})
		s.run()
		var taken atomic.Int64
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 100 {
					if s.Post(events.Envelope{To: "w", Event: events.Event{Kind: events.WorkReturned}}) {
						taken.Add(1)
					}
				}
			})
		}
		s.end()
		all.Wait()
		if got := int64(len(s.records) - 3); got != taken.Load() {
			t.Fatalf("%d events were taken, and %d dealt with", taken.Load(), got)
		}
	}
}

// meddler is a clock that does something when it is read for the nth time.
type meddler struct {
	fixed
	reads, nth int
	do         func()
}

func (m *meddler) Now() int64 {
	if m.reads++; m.reads == m.nth {
		m.do()
	}
	return m.now
}

// The same at every point of a shutdown, one after the other.
func TestNothingIsLostAtAnyPointOfTheEnd(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for nth := range 20 {
		taken := 0
		clock := &meddler{nth: nth}
		s := newStage(clock)
		clock.do = func() {
			if s.Post(events.Envelope{To: "w", Event: events.Event{Kind: events.WorkReturned}}) {
				taken++
			}
		}
		s.Run(ended)
		want(t, "records", len(s.records)-3, taken)
	}
}

// Somebody who posts without a pause does not keep the loop from ending.
func TestLoopEndsUnderLoad(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newStage(fixed{})
	steps := 0
	s.record = func([]events.Record) {
		if steps++; steps == 10 {
			cancel()
		}
		if steps < 10_000 {
			s.Post(events.Envelope{To: "nobody", Event: events.Event{Kind: events.WorkReturned}})
		}
	}
	s.Run(ctx)
	if steps > 20 {
		t.Errorf("the loop was told to end after 10 steps, and took %d", steps)
	}
}

// From many goroutines: each one's own order is kept, and Execute is never
// called twice at once (hands would panic; -race would tell, too).
func TestLoopIsOneGoroutine(t *testing.T) {
	s := newStage(bubble{time.Now()})
	s.run()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				s.post("w", events.Event{Kind: events.WorkReturned, Text: fmt.Sprint(g), Request: uint64(i)})
			}
		})
	}
	all.Wait()
	s.end()
	next := map[string]uint64{}
	for _, r := range s.records[3:] {
		if r.Event.Request != next[r.Event.Text] {
			t.Fatalf("goroutine %s: event %d came when %d was next", r.Event.Text, r.Event.Request, next[r.Event.Text])
		}
		next[r.Event.Text]++
	}
	want(t, "records", len(s.records), 803)
}

func TestTimersOfOneMomentFireInTheOrderOfSetting(t *testing.T) {
	stopped := map[uint64]bool{}
	ts := timers{cause: func(machine events.ID, number uint64) uint64 {
		if machine == "m" && stopped[number] {
			return 0
		}
		return number + 1
	}}
	for n := range uint64(50) {
		ts.set("m", n, 0, 7)
		ts.set("early", n, 0, int64(n%5))
	}
	for n := uint64(0); n < 50; n += 2 {
		stopped[n] = true
		ts.stop()
	}
	var got []uint64
	before := int64(0)
	for range 75 {
		if at, ok := ts.next(); !ok || at < before {
			t.Fatalf("%d after %d; there is one: %t", at, before, ok)
		}
		x := ts.take()
		before = x.at
		if x.machine == "m" {
			got = append(got, x.number)
		}
	}
	if len(got) != 25 || !slices.IsSorted(got) {
		t.Errorf("fired in the order %v", got)
	}
	if _, ok := ts.next(); ok || len(ts.heap) != 0 {
		t.Error("something is left")
	}
}

// fixed is a clock that stands still: what is due at this very moment fires.
type fixed struct{ now int64 }

func (f fixed) Now() int64                                     { return f.now }
func (f fixed) Timer(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func TestDueTimersComeBeforeTheInbox(t *testing.T) {
	s := newStage(fixed{5})
	for s.turn() {
	}
	s.timers.cause = func(events.ID, uint64) uint64 { return 1 }
	s.timers.set("w", 90, 0, 5)
	s.timers.set("w", 91, 0, 6)
	s.post("w", events.Event{Kind: events.WorkReturned})
	s.turn()
	want(t, "rows", s.rows("w"), "5ns command.open\n5ns late\n5ns work.returned")
}
