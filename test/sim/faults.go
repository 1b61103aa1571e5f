package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// fault is one thing that goes wrong. One in odds worlds has it. It either
// fires from time to time, or is asked for where it can hit: then one in chance
// such moments is hit.
type fault struct {
	name   string
	odds   int
	fire   func(*world, *rand.Rand) bool // false: there was nothing to hit
	chance int
}

var faults []fault

func init() {
	faults = []fault{
		{"stall up", 5, func(w *world, d *rand.Rand) bool { return w.stall(d, true, false) }, 0},
		{"stall down", 5, func(w *world, d *rand.Rand) bool { return w.stall(d, false, true) }, 0},
		{"mute connection", 6, (*world).mute, 0},
		{"cut", 3, (*world).cutWire, 0},
		{"cut before send", 6, nil, 30},
		{"cut after send", 6, nil, 30},
		{"cut after apply", 4, nil, 12},
		{"half-open", 6, nil, 4},
		{"throttled", 8, nil, 40},
		{"no containers", 8, nil, 2},
		{"other id", 10, nil, 3},
		{"follower cut off", 3, (*world).cutFollower, 0},
		{"follower crash", 6, (*world).crashFollower, 0},
		{"leader crash", 5, (*world).crashLeader, 0},
		{"leader deposed", 3, (*world).deposeLeader, 0},
		{"leader stands still", 4, (*world).freezeLeader, 0},
		{"follower stands still", 6, (*world).freezeFollower, 0},
		{"no quorum", 7, (*world).loseQuorum, 0},
		{"slow commit", 6, (*world).slowCommit, 0},
		{"lag", 4, (*world).lagBehind, 0},
		{"wiped", 16, (*world).wipe, 0},
		{"restored", 12, (*world).restore, 0},
		{"pause short", 4, func(w *world, d *rand.Rand) bool { return w.pauseOne(d, w.Timeout/20, w.Timeout*2/3) }, 0},
		{"pause long", 5, func(w *world, d *rand.Rand) bool { return w.pauseOne(d, w.Timeout*2/3, w.Timeout*5/2) }, 0},
		{"pause, then a crash", 8, (*world).pauseThenCrash, 0},
		{"pause within a step", 5, (*world).stumbleOne, 0},
		{"slow loop", 8, (*world).starveOne, 0},
		{"client dies", 8, (*world).killOne, 0},
		{"close", 4, (*world).closeOne, 0},
		{"failing work", 6, nil, 3},
		{"stuck work", 6, nil, 3},
		{"drift", 3, nil, 0},
		{"policy ends", 10, nil, 0},
		{"token floor", 14, nil, 0},
		{"operator deletes a place", 4, (*world).deletePlace, 0},
		{"operator deletes the line", 9, (*world).deleteLine, 0},
		{"operator sets data", 6, (*world).setData, 0},
		{"foreign child", 6, (*world).foreignChild, 0},
		{"persistent child", 8, (*world).persistentChild, 0},
		{"access taken away", 7, (*world).takeAccess, 0},
		{"counter near its end", 14, (*world).endCounter, 0},
		{"counter repeats", 12, (*world).repeatCounter, 0},
		{"client closes", 8, (*world).closeClient, 0},
		{"session given up", 8, (*world).giveUpSession, 0},
		{"ambush", 3, nil, 0},
		{"slow callback", 8, nil, 6},
		{"panicking callback", 8, nil, 4},
		{"wall-clock jump", 8, (*world).jump, 0},
	}
}

// hit says whether a fault strikes at this moment.
func (w *world) hit(name string) bool {
	if w.calm || !w.has(name) {
		return false
	}
	for _, f := range faults {
		if f.name == name && oneIn(w.roll(name), f.chance) {
			w.cover.fault(name)
			return true
		}
	}
	return false
}

// begin winds up every timed fault of the plan.
func (w *world) begin() {
	for _, r := range w.Faults {
		i := slices.IndexFunc(faults, func(f fault) bool { return f.name == r.Fault })
		if i >= 0 && faults[i].fire != nil && w.has(r.Fault) {
			w.recur(faults[i], r.Every)
		}
	}
}

