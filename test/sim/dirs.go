package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/world"
)

// homes are the directories of roles that have their own, each once: roles that
// belong together share one.
func ownDirs() (all []string) {
	for _, r := range roles {
		if r.home != "" && !r.apart && !slices.Contains(all, r.home) {
			all = append(all, r.home)
		}
	}
	return all
}

// rooms are the directories of a home that hold nodes.
func subdirsOf(home string) []string {
	for _, r := range roles {
		if r.home == home && len(r.rooms) > 0 {
			return r.rooms
		}
	}
	return []string{home}
}

// settleHomes opens the handles of the roles that live in directories of their
// own, from dice of their own: the lines' luck stays as it was.
func (w *harness) openInOwnDirs(c *client) {
	for _, r := range roles {
		if r.home == "" || !slices.Contains(w.OwnDirs, r.home) {
			continue
		}
		d := w.Dice("home of " + r.recipe)
		for i := range 1 + d.IntN(max(r.most, 1)) {
			if !world.OneIn(d, 5) {
				w.openHandle(c, r, r.home, fmt.Sprint("home", i), d)
			}
		}
	}
}

// join opens a handle, and has it started within two seconds.
func (w *harness) openHandle(c *client, r *role, dir, which string, d *rand.Rand) {
	u := &user{c: c, role: r, dir: dir, path: dir, line: r.line(dir), which: which, id: events.ID(r.recipe + "-" + which),
		works: map[uint64]bool{}, awaits: map[uint64]bool{}}
	if r.path != "" {
		u.path = r.path
		w.checks.historyOf(u.path)
	}
	u.options = map[string]string{"rideOut": fmt.Sprint(w.RideOut), "retry": "bounded/-1/50ms/2s"}
	if r.options != nil {
		maps.Copy(u.options, r.options(u, d))
	}
	if w.has("policy ends") && world.OneIn(d, 2) {
		u.options["retry"] = "times/2/100ms/0s"
		w.cover.fault("policy ends")
	}
	if w.has("token floor") && (r.label != "" || r.beside || r.named) && world.OneIn(d, 2) {
		u.options["tokenFloor"] = fmt.Sprint(1<<32 + 10 + d.Int64N(80))
		u.hasTokenFloor = true
		w.cover.fault("token floor")
	}
	c.users = append(c.users, u)
	if !r.calls {
		u.open(newSeed(d), nil)
	}
	w.After(world.Between(d, 0, 2*time.Second), func() { c.Run(u.start) })
}

// open makes a machine, with options beside those of the handle.
func (u *user) open(seed string, more map[string]string) {
	options := maps.Clone(u.options)
	maps.Copy(options, more)
	u.c.Ask(u.id, events.CommandOpen, events.Event{Recipe: u.role.recipe, Path: u.path, Data: []byte(u.name()), Seed: seed, Options: options, Ops: u.ops, Work: u.payload})
}

// call is one call, where each has a machine of its own.
type call struct {
	serial                    uint64 // calls so far
	running                   bool   // its machine is not over
	kind                      events.Kind
	at                        int64  // when it was asked for, by the world's clock
	life                      int    // and the ensemble's
	number                    uint64 // the command
	options                   map[string]string
	gaveUp                    bool
	refused                   bool // it was answered, with a failure
	grants, terms             int
	downgrades                bool // a writer that asked to read on
	foundOthers, askedForNode bool // of a try: its first look showed somebody; it has asked for a node
}

// begins has a machine of its own deal with a call, as the door does for recipes
// whose handles have none. It reports false while the one before is not over.
func (u *user) beginCall(kind events.Kind, options map[string]string) bool {
	w := u.c.w
	if u.call.running || u.closing || w.healed {
		return false
	}
	u.call = call{serial: u.call.serial + 1, running: true, kind: kind, at: w.Now(), life: w.ens.Generation(), options: options}
	u.id = events.ID(fmt.Sprintf("%s-%s-%d", u.role.recipe, u.which, u.call.serial))
	u.made = nil
	u.open(newSeed(u.dice()), options)
	if kind != "" {
		u.call.number = u.c.Ask(u.id, kind, events.Event{})
	}
	return true
}

// asksAgain asks the machine of a call for something else, which it refuses.
func (u *user) askAgain(kind events.Kind) {
	if u.call.kind != "" {
		u.c.Ask(u.id, kind, events.Event{})
	}
}

// owns reports whether a node with these data is the handle's.
func (u *user) owns(data string) bool {
	if u.role.owns != nil {
		return u.role.owns(u, data)
	}
	return data == u.name()
}

// giveUp ends the wait for a call's answer, as the end of its context does.
func (u *user) giveUp() bool {
	if !u.call.running || u.call.gaveUp || len(u.works) > 0 {
		return false
	}
	u.call.gaveUp = true
	u.c.Ask(u.id, events.CommandClose, events.Event{})
	return true
}

// withdraw ends a call that was not asked for anything yet.
func (u *user) closeUnused() {
	if u.call.kind == "" {
		u.giveUp()
	}
}

// over is the end of a machine: nothing that it was told to have made is left, if
// its session goes on.
func (k *checks) machineClosed(u *user) {
	u.call.running = false
	k.noPermitLeft(u)
	k.nothingLeftOf(u)
	k.noQueueLeftovers(u)
	if d := k.writeCallOf(u.c, u.id); d != nil {
		k.noOrphans(d)
	}
}

// nothingOf: a machine that is over, or out of all rounds, has nothing left behind.
func (k *checks) nothingLeftOf(u *user) {
	if k.w.ens.Generation() > 0 || u.c.Ending() || u.c.sessionEnds {
		return
	}
	nodes := slices.Concat(u.made, u.round.nodes)
	switch {
	case u.payload != 0:
		nodes = []string{u.path}
	case u.role.named:
		nodes = []string{u.targetPath()}
	}
	for _, path := range nodes {
		if data, stat, err := k.w.ens.Committed().Get(path); err == nil && stat.EphemeralOwner == u.c.SessionID() && u.owns(string(data)) {
			k.fail("nothing is left", "%s is over, and %s is there", u.name(), path)
		}
	}
}

func (w *harness) data(path string) []byte {
	data, _, _ := w.ens.Committed().Get(path)
	return data
}
