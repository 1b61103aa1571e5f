package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/world"
)

// user is the program's side of one handle: it starts it, does what its role
// does, works while it leads, and closes it.
type user struct {
	c       *client
	id      events.ID
	role    *role
	line    string // directory and recipe
	dir     string
	path    string            // what it is about
	options map[string]string // what its machines are opened with
	floor   bool              // it refuses low tokens
	once    bool              // it does not queue again by itself
	leads   bool
	stuck   bool // its work does not heed the end of leadership
	works   map[uint64]bool
	awaits  map[uint64]bool
	serial  uint64
	granted uint64 // the await that was granted last
	closing bool

	which string      // the end of its machines' names
	ops   []events.Op // what its machines are asked for, where they are opened with it
	read  version     // what an answer told it past its machine
	view  view        // of a node that it watches
	grove grove       // of a tree that it keeps
	call  call        // the last, where every call has a machine of its own
	stay  stay        // a double barrier\'s round
	tenure
	bench   bench // of a queue's handle
	group   group
	made    []string // the places that its machine was told to have made
	term    *belief  // the last that it was told of
	busy    int64    // until when a callback of its own runs
	waiting []func() // callbacks that wait for that one
}

func (u *user) dice() *rand.Rand { return u.c.w.Dice("user") }

// populate gives a client its session and its handles.
func (w *harness) populate(c *client) {
	d := w.Dice("plan")
	c.Ask(events.SessionMachine, events.CommandOpen, events.Event{Recipe: "session", Seed: newSeed(d), Options: map[string]string{
		"tick": w.Tick.String(), "syncLimit": fmt.Sprint(w.SyncLimit), "rideOut": fmt.Sprint(w.RideOut), "retry": "bounded/-1/100ms/2s"}})
	start := func() { c.Ask(events.SessionMachine, events.CommandStart, events.Event{}) }
	for line := range w.Lines {
		if line > 0 && world.OneIn(d, 3) {
			continue
		}
		n := 1
		if world.OneIn(d, 8) {
			n = 2
		}
		for i := range n {
			w.join(c, draw(d), w.lines()[line], fmt.Sprintf("%d%d", line, i), d)
		}
	}
	w.After(world.Between(d, 0, time.Second), func() { c.Run(start) })
	if w.has("client closes") && world.OneIn(d, 10) { // before it was started, or at once after
		c.leaving = true
		w.After(world.Between(d, 0, time.Second), func() {
			for _, u := range c.users {
				u.close()
			}
			c.closeSession()
		})
	}
	w.watchFromOutside(c, newSeed(d))
	w.settleHomes(c)
	w.After(world.Between(d, time.Second, 3*time.Second), func() { c.Run(c.live) })
}

func newSeed(d *rand.Rand) string { return fmt.Sprintf("%016x%016x", d.Uint64(), d.Uint64()) }

// name is the participant's id, as its nodes carry it.
func (u *user) name() string { return fmt.Sprintf("%d/%s", u.c.ID(), u.id) }

// queues reports whether the handle's machine has a place in a line.
func (u *user) queues() bool { return u.role.label != "" }

func (u *user) start() {
	if !u.closing && !u.role.calls {
		u.c.Ask(u.id, events.CommandStart, events.Event{})
	}
}

// live is what a program does from time to time.
func (c *client) live() {
	if c.w.ending {
		return
	}
	d := c.w.Dice("user")
	if len(c.users) > 0 {
		c.users[d.IntN(len(c.users))].act()
	}
	if world.OneIn(d, 60) {
		c.Ask(events.SessionMachine, events.CommandStart, events.Event{})
	}
	c.RunAfter(world.Between(d, 100*time.Millisecond, c.w.Timeout/2), c.live)
}

func (u *user) act() {
	d := u.dice()
	switch n := d.IntN(12); {
	case n == 9 && world.OneIn(d, 6):
		u.c.Ask(u.id, events.CommandStart, events.Event{})
	case u.role.act != nil:
		u.role.act(u, n)
	}
}

