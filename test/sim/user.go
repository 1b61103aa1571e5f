package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// user is the program's side of one handle: it starts it, asks for leadership,
// works, lets go, and closes it.
type user struct {
	c      *client
	id     events.ID
	line   string // directory and recipe
	dir    string
	latch  bool
	auto   bool
	floor  bool
	state  string
	leads  bool
	stuck  bool // its work does not heed the end of leadership
	works  map[uint64]bool
	awaits map[uint64]bool
	serial uint64

	closing bool
}

func (u *user) dice() *rand.Rand { return u.c.w.roll("user") }

// populate gives a client its session and its handles.
func (w *world) populate(c *client) {
	d := w.roll("plan")
	seed := func() string { return fmt.Sprintf("%016x%016x", d.Uint64(), d.Uint64()) }
	c.ask(events.SessionMachine, events.CommandOpen, events.Event{Recipe: "session", Seed: seed(), Options: map[string]string{
		"tick": w.Tick.String(), "syncLimit": fmt.Sprint(w.SyncLimit), "rideOut": fmt.Sprint(w.RideOut), "retry": "bounded/-1/100ms/2s"}})
	start := func() { c.ask(events.SessionMachine, events.CommandStart, events.Event{}) }
	for line := range w.Lines {
		if line > 0 && oneIn(d, 3) {
			continue
		}
		n := 1
		if oneIn(d, 8) {
			n = 2
		}
		for i := range n {
			u := &user{c: c, dir: fmt.Sprintf("/app/line%d", line), latch: !oneIn(d, 3), auto: !oneIn(d, 4),
				works: map[uint64]bool{}, awaits: map[uint64]bool{}}
			if line == 2 {
				u.dir = "/deep"
			}
			recipe := map[bool]string{true: "latch", false: "selector"}[u.latch]
			u.id = events.ID(fmt.Sprintf("%s-%d%d", recipe, line, i))
			u.line = u.dir + " " + recipe
			options := map[string]string{"rideOut": fmt.Sprint(w.RideOut), "retry": "bounded/-1/50ms/2s"}
			if !u.latch {
				options["autoRequeue"] = fmt.Sprint(u.auto)
			}
			if w.has("policy ends") && oneIn(d, 2) {
				options["retry"] = "times/2/100ms/0s"
				w.cover.fault("policy ends")
			}
			if w.has("token floor") && oneIn(d, 2) {
				options["tokenFloor"] = fmt.Sprint(1<<32 + 10 + d.Int64N(80))
				u.floor = true
				w.cover.fault("token floor")
			}
			c.users = append(c.users, u)
			c.ask(u.id, events.CommandOpen, events.Event{Recipe: recipe, Path: u.dir, Data: []byte(u.name()), Seed: seed(), Options: options})
			w.after(between(d, 0, 2*time.Second), func() {
				c.own(func() { u.start() })
			})
		}
	}
	w.after(between(d, 0, time.Second), func() { c.own(start) })
	if w.has("client closes") && oneIn(d, 10) { // before it was started, or at once after
		c.leaving = true
		w.after(between(d, 0, time.Second), func() {
			for _, u := range c.users {
				u.close()
			}
			c.closeSession()
		})
	}
	w.watchFromOutside(c, seed())
	w.after(between(d, time.Second, 3*time.Second), func() { c.own(c.live) })
}

// watchFromOutside opens an observer in some processes.
func (w *world) watchFromOutside(c *client, seed string) {
	if !oneIn(w.roll("plan"), 4) {
		return
	}
	label := map[bool]string{true: machines.LatchLabel, false: machines.SelectorLabel}[oneIn(w.roll("plan"), 2)]
	u := &user{c: c, id: "observer-0", line: "", works: map[uint64]bool{}, awaits: map[uint64]bool{}}
	c.users = append(c.users, u)
	c.ask(u.id, events.CommandOpen, events.Event{Recipe: "observer", Path: "/app/line0", Seed: seed, Options: map[string]string{"label": label, "retry": "bounded/-1/50ms/2s"}})
	w.after(between(w.roll("plan"), 0, 4*time.Second), func() { c.own(u.start) })
}

