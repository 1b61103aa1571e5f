package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Clock is the loop's time. Now is in nanoseconds, never goes back, and goes on while
// the computer is suspended. Timer's channel delivers once, after the duration.
type Clock interface {
	Now() int64
	Timer(time.Duration) (fired <-chan time.Time, stop func())
}

// Recorder is called with the records of one step, after its effects were executed. It
// must not block, because the loop that calls it also renews belief.
type Recorder func([]events.Record)

// Loop feeds an engine from one goroutine. Post is safe for concurrent use and never
// blocks. Machines and effects run inside Run.
type Loop struct {
	engine  *Engine
	execute Executor
	clock   Clock
	record  Recorder
	paused  func(since int64) time.Duration // nil: the process always runs
	late    func(at, by int64)              // nil: nobody asks
	lag     func(time.Duration)             // nil: nobody asks

	mu     sync.Mutex
	inbox  inbox
	since  int64 // when the first of the inbox was posted, if somebody asks for lags
	most   int   // that may wait in the inbox; 0: any number
	closed bool
	wake   chan struct{}
	sign   chan struct{} // closed when the loop answers; nil unless one is outstanding
	asked  atomic.Bool   // a sign is outstanding; each step reads it

	learned []Recipe // what Learn was called with, each once
	known   int      // how many of them the engine knows; used by the loop

	behind int64 // since of the turn, until its first step; 0: none is left to report

	takers []taker     // they wait for a checkpoint
	wanted atomic.Bool // there is a taker; read between two steps
	served []taker     // they get the checkpoint that is being taken

	now    int64             // what the clock was when it was read last
	first  []events.Envelope // envelopes that are stepped before the inbox
	fired  []events.Envelope // the timers that are due, reused for the next
	timers timers
}

// NewLoop returns a loop of an engine, its executor and its clock. Record may be nil.
func NewLoop(e *Engine, x Executor, c Clock, record Recorder) *Loop {
	return &Loop{engine: e, execute: x, clock: c, record: record, wake: make(chan struct{}, 1),
		timers: timers{cause: e.timer}}
}

// CountPauses has the events of timers say for how long the process did not run while the
// timer did: see events.Event.Paused. The function returns that for the time since an
// instant of the loop's clock. CountPauses is called before Run.
func (l *Loop) CountPauses(paused func(since int64) time.Duration) { l.paused = paused }

// minLate is from which delay of a timer's event on OnLate's function is called.
const minLate = int64(100 * time.Millisecond)

// OnLate sets a function that the loop calls when it takes a timer's event at least 100 ms
// later than it was due: at is when, by the loop's clock, and by is how much later, both in
// nanoseconds. OnLate is called before Run. The function is called on the loop's goroutine,
// and must not block.
func (l *Loop) OnLate(f func(at, by int64)) { l.late = f }

// OnLag sets a function that the loop calls with how long the first event of each batch
// waited until the loop took it. OnLag is called before Run. The function is called on the
// loop's goroutine, and must not block.
func (l *Loop) OnLag(f func(time.Duration)) { l.lag = f }

// CheckInvariants has the engine check its invariants, and Post panic if more events wait
// than these. Tests call it, before Run.
func (l *Loop) CheckInvariants(most int) {
	l.most = most
	l.engine.CheckInvariants()
}

// Post appends an envelope to the inbox. It reports whether the loop will step it: a
// loop that has ended does not. Post never blocks, and is safe for concurrent use.
func (l *Loop) Post(env events.Envelope) bool {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	if l.lag != nil && l.inbox.count == 0 {
		l.since = l.clock.Now()
	}
	l.inbox.add(env)
	full := l.most > 0 && l.inbox.count > l.most
	l.mu.Unlock()
	if full {
		panic(fmt.Sprintf("engine: machine %s, event %s: broken invariant: more than %d events wait in the inbox",
			env.To, env.Event.Kind, l.most))
	}
	l.Wake()
	return true
}

