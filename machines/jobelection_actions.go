package machines

import (
	"cmp"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Watches says which node matters: the marker.
func (c *jobElection) Watches(path string) bool { return path == c.marker }

// listed is the directory of marker and seals, or what says that it is gone.
func (c *jobElection) listed(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// vacant is a marker that is not there: nobody leads.
func (c *jobElection) vacant(ev events.Event) bool {
	return ev.Path == c.marker && ev.Code == events.NoNode
}

// vacantHeld is vacant, while this machine holds the latch.
func (c *jobElection) vacantHeld(ev events.Event) bool { return c.vacant(ev) && c.held != "" }

// occupied is a marker that is there.
func (c *jobElection) occupied(ev events.Event) bool {
	return ev.Path == c.marker && ev.Code == events.OK && ev.Stat != nil
}

// lasting is a marker that no session owns: it will never go by itself.
func (c *jobElection) lasting(ev events.Event) bool {
	return c.occupied(ev) && !ev.Stat.Ephemeral()
}

// marked is a marker that this session owns: ours, for a client makes one
// election for each job.
func (c *jobElection) marked(ev events.Event) bool {
	return c.occupied(ev) && ev.Stat.EphemeralOwner == c.owner
}

// notOurs is a marker that is gone, or another's.
func (c *jobElection) notOurs(ev events.Event) bool { return c.vacant(ev) || c.occupied(ev) }

// markedTooLow is a marker of ours with a token that the floor refuses.
func (c *jobElection) markedTooLow(ev events.Event) bool {
	return c.marked(ev) && ev.Stat.Czxid < c.floor
}

// mayGovern is a marker of ours with all that belief needs besides.
func (c *jobElection) mayGovern(ev events.Event) bool {
	return c.marked(ev) && c.sealed && confirmed(ev)
}

// resealed is a marker that was given another seal.
func (c *jobElection) resealed(ev events.Event) bool { return ev.Code == events.OK && !c.sealed }

// unchanged is a marker of ours that is the very one that the term rests on.
func (c *jobElection) unchanged(ev events.Event) bool {
	return c.marked(ev) && ev.Stat.Czxid == c.token && ev.Stat.Version == c.version
}

// nowSure is the confirmation that lets us lead.
func (c *jobElection) nowSure(ev events.Event) bool {
	return ev.Code == events.OK && confirmed(ev)
}

// outrun is a transaction that came too late: the marker, a seal or the latch's
// node is not what it was.
func (c *jobElection) outrun(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code == events.NoNode || ev.Code == events.BadVersion
}

// tied is a job election that has, or may have, a marker or a latch.
func (c *jobElection) tied(ev events.Event) bool { return c.entangled(ev) || c.latches > 0 }

// bound is a job election that wants out and is tied.
func (c *jobElection) bound(ev events.Event) bool {
	return c.then != stay && c.entangled(ev) || c.then == leave && c.latches > 0
}

// exhaustedBound is a retry policy that gave up, with something to clear away.
func (c *jobElection) exhaustedBound(ev events.Event) bool { return c.spent && c.tied(ev) }

// leavesLatch is a closing job election whose latch is not over yet.
func (c *jobElection) leavesLatch(events.Event) bool { return c.then == leave && c.latches > 0 }

// look reads the marker, and asks for the seal before it where the marker may be
// ours and the seal is not known to stand. A write whose outcome is unknown shows
// for certain only after a sync.
func (c *jobElection) look(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.unread(ev, out)
	if c.unknown {
		out.With(engine.Unawaited).Sync(c.home)
	}
	if c.entangled(ev) && !c.sealed {
		out.Children(c.home)
	}
	out.With(engine.Watch).Exists(c.marker)
}

// lookAfresh is look without taking the seal for known.
func (c *jobElection) lookAfresh(ev events.Event, out *engine.Outbox) {
	c.sealed = false
	c.look(ev, out)
}

// inspect reads the marker under the latch, and then lists the seals: once no
// marker stands none can be added.
func (c *jobElection) inspect(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.release(out)
	out.With(engine.Watch).Exists(c.marker)
	out.Children(c.home)
}

// release forgets a marker that is not ours, or not any more.
func (c *jobElection) release(out *engine.Outbox) {
	c.forgetOwn(out)
	c.sealed, c.version = false, 0
}

// noteMarker takes a marker that is ours.
func (c *jobElection) noteMarker(ev events.Event, out *engine.Outbox) {
	c.own, c.unknown = base(c.marker), false
	c.owned, c.watched = true, true
	c.token, c.version = ev.Stat.Czxid, ev.Stat.Version
}

// govern takes office: at the marker's reply, or after a confirmation.
func (c *jobElection) govern(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	c.enter(c.pins(), out)
	c.leaveLatch(out)
	c.takeOffice(ev, out)
}

// enter has the heartbeat ask for what guards the term, for the marker's name
// while there is none.
func (c *jobElection) enter(guards []events.Op, out *engine.Outbox) {
	c.guards, c.near = guards, true
	out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: c.id, Path: c.marker, Ops: guards})
}

