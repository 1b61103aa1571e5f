package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// dial tries the next server after a pause.
func (x *executor) dial(pause time.Duration) {
	x.attempt++
	attempt := x.attempt
	x.c.RunAfter(pause, func() {
		if x.attempt != attempt || x.over {
			return
		}
		server := x.w.ens.servers[x.next%len(x.w.ens.servers)]
		if !x.w.observer.Happens(BugDialsOneServer) {
			x.next++
		}
		wire := &Conn{w: x.w, x: x, server: server, session: x.id}
		x.dialling, x.settingWatches, x.earlyEvents = wire, false, nil
		if x.w.observer.Happens(HalfOpen) || x.nextUnanswered {
			wire.up.stalled, x.nextUnanswered = Forever, false
		}
		if x.nextUnheard {
			wire.down.stalled, x.nextUnheard = Forever, false
		}
		x.seen = x.lastZxid
		x.contactGap = int64(x.timeout) / 64
		x.contacts, x.pinged = []contact{{x.c.Clock(), x.c.Clock()}}, nil
		seen := x.seen
		probe := x.probing[server.ID()]
		if probe {
			seen = 0
		}
		id := x.id
		asked := x.timeout
		wire.submit(func() { server.connect(wire, id, seen, asked) })
		x.c.RunAfter(x.handshakeTimeout(), func() {
			if x.dialling == wire {
				x.refused(wire, noAnswer)
			}
		})
	})
}

// see notes the last transaction that the session knows of.
func (x *executor) see(zxid int64) {
	if x.w.observer.Happens(BugSeesCounters) && zxid&lastCounter < x.lastZxid&lastCounter {
		return
	}
	x.lastZxid = max(x.lastZxid, zxid)
}

// refused ends an attempt that failed.
func (x *executor) refused(wire *Conn, why string) {
	wire.closeByClient()
	x.dialling = nil
	if x.over {
		return
	}
	id := wire.server.ID()
	if x.since != 0 && x.c.Clock()-x.since > 2*int64(x.timeout) {
		x.probing[id] = !x.probing[id]
	}
	x.failures++
	if x.failures%5 == 1 {
		x.tellSession(events.Event{Kind: events.ConnectionRefused, Code: events.ConnectionLoss, Text: why,
			Server: wire.server.name(), End: endOf(why)})
	}
	pause := time.Duration(0)
	if all := len(x.w.ens.servers); x.failures%all == 0 {
		round := x.failures / all
		pause = min(time.Second, 20*time.Millisecond<<min(round-1, 10))
		pause = Between(x.c.dice.roll(dialDice), pause/2, pause)
	}
	x.dial(pause)
}

// handshakeFrame takes a frame of the handshake: the connect response, then the events
// of watches that were set again. The machines get attached last.
func (x *executor) handshakeFrame(wire *Conn, f frame) {
	switch {
	case f.closed:
		x.refused(wire, closedInHandshake)
	case f.connectResponse != nil && f.connectResponse.session == 0:
		x.expired(x.expiredByPause("the ensemble says that the session has expired"))
	case f.connectResponse != nil && x.id != 0 && x.id != f.connectResponse.session:
		x.expired(x.expiredByPause("another session was given out"))
	case f.connectResponse != nil && x.probing[wire.server.ID()] && x.w.observer.Happens(BugProbeIgnoresZxid):
		x.refused(wire, lags)
	case f.connectResponse != nil && x.probing[wire.server.ID()]:
		wire.submit(func() { wire.server.syncProbe(wire) })
	case f.synced && f.zxid >= x.lastZxid:
		x.refused(wire, lagged)
	case f.synced:
		x.w.observer.Rare(x.c, WentBack)
		wire.submit(func() { wire.server.closeSession(wire) })
		x.expired("the ensemble went back in time", 0)
	case f.connectResponse != nil:
		x.id, x.settingWatches = f.connectResponse.session, true
		x.learn(f.connectResponse.timeout)
		x.ids = append(x.ids, x.id)
		all := x.watches.all()
		d := x.c.dice.roll(orderDice)
		d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if len(all) == 0 {
			x.attach(wire)
			return
		}
		since := x.seen
		wire.submit(func() { wire.server.setWatches(wire, since, all) })
	case f.watchesSet:
		x.attach(wire)
	case f.watch != 0:
		x.earlyEvents = append(x.earlyEvents, f)
	}
}

