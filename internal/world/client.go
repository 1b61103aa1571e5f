package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Client is one process: a loop around the real engine, an executor, and a clock of its
// own that runs a little wrong. A program uses its handles. The program is not part of the
// world: it calls Ask and Post, and the Observer gets what comes of it.
type Client struct {
	w      *World
	id     int
	engine *engine.Engine
	dice   participantDice
	x      *executor

	identities []zkmem.Auth // one: see Identity

	program *program // of a script; nil if the observer has the program

	tick            time.Duration // the ensemble's, as the client assumes or has learned
	ppm             int64         // by how much its clock runs wrong
	offset          int64
	paused          int64    // the process does not run before then
	pauseBegan      int64    // when the pause began that is not among gaps yet, by the client's clock; 0: there is none
	gaps            []gap    // its pauses that have ended
	deferred        []func() // what runs after the pause
	interruptedStep func()   // what runs before all that: the effects of a step that the pause interrupted
	resumeScheduled bool

	attached      bool
	inbox         []events.Envelope
	batch         []events.Envelope
	timers        []timer
	order         uint64
	loopScheduled bool
	alarm         int64
	loopDelay     time.Duration // how long the loop waits before each event
	pauseInStep   time.Duration // a pause that comes between a step and its effects
	interrupted   bool          // the effects of an interrupted step are being performed

	deadline   events.Deadline
	lapsed     events.Deadline // the deadline that passed, as the session machine knows
	believed   events.Deadline // the last deadline that was not "nothing"
	believedAt int64           // when the last deadline was published that is one
	digest     uint64
	command    uint64
	commands   map[uint64]events.ID
}

type timer struct {
	machine events.ID
	number  uint64
	since   int64 // when it was set
	at      int64
	order   uint64
}

// Process says what is special about a client.
type Process struct {
	Recipes []engine.Recipe // what its engine knows; nil is all of the product's
	Drift   bool            // its clock runs wrong by up to eight thousandths
}

// AddClient adds a process. Nothing of it runs before somebody asks it for something.
func (w *World) AddClient(p Process) *Client {
	if p.Recipes == nil {
		p.Recipes = machines.Recipes()
	}
	c := &Client{w: w, id: len(w.clients), engine: engine.New(true, p.Recipes...), commands: map[uint64]events.ID{},
		tick: w.script.assumedTick(), digest: 14695981039346656037}
	c.engine.CheckInvariants()
	c.dice = participantDice{w: w, name: fmt.Sprint("client ", c.id)}
	c.identities = []zkmem.Auth{{Scheme: "digest", ID: fmt.Sprintf("client-%d:x", c.id)}}
	d := c.dice.roll(clockDice)
	c.offset = d.Int64N(int64(time.Hour)) + int64(time.Minute)
	if w.script.OneClock {
		c.offset = int64(Epoch)
	}
	if p.Drift {
		c.ppm = d.Int64N(16_000) - 8_000
	}
	c.x = &executor{w: w, c: c, next: d.IntN(len(w.ens.servers))}
	w.clients = append(w.clients, c)
	return c
}

// Clock returns the process's own time, which no pause stops.
func (c *Client) Clock() int64 { return c.clockAt(c.w.now) }

// clockAt returns what the process's clock shows at an instant of the world.
func (c *Client) clockAt(now int64) int64 { return c.offset + now + now/1_000_000*c.ppm }

// Run runs something in the process, now or after its pause.
func (c *Client) Run(do func()) {
	if c.w.now >= c.paused {
		do()
		return
	}
	c.deferred = append(c.deferred, do)
	c.scheduleResume()
}

// scheduleResume has the end of the pause noticed, once.
func (c *Client) scheduleResume() {
	if !c.resumeScheduled {
		c.resumeScheduled = true
		c.w.At(c.paused, func() {
			c.resumeScheduled = false
			c.resumeAfterPause()
		})
	}
}

// resumeAfterPause ends a pause: first the interrupted step is completed, then what
// was due in the pause happens, in about its order.
func (c *Client) resumeAfterPause() {
	if c.w.now < c.paused {
		c.scheduleResume()
		return
	}
	if half := c.interruptedStep; half != nil {
		c.interruptedStep = nil
		half()
	}
	asleep := c.deferred
	c.deferred = nil
	for _, do := range asleep {
		c.w.After(Between(c.dice.roll(wakeDice), 0, 300*time.Microsecond), func() { c.Run(do) })
	}
}

// resume ends a pause early.
func (c *Client) resume() {
	if c.paused < Forever {
		c.paused = min(c.paused, c.w.now)
		c.resumeAfterPause()
	}
}

// RunAfter runs something in the process after a while.
func (c *Client) RunAfter(d time.Duration, do func()) { c.w.After(d, func() { c.Run(do) }) }

