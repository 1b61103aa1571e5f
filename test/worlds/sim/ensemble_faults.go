package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// ensembleFault is something that ensembles do without being broken: slow disks, zxids that run
// out, containers that are reaped, servers that leave and join, codes that say nothing about a write. Each has worlds
// of its own, so that those of other seeds stay.
type ensembleFault struct {
	fault
	then  []string    // what it leads to, which has to happen too
	times int         // how often it happens in a world, about
	shape func(*Plan) // what the worlds need besides; nil if nothing
}

const (
	slowDisk    = "slow fsync of one server"
	slowDisks   = "slow fsync of all servers"
	zxidsEnd    = "zxids run out"
	reaped      = "containers reaped"
	reconfigure = "servers leave and join"

	zxidsEnded     = "a leader stops without zxids"
	removedStops   = "a removed server stops"
	removedReturns = "a removed server returns"
)

var ensembleFaults []ensembleFault

func init() {
	ensembleFaults = []ensembleFault{
		{fault: fault{name: slowDisk, fire: (*harness).slowOneDisk}, times: 6},
		{fault: fault{name: slowDisks, fire: (*harness).slowAllDisks}, times: 4},
		{fault: fault{name: zxidsEnd, fire: (*harness).exhaustZxids}, times: 6, then: []string{zxidsEnded}},
		{fault: fault{name: reaped, fire: (*harness).reap}, times: 40, shape: shapeReaped},
		{fault: fault{name: world.AnsweredByCode, chance: 8}},
		{fault: fault{name: world.CarriedOutLate, chance: 5}},
		{fault: fault{name: reconfigure, fire: (*harness).replaceServer}, times: 4,
			then: []string{removedStops, removedReturns}},
	}
}

// ensembleFaultNamed returns the fault of this name.
func ensembleFaultNamed(name string) (ensembleFault, bool) {
	i := slices.IndexFunc(ensembleFaults, func(f ensembleFault) bool { return f.name == name })
	if i < 0 {
		return ensembleFault{}, false
	}
	return ensembleFaults[i], true
}

// plant returns a plant without a bug, which shapes worlds of the fault.
func (f ensembleFault) plant() Plant { return Plant{Name: "none: " + f.name, Shape: f.shapeWorld} }

// EnsembleWorlds returns a plant without a bug for each of these faults.
func EnsembleWorlds() (all []Plant) {
	for _, f := range ensembleFaults {
		all = append(all, f.plant())
	}
	return all
}

// shapeWorld shapes worlds in which the fault happens, and half of the other faults.
func (f ensembleFault) shapeWorld(p *Plan) {
	d := world.NewDice(p.Seed, f.name+" worlds")
	p.Length = max(p.Length, 8*p.Timeout)
	if f.shape != nil {
		f.shape(p)
	}
	p.Faults = slices.DeleteFunc(p.Faults, func(Rate) bool { return world.OneIn(d, 2) })
	p.often(max(f.times, 1), f.name)
}

// shapeReaped makes worlds in which servers know containers, and lines are often empty.
func shapeReaped(p *Plan) {
	p.Clients = 2 + int(p.Seed%2)
	p.Faults = slices.DeleteFunc(p.Faults, func(r Rate) bool { return r.Fault == "no containers" })
	p.often(20, []string{"operator deletes a place", "session given up"}[p.Seed/2%2])
}

// slowOneDisk makes the disk of one server slow, the leader's too, by up to two syncLimits.
func (w *harness) slowOneDisk(d *rand.Rand) bool {
	s := w.ens.Servers()[d.IntN(world.Servers)]
	s.SlowFsync(w.fsyncTime(d), world.Between(d, w.Tick, 4*w.Timeout))
	return true
}

// slowAllDisks makes all disks slow, each by a time of its own.
func (w *harness) slowAllDisks(d *rand.Rand) bool {
	lasts := world.Between(d, w.Tick, 3*w.Timeout)
	for _, s := range w.ens.Servers() {
		s.SlowFsync(w.fsyncTime(d), lasts)
	}
	return true
}

// fsyncTime returns how long a write to a slow disk takes: mostly as long as something that the
// product measures, sometimes so long that the leader gives the server up.
func (w *harness) fsyncTime(d *rand.Rand) time.Duration {
	most := []time.Duration{w.Timeout / 8, w.Timeout / 2, w.Timeout, 2 * time.Duration(w.SyncLimit) * w.Tick}
	return world.Between(d, 20*time.Millisecond, most[d.IntN(len(most))])
}

// exhaustZxids leaves the leader a few zxids. In every other world, all epochs are late ones.
func (w *harness) exhaustZxids(d *rand.Rand) bool {
	if w.Seed%2 == 0 {
		w.ens.SkipEpochs(1 << 10)
	}
	return w.ens.ExhaustZxids(d.Int64N(30)) == nil
}

// reap reaps every empty container. In every fourth world, those too that never had a child.
func (w *harness) reap(*rand.Rand) bool {
	if w.Seed%4 == 0 {
		return w.ens.ReapContainers(w.lines()...) > 0
	}
	return w.ens.ReapContainers() > 0
}

// reapBehind reaps containers soon after a transaction that may have left one empty.
func (w *harness) reapBehind(txn zkmem.Txn) {
	if txn.Code != zkmem.OpError {
		w.reapSoon()
	}
}

// reapBetween reaps containers while somebody creates one below them.
func (w *harness) reapBetween(r events.Request) {
	if create, ok := r.(events.Create); ok && create.Mode == events.Container {
		w.reapSoon()
	}
}

// reapSoon reaps containers between two requests of somebody.
func (w *harness) reapSoon() {
	if w.healed || !w.has(reaped) {
		return
	}
	d := w.Dice("reaped soon")
	within := []time.Duration{1, 5 * time.Millisecond, 50 * time.Millisecond, w.Tick}[d.IntN(4)]
	w.After(world.Between(d, 0, within), func() {
		if !w.healed && w.reap(d) {
			w.cover.fault(reaped)
		}
	})
}

// replaceServer has a server leave the configuration. Mostly its operator stops it then, for
// longer than sessions last or shorter, and it comes back.
func (w *harness) replaceServer(d *rand.Rand) bool {
	s := w.ens.Servers()[d.IntN(world.Servers)]
	if s.Remove() != nil {
		return false
	}
	back := world.Between(d, 0, w.Timeout)
	if !world.OneIn(d, 3) {
		halt := world.Between(d, 0, 2*w.Timeout)
		back += halt + world.Between(d, 0, 5*w.Timeout)
		w.After(halt, func() {
			if !w.healed && s.Halt() == nil {
				w.cover.fault(removedStops)
			}
		})
	}
	w.After(back, func() { w.addBack(s) })
	return true
}

// addBack starts a server that was removed, and has it join again, as soon as that is possible.
func (w *harness) addBack(s *world.Server) {
	if w.healed || s.Votes() {
		return
	}
	s.StartAgain()
	if s.AddBack() == nil {
		w.cover.fault(removedReturns)
	}
	w.After(w.Tick, func() { w.addBack(s) })
}