func (w *world) recur(f fault, every time.Duration) {
	d := w.roll(f.name)
	w.after(between(d, 0, 2*every), func() {
		if w.calm {
			return
		}
		if f.fire(w, d) {
			w.cover.fault(f.name)
			w.tell("FAULT %s", f.name)
		}
		w.recur(f, every)
	})
}

// anyClient is one that is not dead.
func (w *world) anyClient(d *rand.Rand) *client {
	c := w.clients[d.IntN(len(w.clients))]
	if c.paused >= forever {
		return nil
	}
	return c
}

func (w *world) anyWire(d *rand.Rand) *wire {
	if c := w.anyClient(d); c != nil {
		return c.x.wire
	}
	return nil
}

func (w *world) stall(d *rand.Rand, up, down bool) bool {
	wire := w.anyWire(d)
	if wire == nil {
		return false
	}
	end := w.now + int64(between(d, w.Timeout/20, w.Timeout))
	if up {
		wire.up.stalled = end
	}
	if down {
		wire.down.stalled = end
	}
	return true
}

func (w *world) mute(d *rand.Rand) bool {
	wire := w.anyWire(d)
	if wire == nil {
		return false
	}
	wire.up.stalled, wire.down.stalled = forever, forever
	return true
}

func (w *world) cutWire(d *rand.Rand) bool {
	wire := w.anyWire(d)
	if wire == nil {
		return false
	}
	wire.hangUp()
	return true
}

// follower is a random one that serves.
func (w *world) follower(d *rand.Rand) *server {
	s := w.ens.servers[d.IntN(servers)]
	if s == w.ens.leader || !s.up || s.cut || !s.serving || w.ens.connected() < servers {
		return nil
	}
	return s
}

// cutFollower parts a follower from its leader. It goes on answering until
// syncLimit ticks have gone by since it heard of the leader.
func (w *world) cutFollower(d *rand.Rand) bool {
	s := w.follower(d)
	if s == nil {
		return false
	}
	s.isolate(between(d, w.Tick/2, time.Duration(w.SyncLimit)*w.Tick*2))
	return true
}

func (s *server) isolate(lasts time.Duration) {
	w, term := s.ens.w, s.term
	s.cut = true
	notices := time.Duration(w.SyncLimit)*w.Tick - between(w.roll("cut"), 0, w.Tick/2)
	w.after(notices, func() {
		if s.cut && s.term == term {
			s.stop()
		}
	})
	w.after(lasts, s.reconnect)
}

func (w *world) crashFollower(d *rand.Rand) bool {
	s := w.follower(d)
	if s == nil {
		return false
	}
	s.crash(between(d, w.Tick/4, 4*w.Tick))
	return true
}

func (s *server) crash(lasts time.Duration) {
	w := s.ens.w
	s.up = false
	s.stop()
	w.after(lasts, s.restart)
}

// restart brings a server up; it joins whoever leads.
func (s *server) restart() {
	if s.up {
		return
	}
	s.up = true
	if l := s.ens.leader; l != nil && l.leads && l != s && !s.cut {
		s.join()
	}
}

func (w *world) crashLeader(d *rand.Rand) bool {
	l := w.ens.leader
	if l == nil || !l.leads || l.cut || w.ens.connected() < servers {
		return false
	}
	l.crash(between(d, w.Tick/4, 4*w.Tick))
	w.ens.reelect(between(d, w.Tick/4, 3*w.Tick))
	return true
}

// deposeLeader parts the leader from the others. They elect another one as soon
// as they notice; it goes on answering syncs and reads for up to two ticks more
// than syncLimit.
func (w *world) deposeLeader(d *rand.Rand) bool {
	l := w.ens.leader
	if l == nil || !l.leads || l.cut || w.ens.connected() < servers {
		return false
	}
	l.cut = true
	limit := time.Duration(w.SyncLimit) * w.Tick
	last := between(d, w.Tick/2, limit+2*w.Tick)
	if oneIn(d, 3) {
		last = limit + 2*w.Tick
	}
	election := between(d, w.Tick/4, limit)
	w.ens.reelect(election)
	term := l.term
	w.after(last, func() {
		if l.leads && l.term == term {
			l.stop()
		}
	})
	w.after(max(last, election)+between(d, 0, 4*w.Tick), func() { l.back(term) })
	return true
}

