package machines

import (
	"cmp"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Watches reports which nodes matter: the marker, and its directory if that is watched in its place.
func (c *jobElection) Watches(path string) bool {
	return path == c.marker || c.watchesDirectory(path)
}

// listed reports whether the directory of the marker and the seals was listed, or does not exist.
func (c *jobElection) listed(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// markerAbsentLatchHeld reports whether there is no marker while this machine holds the latch.
func (c *jobElection) markerAbsentLatchHeld(ev events.Event) bool {
	return c.markerAbsent(ev) && c.latchNode != ""
}

// mayLeadByMarker reports whether the marker and its seal are ours and a confirmation counts.
func (c *jobElection) mayLeadByMarker(ev events.Event) bool {
	return c.markerOurs(ev) && c.sealed && confirmed(ev)
}

// resealed reports whether the marker was given another seal.
func (c *jobElection) resealed(ev events.Event) bool { return ev.Code == events.OK && !c.sealed }

// lostRace reports whether a transaction came too late: the marker, a seal or the latch's node has
// changed.
func (c *jobElection) lostRace(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code == events.NoNode || ev.Code == events.BadVersion
}

// hasMarkerOrLatch reports whether the job election may have a marker, or has a latch.
func (c *jobElection) hasMarkerOrLatch(ev events.Event) bool {
	return c.mayHaveNode(ev) || c.openLatches > 0
}

// mustClean reports whether the marker, or at a close the latch, has to be deleted first.
func (c *jobElection) mustClean(ev events.Event) bool {
	return c.nextIntent != keepPlace && c.mayHaveNode(ev) || c.nextIntent == closeNext && c.openLatches > 0
}

// exhaustedWithNode reports whether the retry policy gave up while there may be a marker, or is a
// latch.
func (c *jobElection) exhaustedWithNode(ev events.Event) bool {
	return c.gaveUp && c.hasMarkerOrLatch(ev)
}

// leavesLatch reports whether the job election is closing and its latch has not ended yet.
func (c *jobElection) leavesLatch(events.Event) bool {
	return c.nextIntent == closeNext && c.openLatches > 0
}

// look reads the marker. If the marker may be ours and the seal is not known to exist, it lists the
// seals first. A write whose outcome is unknown is certain to show only after a sync.
func (c *jobElection) look(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.forgetReads(ev, out)
	c.hidden = false
	if c.unknown {
		out.With(engine.Unawaited).Sync(c.ownDir)
	}
	if c.mayHaveNode(ev) && !c.sealed {
		out.Children(c.ownDir)
	}
	out.With(engine.Watch).Exists(c.marker)
}

// lookAndListSeals reads the marker and lists the seals, whatever was known of the seal.
func (c *jobElection) lookAndListSeals(ev events.Event, out *engine.Outbox) {
	c.sealed = false
	c.look(ev, out)
}

// readUnderLatch reads the marker while the latch is held, and then lists the seals: once there is no
// marker, none can be added.
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

// beginMarkerTerm begins a term, when the marker was read or after a confirmation.
func (c *jobElection) beginMarkerTerm(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	c.wantTermHeartbeats(c.termChecks(), out)
	c.closeLatch(out)
	c.beginTerm(ev, out)
	c.tellDealer(events.Event{Kind: events.TermBegun, Ops: c.termChecks()}, out)
}

// confirmByWrite asks for a write through the quorum before a term begins. If somebody deleted the
// seal, the write creates another one.
func (c *jobElection) confirmByWrite(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.noteMarker(ev, out)
	c.wantTermHeartbeats(nil, out)
	c.reconfirm(ev, out)
}

// reconfirm asks for that write: now, or when its answer will count.
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

// queue opens a latch in the line for the right to write the marker.
func (c *jobElection) queue(ev events.Event, out *engine.Outbox) {
	c.noteMarkerLost(ev)
	c.deleteSeal(out)
	c.openLatch(join(c.ownDir, jobLatch), c.asOpener(), c.latchOptions(), out)
}

// takeLatchFailure reports the latch's or the dealer's failure as the own one. If it has no code, it has passed.
func (c *jobElection) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK {
		c.clearFailure(out)
		return
	}
	c.announce(ev.Code, ev.Text, ev, out)
}

// failAndYield reports a failure and pauses, without keeping other instances from the latch.
func (c *jobElection) failAndYield(ev events.Event, out *engine.Outbox) {
	c.closeLatch(out)
	ev.Path = cmp.Or(ev.Path, c.marker)
	c.failAndBackOff(ev, out)
}

// loseOwnMarker forgets the marker that somebody deleted before the term began.
func (c *jobElection) loseOwnMarker(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.deleteSeal(out)
	c.pace(ev, out)
}

// writeMarker writes the marker if the latch's node still exists, and deletes all seals but its own:
// what remained of them could pass for another term.
func (c *jobElection) writeMarker(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	c.createdAt = ev.At
	c.forgetRefusals() // they were not about this marker
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

// noteMarkerWritten notes that the marker was written. It closes the latch, which is for the next, and
// reads the marker back.
func (c *jobElection) noteMarkerWritten(ev events.Event, out *engine.Outbox) {
	c.noteResult(ev, out)
	c.closeLatch(out)
	c.look(ev, out)
}

// noteResult notes the outcome of a write.
func (c *jobElection) noteResult(ev events.Event, out *engine.Outbox) {
	c.creating, c.unknown = 0, ev.Code.Unknown()
	if ev.Code == events.OK {
		c.setOwn(base(c.marker))
		c.token, c.version, c.sealed = ev.Zxid, 1, true
		c.wantHeartbeats(out)
	}
}

// noteLostRace notes that a write came too late.
func (c *jobElection) noteLostRace(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.look(ev, out)
}

// settleWrite notes the answer of a write that was pending when the connection ended. Other answers
// mean nothing any more.
func (c *jobElection) settleWrite(ev events.Event, out *engine.Outbox) {
	if ev.Request == c.creating {
		c.noteResult(ev, out)
	}
}

// loseMarker handles the end of the session: the ensemble deletes the marker.
func (c *jobElection) loseMarker(ev events.Event, out *engine.Outbox) {
	c.lose(ev, out)
	c.release(out)
}

// loseMarkerLeaving handles the end of the session while the marker is being deleted.
func (c *jobElection) loseMarkerLeaving(ev events.Event, out *engine.Outbox) {
	c.loseMarker(ev, out)
	c.tellSelfNodeGone(ev, out)
}

// endBelief ends belief because the marker is gone.
func (c *jobElection) endBelief(ev events.Event, out *engine.Outbox) {
	c.stepDownGone(ev, out)
	c.deleteSeal(out)
}

// drop forgets a marker that ended with the session.
func (c *jobElection) drop(ev events.Event, out *engine.Outbox) { c.release(out) }

// clear makes sure that no marker of ours is left, as soon as there is a connection. It deletes the
// marker with its seal, or looks for both.
func (c *jobElection) clear(ev events.Event, out *engine.Outbox) {
	if c.creating != 0 { // its answer comes first
		return
	}
	out.DropPending()
	switch {
	case !c.mayHaveNode(ev):
		c.tellSelfNodeGone(ev, out)
	case !ev.Attached:
	case c.ownPath != "" && c.sealed:
		c.deleteMarker(ev, out)
	default:
		c.look(ev, out)
	}
}

// deleteMarker deletes the own marker and never another instance's. If the seal that tells them apart
// is gone, the marker gets another one first.
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

// noteMarkerGone notes that the marker was deleted. What comes next is decided in one place.
func (c *jobElection) noteMarkerGone(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.tellSelfNodeGone(ev, out)
}

// endMarkerTerm forgets a marker that somebody else has deleted.
func (c *jobElection) endMarkerTerm(ev events.Event, out *engine.Outbox) {
	c.deleteSeal(out)
	c.tellSelfNodeGone(ev, out)
}

// noteLatchGone notes that a latch has ended while the machine is leaving.
func (c *jobElection) noteLatchGone(ev events.Event, out *engine.Outbox) {
	c.openLatches--
	if !c.mayHaveNode(ev) {
		c.tellSelfNodeGone(ev, out)
	}
}

// rejectMarker gives up a marker whose token is below the floor.
func (c *jobElection) rejectMarker(ev events.Event, out *engine.Outbox) {
	c.noteMarker(ev, out)
	c.closeLatch(out)
	c.nextIntent = backOff
	c.noteWork(0, 0)
	c.announce(events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time",
		c.token, c.marker, c.tokenFloor()), ev, out)
	c.clear(ev, out)
}

// withdraw closes the job election and gives up its place in the latch's line.
func (c *jobElection) withdraw(ev events.Event, out *engine.Outbox) {
	c.close(ev, out)
	c.closeLatch(out)
}
