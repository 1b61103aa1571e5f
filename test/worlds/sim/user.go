package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// user is the program's side of one handle: it starts the handle, does what its role
// does, works while it leads, and closes the handle.
type user struct {
	c             *client
	id            events.ID
	role          *role
	line          string // directory and label
	dir           string
	path          string            // the node or directory that it is about
	options       map[string]string // what its machines are opened with
	hasTokenFloor bool              // it refuses low tokens
	oneTerm       bool              // it does not queue again by itself
	leads         bool
	sick          bool // its last health check failed
	// its place was, or is being, given up for that reason, or because it was of no use for a session timeout
	givesUp     bool
	ignoresStop bool // its work does not return at the end of leadership
	works       map[uint64]bool
	awaits      map[uint64]bool
	serial      uint64
	granted     uint64 // the await that was granted last
	closing     bool

	suffix string      // the end of its machines' names
	ops    []events.Op // the operations that its machines are opened with
	reply  nodeState   // the user's part of a reply
	view   watchView   // of a watched node
	cache  cacheView   // of a tree cache
	call   call        // the last, in a recipe whose calls have a machine each
	round  round       // of a double barrier
	nodeView
	queueHandle      queueHandle // of a queue
	group            group
	made             []string // the nodes that its machine created, as it was told
	term             *belief  // the last term that it was told of
	callbackUntil    int64    // when a callback of its own returns
	waitingCallbacks []func() // callbacks that wait for that one
	hasWorked        bool     // its work has returned, and it has not asked for a place since
	refusedAt        int64    // when the deletion of its node was refused first; 0 if it was not
	stormed          bool     // an operator deletes every place that it creates
	losses           losses   // of places that others have deleted
	fencing          int      // how often it was to fence the one that led last
	fencingEnded     int      // the attempt that has ended
	fenced           string   // the one that it has fenced
}

func (u *user) dice() *rand.Rand { return u.c.w.Dice("user") }

// addHandles opens a client's session and its handles.
func (w *harness) addHandles(c *client) {
	d := w.Dice("plan")
	c.Ask(events.SessionMachine, events.CommandOpen,
		events.Event{Recipe: "session", Seed: newSeed(d), Options: w.Script().SessionOptions("bounded/-1/100ms/2s")})
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
			w.openHandle(c, drawRole(d), w.lines()[line], fmt.Sprintf("%d%d", line, i), d)
		}
	}
	w.After(world.Between(d, 0, time.Second), func() { c.Run(start) })
	if w.has("client closes") && world.OneIn(d, 10) { // before it was started, or just after
		c.leaving = true
		w.After(world.Between(d, 0, time.Second), func() {
			for _, u := range c.users {
				u.close()
			}
			c.closeSession()
		})
	}
	w.addObserver(c, newSeed(d))
	w.openInOwnDirs(c)
	w.After(world.Between(d, time.Second, 3*time.Second), func() { c.Run(c.runProgram) })
}

func newSeed(d *rand.Rand) string { return fmt.Sprintf("%016x%016x", d.Uint64(), d.Uint64()) }

// name returns the participant's name, as its nodes have it.
func (u *user) name() string { return fmt.Sprintf("%d/%s", u.c.ID(), u.id) }

// classOf returns the class of a state of the handle's machine.
func (u *user) classOf(state string) events.Class {
	of := [2]string{u.role.recipe, state}
	class, known := classes.Load(of)
	if !known {
		class = machines.ClassOf(u.role.recipe, state)
		classes.Store(of, class)
	}
	return class.(events.Class)
}

// classes are those that worlds have asked for, by recipe and state. They are the same in all worlds.
var classes sync.Map

// queues reports whether the handle's machine queues in a line.
func (u *user) queues() bool { return u.role.line.label != "" }

func (u *user) start() {
	if !u.closing && !u.role.program.callMachines() {
		u.c.Ask(u.id, events.CommandStart, events.Event{})
	}
}

// runProgram has the program act from time to time.
func (c *client) runProgram() {
	if c.w.closing {
		return
	}
	d := c.w.Dice("user")
	if len(c.users) > 0 {
		c.users[d.IntN(len(c.users))].act()
	}
	if world.OneIn(d, 60) {
		c.Ask(events.SessionMachine, events.CommandStart, events.Event{})
	}
	c.RunAfter(world.Between(d, 100*time.Millisecond, c.w.Timeout/2), c.runProgram)
}

func (u *user) act() {
	d := u.dice()
	n := d.IntN(12)
	if n == 9 && world.OneIn(d, 6) {
		u.c.Ask(u.id, events.CommandStart, events.Event{})
		return
	}
	u.role.program.act(u, n)
}

