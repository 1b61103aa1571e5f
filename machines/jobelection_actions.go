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

// markerAbsent is a marker that is not there: nobody leads.
func (c *jobElection) markerAbsent(ev events.Event) bool {
	return ev.Path == c.marker && ev.Code == events.NoNode
}

// markerAbsentLatchHeld is vacant, while this machine holds the latch.
func (c *jobElection) markerAbsentLatchHeld(ev events.Event) bool {
	return c.markerAbsent(ev) && c.latchNode != ""
}

// markerPresent is a marker that is there.
func (c *jobElection) markerPresent(ev events.Event) bool {
	return ev.Path == c.marker && ev.Code == events.OK && ev.Stat != nil
}

// markerPersistent is a marker that no session owns: it will never go by itself.
func (c *jobElection) markerPersistent(ev events.Event) bool {
	return c.markerPresent(ev) && !ev.Stat.Ephemeral()
}

// markerOurs is a marker that this session owns: ours, for a client makes one
// election for each job.
func (c *jobElection) markerOurs(ev events.Event) bool {
	return c.markerPresent(ev) && ev.Stat.EphemeralOwner == c.owner
}

// markerNotOurs is a marker that is gone, or another's.
func (c *jobElection) markerNotOurs(ev events.Event) bool {
	return c.markerAbsent(ev) || c.markerPresent(ev)
}

// markerBelowFloor is a marker of ours with a token that the floor refuses.
func (c *jobElection) markerBelowFloor(ev events.Event) bool {
	return c.markerOurs(ev) && ev.Stat.Czxid < c.tokenFloor
}

// mayLeadByMarker is a marker of ours with all that belief needs besides.
func (c *jobElection) mayLeadByMarker(ev events.Event) bool {
	return c.markerOurs(ev) && c.sealed && confirmed(ev)
}

// resealed is a marker that was given another seal.
func (c *jobElection) resealed(ev events.Event) bool { return ev.Code == events.OK && !c.sealed }

// unchanged is a marker of ours that is the very one that the term rests on.
func (c *jobElection) unchanged(ev events.Event) bool {
	return c.markerOurs(ev) && ev.Stat.Czxid == c.token && ev.Stat.Version == c.version
}

// markerConfirmed is the confirmation that lets us lead.
func (c *jobElection) markerConfirmed(ev events.Event) bool {
	return ev.Code == events.OK && confirmed(ev)
}

// lostRace is a transaction that came too late: the marker, a seal or the latch's
// node is not what it was.
func (c *jobElection) lostRace(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code == events.NoNode || ev.Code == events.BadVersion
}

// hasMarkerOrLatch is a job election that has, or may have, a marker or a latch.
func (c *jobElection) hasMarkerOrLatch(ev events.Event) bool {
	return c.mayHaveNode(ev) || c.openLatches > 0
}

// mustClean is a job election that wants out and is tied.
func (c *jobElection) mustClean(ev events.Event) bool {
	return c.nextIntent != keepPlace && c.mayHaveNode(ev) || c.nextIntent == closeNext && c.openLatches > 0
}

// exhaustedWithNode is a retry policy that gave up, with something to clear away.
func (c *jobElection) exhaustedWithNode(ev events.Event) bool {
	return c.gaveUp && c.hasMarkerOrLatch(ev)
}

// leavesLatch is a closing job election whose latch is not over yet.
func (c *jobElection) leavesLatch(events.Event) bool {
	return c.nextIntent == closeNext && c.openLatches > 0
}

// look reads the marker, and asks for the seal before it where the marker may be
// ours and the seal is not known to stand. A write whose outcome is unknown shows
// for certain only after a sync.
func (c *jobElection) look(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.forgetReads(ev, out)
	if c.unknown {
		out.With(engine.Unawaited).Sync(c.ownDir)
	}
	if c.mayHaveNode(ev) && !c.sealed {
		out.Children(c.ownDir)
	}
	out.With(engine.Watch).Exists(c.marker)
}

// lookAndListSeals is look without taking the seal for known.
func (c *jobElection) lookAndListSeals(ev events.Event, out *engine.Outbox) {
	c.sealed = false
	c.look(ev, out)
}

// readUnderLatch reads the marker under the latch, and then lists the seals: once no
// marker stands none can be added.
func (c *jobElection) readUnderLatch(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.release(out)
	out.With(engine.Watch).Exists(c.marker)
	out.Children(c.ownDir)
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

// beginMarkerTerm takes office: at the marker's reply, or after a confirmation.
func (c *jobElection) beginMarkerTerm(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	c.wantTermHeartbeats(c.termChecks(), out)
	c.closeLatch(out)
	c.beginTerm(ev, out)
}

// wantTermHeartbeats has the heartbeat ask for what guards the term, for the marker's name
// while there is none.
func (c *jobElection) wantTermHeartbeats(guards []events.Op, out *engine.Outbox) {
	c.guards, c.heartbeating = guards, true
	out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: c.id, Path: c.marker, Ops: guards})
}

// confirmByWrite asks for a write through the quorum before taking office. Where
// somebody deleted the seal that makes another one.
func (c *jobElection) confirmByWrite(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.noteMarker(ev, out)
	c.wantTermHeartbeats(nil, out)
	c.reconfirm(ev, out)
}

// reconfirm asks for that write: now, or when it is worth it.
func (c *jobElection) reconfirm(ev events.Event, out *engine.Outbox) {
	switch {
	case ev.AskAt > ev.At:
		out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
	case c.sealed:
		out.Multi(c.termChecks()...)
	default:
		c.replaceSeal(out)
	}
}

// queue stands in line for the latch.
func (c *jobElection) queue(ev events.Event, out *engine.Outbox) {
	c.deleteSeal(out)
	c.openLatch(join(c.ownDir, jobLatch), &c.contender, map[string]string{}, out)
}