// Pause stops the process.
func (c *Client) Pause(d time.Duration) {
	c.notePause()
	c.paused = max(c.paused, c.w.now+int64(d))
	if c.w.observer.Happens(BugClockStops) && c.paused < Forever {
		c.offset -= int64(d)
	}
}

// readable has the executor read what came, frame by frame.
func (x *executor) readable(wire *Conn) {
	if wire.reading {
		return
	}
	wire.reading = true
	x.c.RunAfter(Between(x.c.dice.roll(readDice), time.Microsecond, 50*time.Microsecond), func() {
		wire.reading = false
		if wire.clientClosed || len(wire.inbox) == 0 {
			return
		}
		f := wire.inbox[0]
		wire.inbox = wire.inbox[1:]
		x.take(wire, f)
		if len(wire.inbox) > 0 {
			x.readable(wire)
		}
	})
}

// Post puts an event into the inbox of the loop.
func (c *Client) Post(to events.ID, ev events.Event) {
	if !c.w.observer.Posting(c, to, &ev) {
		return
	}
	c.inbox = append(c.inbox, events.Envelope{To: to, Event: ev})
	c.wake()
}

// postFirst has the loop take an event out next, before what it has already taken from the
// inbox: engine.Loop.PostFirst.
func (c *Client) postFirst(to events.ID, ev events.Event) {
	c.batch = slices.Insert(c.batch, 0, events.Envelope{To: to, Event: ev})
}

func (c *Client) wake() {
	if !c.loopScheduled {
		c.loopScheduled = true
		c.RunAfter(Between(c.dice.roll(loopDice), 5*time.Microsecond, 150*time.Microsecond), c.runLoop)
	}
}

// runLoop is one turn of the loop: first timers that are due, then what was posted, one step each.
func (c *Client) runLoop() {
	if len(c.batch) == 0 {
		c.batch = c.due(c.batch[:0])
		c.batch = append(c.batch, c.inbox...)
		c.inbox = c.inbox[:0]
	}
	if len(c.batch) == 0 {
		c.loopScheduled = false
		c.setAlarm()
		return
	}
	env := c.batch[0]
	c.batch = c.batch[1:]
	c.feed(env)
	c.RunAfter(Between(c.dice.roll(loopDice), 2*time.Microsecond, 40*time.Microsecond)+c.loopDelay, c.runLoop)
}

// due removes and returns the timers that fired.
func (c *Client) due(into []events.Envelope) []events.Envelope {
	now := c.Clock()
	for {
		first := -1
		for i, t := range c.timers {
			if t.at <= now &&
				(first < 0 || t.at < c.timers[first].at ||
					t.at == c.timers[first].at && t.order < c.timers[first].order) {
				first = i
			}
		}
		if first < 0 {
			return into
		}
		t := c.timers[first]
		c.timers = slices.Delete(c.timers, first, first+1)
		into = append(into,
			events.Envelope{To: t.machine,
				Event: events.Event{Kind: events.TimerFired, Request: t.number, Paused: int64(c.pausedSince(t.since))}})
	}
}

// setAlarm sets the alarm for the next timer.
func (c *Client) setAlarm() {
	next := Forever
	for _, t := range c.timers {
		next = min(next, t.at)
	}
	if next == Forever {
		return
	}
	c.alarm++
	alarm := c.alarm
	wait := next - c.Clock()
	wait += wait/1_000_000*max(-c.ppm, 0) + 1000
	c.RunAfter(time.Duration(max(wait, 0)), func() {
		if c.alarm == alarm {
			c.wake()
		}
	})
}

// feed has the engine take one event out of the inbox.
func (c *Client) feed(env events.Envelope) {
	env.Event.At = c.Clock()
	c.w.observer.Feeding(c, &env)
	out := c.w.observer.Stepped(c, c.engine.Step(env))
	for _, r := range c.engine.Records() {
		c.hash(r)
		c.w.records++
		c.w.observer.Recorded(c, r)
	}
	if c.pauseInStep > 0 && len(out) > 0 {
		c.Pause(c.pauseInStep)
		c.pauseInStep = 0
		out := slices.Clone(out)
		c.batch = slices.Clone(c.batch)
		c.performAfterPause(out)
		return
	}
	c.perform(out)
	c.w.observer.Performed(c)
}

// performAfterPause performs a step's effects after the pause, before the loop takes
// anything else out.
func (c *Client) performAfterPause(out []engine.Addressed) {
	c.interruptedStep = func() {
		c.interrupted = true
		c.perform(out)
		c.interrupted = false
		c.w.observer.Performed(c)
	}
	c.scheduleResume()
}

func (c *Client) hash(r events.Record) {
	h := c.digest
	mix := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	mix(string(r.Machine))
	mix(r.Row)
	for _, e := range r.Effects.Strings() {
		mix(e)
	}
	h = (h ^ uint64(r.Event.At)) * 1099511628211
	c.digest = h
}
