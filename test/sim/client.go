package sim

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// client is one process: a loop around the real engine, an executor, a program
// that uses its handles, and a clock of its own that runs a little wrong.
type client struct {
	w      *world
	id     int
	engine *engine.Engine
	x      *executor
	users  []*user

	ppm    int64 // how wrong its clock runs
	offset int64
	paused int64    // until when the process does not run
	asleep []func() // what waits for the end of the pause
	half   func()   // first of all: the effects of a step that the pause cut in two
	sleeps bool

	attached bool
	inbox    []events.Envelope
	batch    []events.Envelope
	timers   []timer
	order    uint64
	turning  bool
	alarm    int64
	starved  time.Duration // the loop's goroutine gets its turn so late, while connections come and go
	stumble  time.Duration // a pause that hits between a step and its effects
	torn     bool          // the effects that are being performed are of such a step

	deadline  events.Deadline
	lapsed    events.Deadline // the one of which the session machine was told that it passed
	believed  events.Deadline // the last that was not "nothing"
	log       []events.Record
	digest    uint64
	command   uint64
	commands  map[uint64]events.ID
	confirmed int64 // when the last confirmation that was answered left, on this connection
	reborn    int64 // when the ensemble was wiped or restored last
	linked    bool  // as far as the loop knows, there is a connection
	written   bool  // and a committed write was acknowledged on it
	seen      int64 // ZooKeeper's id of its session, as far as the loop knows
	leaving   bool  // it closes, or has closed
	ends      bool  // its session does

	news  map[events.ID]events.Event // what made its machines leaders
	owned map[string]events.ID       // the places that its machines made
	kept  map[events.ID]events.Event // planted: an old answer
}

type timer struct {
	machine events.ID
	number  uint64
	at      int64
	order   uint64
}

func newClient(w *world, id int) *client {
	c := &client{w: w, id: id, engine: engine.New(true, w.recipes()...), commands: map[uint64]events.ID{},
		news: map[events.ID]events.Event{}, owned: map[string]events.ID{}, digest: 14695981039346656037}
	d := w.roll("clocks")
	c.offset = d.Int64N(int64(time.Hour)) + int64(time.Minute)
	if w.has("drift") {
		c.ppm = d.Int64N(16_000) - 8_000
		w.cover.fault("drift")
	}
	c.x = &executor{w: w, c: c, next: d.IntN(servers)}
	return c
}

// recipes are the product's that have a role, or what a plant made of them.
func (w *world) recipes() []engine.Recipe {
	all := slices.DeleteFunc(slices.Clone(machines.Recipes()), func(r engine.Recipe) bool { return r.Name() != "session" && roleOf(r.Name()) == nil })
	if w.plant == nil || w.plant.Mutations == nil {
		return all
	}
	for recipe, m := range w.plant.Mutations() {
		for i := range all {
			if all[i].Name() == recipe {
				all[i] = engine.Mutate(all[i], m)
			}
		}
	}
	return all
}

func (c *client) checks() *checks { return c.w.checks }

// clock is the process's own, which no pause stops.
func (c *client) clock() int64 {
	return c.offset + c.w.now + c.w.now/1_000_000*c.ppm
}

// own runs something in the process, now or when its pause is over.
func (c *client) own(do func()) {
	if c.w.now >= c.paused {
		do()
		return
	}
	c.asleep = append(c.asleep, do)
	c.sleep()
}

// sleep has the end of the pause noticed, once.
func (c *client) sleep() {
	if !c.sleeps {
		c.sleeps = true
		c.w.at(c.paused, func() {
			c.sleeps = false
			c.stir()
		})
	}
}

// stir is the end of a pause: a step that was cut in two is completed, then what
// was due in the pause happens, in about its order.
func (c *client) stir() {
	if c.w.now < c.paused {
		c.sleep()
		return
	}
	if half := c.half; half != nil {
		c.half = nil
		half()
	}
	asleep := c.asleep
	c.asleep = nil
	for _, do := range asleep {
		c.w.after(between(c.w.roll("wake"), 0, 300*time.Microsecond), func() { c.own(do) })
	}
}

// resume ends a pause early.
func (c *client) resume() {
	if c.paused < forever {
		c.paused = min(c.paused, c.w.now)
		c.stir()
	}
}

// later runs something after a while of the process's own.
func (c *client) later(d time.Duration, do func()) { c.w.after(d, func() { c.own(do) }) }

// pause stops the process.
func (c *client) pause(d time.Duration) {
	c.paused = max(c.paused, c.w.now+int64(d))
	if c.w.planted(func(p *Plant) bool { return p.ClockStops }) && c.paused < forever {
		c.offset -= int64(d)
	}
}

