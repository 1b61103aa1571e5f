package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// ownDirs returns the directories of the roles that have their own, each once. Roles
// that belong together share one.
func ownDirs() (all []string) {
	for _, r := range roles {
		if r.dirs.own != "" && !r.separate && !slices.Contains(all, r.dirs.own) {
			all = append(all, r.dirs.own)
		}
	}
	return all
}

// subdirsOf returns the directories that have the nodes of an own directory.
func subdirsOf(dir string) []string {
	for _, r := range roles {
		if r.dirs.own == dir && len(r.dirs.sub) > 0 {
			return r.dirs.sub
		}
	}
	return []string{dir}
}

// openInOwnDirs opens the handles of the roles that have their own directories. It
// has its own dice, so that it does not move the dice of the shared lines.
func (w *harness) openInOwnDirs(c *client) {
	for _, r := range roles {
		if r.dirs.own == "" || !slices.Contains(w.OwnDirs, r.dirs.own) {
			continue
		}
		d := w.Dice("home of " + r.title())
		for i := range 1 + d.IntN(max(r.handles.most, 1)) {
			if !world.OneIn(d, 5) {
				w.openHandle(c, r, r.dirs.own, fmt.Sprint("home", i), d)
			}
		}
	}
}

// openHandle opens a handle, and has it started within two seconds.
func (w *harness) openHandle(c *client, r *role, dir, which string, d *rand.Rand) {
	u := &user{c: c, role: r, dir: dir, path: dir, line: r.lineIn(dir), suffix: which,
		id:    events.ID(r.recipe + "-" + which),
		works: map[uint64]bool{}, awaits: map[uint64]bool{}}
	if r.dirs.node != "" {
		u.path = r.dirs.node
		w.checks.historyOf(u.path)
	}
	u.options = w.handleOptions(r.recipe)
	maps.Copy(u.options, r.program.options(u, d))
	if w.has("policy ends") && world.OneIn(d, 2) {
		u.options["retry"] = "times/2/100ms/0s"
		w.cover.fault("policy ends")
	}
	if w.has("token floor") && (r.line.label != "" || r.line.together || r.line.fixedName) && world.OneIn(d, 2) {
		u.options["tokenFloor"] = fmt.Sprint(1<<32 + 10 + d.Int64N(80))
		u.hasTokenFloor = true
		w.cover.fault("token floor")
	}
	c.users = append(c.users, u)
	if !r.program.callMachines() {
		u.open(newSeed(d), nil)
	}
	w.After(world.Between(d, 0, 2*time.Second), func() { c.Run(u.start) })
}

// handleOptions returns the options that the library gives to every machine of a recipe.
func (w *harness) handleOptions(recipe string) map[string]string {
	options := map[string]string{machines.OptionRetry: w.Retry}
	switch recipe {
	case "latch", "selector", "election", "mutex", "readwrite", "semaphore", "jobelection", "jobworker", "shards":
		options[machines.OptionOneFlight] = fmt.Sprint(w.OneFlight)
		options[machines.OptionRideOut] = fmt.Sprint(w.RideOut)
	case nodeElection:
		options[machines.OptionRideOut] = fmt.Sprint(w.RideOut)
	}
	return options
}

// open opens a machine, with options of the handle and more.
func (u *user) open(seed string, more map[string]string) {
	options := maps.Clone(u.options)
	maps.Copy(options, more)
	u.c.Ask(u.id, events.CommandOpen,
		events.Event{Recipe: u.role.recipe, Path: u.path, Data: []byte(u.name()), Seed: seed, Options: options,
			Ops: u.ops, Work: u.payload})
}

// call is one call, in a recipe whose calls have a machine each.
type call struct {
	serial                    uint64 // the number of calls so far
	running                   bool   // its machine has not ended
	kind                      events.Kind
	at                        int64  // when it began, by the world's clock
	generation                int    // the ensemble's generation, when it began
	number                    uint64 // the command
	options                   map[string]string
	gaveUp                    bool
	refused                   bool // its answer was a failure
	grants, terms             int
	downgrades                bool // a writer that asked to go on as a reader
	foundOthers, askedForNode bool // of a try: its first listing showed others; it has asked for a node
}

// beginCall opens a machine for a call, as the library does for recipes without a
// machine of the handle. It reports false while the call before has not ended.
func (u *user) beginCall(kind events.Kind, options map[string]string) bool {
	w := u.c.w
	if u.call.running || u.closing || w.healed {
		return false
	}
	u.call = call{serial: u.call.serial + 1, running: true, kind: kind, at: w.Now(), generation: w.ens.Generation(),
		options: options}
	u.id = events.ID(fmt.Sprintf("%s-%s-%d", u.role.recipe, u.suffix, u.call.serial))
	u.made = nil
	u.open(newSeed(u.dice()), options)
	if kind != "" {
		u.call.number = u.c.Ask(u.id, kind, events.Event{})
	}
	return true
}

// askAgain asks the machine of a call for something else, which it refuses.
func (u *user) askAgain(kind events.Kind) {
	if u.call.kind != "" {
		u.c.Ask(u.id, kind, events.Event{})
	}
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

// closeUnused ends a call that was not asked for anything yet.
func (u *user) closeUnused() {
	if u.call.kind == "" {
		u.giveUp()
	}
}

// machineClosed checks that a machine that has ended left nothing that it knows of,
// if its session goes on.
func (k *checks) machineClosed(u *user) {
	u.call.running = false
	k.noPermitLeft(u)
	k.nothingLeftOf(u)
	k.noQueueLeftovers(u)
	if d := k.writeCallOf(u.c, u.id); d != nil {
		k.noOrphans(d)
	}
}

// isSearched reports whether a machine searches for late nodes of a user's.
func (k *checks) isSearched(u *user) bool {
	return slices.ContainsFunc(u.c.Engine().Machines(), func(id events.ID) bool {
		return strings.HasPrefix(string(id), "leftover-"+string(u.id)+"-")
	})
}

// nothingLeftOf checks that a machine that has ended, or is in no round, left no node.
func (k *checks) nothingLeftOf(u *user) {
	if k.w.ens.Generation() > 0 || u.c.Ending() || u.c.sessionEnds {
		return
	}
	nodes := slices.Concat(u.made, u.round.nodes)
	switch {
	case u.payload != 0:
		nodes = []string{u.path}
	case u.role.line.fixedName:
		nodes = []string{u.targetPath()}
	}
	for _, path := range nodes {
		if k.isSearched(u) {
			continue
		}
		if data, stat, err := k.w.ens.Committed().Get(path); err == nil && stat.EphemeralOwner == u.c.SessionID() &&
			u.role.program.owns(u, string(data)) {
			k.fail("nothing is left", "%s is over, and %s is there", u.name(), path)
		}
	}
}

func (w *harness) data(path string) []byte {
	data, _, _ := w.ens.Committed().Get(path)
	return data
}