// takeLatchFailure makes the latch's trouble one's own.
func (c *jobElection) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	c.announce(ev.Code, ev.Text, ev, out)
}

// follow leaves the job to another instance.
func (c *jobElection) follow(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.clearFailure(out)
}

// followPersistent is follow of a marker that no session owns, and says so.
func (c *jobElection) followPersistent(ev events.Event, out *engine.Outbox) {
	c.settle(out)
	c.announcePersistent(ev, out)
}

func (c *jobElection) settle(out *engine.Outbox) {
	out.DropPending()
	c.deleteSeal(out)
	c.closeLatch(out)
}

// failAndYield is complain without keeping others from the latch.
func (c *jobElection) failAndYield(ev events.Event, out *engine.Outbox) {
	c.closeLatch(out)
	ev.Path = cmp.Or(ev.Path, c.marker)
	c.failAndBackOff(ev, out)
}

// writeMarker writes the marker, if the latch's node still stands, and ends all seals
// but its own: with them goes what could pass for another's term.
func (c *jobElection) writeMarker(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	ops := []events.Op{
		{Verb: "check", Path: c.latchNode, Version: -1},
		{Verb: "create", Path: c.marker, Mode: events.Ephemeral, Data: c.data},
		{Verb: "set", Path: c.marker, Data: c.data, Version: 0},
	}
	for _, old := range seals(ev.Children) {
		ops = append(ops, events.Op{Verb: "delete", Path: join(c.ownDir, old), Version: -1})
	}
	c.creating = out.Multi(append(ops, c.newSeal())...)
}

// noteMarkerWritten is the marker, written: the latch is for the next, and the marker is
// read back.
func (c *jobElection) noteMarkerWritten(ev events.Event, out *engine.Outbox) {
	c.noteResult(ev, out)
	c.closeLatch(out)
	c.look(ev, out)
}

// noteResult notes what a write came to.
func (c *jobElection) noteResult(ev events.Event, out *engine.Outbox) {
	c.creating, c.unknown = 0, ev.Code.Unknown()
	if ev.Code == events.OK {
		c.own, c.token, c.version, c.sealed = base(c.marker), ev.Zxid, 1, true
		c.wantHeartbeats(out)
	}
}

// noteLostRace is a write that came too late.
func (c *jobElection) noteLostRace(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.look(ev, out)
}

// settleWrite takes the answer of a write that was under way when the connection
// ended; other answers mean nothing any more.
func (c *jobElection) settleWrite(ev events.Event, out *engine.Outbox) {
	if ev.Request == c.creating {
		c.noteResult(ev, out)
	}
}

// loseMarker is the end of the session: the marker goes with it.
func (c *jobElection) loseMarker(ev events.Event, out *engine.Outbox) {
	c.lose(ev, out)
	c.release(out)
}

func (c *jobElection) loseMarkerLeaving(ev events.Event, out *engine.Outbox) {
	c.loseMarker(ev, out)
	c.tellSelfNodeGone(ev, out)
}

// endBelief ends belief because the marker is gone.
func (c *jobElection) endBelief(ev events.Event, out *engine.Outbox) {
	c.stepDownGone(ev, out)
	c.deleteSeal(out)
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
	case !c.mayHaveNode(ev):
		c.tellSelfNodeGone(ev, out)
	case !ev.Attached:
	case c.own != "" && c.sealed:
		c.deleteMarker(ev, out)
	default:
		c.look(ev, out)
	}
}

// deleteMarker deletes the marker, and nobody else's: without the seal that tells it from
// theirs it gets another one first.
func (c *jobElection) deleteMarker(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	if !c.sealed {
		c.replaceSeal(out)
		return
	}
	out.Multi(
		events.Op{Verb: "delete", Path: c.sealPath(), Version: -1},
		events.Op{Verb: "delete", Path: c.marker, Version: c.version},
	)
}

// noteMarkerGone is the marker, gone: what comes after is decided in one place.
func (c *jobElection) noteMarkerGone(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.tellSelfNodeGone(ev, out)
}

// endMarkerTerm is letGo of a marker that somebody else has ended.
func (c *jobElection) endMarkerTerm(ev events.Event, out *engine.Outbox) {
	c.deleteSeal(out)
	c.tellSelfNodeGone(ev, out)
}

// noteLatchGone is a latch that is over, on the way out.
func (c *jobElection) noteLatchGone(ev events.Event, out *engine.Outbox) {
	c.openLatches--
	if !c.mayHaveNode(ev) {
		c.tellSelfNodeGone(ev, out)
	}
}

// clearLater tries again a while after the server refused.
func (c *jobElection) clearLater(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.announce(ev.Code, "delete "+c.marker+": "+string(ev.Code), ev, out)
	out.Timer(deleteAgainTimer, c.backOffForever(ev))
}

// rejectMarker gives back a marker whose token is below the floor.
func (c *jobElection) rejectMarker(ev events.Event, out *engine.Outbox) {
	c.noteMarker(ev, out)
	c.closeLatch(out)
	c.nextIntent, c.quick = backOff, 0
	c.announce(events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time", c.token, c.marker, c.tokenFloor), ev, out)
	c.clear(ev, out)
}

// withdraw is close, with the place in the line of the latch given up.
func (c *jobElection) withdraw(ev events.Event, out *engine.Outbox) {
	c.close(ev, out)
	c.closeLatch(out)
}

// answerResign answers the resign whose marker is gone. Where there is no connection, what
// the retry policy said of it last is over, too.
func (c *jobElection) answerResign(ev events.Event, out *engine.Outbox) {
	c.nextIntent, c.gaveUp = keepPlace, false
	c.answerMove(out)
}