// back ends a deposed leader's isolation.
func (s *server) back(term int) {
	if s.leads && s.term == term {
		s.stop()
	}
	s.reconnect()
}

func (w *world) loseQuorum(d *rand.Rand) bool {
	l := w.ens.leader
	if l == nil || !l.leads || l.cut || w.ens.connected() < servers {
		return false
	}
	lasts := between(d, w.Tick/2, time.Duration(w.SyncLimit+6)*w.Tick)
	for _, s := range w.ens.servers {
		if s != l {
			s.isolate(lasts)
		}
	}
	term := l.term
	w.after(between(d, w.Tick, time.Duration(w.SyncLimit+2)*w.Tick), func() {
		if l.leads && l.term == term && w.ens.connected() <= servers/2 {
			l.stop()
			w.ens.reelect(w.Tick / 2)
		}
	})
	return true
}

func (w *world) slowCommit(d *rand.Rand) bool {
	w.ens.slow = between(d, 10*time.Millisecond, w.Timeout/3)
	w.after(between(d, w.Tick, w.Timeout), func() { w.ens.slow = 0 })
	return true
}

func (w *world) lagBehind(d *rand.Rand) bool {
	s := w.ens.servers[d.IntN(servers)]
	s.lag = between(d, 10*time.Millisecond, min(w.Timeout/2, time.Duration(w.SyncLimit)*w.Tick))
	w.after(between(d, w.Tick, w.Timeout), func() { s.lag = 0 })
	return true
}

func (w *world) pauseOne(d *rand.Rand, least, most time.Duration) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.pause(between(d, least, most))
	return true
}

// pauseThenCrash stops a process, lets it be heard for a moment, and takes it and
// its server away before the ensemble's leader was told.
func (w *world) pauseThenCrash(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.pause(between(d, w.Timeout*4/10, w.Timeout*7/10))
	w.at(c.paused+int64(between(d, 5*time.Millisecond, w.Tick/3)), func() {
		if w.calm || c.x.wire == nil || c.x.wire.server == w.ens.leader || w.ens.connected() < servers {
			return
		}
		c.x.wire.server.crash(between(d, w.Tick/4, 4*w.Tick))
		c.pause(between(d, w.Timeout/2, 2*w.Timeout))
	})
	return true
}

// starveOne keeps a loop's goroutine waiting before every event, for a while.
func (w *world) starveOne(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.starved = between(d, time.Millisecond, w.Timeout/16)
	w.after(between(d, w.Tick, w.Timeout), func() { c.starved = 0 })
	return true
}

func (w *world) stumbleOne(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	c.stumble = between(d, w.Timeout/20, w.Timeout*3/2)
	return true
}

// jump sets a machine's wall clock. The loop's clock does not follow it back; it
// may follow it ahead, where the system has no clock that knows of a suspend.
func (w *world) jump(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	by := int64(between(d, -w.Timeout, w.Timeout))
	if ahead := w.planted(func(p *Plant) bool { return p.WallClock }); by > 0 && w.Seed%2 == 0 || ahead {
		c.offset += by
		c.wake()
	}
	return true
}

func (w *world) killOne(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil || !oneIn(d, 2) {
		return false
	}
	c.paused = forever
	if c.x.wire != nil {
		c.x.wire.leave()
	}
	return true
}

func (w *world) closeOne(d *rand.Rand) bool {
	c := w.anyClient(d)
	if c == nil {
		return false
	}
	u := c.users[d.IntN(len(c.users))]
	c.own(u.close)
	return true
}

// closeClient closes every handle of a process, and its session with or behind
// them.
func (w *world) closeClient(d *rand.Rand) bool {
	c := w.anyClient(d)
	return c != nil && w.closeAll(c)
}

func (w *world) closeAll(c *client) bool {
	if c.leaving {
		return false
	}
	c.leaving = true
	c.own(c.closeHandles)
	d := w.roll("client closes")
	c.later(between(d, 0, []time.Duration{0, w.Tick}[d.IntN(2)]), c.closeSession)
	return true
}