// begin is a piece of work: the machine counts it from now on, and the program
// runs it when its callbacks let it.
func (u *user) begin() {
	u.serial++
	work := u.serial
	u.works[work] = true
	u.hear(func() { u.run(work) })
}

// run has a piece of work return after a while of its own, or soon after
// leadership ended, unless it is stuck.
func (u *user) run(work uint64) {
	d := u.dice()
	u.stuck = u.c.w.hit("stuck work")
	lasts := world.Between(d, time.Millisecond, u.c.w.Timeout)
	if u.role.brief {
		lasts = min(lasts%(u.c.w.Tick/2), lasts)
	}
	if u.c.w.calm {
		lasts = min(lasts, 2*time.Second)
	}
	if world.OneIn(d, 4) || u.c.w.hit("failing work") {
		lasts = world.Between(d, 0, 150*time.Millisecond)
	}
	if u.c.w.hit("panicking callback") {
		u.fail(work, "it panicked")
		return
	}
	u.c.RunAfter(lasts, func() {
		if !u.stuck || u.c.w.calm {
			u.end(work)
		}
	})
}

func (u *user) end(work uint64) {
	why := ""
	if u.c.w.hit("failing work") {
		why = "it failed"
	}
	u.fail(work, why)
}

// fail is the return of a piece of work, with an error's words or none.
func (u *user) fail(work uint64, why string) {
	if u.works[work] {
		delete(u.works, work)
		ev := events.Event{Kind: events.WorkReturned, Text: why}
		if u.role.returns != nil {
			u.role.returns(u, &ev)
		}
		u.c.Post(u.id, ev)
	}
}

// stop has work return that heeds the end of leadership.
func (u *user) stop() {
	u.hear(func() {
		if !u.stuck || u.c.w.calm {
			u.endAll()
		}
	})
}

// endAll has every piece of work return, each after a moment.
func (u *user) endAll() {
	for work := uint64(1); work <= u.serial; work++ {
		if u.works[work] {
			u.c.RunAfter(world.Between(u.dice(), 0, 300*time.Millisecond), func() { u.end(work) })
		}
	}
}

// notice is the handle's: the checks see it at once.
func (u *user) notice(n events.Notify) {
	switch n.What {
	case events.Elected:
		u.c.w.checks.elected(u, n)
		u.leads = true
	case events.Granted:
		u.c.w.checks.granted(u, n)
		u.c.Forget(n.Work)
	case events.Stopped:
		u.c.w.checks.deposed(u, n)
		u.leads = false
	}
	if u.role.told != nil {
		u.role.told(u, n)
	}
}

// hear runs a callback off the loop, in the order of the news. One that is slow
// makes the next of its own handle wait, and nobody else's.
func (u *user) hear(callback func()) {
	w := u.c.w
	if w.hit("slow callback") {
		u.busy = w.Now() + int64(world.Between(w.Dice("slow callback"), w.Tick/10, w.Timeout))
	}
	if w.Now() >= u.busy && len(u.waiting) == 0 {
		callback()
		return
	}
	if u.waiting = append(u.waiting, callback); len(u.waiting) == 1 {
		w.At(u.busy, func() { u.c.Run(u.catchUp) })
	}
}

func (u *user) catchUp() {
	waiting := u.waiting
	u.waiting = nil
	for _, callback := range waiting {
		u.hear(callback)
	}
}

func (u *user) answered(a events.Answer) {
	delete(u.awaits, a.Command)
	u.call.refused = u.call.refused || u.role.calls && a.Command == u.call.number && a.Code != events.OK
	if u.role.answers != nil {
		u.role.answers(u, a)
	}
}

// close asks for the end of the handle.
func (u *user) close() {
	if u.closing && u.dice().IntN(3) > 0 {
		return
	}
	u.closing = true
	u.c.Ask(u.id, events.CommandClose, events.Event{Silent: world.OneIn(u.dice(), 4)})
}

// closeHandles closes every handle of a process, and has its work return.
func (c *client) closeHandles() {
	for _, u := range c.users {
		u.close()
		u.endAll()
	}
}