// attach makes the connection the session's own.
func (x *executor) attach(wire *Conn) {
	reattached := x.since != 0
	x.dialling, x.conn, x.failures, x.since, x.ownPause = nil, wire, 0, 0, 0
	clear(x.probing)
	x.c.attached = true
	x.tellSession(events.Event{Kind: events.ConnectionAttached, SessionID: x.id, Timeout: int64(x.timeout),
		Server: wire.server.name(), Address: wire.server.address(), Reattached: reattached})
	for _, f := range slices.Clone(x.earlyEvents) {
		x.fire(f)
	}
	x.earlyEvents = nil
	for _, a := range x.queued {
		a.Conn = wire
		x.send(a)
	}
	x.queued = nil
	x.lastFrameAt = x.c.Clock()
	x.pings(wire)
	x.watchSilence(wire)
}

// pings sends a ping every third of the session's timeout.
func (x *executor) pings(wire *Conn) {
	x.c.RunAfter(x.timeout/3, func() {
		if x.conn != wire || x.closing {
			return
		}
		x.pinged = append(x.pinged, x.c.Clock())
		if x.w.observer.Happens(BugCountsUnanswered) {
			x.noteContact(x.c.Clock())
		}
		wire.submit(func() { wire.server.ping(wire) })
		x.pings(wire)
	})
}

// watchSilence ends a connection on which nothing came for two thirds of the
// session's timeout.
func (x *executor) watchSilence(wire *Conn) {
	limit := int64(x.timeout) * 2 / 3
	x.c.RunAfter(time.Duration(x.lastFrameAt+limit-x.c.Clock()), func() {
		switch {
		case x.conn != wire:
		case x.c.Clock()-x.lastFrameAt >= limit:
			x.connectionLost(wire, silent)
		default:
			x.watchSilence(wire)
		}
	})
}

// Why connections end, or cannot be made.
const (
	closedByServer    = "closed by the server"
	silent            = "silent for too long"
	unanswered        = "no answer to a request for a whole session timeout"
	noAnswer          = "no answer"
	closedInHandshake = "closed in the handshake"
	lags              = "it lags behind what this session has seen"
	lagged            = "it lagged behind what this session has seen"
)

// endOf returns the code for one of them, and EndNetwork for a connection that was cut.
func endOf(why string) events.ConnectionEnd {
	switch why {
	case closedByServer:
		return events.ConnectionEndClosed
	case silent, noAnswer:
		return events.ConnectionEndSilent
	case unanswered:
		return events.ConnectionEndUnanswered
	case closedInHandshake, lags, lagged:
		return events.ConnectionEndNotServing
	}
	return events.ConnectionEndNetwork
}

// name returns what clients have in their list of servers.
func (s *Server) name() string { return string(rune('a' + s.ID())) }

// address returns what the name resolves to.
func (s *Server) address() string { return fmt.Sprintf("10.0.0.%d:2181", s.ID()+1) }

// leave ends the connection to a server that goes on to answer with a code. The next server is dialled.
func (x *executor) leave(e events.Leave) {
	if wire := x.conn; e.Session == x.session && wire != nil {
		x.w.After(0, func() { x.connectionLost(wire, "left: "+string(e.Code)) })
	}
}

// connectionLost ends a connection, as the client sees it.
func (x *executor) connectionLost(wire *Conn, why string) {
	x.c.Run(func() {
		if x.conn != wire {
			return
		}
		end := endOf(why)
		if why, x.ownPause = x.endedByPause(why); x.ownPause != 0 {
			end = events.ConnectionEndOwnPause
		}
		x.detach(end, why)
		if x.closing {
			x.closed(events.ConnectionLoss)
			return
		}
		x.dial(Between(x.c.dice.roll(dialDice), 0, 20*time.Millisecond))
	})
}
