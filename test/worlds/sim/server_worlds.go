package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// serverWorld is a kind of worlds whose ensemble, or whose faults of servers, are special.
// They are worlds of their own, so that those of other seeds stay.
type serverWorld struct {
	name   string
	shape  func(*Plan, *rand.Rand)
	faults []string // happen often
	rare   []string // has to happen by itself
}

const (
	standingServers = "servers stand still"
	observerServers = "observers"
	masterServers   = "observer masters"
	limitedServers  = "servers grant different timeouts"
	smallerTick     = "a tick smaller than configured"
	learnedTick     = "a tick that is learned"
	idleClients     = "clients hear the leader while nobody needs them"
)

const (
	stillThenCut       = "a server stands still, then is cut off"
	stillGivenUp       = "a server stands still until it is given up"
	leaderStillCut     = "the leader stands still, then a server is cut off"
	leaderStillOut     = "the leader stands still until it is given up"
	observerCrash      = "observer crash"
	observerCut        = "observer cut off"
	pauseThenCut       = "pause, then its server is cut off"
	briefPauseThenCut  = "brief pause of a believer, then its observer is cut off"
	pauseBetweenCut    = "pause between two heartbeats, then the server is cut off"
	leaderCrashUnheard = "leader crash that a client does not hear of"
	handshakeLost      = "the answer to a handshake is lost"
)

var serverFaults []fault

func init() {
	serverFaults = []fault{
		{name: stillThenCut, fire: (*harness).freezeThenCut},
		{name: stillGivenUp, fire: func(w *harness, d *rand.Rand) bool {
			s := w.anyServer(d)
			return s != nil && s.FreezeOut(world.Between(d, 0, w.Timeout)) == nil
		}},
		{name: leaderStillCut, fire: (*harness).freezeLeaderThenCut},
		{name: leaderStillOut, fire: func(w *harness, d *rand.Rand) bool {
			return w.ens.FreezeLeaderOut(world.Between(d, 0, w.Timeout), world.Between(d, w.Tick/4, 2*w.Tick),
				world.Between(d, 0, 4*w.Tick)) == nil
		}},
		{name: observerCrash, fire: func(w *harness, d *rand.Rand) bool {
			s := w.observer(d)
			return s != nil && s.Crash(world.Between(d, w.Tick/4, 4*w.Tick)) == nil
		}},
		{name: observerCut, fire: func(w *harness, d *rand.Rand) bool {
			s := w.observer(d)
			return s != nil && s.Isolate(world.Between(d, w.Tick/2, 2*time.Duration(w.SyncLimit)*w.Tick)) == nil
		}},
		{name: pauseThenCut, fire: (*harness).pauseThenCut},
		{name: briefPauseThenCut, fire: func(w *harness, d *rand.Rand) bool {
			return w.pauseBetweenThenCut(d, (*world.Server).Observer)
		}},
		{name: pauseBetweenCut, fire: func(w *harness, d *rand.Rand) bool {
			return w.pauseBetweenThenCut(d, func(*world.Server) bool { return true })
		}},
		{name: leaderCrashUnheard, fire: (*harness).crashLeaderUnheard},
		{name: handshakeLost, fire: func(w *harness, d *rand.Rand) bool {
			c := w.anyClient(d)
			return c != nil && c.Conn() != nil && c.LoseHandshake() == nil
		}},
	}
}

// serverWorlds are the kinds.
var serverWorlds = []serverWorld{
	{name: standingServers, shape: shapeStanding,
		faults: []string{stillThenCut, stillGivenUp, leaderStillCut, leaderStillOut}},
	{name: observerServers, shape: func(p *Plan, _ *rand.Rand) { p.Layout = world.Layout{Observers: 3} },
		faults: []string{observerCrash, observerCut, pauseThenCut}},
	{name: masterServers, shape: func(p *Plan, d *rand.Rand) {
		p.Layout = world.Layout{Observers: 3, Masters: true, ObserverMasters: true}
		p.Timeout = 2*p.Tick + time.Duration(d.IntN(12))*p.Tick/4
	}, faults: []string{observerCrash, observerCut, pauseThenCut, briefPauseThenCut, "follower cut off"}},
	{name: limitedServers, shape: shapeLimits, faults: []string{"cut", leaderCrashUnheard, handshakeLost},
		rare: []string{world.TimeoutShortened, world.TimeoutLengthened}},
	{name: smallerTick, shape: shapeSmallerTick, faults: []string{pauseThenCut, pauseBetweenCut}},
	{name: idleClients, shape: shapeIdle,
		faults: []string{leaderStillCut, leaderStillOut, "leader stands still", "leader deposed"}},
	{name: learnedTick, shape: shapeLearnedTick, faults: []string{pauseThenCut}, rare: []string{world.TickLearned}},
}

