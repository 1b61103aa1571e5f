package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// stateFault is a fault that strikes a machine just after it has entered a state. A
// timed fault would do so once in ten thousand worlds. The plan calls it "ambush": that
// name seeds its dice.
type stateFault struct {
	name  string
	share int              // of all state faults
	fire  func(*user) bool // reports false if there was nothing to strike
}

// stateFaults are those that strike in any state.
var stateFaults = []stateFault{
	{"close", 2, func(u *user) bool { u.c.Run(u.close); return true }},
	{"cancel", 3, func(u *user) bool { return !u.c.Paused() && u.cancel() }},
	{"write", 2, func(u *user) bool { return !u.c.Paused() && u.write() }},
	{"cut", 4, func(u *user) bool { return u.c.Cut() == nil }},
	{"pause", 2, func(u *user) bool {
		u.c.Pause(world.Between(u.c.w.Dice("ambush"), u.c.w.Timeout/20, u.c.w.Timeout))
		return true
	}},
	{"delete the own node", 2, func(u *user) bool { return u.c.w.deleteOf(u) }},
	{"delete the predecessor", 1, func(u *user) bool { return u.c.w.deleteAhead(u) }},
	{"set the own node's data", 2, func(u *user) bool { return u.c.w.setDataOf(u) }},
	{"set the own node's data, then delete the line", 1, func(u *user) bool {
		return u.c.w.setDataOf(u) && u.c.w.deleteTree(u.dir)
	}},
	{"delete the line", 1, func(u *user) bool { return u.c.w.deleteTree(u.dir) }},
	{"hide the line", 2, func(u *user) bool { return u.c.w.takeRead(u.dir) }},
	{"hide the own node", 2, func(u *user) bool { return u.c.w.takeRead(u.targetPath()) }},
	{"hide the own node, then delete it", 1, func(u *user) bool {
		return u.c.w.takeRead(u.targetPath()) && u.c.w.deleteOf(u)
	}},
	{"refuse creates", 2, func(u *user) bool { return u.c.w.takeRights(u.dir, zkmem.PermCreate) }},
	{"throttle", 2, func(u *user) bool { u.c.Throttle(5 * time.Millisecond); return true }},
	{"copy the own node", 2, func(u *user) bool { return u.c.w.copyOf(u) }},
}

// rareStates are states that few machines enter: faults strike there in one of so many cases.
var rareStates = map[string]int{"blocked": 3, "resting": 4, "lost": 8, "suspended": 15, "withdrawing": 4, "clearing": 2,
	"leaving": 5, "confirming": 1, "taking": 8}

// drawStateFault draws a fault when a machine enters a state.
func (w *harness) drawStateFault(c *client, id events.ID, state string) {
	if w.healed || !w.has("ambush") {
		return
	}
	if u := c.user(id); u != nil {
		if d, names := w.Dice("sore"), u.role.states.faults[engine.State(state)]; len(names) > 0 && world.OneIn(d, 4) {
			w.strike(u, faultNamed(names[d.IntN(len(names))]))
		}
	}
	d := w.Dice("ambush")
	if u := c.user(id); u != nil && u.isTarget() && world.OneIn(d, cmp.Or(rareStates[state], 25)) {
		w.strike(u, drawAmong(d))
	} else if id == events.SessionMachine && !c.leaving && world.OneIn(d, 2*cmp.Or(rareStates[state], 25)) {
		w.After(shortly(d), func() {
			if !w.healed && w.closeAll(c) {
				w.cover.fault("client closes")
				w.Log("STATE FAULT of client %d: close", c.ID())
			}
		})
	}
}

// moreFaults strike only in the states for which a role names them.
var moreFaults = []stateFault{
	// The process stops within a step, and an await comes behind the step. The loop
	// takes it when belief is over by the clock, and the machine does not know that.
	{"a pause before an await", 1, func(u *user) bool {
		u.c.PauseWithinStep(u.c.w.Timeout * 3 / 5)
		for range 2 {
			u.awaits[u.c.Ask(u.id, events.CommandAwait, events.Event{})] = true
		}
		return true
	}},
	// The client closes, and does not wait for the call.
	{"end the session", 1, func(u *user) bool {
		if u.c.leaving {
			return false
		}
		u.c.leaving = true
		u.c.Run(func() {
			u.c.closeSession()
			u.c.closeHandles()
		})
		return true
	}},
	{"cut, and no answer", 1, func(u *user) bool { return u.c.CutUnanswered() == nil }},
	{"a lasting marker", 1, func(u *user) bool {
		return u.c.w.createPersistent(machines.JobMarker(jobPath), zkmem.Persistent)
	}},
	{"delete the seal", 1, (*user).deleteSeal},
	{"a lasting node ahead", 1, func(u *user) bool {
		return u.c.w.createPersistent(u.dir+"/n_", zkmem.PersistentSequential)
	}},
}