// beginWork begins a piece of work. The machine counts it from now on, and the program
// runs it when its callbacks have returned.
func (u *user) beginWork() {
	u.serial++
	work := u.serial
	u.works[work] = true
	u.runCallback(func() { u.runWork(work) })
}

// runWork has a piece of work return after a while of its own, or soon after
// leadership ended, unless it ignores that.
func (u *user) runWork(work uint64) {
	d := u.dice()
	u.ignoresStop = u.c.w.hit("stuck work")
	lasts := world.Between(d, time.Millisecond, u.c.w.Timeout)
	if u.role.handles.shortWork {
		lasts = min(lasts%(u.c.w.Tick/2), lasts)
	}
	if u.c.w.healed {
		lasts = min(lasts, 2*time.Second)
	}
	if world.OneIn(d, 4) || u.c.w.hit("failing work") {
		lasts = world.Between(d, 0, 150*time.Millisecond)
	}
	if u.c.w.hit("panicking callback") {
		u.returnWork(work, "it panicked")
		return
	}
	u.c.RunAfter(lasts, func() {
		if !u.ignoresStop || u.c.w.healed {
			u.endWork(work)
		}
	})
}

func (u *user) endWork(work uint64) {
	why := ""
	if u.c.w.hit("failing work") {
		why = "it failed"
	}
	u.returnWork(work, why)
}

// returnWork returns a piece of work, with the text of an error or "".
func (u *user) returnWork(work uint64, why string) {
	if u.works[work] {
		delete(u.works, work)
		u.hasWorked = true
		ev := events.Event{Kind: events.WorkReturned, Text: why}
		u.role.program.workReturned(u, work, &ev)
		u.c.Post(u.id, ev)
	}
}

// stopWork returns the work, unless it ignores the end of leadership.
func (u *user) stopWork() {
	u.runCallback(func() {
		if !u.ignoresStop || u.c.w.healed {
			u.endAllWork()
		}
	})
}

// endAllWork returns every piece of work, each after a moment.
func (u *user) endAllWork() {
	for work := uint64(1); work <= u.serial; work++ {
		if u.works[work] {
			u.c.RunAfter(world.Between(u.dice(), 0, 300*time.Millisecond), func() { u.endWork(work) })
		}
	}
}

// notice takes a notice of the machine. The checks see it at once.
func (u *user) notice(n events.Notify) {
	switch n.What {
	case events.Elected:
		u.c.w.checks.elected(u, n)
		u.leads = true
	case events.Granted:
		u.c.w.checks.granted(u, n)
		u.c.ForgetCommand(n.Work)
	case events.Stopped:
		u.c.w.checks.stopped(u, n)
		u.leads = false
	case events.Failed:
		u.givesUp = u.givesUp || strings.HasPrefix(n.Text, "the place is given up: ")
		if (n.Code.Refusal() || n.Code.Unserved()) && u.c.Engine().State(u.id) == "leaving" && u.queues() {
			u.deletionRefused(n.Code)
		}
	}
	u.role.program.noticed(u, n)
}

// runCallback runs a callback outside the loop, in the order of the notices. A slow one
// delays the next of its handle, and no other.
func (u *user) runCallback(callback func()) {
	w := u.c.w
	if w.hit("slow callback") {
		u.callbackUntil = w.Now() + int64(world.Between(w.Dice("slow callback"), w.Tick/10, w.Timeout))
	}
	if w.Now() >= u.callbackUntil && len(u.waitingCallbacks) == 0 {
		callback()
		return
	}
	if u.waitingCallbacks = append(u.waitingCallbacks, callback); len(u.waitingCallbacks) == 1 {
		w.At(u.callbackUntil, func() { u.c.Run(u.runWaiting) })
	}
}

func (u *user) runWaiting() {
	waiting := u.waitingCallbacks
	u.waitingCallbacks = nil
	for _, callback := range waiting {
		u.runCallback(callback)
	}
}

func (u *user) answered(a events.Answer) {
	delete(u.awaits, a.Command)
	u.call.refused = u.call.refused || u.role.program.callMachines() && a.Command == u.call.number &&
		a.Code != events.OK
	u.role.program.answered(u, a)
}

// cancel ends the context of a call.
func (u *user) cancel() bool { return u.role.program.cancel(u) }

// close closes the handle.
func (u *user) close() {
	if u.closing && u.dice().IntN(3) > 0 {
		return
	}
	u.closing = true
	u.c.Ask(u.id, events.CommandClose, events.Event{Silent: world.OneIn(u.dice(), 4)})
}

// closeHandles closes every handle of a process, and returns its work.
func (c *client) closeHandles() {
	for _, u := range c.users {
		u.close()
		u.endAllWork()
	}
}
