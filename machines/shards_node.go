package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The own node of a member, the outcome of its writes, and the end.

// create creates the own node. It has the same name until it is known to be gone, so that it is created once.
func (w *shards) create(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.resetParents()
	w.sendCreate(ev, out)
}

// createWithParents creates the missing parents, and the own node behind them.
func (w *shards) createWithParents(ev events.Event, out *engine.Outbox) {
	w.makeParents(ev, out)
	w.creating = 0
	w.sendCreate(ev, out)
}

// sendCreate sends the create of the own node, unless it is pending.
func (w *shards) sendCreate(ev events.Event, out *engine.Outbox) {
	if w.creating != 0 {
		return
	}
	if w.own == "" {
		w.enrolled++
		m := w.me
		m.Unhealthy = w.unhealthy()
		w.own, w.data, w.createdAt = w.member(shardMemberName(guid(w.seed, w.enrolled))), m.encode(), ev.At
	}
	w.creating = out.Create(events.Op{Path: w.own, Mode: events.Ephemeral, Data: []byte(w.data)})
}

// noteCreate notes the answer to the create of the own node.
func (w *shards) noteCreate(ev events.Event, out *engine.Outbox) {
	if ev.Request != w.creating {
		return
	}
	w.noteCode(ev)
	if w.isCreated(ev) {
		w.exists, w.mayFollow, w.version = true, false, 0
	}
	w.creating = 0
}

// pauseCreate reports that own nodes are deleted again and again, and pauses before the next one.
func (w *shards) pauseCreate(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.mustWait = false
	w.reportFailure(events.DeletedAgain, ShardMembers(w.path), ev, out)
	out.Timer(backOffTimer, w.recreatePause(w.jitter.next()))
}

// clear deletes the own node, when the answer to its create is known.
func (w *shards) clear(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	if w.creating == 0 && w.own != "" {
		out.Delete(w.own)
	}
}

// noteDeleted notes that the own node is deleted. One that a server may create yet is searched for.
func (w *shards) noteDeleted(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.NoNode {
		w.searchName(w.id, w.own, ev, out)
	}
	if !w.ending { // somebody had written it
		w.countDeletion(ev)
		w.mustWait = w.deletedAgain()
	}
	w.mayFollow = false
	w.forgetOwn(out)
}

// noteWritten notes that a write was carried out.
func (w *shards) noteWritten(ev events.Event, out *engine.Outbox) {
	w.outruns = 0
	switch w.write {
	case claimingShards:
		w.version = versionAfter(w.version)
		w.setOwned(ev.Zxid)
		w.view.spoil(w.own)
	case confirmingShards:
		w.late++
	case assigning:
		w.view.spoil(ShardAssignment(w.path))
	}
	w.write = noShardWrite
}

// noteOutrun notes that a write came too late, and has what it depended on be read again.
func (w *shards) noteOutrun(ev events.Event, out *engine.Outbox) {
	w.outruns++
	w.write = noShardWrite
	w.view.spoil(w.own)
	w.view.spoil(ShardAssignment(w.path))
	w.view.spoil(ShardMembers(w.path))
	for _, node := range w.listed() {
		w.view.spoil(w.member(node))
	}
}

// noteUnwritten notes that whether a write was carried out has to be read.
func (w *shards) noteUnwritten(ev events.Event, out *engine.Outbox) {
	w.outruns = 0
	if w.write == assigning && !ev.Code.Transient() {
		w.closeLatch(out) // another member may be able to write it
	}
	w.doubtWrite()
}

// doubtWrite has the own node be read, because the last write may have changed it.
func (w *shards) doubtWrite() {
	if w.write == claimingShards {
		w.doubt, w.synced = true, false
		w.view.spoil(w.own)
	}
	w.write = noShardWrite
}

// pauseWrite pauses before the next write. That nodes have changed is no failure, and the latch notices by itself that
// its place is gone.
func (w *shards) pauseWrite(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	out.Timer(backOffTimer, w.nextPause())
}

// fail reports a failure and pauses.
func (w *shards) fail(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.failAndBackOff(w.rootCause(ev), out)
}

// takeLatchFailure reports the latch's failure as the own one. If it has no code, it has passed.
func (w *shards) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	w.latchFailed = ev.Code != events.OK
	if w.latchFailed {
		w.reportFailure(ev.Code, ev.Text, ev, out)
	} else if !w.unhealthy() {
		w.clearFailure(out)
	}
}

// suspend handles the end of a connection: whether a pending write was carried out is unknown.
func (w *shards) suspend(ev events.Event, out *engine.Outbox) {
	w.doubtWrite()
	w.hasDisconnected()
	w.synced = false
	w.view.forget()
	if !w.rideOut || ev.At >= ev.ValidUntil {
		w.stopWork(ev, out)
	}
}

// lose handles the end of the session: the ensemble deletes the own node.
func (w *shards) lose(ev events.Event, out *engine.Outbox) {
	out.DropCreates()
	w.stopWork(ev, out)
	w.view.forget()
	w.creating, w.mayFollow, w.write = 0, false, noShardWrite
	w.forgetOwn(out)
}

// attach notes the session of the new connection.
func (w *shards) attach(ev events.Event, out *engine.Outbox) {
	w.session = ev.SessionID
	w.noteTimeout(ev)
}

// close notes the command that closes the machine. The work has to return first.
func (w *shards) close(ev events.Event, out *engine.Outbox) {
	w.closing = append(w.closing, ev.Request)
	if !w.ending {
		w.ending = true
		w.doubtWrite()
		w.stopWork(ev, out)
		w.closeLatch(out)
	}
}

// end answers the commands that closed the machine.
func (w *shards) end(ev events.Event, out *engine.Outbox) {
	w.drop(ev, out)
	w.dropHeartbeats(out)
	for _, c := range w.closing {
		out.Answer(c, events.OK, "")
	}
	w.closing = nil
}

// wantHeartbeats asks for heartbeats that check the own node, while there is one: one for all shards.
func (w *shards) wantHeartbeats(out *engine.Outbox) {
	if !w.heartbeating {
		w.heartbeating = true
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: w.id, Path: w.own})
	}
}

// dropHeartbeats tells the session machine that the heartbeats are no longer needed.
func (w *shards) dropHeartbeats(out *engine.Outbox) {
	if w.heartbeating {
		w.heartbeating = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatUnneeded, Name: w.id})
	}
}