// readable has the executor read what came, frame by frame.
func (x *executor) readable(wire *wire) {
	if wire.reading {
		return
	}
	wire.reading = true
	x.c.later(between(x.w.roll("read"), time.Microsecond, 50*time.Microsecond), func() {
		wire.reading = false
		if wire.hung || len(wire.inbox) == 0 {
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

func (c *client) post(to events.ID, ev events.Event) {
	if p := c.w.plant; p != nil && p.Posted != nil && !p.Posted(c, to, &ev) {
		return
	}
	c.remember(to, ev)
	c.inbox = append(c.inbox, events.Envelope{To: to, Event: ev})
	c.wake()
}

func (c *client) wake() {
	if !c.turning {
		c.turning = true
		c.later(between(c.w.roll("loop"), 5*time.Microsecond, 150*time.Microsecond), c.turn)
	}
}

// turn is the loop's: what is due first, then what was posted, one step each.
func (c *client) turn() {
	if len(c.batch) == 0 {
		c.batch = c.due(c.batch[:0])
		c.batch = append(c.batch, c.inbox...)
		c.inbox = c.inbox[:0]
	}
	if len(c.batch) == 0 {
		c.turning = false
		c.rewind()
		return
	}
	env := c.batch[0]
	c.batch = c.batch[1:]
	c.feed(env)
	c.later(between(c.w.roll("loop"), 2*time.Microsecond, 40*time.Microsecond)+c.starved, c.turn)
}

// due takes out the timers that rang.
func (c *client) due(into []events.Envelope) []events.Envelope {
	now := c.clock()
	for {
		first := -1
		for i, t := range c.timers {
			if t.at <= now && (first < 0 || t.at < c.timers[first].at || t.at == c.timers[first].at && t.order < c.timers[first].order) {
				first = i
			}
		}
		if first < 0 {
			return into
		}
		t := c.timers[first]
		c.timers = slices.Delete(c.timers, first, first+1)
		into = append(into, events.Envelope{To: t.machine, Event: events.Event{Kind: events.TimerFired, Request: t.number}})
	}
}

// rewind sets the alarm for the next timer.
func (c *client) rewind() {
	next := forever
	for _, t := range c.timers {
		next = min(next, t.at)
	}
	if next == forever {
		return
	}
	c.alarm++
	alarm := c.alarm
	wait := next - c.clock()
	wait += wait/1_000_000*max(-c.ppm, 0) + 1000
	c.later(time.Duration(max(wait, 0)), func() {
		if c.alarm == alarm {
			c.wake()
		}
	})
}

// feed has the engine take one event out of the inbox.
func (c *client) feed(env events.Envelope) {
	env.Event.At = c.clock()
	c.fed(env.Event)
	if p := c.w.plant; p != nil && p.Fed != nil {
		p.Fed(c, &env)
	}
	out := c.engine.Step(env)
	if p := c.w.plant; p != nil && p.Stepped != nil {
		out = p.Stepped(c, out)
	}
	for _, r := range c.engine.Records() {
		c.w.cover.note(r)
		c.hash(r)
		c.checks().record(c, r)
	}
	if c.w.keep {
		c.log = append(c.log, c.engine.Records()...)
	}
	if c.stumble > 0 && len(out) > 0 {
		c.pause(c.stumble)
		c.stumble = 0
		out := slices.Clone(out)
		c.batch = slices.Clone(c.batch)
		c.turnAfter(out)
		return
	}
	c.perform(out)
	c.checks().stepped(c)
}

// turnAfter performs a step's effects when the pause is over, before the loop
// takes anything else out.
func (c *client) turnAfter(out []engine.Addressed) {
	c.half = func() {
		c.torn = true
		c.perform(out)
		c.torn = false
		c.checks().stepped(c)
	}
	c.sleep()
}

func (c *client) hash(r events.Record) {
	h := c.digest
	mix := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	mix(string(r.Machine))
	mix(r.Row)
	for _, e := range r.Effects {
		mix(e)
	}
	h = (h ^ uint64(r.Event.At)) * 1099511628211
	c.digest = h
}

// believes reports what Leadership.Check would say now: the clock is read
// against the deadline, whether or not the loop has had its turn.
func (c *client) believes(b *belief) bool {
	return c.deadline.Session == b.session && c.clock() < c.deadline.Until
}

// closeSession ends the client; some programs do so twice.
func (c *client) closeSession() {
	c.ends = true
	for range 1 + c.w.roll("user").IntN(2) {
		c.ask(events.SessionMachine, events.CommandClose, events.Event{})
	}
}