// seekWrite asks for a write through the quorum before taking office. Where
// somebody deleted the seal that makes another one.
func (c *jobElection) seekWrite(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.noteMarker(ev, out)
	c.enter(nil, out)
	c.reconfirm(ev, out)
}

// reconfirm asks for that write: now, or when it is worth it.
func (c *jobElection) reconfirm(ev events.Event, out *engine.Outbox) {
	switch {
	case ev.AskAt > ev.At:
		out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
	case c.sealed:
		out.Multi(c.pins()...)
	default:
		c.sealAnew(out)
	}
}

// queue stands in line for the latch.
func (c *jobElection) queue(ev events.Event, out *engine.Outbox) {
	c.breakSeal(out)
	c.standAt(join(c.home, jobLatch), &c.contender, map[string]string{}, out)
}

// passOn makes the latch's trouble one's own.
func (c *jobElection) passOn(ev events.Event, out *engine.Outbox) {
	c.announce(ev.Code, ev.Text, ev, out)
}

// follow leaves the job to another instance.
func (c *jobElection) follow(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.recover(out)
}

// obstructed is follow of a marker that no session owns, and says so.
func (c *jobElection) obstructed(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.obstruct(ev, out)
}

func (c *jobElection) settle(out *engine.Outbox) {
	out.DropPending()
	c.breakSeal(out)
	c.leaveLatch(out)
}

// giveWay is complain without keeping others from the latch.
func (c *jobElection) giveWay(ev events.Event, out *engine.Outbox) {
	c.leaveLatch(out)
	ev.Path = cmp.Or(ev.Path, c.marker)
	c.complain(ev, out)
}

// mark writes the marker, if the latch's node still stands, and ends all seals
// but its own: with them goes what could pass for another's term.
func (c *jobElection) mark(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	ops := []events.Op{
		{Verb: "check", Path: c.held, Version: -1},
		{Verb: "create", Path: c.marker, Mode: events.Ephemeral, Data: c.data},
		{Verb: "set", Path: c.marker, Data: c.data, Version: 0},
	}
	for _, old := range seals(ev.Children) {
		ops = append(ops, events.Op{Verb: "delete", Path: join(c.home, old), Version: -1})
	}
	c.creating = out.Multi(append(ops, c.newSeal())...)
}

// claim is the marker, written: the latch is for the next, and the marker is
// read back.
func (c *jobElection) claim(ev events.Event, out *engine.Outbox) {
	c.book(ev, out)
	c.leaveLatch(out)
	c.look(ev, out)
}

// book notes what a write came to.
func (c *jobElection) book(ev events.Event, out *engine.Outbox) {
	c.creating, c.unknown = 0, ev.Code.Unknown()
	if ev.Code == events.OK {
		c.own, c.token, c.version, c.sealed = base(c.marker), ev.Zxid, 1, true
		c.approach(out)
	}
}