// Learn has the engine know a recipe before it steps what is posted from now on. Its chart is compiled here, if that
// was not done before in this program. Learn is safe for concurrent use.
func (l *Loop) Learn(r Recipe) {
	r.own()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.learned, r) {
		l.learned = append(l.learned, r)
	}
}

// PostFirst adds an envelope that is stepped right after the present step, before the
// inbox: what its sender has read is still true then. Only an Executor may call it,
// within Execute.
func (l *Loop) PostFirst(env events.Envelope) { l.first = append(l.first, env) }

// Waiting returns how many envelopes wait in the inbox. It is safe for concurrent use.
func (l *Loop) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inbox.count
}

// Wake has the loop check its timers now. They are due by its clock, but it sleeps by
// Go's timers, which stop while the computer is suspended. Wake is safe for concurrent use.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// SignOfLife asks the loop for a sign that it runs, and returns a channel that the loop
// closes at the end of its present step, or immediately if it waits for events. Nothing
// is recorded, and no machine gets an event. A loop that has ended does not close the
// channel. SignOfLife is safe for concurrent use.
func (l *Loop) SignOfLife() <-chan struct{} {
	l.mu.Lock()
	if l.sign == nil {
		l.sign = make(chan struct{})
		l.asked.Store(true)
	}
	sign := l.sign
	l.mu.Unlock()
	l.Wake()
	return sign
}

// Checkpoint has the loop copy the state that all machines have between two steps. It
// calls begin there, with the seq of the last record: after the records of the step before
// went to the Recorder, and before those of the next. It calls take when all machines are
// copied. In the meantime it goes on: it copies a few machines between two steps, and each
// that is not copied yet before it steps it. So the loop stands still for some tens of
// microseconds at a time, or for as long as the largest machine takes (BenchmarkCheckpoint).
//
// Both functions are called on the loop's goroutine. They must not block, and leave the
// encoding to another goroutine. No machine gets an event, and nothing is recorded.
// Checkpoint reports whether they will be called; a loop that has ended does not. It is
// safe for concurrent use, and may be called from the Recorder and from both functions.
func (l *Loop) Checkpoint(begin func(seq uint64), take func(Checkpoint)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.takers = append(l.takers, taker{begin, take})
	l.wanted.Store(true)
	l.Wake()
	return true
}

// taker waits for a checkpoint.
type taker struct {
	begin func(seq uint64)
	take  func(Checkpoint)
}

// copiedAtOnce is how many machines the loop copies between two steps.
const copiedAtOnce = 16

// goOnWithCheckpoint begins a checkpoint if one is wanted, copies a part of it, or gives
// the whole to those that wait for it. No timer that is due is on its way to a machine then.
func (l *Loop) goOnWithCheckpoint() {
	k := l.engine.copying
	if k == nil {
		if !l.wanted.Load() {
			return
		}
		l.mu.Lock()
		l.served, l.takers = l.takers, nil
		l.wanted.Store(false)
		l.mu.Unlock()
		k = l.engine.beginCopy()
		k.timers = l.timers.saved()
		l.engine.copying = k
		for _, t := range l.served {
			t.begin(k.seq)
		}
	}
	if !l.engine.copySome(k, copiedAtOnce) {
		return
	}
	l.engine.copying = nil
	for _, t := range l.served {
		t.take(k.Checkpoint)
	}
	l.served = nil
}

// Resume sets the timers of a checkpoint from whose engine the loop was made. It is called
// before Run, in a process whose clock is the one that took the checkpoint.
func (l *Loop) Resume(c Checkpoint) {
	for _, t := range c.inOrder() {
		l.timers.set(t.machine, t.number, t.since, t.at)
	}
}

// answerSign closes the channel of the outstanding sign, if there is one.
func (l *Loop) answerSign() {
	if !l.asked.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.sign)
	l.sign = nil
	l.asked.Store(false)
}

// Withdraw deletes a command that waits in the inbox, and reports whether it did.
// It is safe for concurrent use, also while Run hangs in a step.
func (l *Loop) Withdraw(to events.ID, kind events.Kind, command uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inbox.withdraw(func(env events.Envelope) bool {
		return env.To == to && env.Event.Kind == kind && env.Event.Request == command
	})
}

