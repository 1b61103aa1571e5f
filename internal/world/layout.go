package world

import (
	"fmt"
	"maps"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// Layout is what an ensemble may be besides three voting servers with the same settings, and
// what its clients take it for. The zero value is those three, and clients that know them.
type Layout struct {
	// Observers is the number of servers without a vote. They are numbered behind the others.
	Observers int `json:"observers,omitempty"`
	// Masters says that each observer is behind an observer master, which is a follower
	// (ZooKeeper 3.6, observerMasterPort).
	Masters bool `json:"masters,omitempty"`
	// Phases says that each server's pings have a phase of their own. Else they come when a tick
	// begins and in its middle, so that a session always lasts half a tick longer than it has to.
	Phases bool `json:"phases,omitempty"`
	// Limits are the session timeouts that each server grants. A server without
	// an entry grants 2 to 20 ticks.
	Limits []Limits `json:"limits,omitempty"`
	// Asked is the timeout that clients ask for. Without it that is the script's Timeout, which
	// is the longest that any server grants.
	Asked time.Duration `json:"asked,omitempty"`
	// Tick is the client's Config.Tick, if it is not the servers' own. TickAssumed says that it
	// is not configured, so that a client learns a larger one.
	Tick        time.Duration `json:"tick,omitempty"`
	TickAssumed bool          `json:"tickAssumed,omitempty"`
	// ObserverMasters is the client's Config.ObserverMasters.
	ObserverMasters bool `json:"observerMasters,omitempty"`
	// OneWatch says that servers keep one watch for each connection, path and kind, as before
	// ZooKeeper 3.9: the last request decides whether it is recursive (ZOOKEEPER-4466). Their
	// events do not say which transaction fired them (ZOOKEEPER-4655).
	OneWatch bool `json:"oneWatch,omitempty"`
	// IdleFor is for how many session timeouts a client that nobody needs hears the leader.
	IdleFor int `json:"idleFor,omitempty"`
}

// Limits are a server's minSessionTimeout and maxSessionTimeout.
type Limits struct {
	Least    time.Duration `json:"least"`
	Greatest time.Duration `json:"greatest"`
}

// maxObservers is how many observers a script may have.
const maxObservers = 10

// checkTimeouts returns why no server would grant the script's timeout, and checkLayout why
// there is no such ensemble.
func (s Script) checkTimeouts() error {
	if l := s.Layout; len(l.Limits) > 0 || l.Asked != 0 {
		return s.checkLayout()
	}
	if s.Timeout < 2*s.Tick || s.Timeout > 20*s.Tick {
		return fmt.Errorf("world: a session timeout of %s: want 2 to 20 ticks of %s, as servers do", s.Timeout, s.Tick)
	}
	return s.checkLayout()
}

func (s Script) checkLayout() error {
	l := s.Layout
	switch {
	case l.Observers < 0 || l.Observers > maxObservers:
		return fmt.Errorf("world: %d observers: want at most %d", l.Observers, maxObservers)
	case l.Tick < 0 || l.Tick > machines.MaxTick:
		return fmt.Errorf("world: clients with a tick of %s: want at most %s", l.Tick, machines.MaxTick)
	case l.Asked < 0:
		return fmt.Errorf("world: clients ask for a session timeout of %s", l.Asked)
	}
	for i, limits := range l.Limits {
		if limits.Least < time.Millisecond || limits.Greatest < limits.Least || limits.Greatest > MaxTime {
			return fmt.Errorf("world: server %d grants session timeouts of %s to %s", i, limits.Least, limits.Greatest)
		}
	}
	return nil
}

// asked returns the timeout that clients ask for in a new session.
func (s Script) asked() time.Duration {
	if s.Layout.Asked != 0 {
		return s.Layout.Asked
	}
	return s.Timeout
}

// assumedTick returns the tick with which a client begins.
func (s Script) assumedTick() time.Duration {
	if s.Layout.Tick != 0 {
		return s.Layout.Tick
	}
	return s.Tick
}

// SessionOptions returns the options of a client's session machine.
func (s Script) SessionOptions(retry string) map[string]string {
	options := map[string]string{
		machines.OptionTick: s.assumedTick().String(), machines.OptionSyncLimit: fmt.Sprint(s.SyncLimit),
		machines.OptionRideOut: fmt.Sprint(s.RideOut), machines.OptionRetry: retry,
	}
	if s.Layout.IdleFor > 0 {
		options[machines.OptionIdleFor] = fmt.Sprint(s.Layout.IdleFor)
	}
	if l := s.Layout; l.TickAssumed || l.ObserverMasters {
		maps.Copy(options, map[string]string{
			machines.OptionTickAssumed: fmt.Sprint(l.TickAssumed), machines.OptionAskedTimeout: s.asked().String(),
			machines.OptionObserverMasters: fmt.Sprint(l.ObserverMasters),
		})
	}
	return options
}

// negotiate returns the timeout that a server grants, as ZooKeeperServer.processConnectRequest
// does (3.8.0): at a new connection of an old session, too.
func (s *Server) negotiate(asked time.Duration) time.Duration {
	tick := s.ens.w.script.Tick
	limits := Limits{2 * tick, 20 * tick}
	if all := s.ens.w.script.Layout.Limits; s.ID() < len(all) {
		limits = all[s.ID()]
	}
	return min(max(asked, limits.Least), limits.Greatest)
}

// reportLag returns how late the client takes a server's reports to be, at most.
func (x *executor) reportLag() int64 {
	return int64(machines.ReportLag(x.c.tick, x.w.script.Layout.ObserverMasters))
}

// learn notes what a client learns from a granted timeout. The client asks for that one at
// its next connection, as go-zookeeper does.
func (x *executor) learn(granted time.Duration) {
	s := x.w.script
	if s.Layout.TickAssumed {
		if tick := machines.LargerTick(x.c.tick, s.asked(), granted); tick != x.c.tick {
			x.c.tick = tick
			x.w.observer.Rare(x.c, TickLearned)
		}
	}
	switch {
	case x.shortest == 0:
	case granted < x.timeout:
		x.w.observer.Rare(x.c, TimeoutShortened)
	case granted > x.timeout:
		x.w.observer.Rare(x.c, TimeoutLengthened)
	}
	if x.shortest == 0 || granted < x.shortest {
		x.shortest = granted
	}
	x.timeout = granted
}

// ShortestTimeout returns the shortest timeout with which a server has let the client's session go on.
func (e *Ensemble) ShortestTimeout(session int64) time.Duration { return e.shortest[session] }

// ShortestTimeout returns the shortest timeout of the client's session that the client knows of.
func (c *Client) ShortestTimeout() time.Duration { return c.x.shortest }

// grant notes that a server lets a session go on with a timeout.
func (e *Ensemble) grant(session int64, timeout time.Duration) {
	if known, ok := e.shortest[session]; !ok || timeout < known {
		e.shortest[session] = timeout
	}
}
