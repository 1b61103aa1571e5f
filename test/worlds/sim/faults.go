package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// fault is one thing that goes wrong, in one of odds worlds. It fires from time to
// time, or the world asks at moments when it can strike: then it strikes at one of chance
// such moments.
type fault struct {
	name   string
	odds   int
	fire   func(*harness, *rand.Rand) bool // reports false if there was nothing to strike
	chance int
}

var faults []fault

func init() {
	faults = []fault{
		{"stall up", 5, func(w *harness, d *rand.Rand) bool { return w.stall(d, true, false) }, 0},
		{"stall down", 5, func(w *harness, d *rand.Rand) bool { return w.stall(d, false, true) }, 0},
		{"mute connection", 6, (*harness).mute, 0},
		{"cut", 3, (*harness).cutConnection, 0},
		{"cut before send", 6, nil, 30},
		{"cut after send", 6, nil, 30},
		{"cut after apply", 4, nil, 12},
		{"half-open", 6, nil, 4},
		{"throttled", 8, nil, 40},
		{"no containers", 8, nil, 2},
		{"no tree watches", 8, nil, 2},
		{"other id", 10, nil, 3},
		{"follower cut off", 3, (*harness).cutFollower, 0},
		{"follower crash", 6, (*harness).crashFollower, 0},
		{"leader crash", 5, (*harness).crashLeader, 0},
		{"leader deposed", 3, (*harness).deposeLeader, 0},
		{"leader stands still", 4, (*harness).freezeLeader, 0},
		{"follower stands still", 6, (*harness).freezeFollower, 0},
		{"no quorum", 7, (*harness).loseQuorum, 0},
		{"slow commit", 6, (*harness).slowCommit, 0},
		{"lag", 4, (*harness).lagBehind, 0},
		{"wiped", 16, (*harness).wipe, 0},
		{"restored", 12, (*harness).restore, 0},
		{"pause short", 4, func(w *harness, d *rand.Rand) bool {
			return w.pauseOne(d, w.Timeout/20, w.Timeout*2/3)
		}, 0},
		{"pause long", 5, func(w *harness, d *rand.Rand) bool {
			return w.pauseOne(d, w.Timeout*2/3, w.Timeout*5/2)
		}, 0},
		{"pause, then a crash", 8, (*harness).pauseThenCrash, 0},
		{"pause within a step", 5, (*harness).pauseWithinStep, 0},
		{"slow loop", 8, (*harness).delayLoop, 0},
		{"client dies", 8, (*harness).killOne, 0},
		{"close", 4, (*harness).closeOne, 0},
		{"failing work", 6, nil, 3},
		{"stuck work", 6, nil, 3},
		{"drift", 3, nil, 0},
		{"policy ends", 10, nil, 0},
		{"token floor", 14, nil, 0},
		{"operator deletes a place", 4, (*harness).deletePlace, 0},
		{"operator deletes the line", 9, (*harness).deleteLine, 0},
		{"operator sets data", 6, (*harness).setData, 0},
		{"foreign child", 6, (*harness).foreignChild, 0},
		{"persistent child", 8, (*harness).persistentChild, 0},
		{"access taken away", 7, (*harness).takeAccess, 0},
		{"counter near its end", 14, (*harness).endCounter, 0},
		{"counter repeats", 12, (*harness).repeatCounter, 0},
		{"client closes", 8, (*harness).closeClient, 0},
		{"session given up", 8, (*harness).giveUpSession, 0},
		{"ambush", 3, nil, 0},
		{"slow callback", 8, nil, 6},
		{"panicking callback", 8, nil, 4},
		{"wall-clock jump", 8, (*harness).jumpClock, 0},
	}
}

// hit reports whether a fault strikes at this moment.
func (w *harness) hit(name string) bool {
	if w.healed || !w.has(name) {
		return false
	}
	i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
	f := ensembleFault{}
	if i >= 0 {
		f.fault = faults[i]
	} else {
		f, _ = ensembleFaultNamed(name)
	}
	if !world.OneIn(w.Dice(name), f.chance) {
		return false
	}
	w.cover.fault(name)
	return true
}

