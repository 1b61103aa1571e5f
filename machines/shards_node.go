package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// The outcome of writes, the connection, and the end of the own node.

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