// faultNamed returns the state fault of this name.
func faultNamed(name string) stateFault {
	for _, f := range slices.Concat(stateFaults, moreFaults) {
		if f.name == name {
			return f
		}
	}
	panic("sim: there is no state fault " + name)
}

// createPersistent creates a persistent node in the place of a participant's, as
// somebody does who copies nodes by hand. It is deleted after a while.
func (w *harness) createPersistent(path string, mode zkmem.Mode) bool {
	w.operatorFault(zkmem.Op{Code: zkmem.OpCreate, Path: path, Mode: mode, ACL: zkmem.OpenACL()})
	w.After(world.Between(w.Dice("ambush"), w.Tick, w.Timeout), w.removeForeign)
	return true
}

func drawAmong(d *rand.Rand) stateFault {
	sum := 0
	for _, a := range stateFaults {
		sum += a.share
	}
	n := d.IntN(sum)
	for _, a := range stateFaults {
		if n -= a.share; n < 0 {
			return a
		}
	}
	return stateFault{}
}

// strike has a state fault strike in a moment.
func (w *harness) strike(u *user, a stateFault) {
	w.After(shortly(w.Dice("ambush")), func() {
		if !w.healed && a.fire(u) {
			w.cover.fault("ambush")
			w.cover.stateFault(a.name)
			w.Log("STATE FAULT of %s: %s", u.name(), a.name)
		}
	})
}

// shortly returns zero, or about the time that a request takes.
func shortly(d *rand.Rand) time.Duration {
	return world.Between(d, 0, []time.Duration{1, 2 * time.Millisecond, 20 * time.Millisecond}[d.IntN(3)])
}

// isTarget reports whether state faults may strike a handle's machine.
func (u *user) isTarget() bool {
	_, ok := u.role.program.(targeted)
	return ok || u.queues()
}

// targetPath returns the node that faults strike: without a target, the newest node
// with the handle's name, "" for none.
func (u *user) targetPath() (path string) {
	if p, ok := u.role.program.(targeted); ok {
		return p.target(u)
	}
	w, newest := u.c.w, int64(0)
	for _, name := range w.ens.Children(u.dir) {
		data, stat, err := w.ens.Committed().Get(u.dir + "/" + name)
		if err == nil && string(data) == u.name() && stat.Czxid > newest {
			path, newest = u.dir+"/"+name, stat.Czxid
		}
	}
	return path
}

func (w *harness) deleteOf(u *user) bool {
	path := u.targetPath()
	if path == "" {
		return false
	}
	w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion})
	return true
}

func (w *harness) deleteAhead(u *user) bool {
	if !u.queues() {
		return false
	}
	line, _ := machines.Line(w.ens.Children(u.dir), u.role.labels()...)
	for i := 1; i < len(line); i++ {
		if u.dir+"/"+line[i].Name == u.targetPath() {
			w.operatorFault(zkmem.Op{Code: zkmem.OpDelete, Path: u.dir + "/" + line[i-1].Name,
				Version: zkmem.AnyVersion})
			return true
		}
	}
	return false
}

func (w *harness) setDataOf(u *user) bool { return w.touchData(u.targetPath()) }

// takeRead takes the right to read away, for a while.
func (w *harness) takeRead(path string) bool { return w.takeRights(path, zkmem.PermRead) }

// copyOf creates a persistent node with the name of the participant's own, but a
// higher number, as somebody does who copies nodes by hand. The participant takes it for
// its own second node and deletes it, or it is deleted after a while. (It would take a copy
// with a lower number for its own node, and delete its own. The product does not survive
// that without a second node, so it does not happen here.)
func (w *harness) copyOf(u *user) bool {
	path := u.targetPath()
	if path == "" || !strings.Contains(path, machines.GUIDPrefix) {
		return false
	}
	d := w.Dice("ambush")
	stem, number := path[:len(path)-10], path[len(path)-10:]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n >= 1<<30 {
		return false
	}
	n += 1 + int64(d.IntN(3))
	w.operatorFault(zkmem.Op{Code: zkmem.OpCreate, Path: fmt.Sprintf("%s%010d", stem, n), ACL: zkmem.OpenACL()})
	w.After(world.Between(d, w.Tick, w.Timeout), w.removeForeign)
	return true
}
