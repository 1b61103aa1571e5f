package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Clock is the loop's time. Now is in nanoseconds, never goes back and never
// stops, a suspended machine included; After delivers once after a duration.
type Clock interface {
	Now() int64
	Timer(time.Duration) (fired <-chan time.Time, stop func())
}

// Recorder takes the records of one step, after its effects were dispatched. It
// must not block: belief is renewed by the loop that calls it.
type Recorder func([]events.Record)

// Loop feeds an engine from one goroutine. Post is safe from any goroutine and
// never blocks; everything else happens inside Run.
type Loop struct {
	engine  *Engine
	execute Executor
	clock   Clock
	record  Recorder

	mu     sync.Mutex
	inbox  []events.Envelope
	closed bool
	wake   chan struct{}
	sign   chan struct{} // closed when the loop answers; nil unless one is outstanding
	asked  atomic.Bool   // a sign is outstanding: what each step looks at

	first      []events.Envelope // what comes before all that waits
	spareInbox []events.Envelope // the inbox of the turn before, for the next
	timers     timers
}

// NewLoop joins an engine with its surroundings. Record may be nil.
func NewLoop(e *Engine, x Executor, c Clock, record Recorder) *Loop {
	return &Loop{engine: e, execute: x, clock: c, record: record, wake: make(chan struct{}, 1)}
}

// Post puts an envelope at the end of the inbox. It reports false once the loop
// has ended: nobody will deal with the envelope any more.
func (l *Loop) Post(env events.Envelope) bool {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return false
	}
	l.inbox = append(l.inbox, env)
	l.mu.Unlock()
	l.Wake()
	return true
}

// PostFirst has an envelope dealt with right after the present step, before all that
// waits: what its sender has seen is still so then. Only an Executor may call it,
// within Execute.
func (l *Loop) PostFirst(env events.Envelope) { l.first = append(l.first, env) }

// Wake has the loop look at its timers now. They are due by its clock; it sleeps
// by Go's timers, which stand still while the machine is suspended.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// SignOfLife asks the loop for a sign that it runs, and returns a channel that the
// loop closes at the end of the step that it is in, or at once if it waits for
// events. Nothing is recorded, and no machine hears of it. A loop that has ended
// does not answer. Any goroutine may call it.
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

// answerSign gives the sign of life that is outstanding, if one is.
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

// Withdraw takes back a command that waits in the inbox, and reports whether it did.
// It is safe to call from any goroutine, also while Run stands still in a step.
func (l *Loop) Withdraw(to events.ID, kind events.Kind, command uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, env := range l.inbox {
		if env.To == to && env.Event.Kind == kind && env.Event.Request == command {
			l.inbox = slices.Delete(l.inbox, i, i+1)
			return true
		}
	}
	return false
}

// Run is the one goroutine. It returns when the context ends, after everything
// for which Post said true was dealt with.
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

// turn deals with all that is due now: timers first, then what was posted, in
// order. Timers do not wait for the end of a long line: the heartbeat's is one of
// them. It reports whether there was anything.
func (l *Loop) turn() bool {
	l.mu.Lock()
	batch := l.inbox
	l.inbox, l.spareInbox = l.spareInbox, nil
	l.mu.Unlock()
	rang := l.fireTimers()
	for _, env := range batch {
		l.step(env)
		l.fireTimers()
	}
	clear(batch)
	l.spareInbox = batch[:0]
	return rang || len(batch) > 0
}

// fireTimers deals with the timers that are due, and reports whether there were any.
func (l *Loop) fireTimers() bool {
	due := l.due()
	for _, env := range due {
		l.step(env)
	}
	return len(due) > 0
}

func (l *Loop) step(env events.Envelope) {
	env.Event.At = l.clock.Now()
	for _, a := range l.engine.Step(env) {
		switch e := a.Effect.(type) {
		case events.SetTimer:
			l.timers.set(a.From, e.Request, l.clock.Now()+int64(e.After))
		case events.StopTimer:
			l.timers.stop(a.From, e.Request)
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
		l.step(next)
	}
}

func (l *Loop) due() []events.Envelope {
	var due []events.Envelope
	for now := l.clock.Now(); ; {
		at, ok := l.timers.next()
		if !ok || at > now {
			return due
		}
		t := l.timers.take()
		due = append(due, events.Envelope{To: t.machine, Event: events.Event{Kind: events.TimerFired, Request: t.number}})
	}
}

func (l *Loop) alarm() (<-chan time.Time, func()) {
	at, ok := l.timers.next()
	if !ok {
		return nil, func() {}
	}
	return l.clock.Timer(time.Duration(at - l.clock.Now()))
}

// shut takes nothing more, and deals with what it took.
func (l *Loop) shut() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for l.turn() {
	}
}