// shapeIdle makes worlds whose clients ask whether the leader runs while they send no heartbeats.
func shapeIdle(p *Plan, d *rand.Rand) {
	shapeStanding(p, d)
	p.Layout.IdleFor = 1 + d.IntN(20)
}

// serverFaultNamed returns the fault of this name.
func serverFaultNamed(name string) (fault, bool) {
	i := slices.IndexFunc(serverFaults, func(f fault) bool { return f.name == name })
	if i < 0 {
		return fault{}, false
	}
	return serverFaults[i], true
}

// ServerWorlds returns a plant without a bug for each kind.
func ServerWorlds() (all []Plant) {
	for _, k := range serverWorlds {
		all = append(all, Plant{Name: "none: " + k.name, Shape: k.shapeWorld})
	}
	return all
}

// inServers returns the shape of the worlds of a kind.
func inServers(name string) func(*Plan) {
	return func(p *Plan) {
		i := slices.IndexFunc(serverWorlds, func(k serverWorld) bool { return k.name == name })
		serverWorlds[i].shapeWorld(p)
	}
}

// shapeWorld shapes a world in which each of the kind's faults happens three times, and a third
// of the others.
func (k serverWorld) shapeWorld(p *Plan) {
	d := world.NewDice(p.Seed, k.name)
	k.shape(p, d)
	p.Layout.Phases = true
	p.Length = 8 * p.Timeout
	p.Faults = slices.DeleteFunc(p.Faults, func(Rate) bool { return !world.OneIn(d, 3) })
	p.often(3, k.faults...)
}

// shapeStanding makes worlds in which a server can stand still for longer than a session before
// the others give it up. Some have an observer.
func shapeStanding(p *Plan, d *rand.Rand) {
	p.SyncLimit = 4 + d.IntN(2)
	p.Timeout = time.Duration(2+d.IntN(7)) * p.Tick
	p.Layout = world.Layout{Observers: d.IntN(2)}
}

// shapeLimits makes worlds in which some servers grant half or a third of the longest timeout.
func shapeLimits(p *Plan, d *rand.Rand) {
	short := time.Duration(2+d.IntN(3)) * p.Tick
	p.Timeout = min(short*time.Duration(2+d.IntN(4)), 20*p.Tick)
	for range world.Servers {
		p.Layout.Limits = append(p.Layout.Limits,
			[]world.Limits{{Least: 2 * p.Tick, Greatest: short}, {Least: p.Timeout, Greatest: p.Timeout},
				{Least: 2 * p.Tick, Greatest: p.Timeout}}[d.IntN(3)])
	}
	p.Layout.Limits[d.IntN(world.Servers)] = world.Limits{Least: 2 * p.Tick, Greatest: short}
}

// shapeSmallerTick makes worlds in which the clients' Config.Tick is up to twice the servers' tick.
func shapeSmallerTick(p *Plan, d *rand.Rand) {
	p.Timeout = time.Duration(4+d.IntN(5)) * p.Tick
	p.Layout.Tick = p.Tick + world.Between(d, p.Tick/10, p.Tick)
}

// shapeLearnedTick makes worlds in which clients assume too small a tick, and ask for less than two
// ticks.
func shapeLearnedTick(p *Plan, d *rand.Rand) {
	p.Timeout = 2 * p.Tick
	p.Layout = world.Layout{Tick: p.Tick / time.Duration(2+d.IntN(4)), TickAssumed: true}
	p.Layout.Asked = max(p.Tick, machines.ShortestTimeout(p.Layout.Tick, false)) + world.Between(d, 0, p.Tick/2)
}

// layout returns the plan's, as the plant changes it. In every other world with tree caches, servers keep
// one watch for each path, as ZooKeeper 3.8 does.
func (w *harness) layout() world.Layout {
	l := w.Layout
	l.OneWatch = slices.Contains(w.OwnDirs, treePath) && w.Seed%2 == 0
	if w.plant != nil && w.plant.Configured != nil {
		w.plant.Configured(&l)
	}
	return l
}

// anyServer returns a random follower or observer that serves, nil if the dice find none.
func (w *harness) anyServer(d *rand.Rand) *world.Server {
	all := w.ens.Servers()
	if s := all[d.IntN(len(all))]; s.CheckFollower() == nil && !s.Frozen() {
		return s
	}
	return nil
}