// Run is the loop's one goroutine. When the context has ended, it steps the rest of
// the inbox, and returns: every envelope for which Post reported true is stepped.
func (l *Loop) Run(ctx context.Context) {
	defer l.shut()
	for ctx.Err() == nil {
		l.answerSign()
		if l.turn() {
			continue
		}
		fired, stop := l.alarm()
		select {
		case <-l.wake:
		case <-fired:
		case <-ctx.Done():
		}
		stop()
	}
}

// turn steps all that is due now: timers first, then the inbox, in order. Timers do not
// wait for the end of a long inbox, because the heartbeat's is one of them. It reports
// whether there was anything to step. The clock is read once for each event, and once if
// there is none: to read it is a system call (TestReadsOfTheClock).
func (l *Loop) turn() bool {
	l.mu.Lock()
	batch := l.inbox.take()
	l.behind, l.since = l.since, 0
	for ; l.known < len(l.learned); l.known++ {
		l.engine.recipes.learn(l.learned[l.known])
	}
	l.mu.Unlock()
	l.goOnWithCheckpoint()
	l.now = l.clock.Now()
	fired := l.fireTimers()
	passed := fired
	for b := batch; b != nil; b = b.next {
		for _, env := range b.envelopes {
			if passed { // time has passed: what is due by now comes before the event
				l.now = l.clock.Now()
				l.fireTimers()
			}
			passed = true
			l.step(env)
			l.goOnWithCheckpoint()
		}
	}
	if batch != nil {
		batch.clear()
		l.mu.Lock()
		l.inbox.give(batch)
		l.mu.Unlock()
	}
	return fired || batch != nil || l.engine.copying != nil
}

// fewTimers is for how many timers that are due at once the room is kept.
const fewTimers = 32

// fireTimers steps the timers that were due when the clock was read last, and reports
// whether there were any.
func (l *Loop) fireTimers() bool {
	due := l.due()
	for _, env := range due {
		l.now = l.clock.Now()
		l.step(env)
	}
	fired := len(due) > 0
	clear(due)
	if cap(due) > fewTimers {
		due = nil
	}
	l.fired = due[:0]
	return fired
}

// step steps an envelope at the time that the clock was read last.
func (l *Loop) step(env events.Envelope) {
	env.Event.At = l.now
	if l.behind != 0 {
		l.lag(time.Duration(env.Event.At - l.behind))
		l.behind = 0
	}
	for _, a := range l.engine.Step(env) {
		switch e := a.Effect.(type) {
		case events.SetTimer:
			now := l.clock.Now()
			l.timers.set(a.From, e.Request, now, now+int64(e.After))
		case events.StopTimer:
			l.timers.stop()
		default:
			l.execute.Execute(a.From, a.Effect)
		}
	}
	if l.record != nil {
		l.record(l.engine.Records())
	}
	l.answerSign()
	if len(l.first) > 0 {
		next := l.first[0]
		l.first = l.first[1:]
		l.now = l.clock.Now()
		l.step(next)
	}
}

func (l *Loop) due() []events.Envelope {
	due := l.fired[:0]
	for {
		at, ok := l.timers.next()
		if !ok || at > l.now {
			return due
		}
		t := l.timers.take()
		if l.late != nil && l.now-at >= minLate {
			l.late(l.now, l.now-at)
		}
		ev := events.Event{Kind: events.TimerFired, Request: t.number}
		if l.paused != nil {
			ev.Paused = int64(l.paused(t.since))
		}
		due = append(due, events.Envelope{To: t.machine, Event: ev})
	}
}

// alarm returns the alarm of the next timer, counted from the reading of the clock in the turn that
// has found nothing to step.
func (l *Loop) alarm() (<-chan time.Time, func()) {
	at, ok := l.timers.next()
	if !ok {
		return nil, func() {}
	}
	return l.clock.Timer(time.Duration(at - l.now))
}

// shut has Post refuse envelopes from now on, and steps the rest of the inbox.
func (l *Loop) shut() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for l.turn() {
	}
}