// retreat is a write that came too late.
func (c *jobElection) retreat(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.look(ev, out)
}

// settleWrite takes the answer of a write that was under way when the connection
// ended; other answers mean nothing any more.
func (c *jobElection) settleWrite(ev events.Event, out *engine.Outbox) {
	if ev.Request == c.creating {
		c.book(ev, out)
	}
}

// forfeit is the end of the session: the marker goes with it.
func (c *jobElection) forfeit(ev events.Event, out *engine.Outbox) {
	c.lose(ev, out)
	c.release(out)
}

func (c *jobElection) forfeitLeaving(ev events.Event, out *engine.Outbox) {
	c.forfeit(ev, out)
	c.tellGone(ev, out)
}

// lapse ends belief because the marker is gone.
func (c *jobElection) lapse(ev events.Event, out *engine.Outbox) {
	c.stepDownGone(ev, out)
	c.breakSeal(out)
}

// drop forgets a marker that went with the session.
func (c *jobElection) drop(ev events.Event, out *engine.Outbox) { c.release(out) }

// attachReread is noteSession while belief rides a disconnect out.
func (c *jobElection) attachReread(ev events.Event, out *engine.Outbox) {
	c.noteSession(ev, out)
	out.With(engine.Watch).Exists(c.marker)
}

// clear makes sure that no marker of ours is left, as soon as there is a
// connection: it deletes the marker with its seal, or looks for both.
func (c *jobElection) clear(ev events.Event, out *engine.Outbox) {
	if c.creating != 0 { // its answer comes first
		return
	}
	out.DropPending()
	switch {
	case !c.entangled(ev):
		c.tellGone(ev, out)
	case !ev.Attached:
	case c.own != "" && c.sealed:
		c.erase(ev, out)
	default:
		c.look(ev, out)
	}
}

// erase deletes the marker, and nobody else's: without the seal that tells it from
// theirs it gets another one first.
func (c *jobElection) erase(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	if !c.sealed {
		c.sealAnew(out)
		return
	}
	out.Multi(
		events.Op{Verb: "delete", Path: c.sealPath(), Version: -1},
		events.Op{Verb: "delete", Path: c.marker, Version: c.version},
	)
}

// letGo is the marker, gone: what comes after is decided in one place.
func (c *jobElection) letGo(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.tellGone(ev, out)
}

// yieldOffice is letGo of a marker that somebody else has ended.
func (c *jobElection) yieldOffice(ev events.Event, out *engine.Outbox) {
	c.breakSeal(out)
	c.tellGone(ev, out)
}

// countOut is a latch that is over, on the way out.
func (c *jobElection) countOut(ev events.Event, out *engine.Outbox) {
	c.latches--
	if !c.entangled(ev) {
		c.tellGone(ev, out)
	}
}

// clearLater tries again a while after the server refused.
func (c *jobElection) clearLater(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.announce(ev.Code, "delete "+c.marker+": "+string(ev.Code), ev, out)
	out.Timer(deleteAgainTimer, c.persist(ev))
}

// rejectMarker gives back a marker whose token is below the floor.
func (c *jobElection) rejectMarker(ev events.Event, out *engine.Outbox) {
	c.noteMarker(ev, out)
	c.leaveLatch(out)
	c.then, c.quick = rest, 0
	c.announce(events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time", c.token, c.marker, c.floor), ev, out)
	c.clear(ev, out)
}

// withdraw is close, with the place in the line of the latch given up.
func (c *jobElection) withdraw(ev events.Event, out *engine.Outbox) {
	c.close(ev, out)
	c.leaveLatch(out)
}

// moveOn answers the resign whose marker is gone. Where there is no connection, what
// the retry policy said of it last is over, too.
func (c *jobElection) moveOn(ev events.Event, out *engine.Outbox) {
	c.then, c.spent = stay, false
	c.moved(out)
}