// observer returns a random observer that serves, nil if the dice find none.
func (w *harness) observer(d *rand.Rand) *world.Server {
	if s := w.anyServer(d); s != nil && s.Observer() {
		return s
	}
	return nil
}

// freezeThenCut freezes a follower or an observer, and cuts it off when it wakes.
func (w *harness) freezeThenCut(d *rand.Rand) bool {
	s := w.anyServer(d)
	return s != nil &&
		s.FreezeThenIsolate(w.freezeTime(d), world.Between(d, w.Tick/2, 2*time.Duration(w.SyncLimit)*w.Tick)) == nil
}

// freezeLeaderThenCut freezes the ensemble's leader for longer than a third of the session timeout, and
// cuts a server off when it wakes. After a shorter standstill belief may outlast the session: see
// docs/belief.md.
func (w *harness) freezeLeaderThenCut(d *rand.Rand) bool {
	s := w.anyServer(d)
	third, most := w.Timeout*35/100, time.Duration(w.SyncLimit)*w.Tick*9/10
	return s != nil && third < most &&
		w.ens.FreezeLeaderThenCut(world.Between(d, third, most),
			world.Between(d, w.Tick/2, 2*time.Duration(w.SyncLimit)*w.Tick), s) == nil
}

// pauseThenCut pauses a process. When it has run again for less than the time that a report may take, it
// isolates the process's server, and pauses the process again: the session ends without it.
func (w *harness) pauseThenCut(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.Pause(world.Between(d, w.Timeout/8, w.Timeout*7/10))
	w.cutServerLater(c, d, 5*time.Millisecond)
	return true
}

// pauseBetweenThenCut pauses each process whose server fits, after its next confirmation, and isolates the server right
// after the second or third confirmation after the pause: the last report that it has sent may be from before the
// pause.
func (w *harness) pauseBetweenThenCut(d *rand.Rand, fits func(*world.Server) bool) (armed bool) {
	for _, c := range w.clients {
		if c.atConfirmation != nil || c.Conn() == nil || !fits(c.Conn().Server()) {
			continue
		}
		armed = true
		left := 2 + d.IntN(2)
		cut := func() {
			if left--; left == 0 {
				c.atConfirmation = nil
				w.After(0, func() { w.cutServer(c, d) })
			}
		}
		c.atConfirmation = func() {
			c.atConfirmation = nil
			if c.Conn() != nil && fits(c.Conn().Server()) {
				c.atConfirmation = cut
				w.After(0, func() { c.Pause(w.pauseBetween(d)) })
			}
		}
	}
	return armed
}

// pauseBetween returns how long a process stands still between two confirmations: in half of the cases for as long as
// an answer after it just counts, in the others for longer.
func (w *harness) pauseBetween(d *rand.Rand) time.Duration {
	if world.OneIn(d, 2) {
		return world.Between(d, w.Timeout*9/32, w.Timeout/3)
	}
	return world.Between(d, w.Timeout/3, w.Timeout*2/3)
}

// cutServerLater isolates a process's server and pauses the process, after at least a while of its
// running again, and before all reports of that must have come.
func (w *harness) cutServerLater(c *client, d *rand.Rand, least time.Duration) {
	w.At(c.PausedUntil()+int64(world.Between(d, least, w.LongestReport())), func() { w.cutServer(c, d) })
}

// cutServer isolates a process's server, and pauses the process.
func (w *harness) cutServer(c *client, d *rand.Rand) {
	if w.healed || c.Conn() == nil || c.Conn().Server().CheckFollower() != nil {
		return
	}
	_ = c.Conn().Server().Isolate(world.Between(d, w.Tick, 2*time.Duration(w.SyncLimit)*w.Tick)) // it serves
	c.Pause(world.Between(d, w.Timeout*3/4, 2*w.Timeout))
}

// crashLeaderUnheard stops the ensemble's leader, and nothing arrives at one client any more: it does
// not hear that its server has closed the connection.
func (w *harness) crashLeaderUnheard(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil || c.Conn() == nil {
		return false
	}
	if _, err := w.ens.WholeLeader(); err != nil {
		return false
	}
	return c.Mute() == nil &&
		w.ens.CrashLeader(world.Between(d, w.Tick/4, 4*w.Tick), world.Between(d, w.Tick/4, w.Tick)) == nil
}

// shortenedUnheard reports whether a server has let the session go on with a shorter timeout than
// the client knows of, because the answer to its handshake was lost. Nothing is promised then.
func (c *client) shortenedUnheard() bool {
	short := c.w.ens.ShortestTimeout(c.SessionID()) < c.ShortestTimeout()
	if short {
		c.w.cover.fault("a timeout is shortened unheard")
	}
	return short
}