// name is the participant's id, as its nodes carry it.
func (u *user) name() string { return fmt.Sprintf("%d/%s", u.c.id, u.id) }

func (u *user) observes() bool { return strings.HasPrefix(string(u.id), "observer") }

func (u *user) start() {
	if !u.closing {
		u.c.ask(u.id, events.CommandStart, events.Event{})
	}
}

// live is what a program does from time to time.
func (c *client) live() {
	if c.w.ending {
		return
	}
	d := c.w.roll("user")
	if len(c.users) > 0 {
		c.users[d.IntN(len(c.users))].act()
	}
	if oneIn(d, 60) {
		c.ask(events.SessionMachine, events.CommandStart, events.Event{})
	}
	c.later(between(d, 100*time.Millisecond, c.w.Timeout/2), c.live)
}

func (u *user) act() {
	d := u.dice()
	switch n := d.IntN(12); {
	case u.observes() && n != 9:
	case n < 5 && u.latch && len(u.awaits)+len(u.works) < 3:
		u.awaits[u.c.ask(u.id, events.CommandAwait, events.Event{})] = true
	case n < 6 && u.latch:
		u.c.ask(u.id, events.CommandResign, events.Event{})
	case n < 7 && u.latch:
		for number := u.c.command; number > 0; number-- {
			if u.awaits[number] {
				u.c.post(u.id, events.Event{Kind: events.CommandCancel, Work: number})
				break
			}
		}
	case n < 9 && !u.latch:
		u.c.ask(u.id, events.CommandRequeue, events.Event{})
	case n == 9 && oneIn(d, 6):
		u.c.ask(u.id, events.CommandStart, events.Event{})
	}
}

// begin is a piece of work. It returns after a while of its own, or soon after
// leadership ended, unless it is stuck.
func (u *user) begin() {
	d := u.dice()
	u.serial++
	work := u.serial
	u.works[work] = true
	u.stuck = u.c.w.hit("stuck work")
	lasts := between(d, time.Millisecond, u.c.w.Timeout)
	if oneIn(d, 4) || u.c.w.hit("failing work") {
		lasts = between(d, 0, 150*time.Millisecond)
	}
	u.c.later(lasts, func() {
		if !u.stuck || u.c.w.calm {
			u.end(work)
		}
	})
}

func (u *user) end(work uint64) {
	if !u.works[work] {
		return
	}
	delete(u.works, work)
	ev := events.Event{Kind: events.WorkReturned}
	if u.c.w.hit("failing work") {
		ev.Text = "it panicked"
	}
	u.c.post(u.id, ev)
}

// endAll has every piece of work return, each after a moment.
func (u *user) endAll() {
	for work := uint64(1); work <= u.serial; work++ {
		if u.works[work] {
			u.c.later(between(u.dice(), 0, 300*time.Millisecond), func() { u.end(work) })
		}
	}
}

func (u *user) notice(n events.Notify) {
	switch n.What {
	case events.Elected:
		u.c.w.checks.elected(u, n)
		u.leads = true
		if !u.latch {
			u.begin()
		}
	case events.Granted:
		u.c.w.checks.granted(u, n)
		delete(u.awaits, n.Work)
		delete(u.c.commands, n.Work)
		u.begin()
	case events.Deposed:
		u.c.w.checks.deposed(u, n)
		u.leads = false
		if !u.stuck || u.c.w.calm {
			u.endAll()
		}
	}
}

func (u *user) answered(a events.Answer) { delete(u.awaits, a.Command) }

// close asks for the end of the handle.
func (u *user) close() {
	if u.closing && u.dice().IntN(3) > 0 {
		return
	}
	u.closing = true
	u.c.ask(u.id, events.CommandClose, events.Event{Silent: oneIn(u.dice(), 4)})
}