// startFaults schedules every timed fault of the plan.
func (w *harness) startFaults() {
	for _, r := range w.Faults {
		i := slices.IndexFunc(faults, func(f fault) bool { return f.name == r.Fault })
		if i >= 0 && faults[i].fire != nil && w.has(r.Fault) {
			w.scheduleFault(faults[i], r.Every)
		}
		if f, ok := serverFaultNamed(r.Fault); ok && w.has(r.Fault) {
			w.scheduleFault(f, r.Every)
		}
		if f, ok := vacancyFaultNamed(r.Fault); ok && w.has(r.Fault) {
			w.scheduleFault(f.fault, r.Every)
		}
		if r.Fault == leadersWrite && w.has(leadersWrite) {
			w.scheduleFault(writingFault, r.Every)
		}
		if f, ok := ensembleFaultNamed(r.Fault); ok && f.fire != nil && w.has(r.Fault) {
			w.scheduleFault(f.fault, r.Every)
		}
	}
}

func (w *harness) scheduleFault(f fault, every time.Duration) {
	d := w.Dice(f.name)
	w.After(world.Between(d, 0, 2*every), func() {
		if w.healed {
			return
		}
		if f.fire(w, d) {
			w.cover.fault(f.name)
			w.Log("FAULT %s", f.name)
		}
		w.scheduleFault(f, every)
	})
}

// anyClient returns a random client, nil if it is dead.
func (w *harness) anyClient(d *rand.Rand) *client {
	c := w.clients[d.IntN(len(w.clients))]
	if c.Dead() {
		return nil
	}
	return c
}

func (w *harness) stall(d *rand.Rand, up, down bool) bool {
	c := w.anyClient(d)
	if c == nil || c.Conn() == nil {
		return false
	}
	return c.Stall(w.Now()+int64(world.Between(d, w.Timeout/20, w.Timeout)), up, down) == nil
}

func (w *harness) mute(d *rand.Rand) bool {
	c := w.anyClient(d)
	return c != nil && c.Mute() == nil
}

func (w *harness) cutConnection(d *rand.Rand) bool {
	c := w.anyClient(d)
	return c != nil && c.Cut() == nil
}

// follower returns a random server, nil if it is not a follower that serves.
func (w *harness) follower(d *rand.Rand) *world.Server {
	if s := w.ens.Servers()[d.IntN(world.Servers)]; s.CheckFollower() == nil {
		return s
	}
	return nil
}

func (w *harness) cutFollower(d *rand.Rand) bool {
	s := w.follower(d)
	return s != nil && s.Isolate(world.Between(d, w.Tick/2, time.Duration(w.SyncLimit)*w.Tick*2)) == nil
}

func (w *harness) crashFollower(d *rand.Rand) bool {
	s := w.follower(d)
	return s != nil && s.Crash(world.Between(d, w.Tick/4, 4*w.Tick)) == nil
}

func (w *harness) crashLeader(d *rand.Rand) bool {
	if _, err := w.ens.WholeLeader(); err != nil {
		return false
	}
	return w.ens.CrashLeader(world.Between(d, w.Tick/4, 4*w.Tick), world.Between(d, w.Tick/4, 3*w.Tick)) == nil
}

// deposeLeader isolates the ensemble's leader. The others elect another one when
// they notice. The deposed one answers syncs and reads for up to two ticks more than
// syncLimit.
func (w *harness) deposeLeader(d *rand.Rand) bool {
	if _, err := w.ens.WholeLeader(); err != nil {
		return false
	}
	limit := time.Duration(w.SyncLimit) * w.Tick
	last := world.Between(d, w.Tick/2, limit+2*w.Tick)
	if world.OneIn(d, 3) {
		last = limit + 2*w.Tick
	}
	return w.ens.Depose(last, world.Between(d, w.Tick/4, limit), world.Between(d, 0, 4*w.Tick)) == nil
}

func (w *harness) loseQuorum(d *rand.Rand) bool {
	if _, err := w.ens.WholeLeader(); err != nil {
		return false
	}
	return w.ens.LoseQuorum(world.Between(d, w.Tick/2, time.Duration(w.SyncLimit+6)*w.Tick),
		world.Between(d, w.Tick, time.Duration(w.SyncLimit+2)*w.Tick)) == nil
}

