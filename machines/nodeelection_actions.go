package machines

import (
	"cmp"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Watches reports which nodes matter: the own path, and its directory if that is watched in its place.
func (e *nodeElection) Watches(path string) bool { return path == e.marker || e.watchesDirectory(path) }

// mayLeadByMarker reports whether the node is ours and a confirmation counts.
func (e *nodeElection) mayLeadByMarker(ev events.Event) bool {
	return e.markerOurs(ev) && confirmed(ev)
}

// markerOfAnother reports whether there is a node of another participant. It may be one that may not be read.
func (e *nodeElection) markerOfAnother(ev events.Event) bool {
	return e.markerPresent(ev) || e.markerHidden(ev)
}

// outrun reports whether a create came too late: there is a node.
func (e *nodeElection) outrun(ev events.Event) bool { return ev.Code == events.NodeExists }

// lostRace reports whether a transaction came too late: the node is gone, or was set.
func (e *nodeElection) lostRace(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.BadVersion
}

// mayBeMade reports whether there may be a node of this participant, now or, because a server has not said what became
// of a create, later.
func (e *nodeElection) mayBeMade(ev events.Event) bool { return e.mayHaveNode(ev) || e.mayFollow }

// mustClear reports whether the node has to be deleted first.
func (e *nodeElection) mustClear(ev events.Event) bool {
	return e.mustDeleteFirst(ev) || e.isClosing(ev) && e.mayFollow
}

// look reads the node. A create whose outcome is unknown is certain to show only after a sync.
func (e *nodeElection) look(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.forgetReads(ev, out)
	e.foreignNode.hidden, e.claimed = false, false
	if e.unknown {
		out.With(engine.Unawaited).Sync(e.marker)
	}
	out.With(engine.Watch).Exists(e.marker)
}

// create creates the node, in one transaction with the first change of its data. There was none a moment ago.
func (e *nodeElection) create(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.noteMarkerLost(ev)
	e.release(ev, out)
	e.resetParents()
	e.sendCreate(ev, out)
}

// succeed creates the node because that of another participant, or of no session, is gone.
func (e *nodeElection) succeed(ev events.Event, out *engine.Outbox) {
	e.clearFailure(out)
	e.create(ev, out)
}

// createWithParents creates the missing parents, and the node behind them.
func (e *nodeElection) createWithParents(ev events.Event, out *engine.Outbox) {
	e.makeParents(ev, out)
	e.sendCreate(ev, out)
}

// sendCreate sends the create of the node.
func (e *nodeElection) sendCreate(ev events.Event, out *engine.Outbox) {
	e.createdAt = ev.At
	e.creating = out.Multi(
		events.Op{Verb: "create", Path: e.marker, Mode: events.Ephemeral, Data: e.data},
		events.Op{Verb: "set", Path: e.marker, Data: e.data, Version: 0},
	)
}

// noteResult notes the outcome of the create.
func (e *nodeElection) noteResult(ev events.Event, out *engine.Outbox) {
	e.creating = 0
	e.noteAttempt(ev)
	if ev.Code == events.OK {
		e.setOwn(base(e.marker))
		e.token, e.version, e.mayFollow = ev.Zxid, 1, false
		e.wantHeartbeats(out)
	}
}

// settleCreate notes the answer to a create that was pending when the connection ended. Other answers mean nothing any
// more.
func (e *nodeElection) settleCreate(ev events.Event, out *engine.Outbox) {
	if ev.Request == e.creating {
		e.noteResult(ev, out)
	}
}

// confirmByWrite asks for a write through the quorum before a term begins.
func (e *nodeElection) confirmByWrite(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.take(ev, out)
	e.wantTermHeartbeats(e.termChecks(), out)
	e.reconfirm(ev, out)
}

// reconfirm asks for that write: now, or when its answer will count.
func (e *nodeElection) reconfirm(ev events.Event, out *engine.Outbox) {
	if ev.AskAt > ev.At {
		out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
		return
	}
	out.Multi(e.termChecks()...)
}

// take notes a node that is ours, and keeps searches of this client from deleting it.
func (e *nodeElection) take(ev events.Event, out *engine.Outbox) {
	if e.unknown || e.mayFollow {
		e.mayFollow = false
		tellKept(e.marker, out)
	}
	e.noteMarker(ev, out)
}

// termChecks returns the checks that succeed only while there is a node of the own one's version. With an epoch they
// succeed only during this term.
func (e *nodeElection) termChecks() []events.Op {
	checks := []events.Op{{Verb: "check", Path: e.marker, Version: e.version}}
	if e.claimed && e.epoch != "" {
		checks = append(checks, events.Op{Verb: "check", Path: e.epoch, Version: e.epochVersion})
	}
	return checks
}

// beginMarkerTerm begins a term, when the node was read or after a confirmation.
func (e *nodeElection) beginMarkerTerm(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyStat {
		e.take(ev, out)
	}
	e.wantTermHeartbeats(e.termChecks(), out)
	e.beginTerm(ev, out)
}

// letOthersCreate has a participant that has resigned wait before it creates the node again, so that others can.
func (e *nodeElection) letOthersCreate(ev events.Event, out *engine.Outbox) {
	e.nextIntent = letOthersPass
}

// follow leaves the node to the participant that has it.
func (e *nodeElection) follow(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.noteMarkerLost(ev)
	e.release(ev, out)
	e.clearFailure(out)
}

// followPersistent reports a node that no session owns, and waits until somebody deletes it.
func (e *nodeElection) followPersistent(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.release(ev, out)
	e.announcePersistent(ev, out)
}

// release forgets a node that is not ours, or not any more.
func (e *nodeElection) release(ev events.Event, out *engine.Outbox) {
	e.forgetOwn(out)
	e.version = 0
	e.forgetClaim()
}

// loseMarkerAgain forgets the node that somebody deleted before the term began. That has happened before.
func (e *nodeElection) loseMarkerAgain(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	e.release(ev, out)
	e.paceIn(e.marker, ev, out)
}

// loseMarker handles the end of the session: the ensemble deletes the node.
func (e *nodeElection) loseMarker(ev events.Event, out *engine.Outbox) {
	e.lose(ev, out)
	e.version = 0
	e.forgetClaim()
}

// fail reports a failure and pauses.
func (e *nodeElection) fail(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyMulti {
		ev.Kind = events.ReplyCreate // whose missing parent has a cause
		ev = e.rootCause(ev)
	}
	ev.Path = cmp.Or(ev.Path, e.marker)
	e.failAndBackOff(ev, out)
}

// withhold gives the node up, or the attempt to create it. The answer to a create is still awaited.
func (e *nodeElection) withhold(ev events.Event, out *engine.Outbox) {
	e.dropAllButCreate(ev, out)
	if e.isFencing(ev) {
		e.tellUnfenced(ev, out)
	}
	e.becomeUnhealthy(ev, out)
}

// clear makes sure that no node of this participant is left, as soon as there is a connection. It deletes the node, or
// looks for it.
func (e *nodeElection) clear(ev events.Event, out *engine.Outbox) {
	if e.creating != 0 { // its answer comes first
		return
	}
	out.DropPending()
	switch {
	case !e.mayBeMade(ev):
		e.tellSelfNodeGone(ev, out)
	case !ev.Attached:
	case e.ownPath != "" && e.ownerKnown:
		e.deleteMarker(ev, out)
	default:
		e.look(ev, out)
	}
}

// deleteMarker deletes the own node, and none of another version: in one transaction with the crumb, if this
// participant has led and needs no fencing.
func (e *nodeElection) deleteMarker(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Kind == events.ReplyStat {
		e.take(ev, out)
	}
	var ops []events.Op
	if e.givesUpInOrder() {
		ops = append(ops, events.Op{Verb: "delete", Path: e.crumb, Version: e.crumbVersion})
	}
	out.Multi(append(ops, events.Op{Verb: "delete", Path: e.marker, Version: e.version})...)
}

// noteNone notes that there is no node of this participant. If a server may still create one, that is searched for.
func (e *nodeElection) noteNone(ev events.Event, out *engine.Outbox) {
	e.release(ev, out)
	e.searchName(e.id, e.marker, ev, out)
	e.mayFollow = false
	e.tellSelfNodeGone(ev, out)
}

// rejectMarker gives up a node whose token is below the floor.
func (e *nodeElection) rejectMarker(ev events.Event, out *engine.Outbox) {
	e.take(ev, out)
	e.nextIntent = backOff
	e.noteWork(0, 0)
	e.announce(events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time",
		e.token, e.marker, e.tokenFloor()), ev, out)
	e.clear(ev, out)
}