// freezeLeader freezes the ensemble's leader for less than its followers wait for it.
func (w *harness) freezeLeader(d *rand.Rand) bool {
	l, err := w.ens.WholeLeader()
	return err == nil && !l.Frozen() && l.Freeze(w.freezeTime(d)) == nil
}

// freezeFollower freezes a follower.
func (w *harness) freezeFollower(d *rand.Rand) bool {
	s := w.follower(d)
	return s != nil && !s.Frozen() && s.Freeze(w.freezeTime(d)) == nil
}

// freezeTime returns how long a server is frozen: too short a time for the others to give it up.
func (w *harness) freezeTime(d *rand.Rand) time.Duration {
	return world.Between(d, w.Tick/2, time.Duration(w.SyncLimit)*w.Tick*9/10)
}

func (w *harness) slowCommit(d *rand.Rand) bool {
	w.ens.SlowDisk(world.Between(d, 10*time.Millisecond, w.Timeout/3), world.Between(d, w.Tick, w.Timeout))
	return true
}

func (w *harness) lagBehind(d *rand.Rand) bool {
	s := w.ens.Servers()[d.IntN(world.Servers)]
	s.LagBehind(world.Between(d, 10*time.Millisecond, min(w.Timeout/2, time.Duration(w.SyncLimit)*w.Tick)),
		world.Between(d, w.Tick, w.Timeout))
	return true
}

func (w *harness) pauseOne(d *rand.Rand, least, most time.Duration) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.Pause(world.Between(d, least, most))
	return true
}

// pauseThenCrash pauses a process, lets it run for a moment, and stops it and its
// server before the server has reported the session to the ensemble's leader.
func (w *harness) pauseThenCrash(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.Pause(world.Between(d, w.Timeout*4/10, w.Timeout*7/10))
	w.At(c.PausedUntil()+int64(world.Between(d, 5*time.Millisecond, w.Tick/3)), func() {
		if w.healed || c.Conn() == nil || c.Conn().Server().CheckFollower() != nil {
			return
		}
		_ = c.Conn().Server().Crash(world.Between(d, w.Tick/4, 4*w.Tick)) // it is a follower
		c.Pause(world.Between(d, w.Timeout/2, 2*w.Timeout))
	})
	return true
}

// delayLoop has a loop wait before every event, for a while.
func (w *harness) delayLoop(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.Starve(world.Between(d, time.Millisecond, w.Timeout/16), world.Between(d, w.Tick, w.Timeout))
	return true
}

func (w *harness) pauseWithinStep(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.PauseWithinStep(world.Between(d, w.Timeout/20, w.Timeout*3/2))
	return true
}

// jumpClock sets a machine's wall clock. The loop's clock does not follow it back. It may
// follow it ahead, on systems whose clock does not count a suspend.
func (w *harness) jumpClock(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	w.vacancies.clientTouched(c)
	by := world.Between(d, -w.Timeout, w.Timeout)
	if ahead := w.planted(func(p *Plant) bool { return p.WallClock }); by > 0 && w.Seed%2 == 0 || ahead {
		c.ShiftClock(by)
	}
	return true
}

func (w *harness) killOne(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil || !world.OneIn(d, 2) {
		return false
	}
	return c.Kill() == nil
}

func (w *harness) closeOne(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	u := c.users[d.IntN(len(c.users))]
	c.Run(u.close)
	return true
}

// closeClient closes every handle of a process, and its session with them or later.
func (w *harness) closeClient(d *rand.Rand) bool {
	c := w.anyClient(d)
	return c != nil && w.closeAll(c)
}

func (w *harness) closeAll(c *client) bool {
	if c.leaving {
		return false
	}
	c.leaving = true
	c.Run(c.closeHandles)
	d := w.Dice("client closes")
	c.RunAfter(world.Between(d, 0, []time.Duration{0, w.Tick}[d.IntN(2)]), c.closeSession)
	return true
}
